// What is shown as files: Mermaid and GraphML, as docs/graph.md describes them. No label can become syntax.
import type { GraphNode } from "@memsvc/client";
import { nameOf, oneLine, relationOf, type Shown } from "./view";

const SHAPES: Record<string, readonly [string, string]> = {
  Person: ['(["', '"])'], Organization: ['[["', '"]]'], Place: ['{{"', '"}}'], Event: ['>"', '"]'], Task: ['[/"', '"/]'],
  Document: ['[("', '")]'], DocumentVersion: ['[("', '")]'], Note: ['("', '")'], Concept: ['(("', '"))'],
};
const BOX = ['["', '"]'] as const;

/** Text for a quoted label of Mermaid: what is neither a letter nor a digit becomes an entity. */
function mermaid(text: string): string {
  return text
    .replaceAll("\ufb02", "fl") // Mermaid's own sign for the start of an entity
    .replace(/[^\p{L}\p{M}\p{N} ,]/gu, (sign) => `#${sign.codePointAt(0)};`);
}

export function asMermaid({ nodes, edges }: Shown, when: (from: string | null, to: string | null) => string): string {
  const ids = new Map(nodes.map(({ node }, n) => [node.node_id, `n${n + 1}`]));
  const lines = ["flowchart LR"];
  for (const { node } of nodes) {
    const [left, right] = SHAPES[node.type ?? ""] ?? BOX;
    lines.push(`  ${ids.get(node.node_id)}${left}${mermaid(nameOf(node))}${right}`);
  }
  for (const { edge } of edges) {
    const said = [relationOf(edge.type), when(edge.valid_from, edge.valid_to)].filter(Boolean).map(mermaid).join("<br/>");
    lines.push(`  ${ids.get(edge.from_node)} -->|"${said}"| ${ids.get(edge.to_node)}`);
  }
  return `${lines.join("\n")}\n`;
}

// Characters that XML 1.0 cannot hold, not even escaped.
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const SIGNS: Record<string, string> = {
  "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;",
};
const xml = (text: string): string => text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"\r\n\t]/g, (sign) => SIGNS[sign] ?? sign);
const GRAPHML = "http://graphml.graphdrawing.org/xmlns";
const NODE_KEYS = { label: "string", type: "string", description: "string", importance: "double" } as const;
const EDGE_KEYS = {
  label: "string", fact: "string", edge_id: "string", weight: "double", confidence: "double", valid_from: "string", valid_to: "string",
} as const;

export function asGraphml({ nodes, edges }: Shown): string {
  const key = (owner: "node" | "edge", [name, type]: readonly [string, string]) =>
    `  <key id="${owner[0]}.${name}" for="${owner}" attr.name="${name}" attr.type="${type}"/>`;
  const data = (id: string, value: unknown) => (value == null || value === "" ? [] : [`      <data key="${id}">${xml(String(value))}</data>`]);
  const ofNode = (node: GraphNode) => (Object.keys(NODE_KEYS) as (keyof typeof NODE_KEYS)[]).flatMap((name) => data(`n.${name}`, node[name]));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<graphml xmlns="${GRAPHML}">`,
    ...Object.entries(NODE_KEYS).map((one) => key("node", one)),
    ...Object.entries(EDGE_KEYS).map((one) => key("edge", one)),
    '  <graph id="memsvc" edgedefault="directed">',
    ...nodes.flatMap(({ node }) => [`    <node id="${node.node_id}">`, ...ofNode(node), "    </node>"]),
    ...edges.flatMap(({ edge }) => [
      `    <edge id="${edge.version_id}" source="${edge.from_node}" target="${edge.to_node}">`,
      ...data("e.label", edge.type),
      ...(Object.keys(EDGE_KEYS) as (keyof typeof EDGE_KEYS)[]).slice(1).flatMap((name) => data(`e.${name}`, edge[name as keyof typeof edge])),
      "    </edge>",
    ]),
    "  </graph>",
    "</graphml>",
    "",
  ].join("\n");
}

/** Lets the browser save a file. */
export function save(name: string, content: Blob | string, type = "text/plain"): void {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  [link.href, link.download] = [address, oneLine(name, 100)];
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
