// A question as the address has it, as the API takes it, and as one can paste it elsewhere.
import type { ContextIn, QuestionIn, RecallIn } from "@memsvc/client";
import { endOfDay } from "../ui/times";

export const MODES = ["eager", "balanced", "deliberate"] as const;
export const KINDS = [
  "message", "fact", "card", "note", "summary", "chunk", "turn", "task", "instruction", "block", "trace",
] as const;
export const FORMATS = ["text", "markdown", "messages", "json"] as const;
export const BUDGETS = ["500", "1000", "1500", "3000", "6000"] as const;
export const VIEWS = ["memories", "context", "answer"] as const;
export const LIMITS = ["5", "10", "20", "50"] as const;

/** The names of the address's parameters, with what counts if one is missing. */
const DEFAULTS = {
  q: "", mode: "balanced", as_of: "", known_at: "", limit: "10", kind: "", speakers: "", conversations: "", types: "",
  said_from: "", said_to: "", facts: "yes", traces: "", archived: "", view: "memories", budget: "1500", format: "text",
};
export type Question = typeof DEFAULTS;

export function readQuestion(query: URLSearchParams): Question {
  const found = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS) as (keyof Question)[]) found[name] = query.get(name) ?? DEFAULTS[name];
  return found;
}

export function writeQuestion(question: Question): Record<string, string> {
  const names = Object.keys(DEFAULTS) as (keyof Question)[];
  return Object.fromEntries(names.filter((name) => question[name] !== DEFAULTS[name]).map((name) => [name, question[name]]));
}

/** How many filters are set besides the question, the mode and the two times. */
export function countFilters(question: Question): number {
  const names = [
    "limit", "kind", "speakers", "conversations", "types", "said_from", "said_to", "facts", "traces", "archived",
  ] as const;
  return names.filter((name) => question[name] !== DEFAULTS[name]).length;
}

const listed = (text: string) => text.split(",").map((one) => one.trim()).filter(Boolean);
const oneOf = <T extends string>(known: readonly T[], given: string, otherwise: T): T =>
  known.find((one) => one === given) ?? otherwise;

function filters(question: Question, today: string): Omit<QuestionIn, "query" | "model" | "budget_tokens"> {
  const kind = KINDS.find((one) => one === question.kind);
  const knownAt = endOfDay(question.known_at, today);
  return {
    ...(question.as_of && { as_of: question.as_of }),
    ...(knownAt && { known_at: knownAt }),
    ...(kind && { kinds: [kind] }),
    ...(question.speakers && { speakers: listed(question.speakers) }),
    ...(question.conversations && { conversations: listed(question.conversations) }),
    ...(question.types && { types: listed(question.types) }),
    ...(question.said_from && { said_from: question.said_from }),
    ...(question.said_to && { said_to: question.said_to }),
    ...(question.facts !== "yes" && { facts: false }),
    ...((question.traces || kind === "trace") && { traces: true }),
    ...(question.archived && { include_archived: true }),
  };
}

export function recallOf(question: Question, today: string): RecallIn {
  const mode = oneOf(MODES, question.mode, "balanced");
  return {
    query: question.q,
    limit: Number(oneOf(LIMITS, question.limit, "10")),
    ...(mode !== "balanced" && { mode }),
    ...filters(question, today),
    explain: true,
  };
}

export function contextOf(question: Question, today: string): ContextIn {
  const mode = oneOf(MODES, question.mode, "balanced");
  return {
    query: question.q,
    budget_tokens: Number(oneOf(BUDGETS, question.budget, "1500")),
    format: oneOf(FORMATS, question.format, "text"),
    ...(mode !== "balanced" && { mode }),
    ...filters(question, today),
  };
}

/** An answer has no mode and no limit: it reads what fits its budget. */
export function answerOf(question: Question, today: string): QuestionIn {
  return { query: question.q, ...filters(question, today) };
}

const shellQuoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

export function asCurl(path: string, body: object, user?: string): string {
  const named = user ? ` -H ${shellQuoted(`X-Memsvc-User: ${user}`)}` : "";
  return `curl -s ${location.origin}${path} -H "Authorization: Bearer $KEY"${named} \\
  -H 'Content-Type: application/json' -d ${shellQuoted(JSON.stringify(body))}\n`;
}

function python(value: unknown): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value == null) return "None";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  return JSON.stringify(value);
}

export function asPython(method: "recall" | "context" | "answer", body: { query: string }): string {
  const { query, ...options } = body;
  const given = Object.entries(options).map(([name, value]) => `, ${name}=${python(value)}`);
  return `import os\n\nfrom memsvc.client import Memory\n
memory = Memory(${python(location.origin)}, os.environ["KEY"])
print(memory.${method}(${python(query)}${given.join("")}))\n`;
}
