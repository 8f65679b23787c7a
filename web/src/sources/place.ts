// Where a message or a part of a document stands in its file. Clients write it, too, so it may have any form.
import type { Words } from "../words";

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** "page 4", "sheet Costs, cell B2"; empty: it does not say. */
export function placeOf(origin: unknown, words: Words): string {
  if (!isObject(origin)) return "";
  const parts = Object.entries(words.sources.place).flatMap(([name, told]) => {
    const value = origin[name];
    return typeof value === "string" || typeof value === "number" ? [told(String(value).slice(0, 200))] : [];
  });
  return parts.join(", ");
}

export function fileOf(origin: unknown): string {
  return isObject(origin) && typeof origin["file"] === "string" ? origin["file"].slice(0, 200) : "";
}
