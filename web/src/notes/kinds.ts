// Kinds of notes, and relations between them.
export const KINDS = ["fact", "preference", "decision", "insight", "question", "concept"] as const;
export type Kind = (typeof KINDS)[number];
export const kindOf = (given: string | null): Kind | "" => KINDS.find((one) => one === given) ?? "";

export const RELATIONS = [
  "relates_to", "extends", "supports", "contradicts", "example_of", "part_of", "answers", "caused_by", "temporal",
] as const;
export type Relation = (typeof RELATIONS)[number];
const TYPES: Record<string, Relation> = {
  EXTENDS: "extends", CONTRADICTS: "contradicts", SUPPORTS: "supports", EXAMPLE_OF: "example_of", PART_OF: "part_of",
  RELATED_TO: "relates_to", ANSWERS: "answers", CAUSED_BY: "caused_by", PRECEDES: "temporal",
};
/** The relation of an edge's type; undefined: it is no link. */
export const relationOf = (type: string): Relation | undefined => TYPES[type];

export const tagsOf = (text: string): string[] => [
  ...new Set(text.split(",").map((one) => one.trim().replace(/^#+/, "").trim()).filter(Boolean)),
];
