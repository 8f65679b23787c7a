// One block: what it says, how full it is, what supports it, and what one can do about it.
import type { Block } from "@memsvc/client";
import { useState } from "react";
import { useAct, useMemory } from "../api/memory";
import { go, href } from "../app/route";
import { Source } from "../source/Source";
import { Forget } from "../ui/Forget";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { BlockHistory } from "./BlockHistory";
import { EditBlock } from "./EditBlock";
import { placeOf } from "./place";

export function BlockRow({ block, conversation, open, onChanged }: {
  block: Block;
  conversation: string;
  open: boolean;
  onChanged: () => void;
}) {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const [doing, setDoing] = useState<"" | "edit" | "forget">("");
  const [sources, setSources] = useState(false);
  const number = (n: number) => n.toLocaleString(words.code);
  const place = placeOf(block);
  const move = (to: "core" | "archival") => {
    const moved = (back: boolean) => (after: Block) => {
      onChanged();
      const undo = () => void act((client) => shift(block.kind === "core" ? "core" : "archival", after.version)(client), moved(true));
      say(back ? words.common.undone : words.profile.moved[to], back || block.kind === "working" ? {} : { action: { label: words.common.undo, act: undo } });
    };
    const shift = (where: "core" | "archival", expected_version: number) => (client: Parameters<Parameters<typeof act>[0]>[0]) => {
      const path = { name: block.name };
      return where === "core"
        ? client.promoteBlock({ path, body: { ...place, expected_version } })
        : client.demoteBlock({ path, body: { ...place, expected_version, kind: "archival" } });
    };
    void act(shift(to, block.version), moved(false));
  };
  const passages = [...new Set(block.evidence.map((one) => one.passage_id))];
  return (
    <li className="block" id={block.block_id}>
      <div className="bar">
        <h3>{words.profile.names[block.name] ?? block.name}</h3>
        <p className="meta">
          {block.node_id && <a href={href(["things", block.node_id])} dir="auto">{block.node ?? "…"}</a>}
          {block.kind === "working" && conversation && <span dir="auto">{conversation}</span>}
          {block.expires_at && <span>{words.profile.expires(times.minute(block.expires_at))}</span>}
          <span>{words.profile.version(block.version)}</span>
          <time dateTime={block.recorded_from}>{times.minute(block.recorded_from)}</time>
          <span>{words.thing.by(block.asserted_by)}</span>
        </p>
      </div>
      {block.text ? <p className="text" dir="auto">{block.text}</p> : <p className="lead">{words.profile.emptyBlock}</p>}
      <div className="foot">
        <div className="actions">
          {may("write") && <button type="button" className="quiet" onClick={() => setDoing("edit")}>{words.profile.edit}</button>}
          {may("write") && block.kind !== "core" && <button type="button" className="quiet" onClick={() => move("core")}>{words.profile.toCore}</button>}
          {may("write") && block.kind !== "archival" && <button type="button" className="quiet" onClick={() => move("archival")}>{words.profile.toArchive}</button>}
          <button type="button" className="quiet" aria-expanded={open}
            onClick={() => go(["profile"], { block: open ? "" : block.block_id }, { replace: true })}>
            {words.thing.history}
          </button>
          {passages.length > 0 && (
            <button type="button" className="quiet" aria-expanded={sources} onClick={() => setSources(!sources)}>{words.thing.sources(passages.length)}</button>
          )}
          {may("forget") && <button type="button" className="quiet danger" onClick={() => setDoing("forget")}>{words.thing.forget}</button>}
        </div>
        <div className="room">
          <span className="track"><span className="part" style={{ inlineSize: `${Math.min(100, (block.tokens / block.limit_tokens) * 100)}%` }} /></span>
          <small>{words.ask.tokens(number(block.tokens), number(block.limit_tokens))}</small>
        </div>
      </div>
      {sources && passages.map((passage) => <Source key={passage} passageId={passage} />)}
      {open && <BlockHistory block={block} onChanged={onChanged} />}
      {doing === "edit" && <EditBlock block={block} name={block.name} onClose={() => setDoing("")} onChanged={onChanged} />}
      {doing === "forget" && (
        <Forget what={words.profile.names[block.name] ?? block.name} kind="block" id={block.block_id}
          how={(client, preview) => client.forgetBlock({ path: { name: block.name }, query: { ...place, preview } })}
          onClose={() => setDoing("")} onForgotten={onChanged} />
      )}
    </li>
  );
}
