// Instructions: rules that the user wrote, and those that others wrote, which an assistant gets as quotes.
import type { graph_shown_ShownNode as ShownNode } from "@memsvc/client";
import { useState } from "react";
import { useLiveAgain } from "../api/live";
import { useAct, useMemory, usePages } from "../api/memory";
import { href } from "../app/route";
import { Forget } from "../ui/Forget";
import { Icon } from "../ui/Icon";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";
import { EditInstruction, type Written } from "./EditInstruction";

const PAGE = 25;

function stateOf(node: ShownNode): Written {
  const now = node.versions.find((one) => one.recorded_to === null && one.label === node.label) ?? node.versions.at(-1);
  const { pinned, category, when } = node.data;
  return {
    id: node.node_id, label: node.label ?? "", text: node.description, data: node.data,
    version: now?.version_id ?? null, by: now?.asserted_by ?? "",
    pinned: pinned === true || category === "core", category: typeof category === "string" ? category : "",
    when: when === undefined ? "" : JSON.stringify(when),
  };
}

export function Instructions() {
  const words = useWords();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const [editing, setEditing] = useState<Written | "new" | null>(null);
  const [forgetting, setForgetting] = useState<Written | null>(null);
  const found = usePages(async (client, cursor) => {
    const page = await client.searchNodes({ query: { q: "", type: "Instruction", limit: PAGE, cursor } });
    const nodes = await Promise.all(
      page.items.map(({ node_id }) => client.describeNode({ path: { node_id }, query: { facts: 1 } })),
    );
    return { items: nodes.map(stateOf), next_cursor: page.next_cursor };
  }, []);
  useLiveAgain(["GRAPH_UPDATE"], found.again);
  const changed = (text: string, changeId: string) => {
    found.again();
    const undo = () =>
      act((client) => client.undoChange({ path: { change_id: changeId } }), () => {
        say(words.common.undone);
        found.again();
      });
    say(text, { action: { label: words.common.undo, act: () => void undo() } });
  };
  const pin = (one: Written) => {
    const data = { ...one.data, pinned: !one.pinned, ...(one.pinned && one.category === "core" && { category: "" }) };
    void act((client) => client.correctNode({ path: { node_id: one.id }, body: { data, version_id: one.version } }), (change) =>
      changed(one.pinned ? words.profile.unpinned : words.profile.pinnedNow, change.change_id),
    );
  };
  return (
    <section className="instructions" aria-label={words.profile.views.instructions}>
      <div className="bar">
        <p className="lead">{words.profile.instructionsLead}</p>
        {may("write") && <button type="button" className="primary" onClick={() => setEditing("new")}>{words.profile.addInstruction}</button>}
      </div>
      {found.error && <p className="said bad" role="alert">{found.error}</p>}
      {!found.data && found.loading && <p className="waiting" aria-live="polite">{words.common.loading}</p>}
      {found.data && found.items.length === 0 && <p className="empty">{words.profile.noInstructions}</p>}
      <ul className="blocks">
        {found.items.map((one) => (
          <li className="block" key={one.id}>
            <div className="bar">
              <h3 dir="auto">{one.label}</h3>
              <p className="meta">
                {one.pinned && <span className="pinned"><Icon name="pin" />{words.profile.always}</span>}
                {one.category && <span dir="auto">{one.category}</span>}
                <span>{one.by === "user" ? words.profile.rule : words.profile.quote(one.by)}</span>
              </p>
            </div>
            {one.text && <p className="text" dir="auto">{one.text}</p>}
            {one.when && <p className="lead small">{words.profile.when} <code>{one.when}</code></p>}
            <div className="actions">
              {may("write") && (
                <>
                  <button type="button" className="quiet" onClick={() => setEditing(one)}>{words.profile.edit}</button>
                  <button type="button" className="quiet" aria-pressed={one.pinned} onClick={() => pin(one)}>{words.profile.alwaysGive}</button>
                </>
              )}
              <a className="button quiet" href={href(["things", one.id], { view: "history" })}>{words.thing.history}</a>
              {may("forget") && <button type="button" className="quiet danger" onClick={() => setForgetting(one)}>{words.thing.forget}</button>}
            </div>
          </li>
        ))}
      </ul>
      {found.more && <p className="further"><button type="button" onClick={found.more}>{words.things.more}</button></p>}
      {editing && <EditInstruction written={editing === "new" ? null : editing} onClose={() => setEditing(null)} onChanged={changed} />}
      {forgetting && (
        <Forget what={forgetting.label} kind="node" id={forgetting.id} onClose={() => setForgetting(null)} onForgotten={found.again} />
      )}
    </section>
  );
}
