// Lets the service fetch an address, and look at what is there.
import type { FormEvent } from "react";
import { useAct } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";

export function FromAddress({ onClose }: { onClose: () => void }) {
  const words = useWords();
  const act = useAct();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const url = String(new FormData(event.currentTarget).get("url"));
    void act((client) => client.addDocuments({ body: { url, dry_run: true } }), onClose);
  };
  return (
    <Dialog title={words.sources.web.title} onClose={onClose}>
      <form className="fields" onSubmit={submit}>
        <p className="lead">{words.sources.web.lead}</p>
        <label>
          <span>{words.sources.web.label}</span>
          <input name="url" type="url" required maxLength={4000} placeholder="https://" />
        </label>
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary">{words.sources.web.submit}</button>
        </footer>
      </form>
    </Dialog>
  );
}
