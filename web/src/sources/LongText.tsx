// A text of any length: of a long one the beginning, or what is around the words in question, until all of it is wanted.
import { useState } from "react";
import { useWords } from "../words";

const LONG = 4_000;
const AROUND = 600;

export function LongText({ text, marked }: { text: string; marked?: string | undefined }) {
  const words = useWords();
  const [whole, setWhole] = useState(false);
  const at = marked ? text.indexOf(marked) : -1;
  const cut = text.length > LONG && !whole;
  const from = cut && at > AROUND ? at - AROUND : 0;
  const to = cut ? Math.max(from + LONG / 2, at < 0 ? 0 : Math.min(at + (marked?.length ?? 0), at + LONG)) : text.length;
  const begin = Math.max(at, from);
  const end = at < 0 ? from : Math.min(at + (marked?.length ?? 0), to);
  return (
    <>
      <p className="text" dir="auto">
        {from > 0 && "… "}
        {at < 0 ? text.slice(from, to) : (
          <>
            {text.slice(from, begin)}
            <mark>{text.slice(begin, end)}</mark>
            {text.slice(end, to)}
          </>
        )}
        {to < text.length && " …"}
      </p>
      {text.length > LONG && (
        <button type="button" className="link small" onClick={() => setWhole(!whole)}>
          {whole ? words.sources.showLess : words.sources.showAll(text.length)}
        </button>
      )}
    </>
  );
}
