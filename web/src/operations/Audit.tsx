// The audit log: who did what and when, narrowed by actor, act and day; the address keeps what is asked.
import type { Act } from "@memsvc/client";
import { useEffect, useState } from "react";
import { useAsked, usePages } from "../api/memory";
import { go } from "../app/route";
import { DayField } from "../ui/DayField";
import { Copy } from "../ui/Copy";
import { useTimes } from "../ui/times";
import { useWords } from "../words";

const PAGE = 50;
const SETTLE_MS = 300;
const NAMES = ["actor", "action", "since", "until"] as const;
type Asked = Partial<Record<(typeof NAMES)[number], string>>;

const shellQuoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

export function Audit({ query }: { query: URLSearchParams }) {
  const words = useWords();
  const { operations: texts } = words;
  const times = useTimes();
  const asked: Asked = Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ""]).filter(([, given]) => given));
  const [actor, setActor] = useState(asked.actor ?? "");
  const { items, more, error, data, again } = usePages(
    (client, cursor) => client.listActs({ query: { ...asked, limit: PAGE, cursor } }),
    [JSON.stringify(asked)],
  );
  // The log has ids only; keys and users that are still there are named.
  const keys = useAsked((client) => client.listKeys({ query: { limit: 1000 } }), []);
  const users = useAsked((client) => client.listUsers({ query: { limit: 1000 } }), []);
  const named = new Map([
    ...(keys.data?.items.map((one) => [one.key_id, one.label] as const) ?? []),
    ...(users.data?.items.map((one) => [one.user_id, one.name] as const) ?? []),
  ]);
  const show = (changes: Asked) => go(["operations", "audit"], { ...asked, ...changes }, { replace: true });
  useEffect(() => {
    if (actor.trim() === (query.get("actor") ?? "")) return;
    const settled = setTimeout(() => show({ actor: actor.trim() }), SETTLE_MS);
    return () => clearTimeout(settled);
  });
  const address = () => `${location.origin}/v1/audit?${new URLSearchParams({ ...asked, limit: String(PAGE) }).toString()}`;
  const curl = () => `curl -s ${shellQuoted(address())} -H "Authorization: Bearer $KEY"\n`;
  const python = () => `import os\n\nimport httpx\n\nheaders = {"Authorization": "Bearer " + os.environ["KEY"]}\n` +
    `answer = httpx.get(${JSON.stringify(address())}, headers=headers)\nfor act in answer.json()["items"]:\n` +
    `    print(act["recorded_at"], act["action"], act["subject"])\n`;
  return (
    <div className="parts">
      <div className="bar">
        <p className="lead">{texts.auditLead}</p>
        <div className="copies">
          <button type="button" className="quiet" onClick={again}>{words.ask.empty.look}</button>
          <Copy label={words.ask.copyCurl} text={curl} />
          <Copy label={words.ask.copyPython} text={python} />
        </div>
      </div>
      <div className="narrow">
        <label>
          <span>{texts.act}</span>
          <select value={asked.action ?? ""} onChange={(event) => show({ action: event.target.value })}>
            <option value="">{texts.anyAct}</option>
            {Object.entries(texts.actGroups).map(([group, name]) => (
              <optgroup key={group} label={name}>
                <option value={group}>{`${name}: ${texts.anyAct}`}</option>
                {Object.entries(texts.actWords).filter(([one]) => one.startsWith(`${group}.`)).map(([one, said]) => (
                  <option key={one} value={one}>{said}</option>
                ))}
              </optgroup>
            ))}
          </select>
        </label>
        <label>
          <span>{texts.actor}</span>
          <input value={actor} onChange={(event) => setActor(event.target.value)} placeholder={texts.actorHint} maxLength={100} />
        </label>
        <label>
          <span>{texts.from}</span>
          <DayField value={asked.since ?? ""} onDay={(chosen) => show({ since: chosen })} />
        </label>
        <label>
          <span>{texts.to}</span>
          <DayField value={asked.until ?? ""} onDay={(chosen) => show({ until: chosen })} />
        </label>
        {Object.keys(asked).length > 0 && (
          <button type="button" className="quiet" onClick={() => {
            setActor("");
            go(["operations", "audit"], {}, { replace: true });
          }}>{texts.clear}</button>
        )}
      </div>
      {error && <p className="said bad" role="alert">{error}</p>}
      {data && items.length === 0 && <p className="empty">{texts.noActs}</p>}
      <ol className="lines acts">
        {items.map((act) => (
          <li key={act.audit_id}>
            <time dateTime={act.recorded_at}>{times.minute(act.recorded_at)}</time>
            <div>
              <strong>{texts.actWords[act.action] ?? act.action}</strong> {act.whole_service && <span className="state">{texts.wholeService}</span>}
              <p className="meta">
                {named.get(act.subject) && <span dir="auto">{named.get(act.subject)}</span>}
                <code>{act.subject}</code>
                <Details act={act} />
                {act.user_id && act.user_id !== act.subject && <span dir="auto">{named.get(act.user_id) ?? act.user_id}</span>}
              </p>
            </div>
            <p className="by"><By act={act} label={named.get(act.key_id ?? "")} /></p>
          </li>
        ))}
      </ol>
      {more && <p className="further"><button type="button" onClick={more}>{texts.more}</button></p>}
    </div>
  );
}

function By({ act, label }: { act: Act; label: string | undefined }) {
  const { operations: texts } = useWords();
  if (!act.door) return texts.service;
  return (
    <>
      {texts.doors[act.door]} {act.key_id && <code title={label}>{act.key_id}</code>}
    </>
  );
}

/** Scopes, kinds and counts, as short texts. */
function Details({ act }: { act: Act }) {
  const { code, operations: texts } = useWords();
  const scopes = (given: unknown) => (Array.isArray(given) ? given.map((one) => texts.scope[String(one)] ?? String(one)).join(", ") : "");
  const { before, after, kind, rows, scopes: made } = act.details;
  const parts = [
    after ? `${scopes(before)} → ${scopes(after)}` : "",
    scopes(made),
    typeof kind === "string" ? (texts.what[kind] ?? kind) : "",
    typeof rows === "number" ? texts.rowsErased(rows.toLocaleString(code)) : "",
    rows && typeof rows === "object" ? texts.rowsErased(Object.values(rows).reduce((sum: number, n) => sum + Number(n), 0).toLocaleString(code)) : "",
  ].filter(Boolean);
  return parts.map((part) => <span key={part}>{part}</span>);
}
