// Which kinds are shown, and about whom.
import { useState } from "react";
import { useAsked } from "../api/memory";
import { href } from "../app/route";
import { NodePicker } from "../things/NodePicker";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { useWords } from "../words";
import { type Kind, KINDS, USUAL } from "./periods";

export function Filters({ kinds, node, onShow }: {
  kinds: readonly Kind[];
  node: string;
  onShow: (changes: Record<string, string>) => void;
}) {
  const words = useWords();
  const [choosing, setChoosing] = useState(false);
  const about = useAsked(node ? (client) => client.describeNode({ path: { node_id: node }, query: { facts: 1 } }) : undefined, [node]);
  const toggle = (kind: Kind) => {
    const chosen = KINDS.filter((one) => (one === kind) !== kinds.includes(one));
    const usual = chosen.length === USUAL.length && USUAL.every((one) => chosen.includes(one));
    if (chosen.length > 0) onShow({ kinds: usual ? "" : chosen.join() });
  };
  return (
    <div className="filters">
      <fieldset className="kinds">
        <legend className="hidden">{words.timeline.filter}</legend>
        {KINDS.map((one) => (
          <label className="check" key={one}>
            <input type="checkbox" checked={kinds.includes(one)} onChange={() => toggle(one)} />
            <span>{words.timeline.kinds[one]}</span>
          </label>
        ))}
      </fieldset>
      <div className="about">
        {node && (
          <span className="chip">
            {words.timeline.person} <a href={href(["things", node])} dir="auto">{about.data?.label ?? "…"}</a>
            <button type="button" className="icon" aria-label={words.timeline.everybody} onClick={() => onShow({ node: "" })}>
              <Icon name="close" />
            </button>
          </span>
        )}
        {!node && (
          <button type="button" className="quiet" onClick={() => setChoosing(true)}>
            <Icon name="search" />{words.timeline.choose}
          </button>
        )}
      </div>
      {choosing && (
        <Dialog title={words.timeline.chooseTitle} onClose={() => setChoosing(false)}>
          <NodePicker label={words.things.search} without={[]} chosen={null} onChoose={(chosen) => {
            setChoosing(false);
            onShow({ node: chosen.node_id });
          }} />
        </Dialog>
      )}
    </div>
  );
}
