// Pausing memory, and taking all of it along.
import { type FormEvent, useEffect, useState } from "react";
import { downloadExport, save } from "../api/download";
import { useAct, useAsked, useMemory } from "../api/memory";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { PAUSED } from "./PauseSaid";

const HOURS = ["", "1", "8", "24", "168"] as const;
const HOUR_MS = 3_600_000;

export function Keeping() {
  return (
    <div className="keeping">
      <Pausing />
      <Exporting />
    </div>
  );
}

function Pausing() {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const { data, error, again } = useAsked((client) => client.getPause(), []);
  useEffect(() => {
    window.addEventListener(PAUSED, again);
    return () => window.removeEventListener(PAUSED, again);
  }, [again]);
  const resume = () =>
    act((client) => client.resumeMemory(), () => {
      window.dispatchEvent(new Event(PAUSED));
      say(words.profile.resumed);
    });
  const pause = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const hours = Number(new FormData(event.currentTarget).get("hours"));
    const until = hours ? new Date(Date.now() + hours * HOUR_MS).toISOString() : null;
    void act((client) => client.pauseMemory({ body: { until } }), () => {
      window.dispatchEvent(new Event(PAUSED));
      say(words.profile.pausedNow, { action: { label: words.common.undo, act: () => void resume() } });
    });
  };
  return (
    <section>
      <h2>{words.profile.pauseTitle}</h2>
      <p className="lead">{words.profile.pauseLead}</p>
      {error && <p className="said bad" role="alert">{error}</p>}
      {data && (
        <p className="state">
          <b>{data.paused ? words.profile.paused : words.profile.remembering}</b>{" "}
          {data.paused && data.since && words.thing.since(times.minute(data.since))}
        </p>
      )}
      {!may("write") && <p className="lead">{words.common.readOnly}</p>}
      {data && may("write") && !data.paused && (
        <form className="narrow" onSubmit={pause}>
          <label>
            <span>{words.profile.pauseFor}</span>
            <select name="hours">
              {HOURS.map((one) => <option key={one} value={one}>{words.profile.pauses[one]}</option>)}
            </select>
          </label>
          <button type="submit">{words.profile.pause}</button>
        </form>
      )}
      {data?.paused && may("write") && <button type="button" className="primary" onClick={() => void resume()}>{words.profile.resume}</button>}
    </section>
  );
}

function Exporting() {
  const words = useWords();
  const act = useAct();
  const { say } = useNotices();
  const [busy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    await act(downloadExport, ({ file, name }) => {
      save(file, name);
      say(words.profile.exported(name));
    });
    setBusy(false);
  };
  return (
    <section>
      <h2>{words.profile.exportTitle}</h2>
      <p className="lead">{words.profile.exportLead}</p>
      <button type="button" disabled={busy} onClick={() => void download()}>{busy ? words.profile.exporting : words.profile.export}</button>
    </section>
  );
}
