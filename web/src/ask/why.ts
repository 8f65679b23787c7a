// Why a memory was chosen, in the page's language. The answer has the reason in English too (memsvc/recall/reasons.py);
// this makes the same one from the factors, and a test compares the two.
import type { Memory } from "@memsvc/client";
import type { Times } from "../ui/times";
import type { Words } from "../words";

const WORDS_SHOWN = 8;
const NAME_CHARS = 60;
const STRONGEST = 2;
const MOST_PHRASES = 4;
/** Points below which something is no reason, and the same for what stands around a memory. */
const LEAST = 0.05;
const LEAST_AROUND = 0.25;
const AT_THE_TIME = 0.99;
const AROUND = ["nearby", "nearby_vector"] as const;
const OTHERS = ["order", "recency", "importance", "strength", "familiarity", "usefulness", "sentiment"] as const;
interface Arm {
  name?: string;
  asker?: boolean;
  score?: number;
  metres?: number;
}
interface Phrase {
  points: number;
  text: string;
}

function line(text: string): string {
  const one = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, " ").split(/\s+/u).filter(Boolean).join(" ");
  const signs = [...one];
  return signs.length <= NAME_CHARS ? one : `${signs.slice(0, NAME_CHARS - 1).join("").trimEnd()}…`;
}

/** The reason in one line; what is on one's mind without a question has others. */
export function whyOf(memory: Memory, words: Words, times: Times): string {
  const { why } = words;
  const { factors = {}, path = [], kind = "message", matched } = memory;
  const arms = memory.arms as Record<string, Arm | undefined>;
  if (memory.why.startsWith("salient: ")) return salient(memory, words);
  const points = (name: string) => factors[name] ?? 0;
  const named = (arm: string) => line(arms[arm]?.name ?? "");
  const known = why.called[kind];
  const found: Phrase[] = [];
  const add = (given: number, text: string) => found.push({ points: given, text });
  if (matched.length) {
    const shown = matched.slice(0, WORDS_SHOWN).map((word) => why.quoted(line(word))).join(", ");
    add(points("words"), why.says(matched.length > WORDS_SHOWN ? `${shown} …` : shown));
  }
  const near = points("vector") + points("late");
  if (near >= LEAST) add(near, why.meaning);
  const isNamed = points("names") >= LEAST;
  if (isNamed) add(points("names"), why.about(kind === "fact", named("names") || line(path[0] ?? "")));
  if (points("speaker") >= LEAST && !known) add(points("speaker"), arms["speaker"]?.asker ? why.yourself : why.speaker(named("speaker")));
  if (points("time") >= LEAST) add(points("time"), why.time(kind === "fact", (arms["time"]?.score ?? 1) >= AT_THE_TIME, named("time")));
  if (arms["place"] && path.length) {
    const metres = (arms["place"].metres ?? 0).toLocaleString(words.code);
    add(points("place"), why.beside(line(path.at(-1) ?? ""), metres, line(path[0] ?? "")));
  } else if (path.length > 1) {
    const types = [...new Set(path.filter((_, place) => place % 2 === 1))].map(line).join(", ");
    add(points("distance"), why.steps(Math.floor(path.length / 2), line(path[0] ?? ""), types));
  }
  if (!known) {
    const session = points("session") + points("session_vector");
    if (session >= LEAST_AROUND) add(session, why.session);
    for (const name of AROUND) if (points(name) >= LEAST_AROUND) add(points(name), why[name]);
    for (const name of OTHERS) if (points(name) >= LEAST) add(points(name), why[name]);
  }
  const strongest = [...found].sort((a, b) => b.points - a.points).slice(0, STRONGEST);
  const said = [...strongest, ...found.filter((one) => !strongest.includes(one))].slice(0, MOST_PHRASES).map(({ text }) => text);
  if (points("staleness") <= -LEAST) said.push(why.stale);
  if (known && !isNamed) said.unshift(known);
  if (!said.length) said.push(why.none);
  if (memory.last_said && memory.count) said.push(why.again(memory.count, times.day(memory.last_said)));
  return (memory.kind === "block" ? why.block(line(memory.speaker)) : "") + said.join("; ");
}

/** On one's mind: the answer has counts in words alone, so languages that have no words for these name the factors. */
function salient(memory: Memory, { why }: Words): string {
  const parts = Object.entries(memory.factors ?? {}).filter(([, points]) => points > 0).sort(([, a], [, b]) => b - a);
  return why.salient(memory.why, parts.map(([name]) => why.mind[name] ?? name));
}
