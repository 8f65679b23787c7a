"""What can be done to the graph, as JSON: bodies that become operations of ``memsvc.graph``.

Times are strings, read on the user's clock where they have no offset. A batch tells its operations apart by ``op``; in
it a node that the same batch makes is named by the place of its operation, from 0.
"""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.errors import MemsvcError
from memsvc.graph import operations as graph
from memsvc.graph.operations import Evidence
from memsvc.sources.moments import read_moment

Names = Annotated[list[str], msgspec.Meta(min_length=1)]
Ref = UUID | int


class WithEvidence(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What passages can speak for."""

    evidence: list[Evidence] = []
    """Passages that show it, at most 100."""


class WithSpan(WithEvidence, kw_only=True, forbid_unknown_fields=True):
    """What is so over a span of time."""

    valid_from: str | None = None
    """From when: ISO 8601, without an offset on the user's clock. Left out: as far as known, always."""
    valid_to: str | None = None
    """The first moment at which it was not so any more. Left out: it still is."""

    def span(self, owner: Owner) -> dict[str, Any]:
        """Fields of an operation: evidence and both times.

        Raises:
            InvalidTimeError: one of them is no time.
        """
        return {
            "evidence": self.evidence,
            "valid_from": read_moment(self.valid_from, owner, "valid_from"),
            "valid_to": read_moment(self.valid_to, owner, "valid_to"),
        }


class NodeFields(WithSpan, kw_only=True, forbid_unknown_fields=True):
    """Properties of a node, all of them."""

    type: str
    """A node type of the ontology."""
    label: str
    """What it is shown as."""
    description: str = ""
    data: dict[str, Any] = {}
    """Further properties."""
    importance: float = 5.0
    """1 (trivial) to 10 (life-changing)."""
    node_id: UUID | None = None

    def node(self, owner: Owner, *, make: bool) -> graph.Node:
        """The operation."""
        return graph.Node(
            type=self.type,
            label=self.label,
            description=self.description,
            data=self.data,
            importance=self.importance,
            node=self.node_id,
            make=make,
            **self.span(owner),
        )


class FactFields(WithSpan, kw_only=True, forbid_unknown_fields=True):
    """A fact without its ends."""

    type: str
    """An edge type of the ontology."""
    fact: str
    """As a sentence."""
    key: str = ""
    """Tells several relations of one type between the same two nodes apart."""
    data: dict[str, Any] = {}
    """Further properties."""
    weight: float = 1.0
    """How strong the relation is: 0 or more."""
    confidence: float = 1.0
    """Above 0, at most 1."""

    def edge(self, owner: Owner, from_node: Ref, to_node: Ref) -> graph.Edge:
        """The operation."""
        return graph.Edge(
            from_node=from_node,
            type=self.type,
            to_node=to_node,
            fact=self.fact,
            key=self.key,
            data=self.data,
            weight=self.weight,
            confidence=self.confidence,
            **self.span(owner),
        )


class NodeOperation(NodeFields, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="node"):
    """Properties of a node. Without node_id a new one is made."""

    make: bool = False
    """Make it under the given node_id where it is not there."""

    def operation(self, owner: Owner) -> graph.Operation:
        """As the graph takes it."""
        return self.node(owner, make=self.make)


class EdgeOperation(FactFields, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="edge"):
    """A fact. What it contradicts in its time is superseded."""

    from_node: Ref
    """An id, or the place of the operation that makes the node."""
    to_node: Ref

    def operation(self, owner: Owner) -> graph.Operation:
        """As the graph takes it."""
        return self.edge(owner, self.from_node, self.to_node)


class AliasOperation(WithSpan, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="alias"):
    """A node is called so."""

    node_id: Ref
    """An id, or the place of the operation that makes the node."""
    alias: str
    confidence: float = 1.0
    """Above 0, at most 1."""

    def operation(self, owner: Owner) -> graph.Operation:
        """As the graph takes it."""
        return graph.Alias(node=self.node_id, alias=self.alias, confidence=self.confidence, **self.span(owner))


class PlaceFields(WithSpan, kw_only=True, forbid_unknown_fields=True):
    """Where something is."""

    latitude: float
    """Degrees north (WGS 84), -90 to 90."""
    longitude: float
    """Degrees east (WGS 84), -180 to 180; 180 is kept as -180."""
    radius_m: float = 0.0
    """How far around that point it reaches, or how sure it is, in metres."""

    def location(self, owner: Owner, node: Ref) -> graph.Location:
        """The operation."""
        return graph.Location(
            node=node,
            latitude=self.latitude,
            longitude=self.longitude,
            radius_m=self.radius_m,
            **self.span(owner),
        )


class PlaceOperation(PlaceFields, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="place"):
    """A node is there. Where else it was said to be in that time is superseded."""

    node_id: Ref
    """An id, or the place of the operation that makes the node."""

    def operation(self, owner: Owner) -> graph.Operation:
        """As the graph takes it."""
        return self.location(owner, self.node_id)


class CloseOperation(WithEvidence, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="close"):
    """It ended: an edge (edge_id), a name (node_id and alias), a stay (node_id, place), or properties (node_id)."""

    ended_at: str
    """From then on it was not so."""
    edge_id: UUID | None = None
    node_id: UUID | None = None
    alias: str | None = None
    place: bool = False

    def operation(self, owner: Owner) -> graph.Operation:
        """As the graph takes it."""
        at = read_moment(self.ended_at, owner, "ended_at")
        assert at is not None  # noqa: S101 - the field cannot be left out
        thread = graph.Thread(edge=self.edge_id, node=self.node_id, alias=self.alias, place=self.place)
        return graph.Close(thread=thread, at=at, evidence=self.evidence)


class RetractOperation(WithSpan, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="retract"):
    """It was never so, or not in this time: an edge, a name, a place, or a node's properties, as for close."""

    edge_id: UUID | None = None
    node_id: UUID | None = None
    alias: str | None = None
    place: bool = False

    def operation(self, owner: Owner) -> graph.Operation:
        """As the graph takes it."""
        thread = graph.Thread(edge=self.edge_id, node=self.node_id, alias=self.alias, place=self.place)
        return graph.Retract(thread=thread, **self.span(owner))


class CorrectOperation(WithEvidence, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="correct"):
    """A version that is known now should say something else, over the same time."""

    version_id: UUID
    content: dict[str, Any]
    """What is replaced: type, label, description, data, importance of a node; fact, data, weight, confidence of an
    edge; confidence of a name; latitude, longitude, radius_m of a location."""

    def operation(self, owner: Owner) -> graph.Operation:  # noqa: ARG002 - as the others have it
        """As the graph takes it."""
        return graph.Correct(version=self.version_id, content=self.content, evidence=self.evidence)


class MergeOperation(WithEvidence, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="merge"):
    """A node is the same as another, which stands for it from now on."""

    node_id: UUID
    canonical_id: UUID
    reason: str = ""
    confidence: float = 1.0
    """Above 0, at most 1."""

    def operation(self, owner: Owner) -> graph.Operation:  # noqa: ARG002
        """As the graph takes it."""
        return graph.Merge(
            node=self.node_id,
            canonical=self.canonical_id,
            reason=self.reason,
            confidence=self.confidence,
            evidence=self.evidence,
        )


class UnmergeOperation(WithEvidence, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="unmerge"):
    """A node is itself again."""

    node_id: UUID

    def operation(self, owner: Owner) -> graph.Operation:  # noqa: ARG002
        """As the graph takes it."""
        return graph.Unmerge(node=self.node_id, evidence=self.evidence)


AnyOperation = (
    NodeOperation
    | EdgeOperation
    | AliasOperation
    | PlaceOperation
    | CloseOperation
    | RetractOperation
    | CorrectOperation
    | MergeOperation
    | UnmergeOperation
)


class OperationsIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A batch of operations, done in their order, all of them or none."""

    operations: list[AnyOperation]
    """1 to 1,000."""

    def read(self, owner: Owner) -> list[graph.Operation]:
        """As the graph takes them.

        Raises:
            MemsvcError: one cannot be read; ``details["row"]`` is its place.
        """
        found = []
        for place, given in enumerate(self.operations):
            try:
                found.append(given.operation(owner))
            except MemsvcError as error:
                error.details = {**error.details, "row": place}
                raise
        return found
