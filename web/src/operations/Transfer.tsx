// Takes one's memory out as a file; says how to bring one in.
import { useState } from "react";
import { useMemory } from "../api/memory";
import { download } from "../api/session";
import { Copy } from "../ui/Copy";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";

const IMPORT = "memsvc import memsvc.zip --user NAME";

export function Transfer() {
  const words = useWords();
  const { operations: texts } = words;
  const { ended } = useMemory();
  const { say } = useNotices();
  const [pages, setPages] = useState(true);
  const [busy, setBusy] = useState(false);
  const take = async () => {
    setBusy(true);
    try {
      const status = await download(`/v1/export?markdown=${pages}`, "memsvc.zip");
      if (status === 401) ended();
      else say(status === 200 ? texts.exported : words.common.error, { bad: status !== 200 });
    } catch {
      say(words.common.unreachable, { bad: true });
    }
    setBusy(false);
  };
  return (
    <div className="parts">
      <section className="fields">
        <h2>{texts.exportTitle}</h2>
        <p className="lead">{texts.exportLead}</p>
        <label className="check">
          <input type="checkbox" checked={pages} onChange={(event) => setPages(event.target.checked)} />
          <span>{texts.withPages}</span>
        </label>
        <div className="actions">
          <button type="button" className="primary" disabled={busy} onClick={() => void take()}>{busy ? texts.exporting : texts.exportButton}</button>
        </div>
      </section>
      <section>
        <h2>{texts.importTitle}</h2>
        <p className="lead">{texts.importLead}</p>
        <pre className="commands">{IMPORT}</pre>
        <div className="copies"><Copy label={words.common.copy} text={() => `${IMPORT}\n`} /></div>
      </section>
    </div>
  );
}
