// Adds something that is read again by itself, or to which another program sends. What the service refuses stays shown.
import { type AddedFeed, type FeedIn, MemsvcError } from "@memsvc/client";
import { type FormEvent, useState } from "react";
import { told, useMemory } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";

const KINDS = ["url", "ics", "folder", "push"] as const;
const OWN = "own";

export function AddFeed({ onClose, onAdded }: { onClose: () => void; onAdded: (feed: AddedFeed) => void }) {
  const words = useWords();
  const { feeds } = words;
  const { client, ended } = useMemory();
  const { say } = useNotices();
  const [kind, setKind] = useState<(typeof KINDS)[number]>("url");
  const [rule, setRule] = useState("every 1 hour");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = (name: string) => String(form.get(name) ?? "").trim();
    const where = given("where");
    const isAddress = kind === "url" || (kind === "ics" && /^https?:/i.test(where));
    const me = given("me").split(",").map((one) => one.trim()).filter(Boolean);
    const body: FeedIn = {
      kind,
      ...(given("name") && { name: given("name") }),
      ...(kind === "push" ? { takes: given("takes") === "memory" ? "memory" : "documents" } : { rule: rule === OWN ? given("own_rule") : rule }),
      ...(kind !== "push" && (isAddress ? { url: where } : { path: where })),
      ...(me.length > 0 && { me }),
    };
    setBusy(true);
    setError("");
    client.addFeed({ body }).then(
      (feed) => {
        onClose();
        say(feeds.added);
        onAdded(feed);
      },
      (failed: unknown) => {
        if (failed instanceof MemsvcError && failed.code === "unauthenticated") return ended();
        setBusy(false);
        setError(told(failed, words));
      },
    );
  };
  return (
    <Dialog title={feeds.addTitle} onClose={onClose}>
      <form className="fields" onSubmit={submit}>
        <label>
          <span>{feeds.kind}</span>
          <select name="kind" value={kind} onChange={(event) => setKind(KINDS.find((one) => one === event.target.value) ?? "url")}>
            {KINDS.map((one) => <option key={one} value={one}>{feeds.kinds[one]}</option>)}
          </select>
        </label>
        {kind !== "push" && (
          <label>
            <span>{kind === "folder" ? feeds.path : feeds.address}</span>
            <input name="where" key={kind} type={kind === "url" ? "url" : "text"} required maxLength={4000} placeholder={kind === "folder" ? "/srv/notes" : "https://"} />
          </label>
        )}
        <label>
          <span>{feeds.name}</span>
          <input name="name" required={kind === "push"} maxLength={200} dir="auto" />
          {kind !== "push" && <small>{feeds.nameHint}</small>}
        </label>
        {kind === "push" ? (
          <label>
            <span>{feeds.takes}</span>
            <select name="takes">
              <option value="documents">{feeds.takesOf["documents"]}</option>
              <option value="memory">{feeds.takesOf["memory"]}</option>
            </select>
          </label>
        ) : (
          <label>
            <span>{feeds.rule}</span>
            <select value={rule} onChange={(event) => setRule(event.target.value)}>
              {Object.entries(feeds.rules).map(([value, label]) => <option key={value} value={value}>{label}</option>)}
              <option value={OWN}>{feeds.ownRule}</option>
            </select>
          </label>
        )}
        {kind !== "push" && rule === OWN && (
          <label>
            <span>{feeds.ownRule}</span>
            <input name="own_rule" required maxLength={200} />
            <small>{feeds.ruleHint}</small>
          </label>
        )}
        <label>
          <span>{feeds.me}</span>
          <input name="me" maxLength={2000} dir="auto" />
          <small>{feeds.meHint}</small>
        </label>
        {error && <p className="said bad" role="alert">{error}</p>}
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary" disabled={busy}>{feeds.submit}</button>
        </footer>
      </form>
    </Dialog>
  );
}
