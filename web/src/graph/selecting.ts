// What stands out: the selected node with its neighbours, the paths from it to another, or what differs.
import type { GraphEdge, Paths } from "@memsvc/client";
import { useEffect, useMemo } from "react";
import { type Asked as Answer, useAsked } from "../api/memory";
import type { Asked } from "./address";
import type { Part } from "./data";
import { momentOf } from "./days";
import type { Emphasis } from "./look";
import type { Shown } from "./view";

const FAN_OUT = 200;
const MOST = 300;
const MOST_HOPS = 6;

/** Reads what is around the selected node, which may have been left out, and the paths to another one. */
export function useSelected(asked: Asked, knownAt: string | null, loads: number, add: (more: Part) => void): Answer<Paths> {
  const times = { as_of: asked.as_of ? momentOf(asked.as_of) : "always", ...(knownAt && { known_at: knownAt }) };
  const around = useAsked(
    asked.node
      ? (client) => client.walkNeighbourhood({ query: { node: [asked.node], hops: 1, fan_out: FAN_OUT, limit: MOST, ...times } })
      : undefined,
    [asked.node, asked.as_of, knownAt, loads],
  );
  const paths = useAsked(
    asked.node && asked.to
      ? (client) => client.findPaths({ query: { from: asked.node, to: asked.to, max_hops: MOST_HOPS, ...times } })
      : undefined,
    [asked.node, asked.to, asked.as_of, knownAt],
  );
  useEffect(() => {
    if (around.data) add(around.data);
  }, [around.data, add]);
  useEffect(() => {
    for (const path of paths.data?.paths ?? []) add(path);
  }, [paths.data, add]);
  return paths;
}

export function useEmphasis(asked: Asked, shown: Shown, paths: Paths | undefined): Emphasis {
  return useMemo(() => {
    const selected = asked.node;
    const lit = (edges: readonly GraphEdge[], nodes: readonly string[]): Emphasis => ({
      selected,
      nodes: new Set([...nodes, ...edges.flatMap((edge) => [edge.from_node, edge.to_node])]),
      edges: new Set(edges.map((edge) => edge.version_id)),
    });
    if (!selected && asked.axis)
      return lit(
        shown.edges.filter(({ mark }) => mark).map(({ edge }) => edge),
        shown.nodes.filter(({ mark }) => mark).map(({ node }) => node.node_id),
      );
    if (!selected) return { selected, nodes: null, edges: null };
    if (asked.to) return lit((paths?.paths ?? []).flatMap((path) => path.edges), [selected, asked.to]);
    const near = shown.edges.map(({ edge }) => edge).filter((edge) => edge.from_node === selected || edge.to_node === selected);
    return lit(near, [selected]);
  }, [asked.node, asked.to, asked.axis, shown, paths]);
}
