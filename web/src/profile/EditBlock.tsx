// Writes a block, or a new one. If it was changed elsewhere meanwhile, both texts are shown and nothing is overwritten.
import { type Block, MemsvcError } from "@memsvc/client";
import { type FormEvent, useState } from "react";
import { useAct } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";
import { placeOf } from "./place";

const NAME = "[a-z0-9_\\-]{1,60}";

export function EditBlock({ block, name, onClose, onChanged }: {
  block: Block | null;
  name: string;
  onClose: () => void;
  onChanged: () => void;
}) {
  const words = useWords();
  const act = useAct();
  const { say } = useNotices();
  const [text, setText] = useState(block?.text ?? "");
  const [called, setCalled] = useState(name);
  const [tier, setTier] = useState<"core" | "archival">("core");
  const [base, setBase] = useState(block);
  const [theirs, setTheirs] = useState<Block | null>(null);
  const place = block ? placeOf(block) : {};
  const path = { name: called };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = { ...place, text, expected_version: base?.version ?? 0, ...(!base && { kind: tier }) };
    void act(
      async (client) => {
        try {
          return await client.writeBlock({ path, body });
        } catch (error) {
          if (!(error instanceof MemsvcError && error.code === "profile_conflict")) throw error;
          setTheirs(await client.readBlock({ path, query: place }));
          return null;
        }
      },
      (now) => {
        if (!now) return;
        onClose();
        onChanged();
        const before = base?.text;
        const undo = () =>
          act((client) => client.writeBlock({ path, body: { ...place, text: before ?? "", expected_version: now.version } }), () => {
            onChanged();
            say(words.common.undone);
          });
        say(words.profile.saved, before === undefined || before === text ? {} : { action: { label: words.common.undo, act: () => void undo() } });
      },
    );
  };
  return (
    <Dialog title={block ? words.profile.editTitle(words.profile.names[name] ?? name) : words.profile.addTitle} onClose={onClose} wide>
      <form className="fields" onSubmit={submit}>
        {theirs && (
          <div className="said bad" role="alert">
            <p>{words.profile.conflict(theirs.version)}</p>
            <p className="theirs" dir="auto">{theirs.text || words.profile.emptyBlock}</p>
            <p className="actions">
              <button type="button" onClick={() => { setText(theirs.text); setBase(theirs); setTheirs(null); }}>{words.notes.takeTheirs}</button>
              <button type="button" onClick={() => { setBase(theirs); setTheirs(null); }}>{words.notes.keepMine}</button>
            </p>
          </div>
        )}
        {!block && (
          <>
            <label>
              <span>{words.profile.name}</span>
              <input name="name" value={called} onChange={(event) => setCalled(event.target.value)} required pattern={NAME} maxLength={60} />
              <small>{words.profile.nameHint}</small>
            </label>
            <fieldset className="choice">
              <legend>{words.profile.tier}</legend>
              {(["core", "archival"] as const).map((one) => (
                <label key={one}>
                  <input type="radio" name="tier" checked={tier === one} onChange={() => setTier(one)} />
                  <span>{words.profile.tiers[one]}: {words.profile.tierLeads[one]}</span>
                </label>
              ))}
            </fieldset>
          </>
        )}
        <label>
          <span>{words.profile.text}</span>
          <textarea value={text} onChange={(event) => setText(event.target.value)} rows={10} maxLength={8000} dir="auto" autoFocus />
          <small>{words.profile.textHint((base?.limit_tokens ?? 500).toLocaleString(words.code))}</small>
        </label>
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary" disabled={Boolean(theirs)}>{words.edit.save}</button>
        </footer>
      </form>
    </Dialog>
  );
}
