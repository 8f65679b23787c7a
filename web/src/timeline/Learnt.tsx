// What memsvc learnt between two moments: new, ended, corrected and retracted facts, names and things.
import type { Difference } from "@memsvc/client";
import { usePages } from "../api/memory";
import { href } from "../app/route";
import { useWords } from "../words";

const PAGE = 30;
const DAY = 86_400_000;

export function Learnt({ from, to }: { from: string; to?: string }) {
  const words = useWords();
  const until = to && Date.parse(to) < Date.now() - DAY ? to : ""; // nothing is known of the future
  const found = usePages(
    (client, cursor) => client.diffGraph({ query: { from, ...(until && { to: until }), axis: "known", cursor, limit: PAGE } }),
    [from, until],
  );
  if (found.error) return <p className="said bad" role="alert">{found.error}</p>;
  if (!found.data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  if (found.items.length === 0 && !found.more) return <p className="lead">{words.timeline.learntNothing}</p>;
  return (
    <>
      <ul className="learnt">
        {found.items.map((one) => (
          <li key={`${one.kind} ${one.subject} ${one.at} ${(one.after[0] ?? one.before[0])?.id ?? ""}`}>
            <span className="kind">{words.timeline.learnt[one.change]}</span>
            <a className={one.after.length ? "" : "gone"} href={href(["things", one.edge?.from_node ?? one.subject])} dir="auto">
              {said(one, words.history.merge)}
            </a>
            <span className="kind">{words.history.kinds[one.kind]}</span>
          </li>
        ))}
      </ul>
      {found.more && <button type="button" className="link" onClick={found.more}>{words.timeline.moreLearnt}</button>}
    </>
  );
}

function said(one: Difference, merge: (what: string) => string): string {
  const content = (one.after[0] ?? one.between[0] ?? one.before[0])?.content ?? {};
  const told = (name: string) => (typeof content[name] === "string" ? content[name] : "");
  if (one.kind === "merge") return [one.label, merge("…")].filter(Boolean).join(" ");
  return told("fact") || told("alias") || told("label") || one.label || "…";
}
