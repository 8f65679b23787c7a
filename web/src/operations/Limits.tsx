// The limits of a key, as two fields; empty: no limit.
import type { LimitsIn } from "@memsvc/client";
import { useWords } from "../words";

const MOST = 1_000_000_000;

export function Limits({ minute, day }: { minute?: number | null; day?: number | null }) {
  const { operations: texts } = useWords();
  return (
    <div className="pair">
      <label>
        <span>{texts.perMinute}</span>
        <input name="minute" type="number" min={1} max={MOST} placeholder={texts.noLimit} defaultValue={minute ?? ""} />
      </label>
      <label>
        <span>{texts.perDay}</span>
        <input name="messages" type="number" min={1} max={MOST} placeholder={texts.noLimit} defaultValue={day ?? ""} />
      </label>
    </div>
  );
}

export function limitsOf(form: FormData): Required<LimitsIn> {
  const read = (name: string) => Number(form.get(name)) || null;
  return { requests_per_minute: read("minute"), messages_per_day: read("messages") };
}
