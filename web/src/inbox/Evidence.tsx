// Why something is proposed, in words: numbers above zero speak for it, those below against it.
import { useWords } from "../words";

const COUNTED = new Set(["common", "days", "recalls", "contradictions", "facts"]);

export function Evidence({ evidence }: { evidence: Readonly<Record<string, number>> }) {
  const words = useWords();
  const named = (some: [string, number][]) =>
    some.map(([name, n]) => {
      const known = words.inbox.evidence[name] ?? name;
      return COUNTED.has(name) ? `${n.toLocaleString(words.code)} ${known}` : known;
    }).join(", ");
  const all = Object.entries(evidence).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  const [good, bad] = [all.filter(([, n]) => n > 0), all.filter(([, n]) => n < 0)];
  if (good.length + bad.length === 0) return null;
  return (
    <dl className="told">
      {good.length > 0 && <div><dt>{words.inbox.speaksFor}</dt><dd>{named(good)}</dd></div>}
      {bad.length > 0 && <div><dt>{words.inbox.speaksAgainst}</dt><dd>{named(bad)}</dd></div>}
    </dl>
  );
}
