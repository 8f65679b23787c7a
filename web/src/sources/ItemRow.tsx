// One file, or one source in a zip file: what is in it, or what became of it.
import type { IngestFile } from "@memsvc/client";
import { href } from "../app/route";
import { useTimes } from "../ui/times";
import { useWords, type Words } from "../words";

/** How programs write their names, where a capital letter is not enough. */
const NAMES: Record<string, string> = {
  chatgpt: "ChatGPT", whatsapp: "WhatsApp", "google-chat": "Google Chat", imessage: "iMessage", sms: "SMS", jsonl: "JSONL", "role-content": "JSON",
};
const nameOf = (kind: string, words: Words) =>
  kind === "document" ? words.kinds["chunk"] : (NAMES[kind] ?? kind.charAt(0).toUpperCase() + kind.slice(1));

/** What was done, in sentences. */
function outcome({ outcome, counts, document, message, hint, preview }: IngestFile, words: Words): string[] {
  const { sources } = words;
  if (outcome === "refused" || outcome === "passed_over") return [[message, hint].filter(Boolean).join(" ")];
  if (document) return [sources.document[document.outcome] ?? document.outcome];
  if (outcome !== "stored") return [];
  const { created = 0, existing = 0, erased = 0, paused = 0, differs = 0 } = counts;
  if (preview?.messages === 0) return [sources.noMessages];
  if (existing > 0 && created + erased + paused === 0) return [sources.nothingNew(existing)];
  return [
    created > 0 && sources.created(created), existing > 0 && sources.existing(existing), erased > 0 && sources.erased(erased),
    paused > 0 && sources.paused, differs > 0 && sources.differs(differs),
  ].filter((one) => one !== false);
}

export function ItemRow({ item, alone }: { item: IngestFile; alone: boolean }) {
  const words = useWords();
  const times = useTimes();
  const { sources } = words;
  const { preview, document_preview: paper, document } = item;
  const span = preview?.first_said_at && preview.last_said_at
    ? [...new Set([times.day(preview.first_said_at), times.day(preview.last_said_at)])].join(" – ") : "";
  const people = preview?.speakers.length ?? 0;
  const inside = [
    item.kind && nameOf(item.kind, words),
    preview && sources.messages(preview.messages),
    preview && preview.conversations > 1 && sources.conversations(preview.conversations),
    people > 1 && sources.people(people),
    span,
    paper && sources.parts(paper.chunks),
    paper?.pages != null && sources.pages(paper.pages),
  ].filter(Boolean);
  const odd = Object.entries(preview?.odd ?? paper?.odd ?? document?.odd ?? {});
  const refused = item.outcome === "refused";
  return (
    <li>
      {(!alone || paper) && <p className="file" dir="auto">{alone ? paper?.title : item.name}</p>}
      <p className="meta">
        {inside.map((one, index) => <span key={index}>{one}</span>)}
        {preview && preview.owner.some(Boolean) && <span dir="auto">{sources.you(preview.owner.filter(Boolean).join(", "))}</span>}
        {item.outcome === "passed_over" && <span>{sources.passedOver}</span>}
        {refused && <span>{!alone && `${sources.refused}: `}<code>{item.code}</code></span>}
      </p>
      {outcome(item, words).map((one) => (
        <p className={refused ? "said bad" : "became"} key={one} dir="auto">
          {one} {document?.document_id && <a href={href(["sources", document.document_id])}>{sources.open}</a>}
        </p>
      ))}
      {odd.length > 0 && (
        <details>
          <summary>{sources.odd}</summary>
          <ul>{odd.map(([what, n]) => <li key={what} dir="auto">{n.toLocaleString(words.code)} {what}</li>)}</ul>
        </details>
      )}
    </li>
  );
}
