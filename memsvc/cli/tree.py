"""Parts of the graph for a terminal: trees, paths and counts, with dates.

The text in them is user data, so control characters and those that change the writing direction are removed.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text
from rich.tree import Tree

from memsvc.graph.draw import in_order, name_of, one_line, relation, since
from memsvc.graph.overview import Stats
from memsvc.graph.traverse import Graph, GraphEdge, GraphNode, Path, Paths
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import tzinfo
    from uuid import UUID

NAME_CHARS = 60
MORE = "There is more: raise --limit, or narrow it with --about and --type."


def show(found: Graph | Paths | Stats, zone: tzinfo, file: TextIO, *, whole: bool) -> None:
    """Print it for people; lines are wrapped only on a terminal.

    Args:
        found: what to show.
        zone: the time zone of dates.
        file: where to print it.
        whole: show the whole graph rather than what is around nodes.
    """
    console = Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=not file.isatty())
    match found:
        case Paths():
            _show_paths(found, zone, console)
        case Stats():
            _show_stats(found, console)
        case Graph():
            for tree in by_start(found, zone) if whole else around(found, zone):
                console.print(tree)
            console.print(f"{counted(len(found.nodes), 'node')}, {counted(len(found.edges), 'fact')}.")
            if found.truncated:
                console.print(MORE)


def _named(node: GraphNode) -> Text:
    kind = f" ({one_line(node.type, NAME_CHARS)})" if node.type else ""
    return Text.assemble((name_of(node, NAME_CHARS), "bold"), (kind, "dim"))


def _seen_from(here: UUID, edge: GraphEdge, other: GraphNode, zone: tzinfo, *, shown_above: bool = False) -> Text:
    """Return a fact as seen from one of its ends: lives in → Porto (Place), since 2026-02-01."""
    arrow = " → " if edge.from_node == here else " ← "
    dates = since(edge, zone)
    more = ", see there" if shown_above else ""
    return Text.assemble(
        relation(edge.type), arrow, _named(other), (more, "dim"), (f", {dates}" if dates else "", "cyan")
    )


def around(graph: Graph, zone: tzinfo) -> list[Tree]:
    """Return a tree for each start; every node branches once, every fact appears once."""
    drawn = in_order(graph)
    nodes = {node.node_id: node for node in drawn.nodes}
    near = _by_end(drawn.edges, nodes)
    trees: dict[UUID, Tree] = {}
    roots: list[Tree] = []
    shown: set[UUID] = set()
    starts = [node for node in drawn.nodes if node.hop == 0]
    for group in (starts, *([node] for node in drawn.nodes)):  # a node that no fact leads to gets its own tree
        waiting: deque[UUID] = deque()
        for start in group:
            if start.node_id not in trees:
                trees[start.node_id] = Tree(_named(start), guide_style="dim")
                roots.append(trees[start.node_id])
                waiting.append(start.node_id)
        while waiting:
            here = waiting.popleft()
            for edge, other in near[here]:
                if edge.version_id not in shown:
                    shown.add(edge.version_id)
                    branch = trees[here].add(_seen_from(here, edge, nodes[other], zone, shown_above=other in trees))
                    if other not in trees:
                        trees[other] = branch
                        waiting.append(other)
    return roots


def by_start(graph: Graph, zone: tzinfo) -> list[Tree]:
    """Return a tree for each node with the facts that start at it; nodes at which facts only end have no tree."""
    drawn = in_order(graph)
    nodes = {node.node_id: node for node in drawn.nodes}
    near = _by_end(drawn.edges, nodes)
    ends = {edge.to_node for edge in drawn.edges}
    trees = []
    for node in drawn.nodes:
        begun = [(edge, other) for edge, other in near[node.node_id] if edge.from_node == node.node_id]
        if begun or node.node_id not in ends:
            trees.append(Tree(_named(node), guide_style="dim"))
        for edge, other in begun:
            trees[-1].add(_seen_from(node.node_id, edge, nodes[other], zone))
    return trees


def _by_end(edges: Iterable[GraphEdge], nodes: Mapping[UUID, GraphNode]) -> dict[UUID, list[tuple[GraphEdge, UUID]]]:
    """Return, for each node, its facts and the node at the other end."""
    near: dict[UUID, list[tuple[GraphEdge, UUID]]] = defaultdict(list)
    for edge in sorted(edges, key=lambda edge: (edge.type, name_of(nodes[edge.to_node]), edge.version_id)):
        near[edge.from_node].append((edge, edge.to_node))
        if edge.to_node != edge.from_node:
            near[edge.to_node].append((edge, edge.from_node))
    return near


def _show_paths(found: Paths, zone: tzinfo, console: Console) -> None:
    for number, way in enumerate(found.paths, 1):
        console.print(Text.assemble(f"{number}. ", _way(way, zone)))
    if not found.complete:
        console.print("The search stopped because it found too much: narrow it with --type, or lower --hops.")
    elif not found.paths:
        console.print("They are not connected: raise --hops, or leave out --type.")
    elif found.truncated:
        console.print("There are more paths of this length.")


def _way(way: Path, zone: tzinfo) -> Text:
    """Return the nodes and facts of a path in order: Marcel (Person) —lives in→ Porto (Place)."""
    line = _named(way.nodes[0])
    for edge, before, node in zip(way.edges, way.nodes, way.nodes[1:], strict=False):
        dates = since(edge, zone)
        what = relation(edge.type) + (f", {dates}" if dates else "")
        along = edge.from_node == before.node_id
        line = Text.assemble(line, (f" —{what}→ " if along else f" ←{what}— ", "cyan"), _named(node))
    return line


def _show_stats(found: Stats, console: Console) -> None:
    """Print the totals, then a table for each kind of count."""
    console.print(f"{counted(found.nodes, 'node')}, {found.isolated:,} of them without facts.")
    console.print(f"{counted(found.facts, 'fact')} with {counted(found.evidence, 'link')} to passages.")
    console.print(f"{counted(found.names, 'name')}, {counted(found.merges, 'merge')}.")
    if found.turns or found.documents:
        console.print(
            f"{counted(found.turns, 'turn')} of agents with {counted(found.tool_calls, 'call')}; "
            f"{counted(found.documents, 'document')} with {counted(found.document_versions, 'version')}."
        )
    tables = {
        "nodes": found.types.items(),
        "facts": found.edge_types.items(),
        "most connected": [
            (f"{one_line(top.label or '', NAME_CHARS) or top.node_id} ({top.type or 'unknown'})", top.facts)
            for top in found.most_connected
        ],
    }
    for title, rows in tables.items():
        if rows:
            table = Table(title, Column("", justify="right"), box=None, pad_edge=False, header_style="bold")
            for name, count in rows:
                table.add_row(Text(name), f"{count:,}")
            console.print("", table, sep="\n")
