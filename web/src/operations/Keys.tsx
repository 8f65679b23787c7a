// The keys of the app: what each may do, for whom, and how often it is used; making, changing and revoking them.
import type { Key, KeyDay, NewKey } from "@memsvc/client";
import { useState } from "react";
import { useAct, useAsked, usePages } from "../api/memory";
import { go, href } from "../app/route";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { ChangeKey } from "./ChangeKey";
import { Days } from "./Days";
import { useFigures } from "./figures";
import { MakeKey, NewKeyShown } from "./MakeKey";
import { RevokeKey } from "./RevokeKey";

const PAGE = 100;
export const SHOWN_DAYS = 30;
type Doing = { what: "make" } | { what: "change" | "revoke"; key: Key } | { what: "made"; made: NewKey } | null;

const isOver = (key: Key) => Boolean(key.revoked_at) || Boolean(key.expires_at && Date.parse(key.expires_at) <= Date.now());

export function Keys({ query }: { query: URLSearchParams }) {
  const words = useWords();
  const { operations: texts } = words;
  const act = useAct();
  const { say } = useNotices();
  const [doing, setDoing] = useState<Doing>(null);
  const old = query.get("old") === "yes";
  const { items, more, error, data, again } = usePages((client, cursor) => client.listKeys({ query: { limit: PAGE, cursor } }), []);
  const use = useAsked((client) => client.listKeyUse({ query: { days: SHOWN_DAYS } }), []);
  const users = useAsked((client) => client.listUsers({ query: { limit: 1000 } }), []);
  const nameOf = new Map(users.data?.items.map((one) => [one.user_id, one.name]));
  const shown = items.filter((key) => old || !isOver(key)).reverse();
  const close = () => setDoing(null);
  const renew = () => {
    again();
    use.again();
  };
  const changed = (text: string, undo?: () => Promise<boolean>) => {
    close();
    renew();
    const act = () => void undo?.().then((worked) => worked && (say(words.common.undone), renew()));
    say(text, undo ? { action: { label: words.common.undo, act } } : {});
  };
  return (
    <div className="parts">
      <div className="bar">
        <p className="lead">{texts.keysLead}</p>
        <button type="button" className="primary" onClick={() => setDoing({ what: "make" })}>{texts.makeKey}</button>
      </div>
      <label className="check">
        <input type="checkbox" checked={old} onChange={() => go(["operations", "keys"], { old: old ? "" : "yes" }, { replace: true })} />
        <span>{texts.showOld}</span>
      </label>
      {error && <p className="said bad" role="alert">{error}</p>}
      {data && shown.length === 0 && <p className="empty">{texts.noKeys}</p>}
      <ul className="lines keys">
        {shown.map((key) => (
          <KeyLine key={key.key_id} one={key} days={use.data?.items.filter((day) => day.key_id === key.key_id)}
            whose={key.user_id ? (nameOf.get(key.user_id) ?? key.user_id) : texts.allUsers}
            onChange={() => setDoing({ what: "change", key })} onRevoke={() => setDoing({ what: "revoke", key })} />
        ))}
      </ul>
      {more && <p className="further"><button type="button" onClick={more}>{texts.more}</button></p>}
      {doing?.what === "make" && (
        <MakeKey users={users.data?.items ?? []} onClose={close} onMade={(made) => {
          setDoing({ what: "made", made });
          renew();
        }} />
      )}
      {doing?.what === "made" && <NewKeyShown made={doing.made} onClose={close} />}
      {doing?.what === "change" && <ChangeKey one={doing.key} onClose={close} onChanged={changed} act={act} />}
      {doing?.what === "revoke" && <RevokeKey one={doing.key} onClose={close} onRevoked={() => changed(texts.revokedNow)} />}
    </div>
  );
}

function KeyLine({ one, days, whose, onChange, onRevoke }: {
  one: Key;
  days: readonly KeyDay[] | undefined;
  whose: string;
  onChange: () => void;
  onRevoke: () => void;
}) {
  const { operations: texts } = useWords();
  const times = useTimes();
  const { number } = useFigures();
  const over = isOver(one);
  const name = one.label || texts.unnamed;
  const last = days?.[0];
  const limits = [
    one.requests_per_minute != null && `${texts.perMinute}: ${number(one.requests_per_minute)}`,
    one.messages_per_day != null && `${texts.perDay}: ${texts.of(number(one.messages_today ?? 0), number(one.messages_per_day))}`,
  ].filter(Boolean);
  return (
    <li className={over ? "over" : ""}>
      <div>
        <strong dir="auto" className={one.label ? "" : "unnamed"}>{name}</strong>
        <p className="scopes">
          {one.scopes.map((scope) => <span key={scope} className={scope === "admin" ? "scope strong" : "scope"}>{texts.scope[scope] ?? scope}</span>)}
        </p>
        <p className="meta">
          <code>{one.key_id}</code>
          <span dir="auto">{whose}</span>
          <span>{texts.since(times.day(one.created_at))}</span>
          {one.revoked_at ? <span className="bad">{texts.revoked(times.day(one.revoked_at))}</span> : one.expires_at && (
            <span className={over ? "bad" : ""}>{over ? texts.expired(times.day(one.expires_at)) : texts.expires(times.minute(one.expires_at))}</span>
          )}
          {limits.map((limit) => <span key={String(limit)}>{limit}</span>)}
        </p>
      </div>
      <div className="use">
        {days && last ? <Days days={days} label={`${texts.useTitle}: ${name}`} /> : null}
        {days && <small>{last ? texts.lastUsed(times.minute(last.last_at)) : texts.neverUsed}</small>}
      </div>
      <div className="actions">
        <a className="button quiet" href={href(["operations", "audit"], { actor: one.key_id })} aria-label={`${texts.acts}: ${name}`}>{texts.acts}</a>
        {!over && <button type="button" className="quiet" onClick={onChange} aria-label={`${texts.changeKey} ${name}`}>{texts.changeKey}</button>}
        {!over && <button type="button" className="quiet danger" onClick={onRevoke} aria-label={`${texts.revoke} ${name}`}>{texts.revoke}</button>}
      </div>
    </li>
  );
}
