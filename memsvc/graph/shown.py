"""Facts, nodes and names as clients see them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from memsvc.graph.operations import Stance
from memsvc.graph.read import Fact, Name, NodeState, Version
from memsvc.graph.search import AskedNode, FoundNode


class Quote(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that supports something, with the quoted words."""

    passage_id: UUID
    source_id: UUID
    span: tuple[int, int] | None
    """Range of characters in the passage, from 0, without the end; None: the whole passage."""
    quote: str
    """The words of that range, at most 240 characters."""
    stance: Stance
    """supports; ends: the passage says that this is not true, or not any more; validated or disputed: it gives the
    reason why somebody (``asserted_by``) marked the fact so."""
    confidence: float
    asserted_by: str
    recorded_from: datetime


class ShownFact(Fact, frozen=True, kw_only=True):
    """A fact with the labels of both ends and its sources."""

    from_label: str | None
    from_type: str | None
    to_label: str | None
    to_type: str | None
    certainty: float
    """0 to 1: its confidence, by the number, independence and age of its sources, and by who contradicts it."""
    sources: list[Quote]
    """The first five."""
    sources_total: int
    pinned: bool
    """It is always among the salient memories."""


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that cannot all be true, or one that somebody disputes."""

    facts: list[ShownFact]
    """Values of a type that allows one at a time, which merged nodes have; or the one disputed fact."""


class Contradictions(msgspec.Struct, frozen=True, kw_only=True):
    """Contradictions that wait for somebody who knows."""

    items: list[Contradiction]
    truncated: bool
    """There are more than ``limit``."""


class Ambiguous(msgspec.Struct, frozen=True, kw_only=True):
    """A name that several nodes have."""

    name: str
    nodes: list[UUID]


class FactsPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of facts."""

    items: list[ShownFact]
    next_cursor: str | None
    """Send it as ``cursor`` to get the next page; None: this is the last page."""
    about: list[AskedNode]
    """The nodes that were asked for."""
    ambiguous: list[Ambiguous]
    """Names that several nodes have; the page holds facts of all these nodes."""


class FactVersion(Version, frozen=True, kw_only=True):
    """One version of an edge."""

    version_id: UUID
    fact: str
    data: dict[str, Any]
    weight: float
    confidence: float
    contested: bool
    """Somebody disputes it, or merged nodes contradict it."""
    certainty: float
    """0 to 1: its confidence, by the number, independence and age of its sources, and by who contradicts it."""
    sources: list[Quote]
    """The first five."""
    sources_total: int


class ShownEdge(msgspec.Struct, frozen=True, kw_only=True):
    """An edge with its versions."""

    edge_id: UUID
    type: str
    key: str
    from_node: UUID
    """The canonical node of its start."""
    from_label: str | None
    to_node: UUID
    to_label: str | None
    stored_from: UUID
    """The start as it was written, before merges."""
    stored_to: UUID
    versions: list[FactVersion]
    """Newest first."""
    truncated: bool
    """There are more versions than ``limit``."""


class ShownState(NodeState, frozen=True, kw_only=True):
    """A version of a node's properties with its sources."""

    sources: list[Quote]
    """The first five."""
    sources_total: int


class ShownName(Name, frozen=True, kw_only=True):
    """A name of a node with its sources."""

    label: str | None
    """Of the node."""
    sources: list[Quote]
    """The first five."""
    sources_total: int


class SameNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node that is merged into another."""

    merge_id: UUID
    node_id: UUID
    canonical_id: UUID
    """The node that represents it."""
    reason: str
    confidence: float
    asserted_by: str
    recorded_from: datetime


class ShownNode(FoundNode, frozen=True, kw_only=True):
    """Everything about a node and the nodes merged into it."""

    asked: UUID
    merged_into: UUID | None
    """The canonical node, if the requested node is merged into it; the answer describes the canonical node."""
    first_seen: datetime | None
    """When the first message or document was said that supports anything known about it; null: none does."""
    last_seen: datetime | None
    """The same for the newest one."""
    data: dict[str, Any]
    pinned: bool
    """What is known of it now is always among the salient memories."""
    same: list[SameNode]
    versions: list[ShownState]
    """All known versions of its properties, at any valid time."""
    aliases: list[ShownName]
    """Its names at any valid time; the first 200."""
    facts: list[ShownFact]
    """Facts at the requested time, newest first."""
    facts_cursor: str | None
    """For more facts: GET /v1/facts?about=…&cursor=… with this cursor."""
