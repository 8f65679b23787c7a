// The frame around every screen: who it is, where one can go, and the screen itself.
import type { Me } from "@memsvc/client";
import { MemsvcError } from "@memsvc/client";
import { Suspense, useEffect, useMemo, useState } from "react";
import { LiveProvider } from "../api/live";
import { type Memory, MemoryContext, told, useMemory } from "../api/memory";
import { clientOf, type Session } from "../api/session";
import { Icon } from "../ui/Icon";
import { useWords, type Words } from "../words";
import { Connection } from "./Connection";
import { Guarded } from "./Broken";
import { Menu } from "./Menu";
import { Nav } from "./Nav";
import { Palette } from "./Palette";
import { href, type Route, useRoute } from "./route";
import { SCREENS } from "./screens";

const APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function SignedIn({ session, onEnded, onLeave, onLanguage }: {
  session: Session;
  onEnded: (page: string) => void;
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
      if (failed instanceof MemsvcError && failed.status === 401) onEnded(session.page);
      else setError(failed);
    });
  }, [client, times, onEnded, session]);
  const memory = useMemo<Memory | null>(
    () =>
      me && {
        client, me, zone: me.user.time_zone, ended: () => onEnded(session.page), may: (scope) => (scope === "admin" ? me.administers : me.scopes.includes(scope)),
      },
    [client, me, onEnded, session],
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
      <LiveProvider>
        <Frame onLeave={onLeave} onLanguage={onLanguage} />
      </LiveProvider>
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
  return (
    <>
      <a className="skip" href="#content" onClick={(event) => {
        event.preventDefault();
        document.getElementById("content")?.focus();
      }}>
        {words.menu.skip}
      </a>
      <header className="frame">
        <Nav />
        <a className="wordmark" href={href(["ask"])}>memsvc</a>
        <Connection />
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
  const memory = useMemory();
  const [first, ...rest] = route.path;
  const screen = SCREENS.find(({ path, may }) => path === first && (may?.(memory) ?? true));
  useEffect(() => {
    if (!rest.length) document.title = `${screen?.title(words) ?? ""} · memsvc`;
  });
  if (!screen)
    return (
      <p className="empty">
        {words.common.notThere} <a href={href(["ask"])}>{words.common.home}</a>
      </p>
    );
  return (
    <Guarded key={first}>
      <Suspense fallback={<p className="waiting" aria-live="polite">{words.common.loading}</p>}>
        <screen.page rest={rest} query={route.query} />
      </Suspense>
    </Guarded>
  );
}
