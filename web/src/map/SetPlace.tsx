// Gives a person, a place or a thing its coordinates: by a click on the map beside, or typed.
import { type FormEvent, useEffect, useState } from "react";
import { useAct } from "../api/memory";
import { NodePicker } from "../things/NodePicker";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";
import type { Point } from "./World";

export interface Setting {
  /** What is there, if that is said already. */
  node: { node_id: string; label: string | null } | null;
  point: Point | null;
}

export function SetPlace({ setting, onSetting, onDone }: {
  setting: Setting;
  onSetting: (setting: Setting) => void;
  /** With the node, if its location was set. */
  onDone: (nodeId?: string) => void;
}) {
  const words = useWords();
  const act = useAct();
  const { say } = useNotices();
  const { node, point } = setting;
  const [typed, setTyped] = useState({ latitude: "", longitude: "" });
  useEffect(() => {
    if (point) setTyped({ latitude: String(point.latitude), longitude: String(point.longitude) });
  }, [point]);
  const undo = (changeId: string) =>
    void act((client) => client.undoChange({ path: { change_id: changeId } }), () => {
      say(words.common.undone);
      onDone();
    });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const since = String(new FormData(event.currentTarget).get("since"));
    if (!node) return;
    const body = {
      latitude: Number(typed.latitude), longitude: Number(typed.longitude), ...(since && { valid_from: since }),
    };
    void act((client) => client.locateNode({ path: { node_id: node.node_id }, body }), (change) => {
      onDone(node.node_id);
      say(words.map.saved, { action: { label: words.common.undo, act: () => undo(change.change_id) } });
    });
  };
  const field = (name: "latitude" | "longitude", most: number) => (
    <label>
      <span>{words.map[name]}</span>
      <input type="number" name={name} required min={-most} max={most} step="any" value={typed[name]}
        onChange={(event) => setTyped({ ...typed, [name]: event.target.value })} />
    </label>
  );
  return (
    <form className="fields set-place" onSubmit={submit} aria-label={words.map.setTitle}>
      <h2>{words.map.setTitle}</h2>
      <div className="field">
        <span>{words.map.what} {node && <b dir="auto">{node.label ?? "…"}</b>}</span>
        <NodePicker label={words.things.search} without={[]} chosen={null} onChoose={(chosen) => onSetting({ ...setting, node: chosen })} />
      </div>
      <p className="lead">{words.map.click}</p>
      <div className="pair">{field("latitude", 90)}{field("longitude", 180)}</div>
      <label>
        <span>{words.map.since}</span>
        <input type="date" name="since" />
        <small>{words.map.sinceHint}</small>
      </label>
      <footer>
        <button type="button" onClick={() => onDone()}>{words.common.cancel}</button>
        <button type="submit" className="primary" disabled={!node}>{words.map.save}</button>
      </footer>
    </form>
  );
}
