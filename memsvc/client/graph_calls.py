"""The calls about the graph, notes and links, as in ``memsvc.client.calls``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from memsvc.client import options as o
from memsvc.client.calls import Call, at, once, read
from memsvc.client.results import LinkEnded
from memsvc.db.paging import Page
from memsvc.graph.history import Change
from memsvc.graph.links import Link, LinkedNote, Relation
from memsvc.graph.notes import FoundNote, Note
from memsvc.graph.operations import Mark
from memsvc.graph.search import MatchedNode
from memsvc.graph.shown import FactsPage, ShownEdge, ShownNode
from memsvc.graph.traverse import Graph, Paths

# Notes and links


def note(title: str, text: str, options: o.NoteOptions) -> Call[Note]:
    """Write a note."""
    return once("/v1/notes", Note, {"title": title, "text": text, **options})


def update_note(note_id: UUID, changes: o.NoteChanges) -> Call[Note]:
    """Change a note."""
    return Call("PATCH", at("/v1/notes/{}", note_id), Note, changes)


def get_note(note_id: UUID) -> Call[Note]:
    """Read a note."""
    return read(at("/v1/notes/{}", note_id), Note)


def notes(filters: o.NoteFilters, limit: int) -> Call[Page[FoundNote]]:
    """List notes, newest first; with ``q`` those that say it, then those that are about it."""
    return read("/v1/notes", Page[FoundNote], {**filters, "limit": limit})


def link(from_node: UUID, to_node: UUID, relation: Relation, options: o.LinkOptions) -> Call[Link]:
    """Link two nodes. A repeated link is the same link."""
    body = {"from_node": from_node, "to_node": to_node, "relation": relation, **options}
    return Call("POST", "/v1/links", Link, body, repeatable=True)


def unlink(link_id: UUID) -> Call[LinkEnded]:
    """End a link."""
    return Call("POST", "/v1/links/close", LinkEnded, {"link_id": link_id})


def linked_notes(note_id: UUID, options: o.LinkedOptions) -> Call[Page[LinkedNote]]:
    """Find linked notes."""
    return read(at("/v1/notes/{}/linked", note_id), Page[LinkedNote], {**options})


# The graph


def search_nodes(q: str, filters: o.NodeFilters, limit: int) -> Call[Page[MatchedNode]]:
    """Find nodes by name, then by words and meaning of what is said about them."""
    return read("/v1/nodes", Page[MatchedNode], {"q": q, **filters, "limit": limit})


def node(node_id: UUID) -> Call[ShownNode]:
    """Read everything about a node."""
    return read(at("/v1/nodes/{}", node_id), ShownNode)


def add_node(type_: str, label: str, options: o.NodeOptions) -> Call[Change]:
    """Create a node."""
    return once("/v1/nodes", Change, {"type": type_, "label": label, **options})


def change_graph(operations: Iterable[Mapping[str, Any]]) -> Call[Change]:
    """Run several operations as one change."""
    return once("/v1/changes", Change, {"operations": list(operations)})


def facts(about: str | UUID | Sequence[str | UUID], filters: o.FactFilters, limit: int) -> Call[FactsPage]:
    """List facts about nodes."""
    return read("/v1/facts", FactsPage, {"about": _several(about), **filters, "limit": limit})


def fact(edge_id: UUID) -> Call[ShownEdge]:
    """Read all versions of a fact."""
    return read(at("/v1/facts/{}", edge_id), ShownEdge)


def add_fact(from_node: UUID, type_: str, to_node: UUID, sentence: str, options: o.FactOptions) -> Call[Change]:
    """Assert a fact. Repeating it changes nothing."""
    body = {"from_node": from_node, "type": type_, "to_node": to_node, "fact": sentence, **options}
    return Call("POST", "/v1/facts", Change, body, repeatable=True)


def annotate_fact(edge_id: UUID, stance: Mark, reason: str, version_id: UUID | None) -> Call[Change]:
    """Mark a fact as validated or disputed."""
    body = {"stance": stance, "reason": reason, "version_id": version_id}
    return once(at("/v1/facts/{}/annotations", edge_id), Change, body)


def explore(start: str | UUID | Sequence[str | UUID], options: o.WalkOptions) -> Call[Graph]:
    """Find what is near nodes."""
    return read("/v1/graph/neighbourhood", Graph, {"node": _several(start), **options})


def paths(from_node: str | UUID, to_node: str | UUID, max_hops: int) -> Call[Paths]:
    """Find the paths between two nodes."""
    return read("/v1/graph/paths", Paths, {"from": str(from_node), "to": str(to_node), "max_hops": max_hops})


def _several(nodes: str | UUID | Sequence[str | UUID]) -> list[str]:
    return [str(nodes)] if isinstance(nodes, (str, UUID)) else [str(node) for node in nodes]
