// Signing in: by the link that a command prints, or with a key.
import { MemsvcError } from "@memsvc/client";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { told } from "../api/memory";
import { type Session, type SignIn, signIn, takeTicket } from "../api/session";
import { LANGUAGES, useWords, type Words } from "../words";
import "./signin.css";

export type Reason = "" | "ended" | "out";

function problem(error: unknown, words: Words): string {
  const code = error instanceof MemsvcError ? error.code : "";
  const known: Record<string, string> = {
    link_invalid: words.signIn.badLink,
    unauthenticated: words.signIn.badKey,
    user_required: words.signIn.needUser,
    user_unknown: words.signIn.noUser,
  };
  return known[code] ?? told(error, words);
}

export function SignInPage({ reason, onSession, onLanguage }: {
  reason: Reason;
  onSession: (session: Session) => void;
  onLanguage: (words: Words) => void;
}) {
  const words = useWords();
  const [busy, setBusy] = useState<"" | "key" | "link">("");
  const [error, setError] = useState<unknown>(null);
  const [asksUser, setAsksUser] = useState(false);
  const begun = useRef(false);

  const enter = (given: SignIn, by: "key" | "link") => {
    setBusy(by);
    setError(null);
    signIn(given).then(onSession, (failed: unknown) => {
      setBusy("");
      setError(failed);
      if (failed instanceof MemsvcError && failed.code.startsWith("user_")) setAsksUser(true);
    });
  };
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    const ticket = takeTicket();
    if (ticket) enter({ ticket }, "link");
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const user = String(form.get("user") ?? "").trim();
    enter({ key: String(form.get("key") ?? "").trim(), ...(user && { user }) }, "key");
  };
  const first = reason === "ended" ? words.signIn.ended : reason === "out" ? words.signIn.out : "";
  return (
    <main className="signin">
      <p className="wordmark">memsvc</p>
      <h1>{words.signIn.title}</h1>
      <p role="alert" className={error ? "said bad" : "said"}>
        {error ? problem(error, words) : first}
      </p>
      {busy === "link" ? (
        <p>{words.signIn.link}</p>
      ) : (
        <>
          <p>{words.signIn.lead}</p>
          <pre className="command">memsvc web</pre>
          <form onSubmit={submit}>
            <p>{words.signIn.or}</p>
            <label>
              <span>{words.signIn.key}</span>
              <input name="key" type="password" required autoComplete="off" spellCheck={false} maxLength={5000} />
              <small>{words.signIn.keyHint}</small>
            </label>
            {asksUser && (
              <label>
                <span>{words.signIn.user}</span>
                <input name="user" autoComplete="username" spellCheck={false} maxLength={200} autoFocus />
                <small>{words.signIn.userHint}</small>
              </label>
            )}
            <button type="submit" className="primary" disabled={busy === "key"}>
              {busy === "key" ? words.signIn.busy : words.signIn.submit}
            </button>
          </form>
        </>
      )}
      <p className="languages">
        {LANGUAGES.map((one) => (
          <button type="button" className="link" lang={one.code} key={one.code} aria-pressed={one === words}
            onClick={() => onLanguage(one)}>
            {one.language}
          </button>
        ))}
      </p>
    </main>
  );
}
