// Says on top of the profile that memory is paused, and ends the pause.
import { useEffect } from "react";
import { useAct, useAsked, useMemory } from "../api/memory";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";

/** The page's own word that the pause has changed. */
export const PAUSED = "memsvc.paused";

export function PauseSaid() {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const { data, again } = useAsked((client) => client.getPause(), []);
  useEffect(() => {
    window.addEventListener(PAUSED, again);
    return () => window.removeEventListener(PAUSED, again);
  }, [again]);
  if (!data?.paused) return null;
  const resume = () =>
    act((client) => client.resumeMemory(), () => {
      window.dispatchEvent(new Event(PAUSED));
      say(words.profile.resumed);
    });
  return (
    <p className="said paused" role="status">
      <span>
        <b>{words.profile.paused}</b> {data.until ? words.profile.pausedUntil(times.minute(data.until)) : words.profile.pausedOpen}
      </span>
      {may("write") && <button type="button" onClick={() => void resume()}>{words.profile.resume}</button>}
    </p>
  );
}
