// What a note links to, what links to it, and what is near by way of others.
import type { LinkedNote, ShownFact } from "@memsvc/client";
import { useAct, useMemory } from "../api/memory";
import { href } from "../app/route";
import { Icon } from "../ui/Icon";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";
import { relationOf } from "./kinds";
import { hrefOf } from "./Markdown";

export function Linked({ noteId, links, near, onChanged }: {
  noteId: string;
  links: readonly ShownFact[];
  near: readonly LinkedNote[];
  onChanged: () => void;
}) {
  const words = useWords();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const unlink = (link: ShownFact) => {
    const relation = relationOf(link.type);
    if (!relation) return;
    const again = () =>
      act((client) => client.createLink({ body: { from_node: link.from_node, to_node: link.to_node, relation } }), () => {
        say(words.common.undone);
        onChanged();
      });
    void act((client) => client.closeLink({ body: { link_id: link.edge_id } }), () => {
      onChanged();
      say(words.notes.unlinked, { action: { label: words.common.undo, act: () => void again() } });
    });
  };
  const row = (link: ShownFact, away: boolean) => {
    const relation = relationOf(link.type);
    const [id, label, type] = away ? [link.to_node, link.to_label, link.to_type] : [link.from_node, link.from_label, link.from_type];
    return (
      <li key={link.edge_id}>
        <span className="relation">{relation ? words.notes.relations[relation] : link.type.toLowerCase().replaceAll("_", " ")}</span>
        <a href={hrefOf({ id, type })} dir="auto">{label ?? "…"}</a>
        {type !== "Note" && type && <small>{type}</small>}
        {relation && may("write") && (
          <button type="button" className="icon" aria-label={words.notes.unlink(label ?? "…")} onClick={() => unlink(link)}>
            <Icon name="close" />
          </button>
        )}
      </li>
    );
  };
  const from = links.filter((link) => link.from_node === noteId);
  const to = links.filter((link) => link.to_node === noteId && link.from_node !== noteId);
  const direct = new Set(links.flatMap((link) => [link.from_node, link.to_node]));
  const further = near.filter((one) => !direct.has(one.note_id));
  const section = (title: string, items: readonly ShownFact[], away: boolean) =>
    items.length > 0 && (
      <section>
        <h2>{title}</h2>
        <ul>{items.map((link) => row(link, away))}</ul>
      </section>
    );
  return (
    <aside className="linked" aria-label={words.notes.linked}>
      {section(words.notes.linksTo, from, true)}
      {section(words.notes.linkedFrom, to, false)}
      {further.length > 0 && (
        <section>
          <h2>{words.notes.near}</h2>
          <ul>
            {further.map((one) => (
              <li key={one.note_id}>
                <a href={href(["notes", one.note_id])} dir="auto">{one.title}</a>
                <small>{words.notes.away(one.distance)}</small>
              </li>
            ))}
          </ul>
        </section>
      )}
      {from.length + to.length === 0 && <p className="lead">{words.notes.notLinked}</p>}
    </aside>
  );
}
