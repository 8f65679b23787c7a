// The blocks of a note's text: a small part of Markdown, by lines.
export type Block =
  | { kind: "heading"; level: number; text: string }
  | { kind: "text" | "quote"; lines: string[] }
  | { kind: "code"; text: string }
  | { kind: "list"; ordered: boolean; first: number; items: { lines: string[]; depth: number; done: boolean | null }[] }
  | { kind: "rule" };

const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;
const TASK = /^\[([ xX])\]\s+(.*)$/;
const RULE = /^\s*([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^>\s?(.*)$/;
const DEEPEST = 4;

export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const last = blocks.at(-1);
    const before = at > 0 && Boolean(lines[at - 1]?.trim());
    if (!line.trim()) continue;
    if (line.startsWith("```")) {
      const end = lines.findIndex((one, index) => index > at && one.startsWith("```"));
      blocks.push({ kind: "code", text: lines.slice(at + 1, end < 0 ? undefined : end).join("\n") });
      at = end < 0 ? lines.length : end;
      continue;
    }
    const heading = HEADING.exec(line);
    const item = ITEM.exec(line);
    const quote = QUOTE.exec(line);
    if (RULE.test(line)) blocks.push({ kind: "rule" });
    else if (heading) blocks.push({ kind: "heading", level: heading[1]?.length ?? 1, text: heading[2] ?? "" });
    else if (item) {
      const task = TASK.exec(item[4] ?? "");
      const entry = {
        lines: [task ? (task[2] ?? "") : (item[4] ?? "")],
        depth: Math.min(DEEPEST, Math.floor((item[1]?.length ?? 0) / 2)),
        done: task ? task[1] !== " " : null,
      };
      const ordered = item[3] !== undefined;
      if (last?.kind === "list" && (last.ordered === ordered || entry.depth > 0)) last.items.push(entry);
      else blocks.push({ kind: "list", ordered, first: Number(item[3] ?? 1), items: [entry] });
    } else if (quote) {
      if (last?.kind === "quote" && before) last.lines.push(quote[1] ?? "");
      else blocks.push({ kind: "quote", lines: [quote[1] ?? ""] });
    } else if (before && last?.kind === "list") last.items.at(-1)?.lines.push(line.trim());
    else if (before && (last?.kind === "text" || last?.kind === "quote")) last.lines.push(line);
    else blocks.push({ kind: "text", lines: [line] });
  }
  return blocks;
}
