// All documents, by title and path; also those whose files are gone.
import { useDeferredValue, useState } from "react";
import { useLiveAgain } from "../api/live";
import { usePages } from "../api/memory";
import { href } from "../app/route";
import { useTimes } from "../ui/times";
import { useWords } from "../words";

const PAGE = 50;
const GONE = { all: undefined, there: false, gone: true } as const;

export function Documents() {
  const words = useWords();
  const times = useTimes();
  const [typed, setTyped] = useState("");
  const [where, setWhere] = useState<keyof typeof GONE>("all");
  const name = useDeferredValue(typed.trim());
  const list = usePages(
    (client, cursor) => {
      const gone = GONE[where];
      return client.listDocuments({ query: { cursor, limit: PAGE, ...(name && { name }), ...(gone !== undefined && { gone }) } });
    },
    [name, where],
  );
  useLiveAgain(["SOURCE_UPDATE", "INGEST_UPDATE"], list.again);
  const asked = name || where !== "all";
  const { sources } = words;
  return (
    <>
      <form className="narrow" role="search" onSubmit={(event) => event.preventDefault()}>
        <label className="search">
          <span className="hidden">{sources.findDocument}</span>
          <input type="search" value={typed} placeholder={sources.findDocument} maxLength={500} onChange={(event) => setTyped(event.target.value)} />
        </label>
        <label>
          <span>{sources.where}</span>
          <select value={where} onChange={(event) => setWhere(event.target.value as keyof typeof GONE)}>
            <option value="all">{sources.whereAll}</option>
            <option value="there">{sources.whereThere}</option>
            <option value="gone">{sources.whereGone}</option>
          </select>
        </label>
      </form>
      {list.error && <p className="said bad" role="alert">{list.error}</p>}
      {!list.data && !list.error && <p className="waiting" aria-live="polite">{words.common.loading}</p>}
      {list.data && list.items.length === 0 && <p className="empty">{asked ? sources.noneSo : sources.noDocuments}</p>}
      <ul className="listed">
        {list.items.map((one) => (
          <li key={one.document_id}>
            <a href={href(["sources", one.document_id])}>
              <span className="label" dir="auto">{one.title || one.path}</span>
              <span className="size">{one.format}</span>
              <span className="more" dir="auto">
                {[one.gone && sources.gone, one.version > 1 && sources.version(one.version), sources.status[one.status], one.path !== one.title && one.path]
                  .filter(Boolean).join(" · ")}
              </span>
              <span className="day">{times.day(one.recorded_from)}</span>
            </a>
          </li>
        ))}
      </ul>
      {list.more && <p className="further"><button type="button" onClick={list.more}>{sources.more}</button></p>}
    </>
  );
}
