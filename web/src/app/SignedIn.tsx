// The frame around every screen: who it is, where one can go, and the screen itself.
import type { Me } from "@memsvc/client";
import { MemsvcError } from "@memsvc/client";
import { useEffect, useMemo, useState } from "react";
import { AskPage } from "../ask/AskPage";
import { type Memory, MemoryContext, told } from "../api/memory";
import { clientOf, type Session } from "../api/session";
import { ThingPage } from "../things/ThingPage";
import { ThingsPage } from "../things/ThingsPage";
import { Icon } from "../ui/Icon";
import { useWords, type Words } from "../words";
import { Menu } from "./Menu";
import { Palette } from "./Palette";
import { href, type Route, useRoute } from "./route";

const APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function SignedIn({ session, onEnded, onLeave, onLanguage }: {
  session: Session;
  onEnded: () => void;
  onLeave: () => void;
  onLanguage: (words: Words) => void;
}) {
  const words = useWords();
  const client = useMemo(() => clientOf(session), [session]);
  const [me, setMe] = useState<Me | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [times, setTimes] = useState(0);
  useEffect(() => {
    setError(null);
    client.getMe().then(setMe, (failed: unknown) => {
      if (failed instanceof MemsvcError && failed.status === 401) onEnded();
      else setError(failed);
    });
  }, [client, times, onEnded]);
  const memory = useMemo<Memory | null>(
    () =>
      me && {
        client, me, zone: me.user.time_zone, ended: onEnded, may: (scope) => me.scopes.includes(scope),
      },
    [client, me, onEnded],
  );
  if (error)
    return (
      <main className="signin">
        <p role="alert">{told(error, words)}</p>
        <button type="button" onClick={() => setTimes(times + 1)}>{words.common.retry}</button>
        <button type="button" className="link" onClick={onLeave}>{words.menu.signOut}</button>
      </main>
    );
  if (!memory) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  return (
    <MemoryContext value={memory}>
      <Frame onLeave={onLeave} onLanguage={onLanguage} />
    </MemoryContext>
  );
}

function Frame({ onLeave, onLanguage }: { onLeave: () => void; onLanguage: (words: Words) => void }) {
  const words = useWords();
  const route = useRoute();
  const [finding, setFinding] = useState(false);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
      const wanted = (event.key === "k" && (event.metaKey || event.ctrlKey)) || (event.key === "/" && !typing);
      if (!wanted || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      setFinding(true);
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
  const at = route.path[0];
  const link = (path: string, label: string) => (
    <a href={href([path])} aria-current={at === path ? "page" : undefined}>{label}</a>
  );
  return (
    <>
      <a className="skip" href="#content" onClick={(event) => {
        event.preventDefault();
        document.getElementById("content")?.focus();
      }}>
        {words.menu.skip}
      </a>
      <header className="frame">
        <a className="wordmark" href={href(["ask"])}>memsvc</a>
        <nav aria-label={words.nav.main}>
          {link("ask", words.nav.ask)}
          {link("things", words.nav.things)}
        </nav>
        <button type="button" className="finder" onClick={() => setFinding(true)} aria-keyshortcuts="Control+K Meta+K /">
          <Icon name="search" />
          <span>{words.nav.find}</span>
          <kbd aria-hidden="true">{APPLE ? "⌘K" : "Ctrl K"}</kbd>
        </button>
        <Menu onLeave={onLeave} onLanguage={onLanguage} />
      </header>
      <main id="content" tabIndex={-1}>
        <Screen route={route} />
      </main>
      {finding && <Palette onClose={() => setFinding(false)} onLeave={onLeave} onLanguage={onLanguage} />}
    </>
  );
}

function Screen({ route }: { route: Route }) {
  const words = useWords();
  const [first, second] = route.path;
  const titles: Record<string, string> = { ask: words.ask.title, things: words.things.title };
  useEffect(() => {
    if (!second) document.title = `${titles[first ?? ""] ?? ""} · memsvc`;
  });
  if (first === "ask") return <AskPage query={route.query} />;
  if (first === "things" && second) return <ThingPage key={second} nodeId={second} query={route.query} />;
  if (first === "things") return <ThingsPage query={route.query} />;
  return (
    <p className="empty">
      {words.common.notThere} <a href={href(["ask"])}>{words.common.home}</a>
    </p>
  );
}
