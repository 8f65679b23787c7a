// One moment, by slider, by keyboard or as a date: a day forward or back by arrows, a month by page keys. It can play.
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { DayField } from "../ui/DayField";
import { Icon } from "../ui/Icon";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { dayOf, monthsLater, numberOf } from "./days";

const SETTLE_MS = 250;
const PLAY_MS = 300;
const PLAY_STEPS = 60;

export function TimeSlider({ label, none, day, from, to, waits, onSlide, onSettle }: {
  label: string;
  /** What no day means: at any time, or now. */
  none: string;
  day: string;
  /** The first and the last day. */
  from: string;
  to: string;
  /** Playing waits until what was asked has come. */
  waits: boolean;
  /** At once, for each step. */
  onSlide: (day: string) => void;
  /** When the slider rests. */
  onSettle: (day: string) => void;
}) {
  const words = useWords();
  const times = useTimes();
  const id = useId();
  const [playing, setPlaying] = useState(false);
  const settle = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [moved, setMoved] = useState<string | null>(null);
  useEffect(() => () => clearTimeout(settle.current), []);
  useEffect(() => setMoved(null), [day]);
  const first = numberOf(from);
  const last = Math.max(numberOf(to), first + 1);
  const shown = moved ?? day;
  const at = Math.min(last, Math.max(first, shown ? numberOf(shown) : numberOf(to)));
  const set = (chosen: string) => {
    setMoved(chosen);
    onSlide(chosen);
    clearTimeout(settle.current);
    settle.current = setTimeout(() => onSettle(chosen), SETTLE_MS);
  };
  const move = (number: number) => set(dayOf(Math.min(last, Math.max(first, number))));
  useEffect(() => {
    if (!playing || waits) return;
    const step = Math.max(1, Math.round((last - first) / PLAY_STEPS));
    const timer = setTimeout(() => {
      if (at >= last) setPlaying(false);
      else move(at + step);
    }, PLAY_MS);
    return () => clearTimeout(timer);
  });
  const pressed = (event: KeyboardEvent) => {
    const months = { PageUp: 1, PageDown: -1 }[event.key];
    if (!months) return;
    event.preventDefault();
    move(monthsLater(at, months));
  };
  const play = () => {
    if (!playing && at >= last) move(first);
    setPlaying(!playing);
  };
  return (
    <div className={shown ? "time" : "time unset"}>
      <button type="button" className="icon" aria-label={playing ? words.graph.pause(label) : words.graph.play(label)} onClick={play}>
        <Icon name={playing ? "pause" : "play"} />
      </button>
      <label htmlFor={id}>{label}</label>
      <input id={id} type="range" min={first} max={last} step={1} value={at} onKeyDown={pressed}
        aria-valuetext={shown ? times.day(`${dayOf(at)}T12:00:00Z`) : none}
        onChange={(event) => move(Number(event.target.value))} />
      <DayField value={shown} aria-label={words.graph.date(label)} onDay={set} />
      <button type="button" className="quiet" aria-pressed={!shown} onClick={() => {
        setPlaying(false);
        set("");
      }}>
        {none}
      </button>
    </div>
  );
}
