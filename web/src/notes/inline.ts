// What stands inside a line of a note: links by name, addresses, strong, emphasised and literal words.
export type Inline =
  | { kind: "text" | "strong" | "em" | "code"; text: string }
  | { kind: "name"; name: string }
  | { kind: "address"; text: string; address: string };

const MOST_NAME = 200;
/** Each alternative ends at the first closing mark and crosses no line, so the time grows with the text. */
const MARKS = new RegExp(
  [
    "`([^`\\n]+)`",
    `\\[\\[([^\\[\\]\\n]{1,${MOST_NAME}})\\]\\]`,
    "\\[([^\\[\\]\\n]{1,500})\\]\\((https?://[^\\s()<>]{1,2000})\\)",
    "(https?://[^\\s<>\"'`\\[\\]]{1,2000})",
    "\\*\\*([^*\\n]{1,2000})\\*\\*",
    "(?<![\\w*])[*_]([^*_\\s][^*_\\n]{0,2000})[*_](?![\\w*])",
  ].join("|"),
  "g",
);

export function inlineOf(line: string): Inline[] {
  const parts: Inline[] = [];
  let at = 0;
  for (const found of line.matchAll(MARKS)) {
    if (found.index > at) parts.push({ kind: "text", text: line.slice(at, found.index) });
    at = found.index + found[0].length;
    const [all, code, name, label, address, bare, strong, em] = found;
    if (code !== undefined) parts.push({ kind: "code", text: code });
    else if (name !== undefined) parts.push(name.trim() ? { kind: "name", name: name.trim() } : { kind: "text", text: all });
    else if (label !== undefined && address !== undefined) parts.push({ kind: "address", text: label, address });
    else if (bare !== undefined) {
      const end = /[.,;:!?)]*$/.exec(bare)?.[0].length ?? 0;
      const whole = bare.slice(0, bare.length - end);
      parts.push({ kind: "address", text: whole, address: whole });
      at -= end;
    } else if (strong !== undefined) parts.push({ kind: "strong", text: strong });
    else if (em !== undefined) parts.push({ kind: "em", text: em });
  }
  if (at < line.length) parts.push({ kind: "text", text: line.slice(at) });
  return parts;
}

/** The names that a text links to, each once, as they were first written. */
export function namesIn(text: string): string[] {
  const found = new Map<string, string>();
  for (const line of text.split("\n"))
    for (const part of inlineOf(line)) if (part.kind === "name") found.set(same(part.name), found.get(same(part.name)) ?? part.name);
  return [...found.values()];
}

/** Names that differ in case, spaces or form of their letters are the same. */
export const same = (name: string): string => name.normalize("NFKC").replace(/\s+/g, " ").trim().toLowerCase();
