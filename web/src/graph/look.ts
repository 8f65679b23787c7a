// How nodes and facts look: a colour and a shape for each type, so that neither alone must be told apart.
import type { Mark, ShownEdge, ShownNode } from "./view";

export const SHAPES = ["circle", "square", "diamond", "triangle"] as const;
export interface Kind {
  /** Of the colours --type-0 to --type-7. */
  hue: number;
  shape: (typeof SHAPES)[number];
}
const HUES = 8;
const KNOWN: Record<string, Kind> = {
  Person: { hue: 0, shape: "circle" }, Organization: { hue: 1, shape: "square" }, Place: { hue: 2, shape: "diamond" },
  Event: { hue: 3, shape: "triangle" }, Object: { hue: 6, shape: "square" }, Concept: { hue: 5, shape: "circle" },
  Emotion: { hue: 4, shape: "circle" }, Media: { hue: 1, shape: "diamond" }, Task: { hue: 4, shape: "triangle" },
  Note: { hue: 5, shape: "square" }, Document: { hue: 7, shape: "square" }, Project: { hue: 3, shape: "diamond" },
  Summary: { hue: 7, shape: "circle" }, ConceptGroup: { hue: 7, shape: "diamond" }, Reflection: { hue: 7, shape: "triangle" },
};

export function kindOf(type: string): Kind {
  const known = KNOWN[type];
  if (known) return known;
  let hash = 0;
  for (let n = 0; n < type.length; n++) hash = (hash * 31 + type.charCodeAt(n)) >>> 0;
  return { hue: hash % HUES, shape: SHAPES[(hash >>> 3) % SHAPES.length] ?? "circle" };
}

/** Paths of the shapes for the legend, in a box of 12. */
export const OUTLINES: Record<Kind["shape"], string> = {
  circle: "M6 1a5 5 0 1 1 0 10a5 5 0 0 1 0-10z", square: "M1.5 1.5h9v9h-9z", diamond: "M6 0.5L11.5 6L6 11.5L0.5 6z",
  triangle: "M6 1L11.5 10.5H0.5z",
};

export interface Colours {
  types: string[];
  ink: string;
  soft: string;
  line: string;
  edge: string;
  faint: string;
  raised: string;
  accent: string;
  added: string;
  ended: string;
  changed: string;
}

/** The colours of the page as WebGL wants them. */
export function coloursOf(element: HTMLElement): Colours {
  const probe = document.createElement("span");
  element.append(probe);
  const colour = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found: Colours = {
    types: Array.from({ length: HUES }, (_, n) => colour(`type-${n}`)), ink: colour("ink"), soft: colour("soft"),
    line: colour("line"), edge: colour("graph-edge"), faint: colour("graph-faint"), raised: colour("raised"),
    accent: colour("accent"), added: colour("added"), ended: colour("edge"), changed: colour("changed"),
  };
  probe.remove();
  return found;
}

export interface Emphasis {
  selected: string;
  /** Nodes and versions of facts that stand out; null: all alike. */
  nodes: ReadonlySet<string> | null;
  edges: ReadonlySet<string> | null;
}
const SIGNS: Record<Mark, string> = { new: "+ ", ended: "− ", changed: "≠ " };
const markColour = (mark: Mark, colours: Colours) =>
  ({ new: colours.added, ended: colours.ended, changed: colours.changed })[mark];

export function nodeLook({ node, degree, mark }: ShownNode, label: string, type: string, colours: Colours, emphasis: Emphasis, scale: number) {
  const { hue, shape } = kindOf(type);
  const selected = node.node_id === emphasis.selected;
  const dim = emphasis.nodes !== null && !emphasis.nodes.has(node.node_id);
  const own = mark ? markColour(mark, colours) : (colours.types[hue] ?? colours.ink);
  return {
    label: dim ? "" : `${mark ? SIGNS[mark] : ""}${label}`,
    size: scale * Math.min(18, 4 + 2.1 * Math.sqrt(degree)) + (selected ? 2 : 0),
    color: dim ? colours.faint : own,
    shape,
    forced: selected || (emphasis.nodes !== null && !dim && emphasis.nodes.size <= 40) || (mark !== null && !dim),
    selected,
    depth: dim ? "nodes" : emphasis.nodes ? "topNodes" : "nodes",
  };
}

export function edgeLook({ edge, mark, over }: ShownEdge, label: string, colours: Colours, emphasis: Emphasis, arrows: boolean) {
  const lit = emphasis.edges?.has(edge.version_id) ?? false;
  const dim = emphasis.edges !== null && !lit;
  const own = mark ? markColour(mark, colours) : lit ? colours.soft : colours.edge;
  return {
    label: lit || mark ? `${mark ? SIGNS[mark] : ""}${label}` : "",
    size: dim || !(arrows || lit || mark) ? 0.5 : mark === "new" ? 2.6 : lit ? 1.8 : over ? 0.9 : 1.1,
    color: dim ? colours.faint : own,
    gap: over || mark === "ended" ? colours.raised : dim ? colours.faint : own,
    head: arrows && !dim ? "arrow" : "none",
    lit: lit || mark !== null,
    depth: lit || mark ? "topEdges" : "edges",
  };
}
