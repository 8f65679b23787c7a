// Who is signed in, in which language; the rest is inside.
import { useCallback, useEffect, useState } from "react";
import { dropSession, keptSession, type Session, signOut } from "../api/session";
import { SignInPage, type Reason } from "../session/SignInPage";
import { NoticesProvider } from "../ui/notices";
import { firstLanguage, keepLanguage, type Words, WordsContext } from "../words";
import { SignedIn } from "./SignedIn";
import { go, useRoute } from "./route";
import { keptTheme, showTheme } from "./theme";

export function App() {
  const [words, setWords] = useState(firstLanguage);
  const [session, setSession] = useState(keptSession);
  const [reason, setReason] = useState<Reason>("");
  useRoute(); // a link may be opened in a tab that is signed in
  const linked = location.hash.startsWith("#token=");
  useEffect(() => showTheme(keptTheme()), []);
  useEffect(() => {
    document.documentElement.lang = words.code;
  }, [words]);
  useEffect(() => {
    // Another tab signed in or out.
    const changed = () => setSession(keptSession());
    window.addEventListener("storage", changed);
    return () => window.removeEventListener("storage", changed);
  }, []);
  const choose = useCallback((chosen: Words) => {
    keepLanguage(chosen);
    setWords(chosen);
  }, []);
  const begin = useCallback((made: Session) => {
    setReason("");
    setSession(made);
  }, []);
  const ended = useCallback((page: string) => {
    if (keptSession()?.page !== page) return; // a late answer to the session before
    dropSession();
    setReason("ended");
    setSession(null);
  }, []);
  const leave = useCallback(() => {
    const left = keptSession();
    setReason("out");
    setSession(null);
    go(["ask"], {}, { replace: true }); // the next one begins at the beginning, and sees no question
    document.title = "memsvc";
    if (left) signOut(left).catch(() => undefined); // both halves are gone, or soon useless
  }, []);
  return (
    <WordsContext value={words}>
      <NoticesProvider key={session?.page ?? ""}>
        {session && !linked ? (
          <SignedIn key={session.page} session={session} onEnded={ended} onLeave={leave} onLanguage={choose} />
        ) : (
          <SignInPage reason={reason} onSession={begin} onLanguage={choose} />
        )}
      </NoticesProvider>
    </WordsContext>
  );
}
