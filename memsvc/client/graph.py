"""The part of ``Memory`` about the graph: nodes and facts, notes and links. Written by ``make client``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Unpack
from uuid import UUID

from memsvc.client import graph_calls as calls
from memsvc.client import options as o
from memsvc.client.connection import Connection
from memsvc.client.results import LinkEnded
from memsvc.graph.history import Change
from memsvc.graph.links import Link, LinkedNote, Relation
from memsvc.graph.notes import FoundNote, Note
from memsvc.graph.operations import Mark
from memsvc.graph.search import MatchedNode
from memsvc.graph.shown import ShownEdge, ShownFact, ShownNode
from memsvc.graph.traverse import Graph, Paths


class MemoryGraph(Connection):
    """What is known as nodes, and as facts and links between them."""

    # Notes and links

    def note(self, title: str, text: str = "", **options: Unpack[o.NoteOptions]) -> Note:
        """Write a note."""
        return self.send(calls.note(title, text, options))

    def update_note(self, note_id: UUID, **changes: Unpack[o.NoteChanges]) -> Note:
        """Change a note. Fields that are left out stay as they are."""
        return self.send(calls.update_note(note_id, changes))

    def get_note(self, note_id: UUID) -> Note:
        """Read a note."""
        return self.send(calls.get_note(note_id))

    def notes(self, *, page: int = 100, **filters: Unpack[o.NoteFilters]) -> Iterator[FoundNote]:
        """Yield all notes, newest first."""
        return self.pages(calls.notes(filters, page))

    def link(self, from_node: UUID, to_node: UUID, relation: Relation, **options: Unpack[o.LinkOptions]) -> Link:
        """Link two notes, or any nodes."""
        return self.send(calls.link(from_node, to_node, relation, options))

    def unlink(self, link_id: UUID) -> LinkEnded:
        """End a link."""
        return self.send(calls.unlink(link_id))

    def linked_notes(self, note_id: UUID, **options: Unpack[o.LinkedOptions]) -> list[LinkedNote]:
        """Find the notes linked with a note, nearest first."""
        return self.send(calls.linked_notes(note_id, options)).items

    # The graph

    def search_nodes(self, q: str = "", *, page: int = 100, **filters: Unpack[o.NodeFilters]) -> Iterator[MatchedNode]:
        """Yield people, places and things by name, then by what is said about them; ``matched`` says by which."""
        return self.pages(calls.search_nodes(q, filters, page))

    def add_node(self, type_: str, label: str, **options: Unpack[o.NodeOptions]) -> Change:
        """Create a node. ``results[0].node_id`` is its id."""
        return self.send(calls.add_node(type_, label, options))

    def change_graph(self, operations: Iterable[Mapping[str, Any]]) -> Change:
        """Run up to 1,000 operations of ``POST /v1/changes`` as one change, all of them or none."""
        return self.send(calls.change_graph(operations))

    def node(self, node_id: UUID) -> ShownNode:
        """Return everything about a node."""
        return self.send(calls.node(node_id))

    def facts(
        self, about: str | UUID | Sequence[str | UUID], *, page: int = 100, **filters: Unpack[o.FactFilters]
    ) -> Iterator[ShownFact]:
        """Yield facts about nodes (ids or names), newest first, each with its sources."""
        return self.pages(calls.facts(about, filters, page))

    def fact(self, edge_id: UUID) -> ShownEdge:
        """Return all versions of a fact with their evidence."""
        return self.send(calls.fact(edge_id))

    def add_fact(
        self, from_node: UUID, type_: str, to_node: UUID, sentence: str, **options: Unpack[o.FactOptions]
    ) -> Change:
        """Assert a fact. Facts that it contradicts in its valid time are superseded."""
        return self.send(calls.add_fact(from_node, type_, to_node, sentence, options))

    def annotate_fact(self, edge_id: UUID, stance: Mark, reason: str, *, version_id: UUID | None = None) -> Change:
        """Mark a fact as validated or disputed, with the reason. A disputed one is shown as contested."""
        return self.send(calls.annotate_fact(edge_id, stance, reason, version_id))

    def explore(self, start: str | UUID | Sequence[str | UUID], **options: Unpack[o.WalkOptions]) -> Graph:
        """Find what is near nodes (ids or names): nodes and the facts between them."""
        return self.send(calls.explore(start, options))

    def paths(self, from_node: str | UUID, to_node: str | UUID, *, max_hops: int = 4) -> Paths:
        """Find the shortest paths between two nodes."""
        return self.send(calls.paths(from_node, to_node, max_hops))
