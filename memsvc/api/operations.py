"""Operations on the graph as JSON: bodies that become operations of ``memsvc.graph``.

Times are strings. Without an offset they are read in the user's time zone. ``op`` is the kind of an operation in a
batch. Operations refer to a node that the same batch creates by the index of its operation, from 0.
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
from memsvc.times.untold import begin_is_untold, end_is_untold, unmarked

Names = Annotated[list[str], msgspec.Meta(min_length=1)]
Ref = UUID | int


class WithEvidence(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Fields of operations that can have evidence."""

    evidence: list[Evidence] = []
    """At most 100 passages that support it."""


class WithSpan(WithEvidence, kw_only=True, forbid_unknown_fields=True):
    """Fields of operations that hold over a span of time."""

    valid_from: str | None = None
    """Since when it holds (ISO 8601; without an offset in the user's time zone). Left out: always, as far as known."""
    valid_to: str | None = None
    """The first moment at which it no longer holds. Left out: it still holds."""

    def span(self, owner: Owner) -> dict[str, Any]:
        """Return the fields of an operation: evidence and both times.

        Raises:
            InvalidTimeError: one of them is not a time.
        """
        return {
            "evidence": self.evidence,
            "valid_from": read_moment(self.valid_from, owner, "valid_from"),
            "valid_to": read_moment(self.valid_to, owner, "valid_to"),
        }


class NodeFields(WithSpan, kw_only=True, forbid_unknown_fields=True):
    """All properties of a node."""

    type: str
    """A node type of the ontology."""
    label: str
    """The name under which it is shown."""
    description: str = ""
    data: dict[str, Any] = {}
    """Further properties."""
    importance: float = 5.0
    """1 (trivial) to 10 (life-changing)."""
    node_id: UUID | None = None

    def node(self, owner: Owner, *, make: bool) -> graph.Node:
        """Return the operation."""
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
    """A fact without its nodes."""

    type: str
    """An edge type of the ontology."""
    fact: str
    """The fact as a sentence."""
    key: str = ""
    """Distinguishes several relations of one type between the same two nodes."""
    data: dict[str, Any] = {}
    """Further properties."""
    weight: float = 1.0
    """How strong the relation is: 0 or more."""
    confidence: float = 1.0
    """Above 0, at most 1."""

    def edge(self, owner: Owner, from_node: Ref, to_node: Ref) -> graph.Edge:
        """Return the operation; a begin or end that is sent is told, whatever data copied from a fact call it."""
        span = self.span(owner)
        data = self.data
        if begin_is_untold(span["valid_from"], data):
            data = unmarked(data, "since")
        if end_is_untold(span["valid_to"], data):
            data = unmarked(data, "until")
        return graph.Edge(
            from_node=from_node,
            type=self.type,
            to_node=to_node,
            fact=self.fact,
            key=self.key,
            data=data,
            weight=self.weight,
            confidence=self.confidence,
            **span,
        )


class NodeOperation(NodeFields, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="node"):
    """Sets the properties of a node. Without node_id it creates a new one."""

    make: bool = False
    """Create the node with the given node_id if it does not exist."""

    def operation(self, owner: Owner) -> graph.Operation:
        """Return the operation of ``memsvc.graph``."""
        return self.node(owner, make=self.make)


class EdgeOperation(FactFields, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="edge"):
    """Asserts a fact. Facts that it contradicts in its valid time are superseded."""

    from_node: Ref
    """An id, or the index of the operation that creates the node."""
    to_node: Ref

    def operation(self, owner: Owner) -> graph.Operation:
        """Return the operation of ``memsvc.graph``."""
        return self.edge(owner, self.from_node, self.to_node)


class AliasOperation(WithSpan, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="alias"):
    """Adds a name to a node."""

    node_id: Ref
    """An id, or the index of the operation that creates the node."""
    alias: str
    confidence: float = 1.0
    """Above 0, at most 1."""

    def operation(self, owner: Owner) -> graph.Operation:
        """Return the operation of ``memsvc.graph``."""
        return graph.Alias(node=self.node_id, alias=self.alias, confidence=self.confidence, **self.span(owner))


class PlaceFields(WithSpan, kw_only=True, forbid_unknown_fields=True):
    """The location of a node."""

    latitude: float
    """Degrees north (WGS 84), -90 to 90."""
    longitude: float
    """Degrees east (WGS 84), -180 to 180. 180 is stored as -180."""
    radius_m: float = 0.0
    """How far it extends around that point, or how uncertain the point is, in metres."""

    def location(self, owner: Owner, node: Ref) -> graph.Location:
        """Return the operation."""
        return graph.Location(
            node=node,
            latitude=self.latitude,
            longitude=self.longitude,
            radius_m=self.radius_m,
            **self.span(owner),
        )


class PlaceOperation(PlaceFields, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="place"):
    """Sets the location of a node. Its other locations in that time are superseded."""

    node_id: Ref
    """An id, or the index of the operation that creates the node."""

    def operation(self, owner: Owner) -> graph.Operation:
        """Return the operation of ``memsvc.graph``."""
        return self.location(owner, self.node_id)


class CloseOperation(WithEvidence, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="close"):
    """Ends an edge (edge_id), a name (node_id, alias), a location (node_id, place), or properties (node_id)."""

    ended_at: str
    """The first moment at which it no longer holds."""
    edge_id: UUID | None = None
    node_id: UUID | None = None
    alias: str | None = None
    place: bool = False

    def operation(self, owner: Owner) -> graph.Operation:
        """Return the operation of ``memsvc.graph``."""
        at = read_moment(self.ended_at, owner, "ended_at")
        assert at is not None  # noqa: S101 - the field cannot be left out
        thread = graph.Thread(edge=self.edge_id, node=self.node_id, alias=self.alias, place=self.place)
        return graph.Close(thread=thread, at=at, evidence=self.evidence)


class RetractOperation(WithSpan, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="retract"):
    """Records that something never held, or not in this time: an edge, name, location or properties, as for close."""

    edge_id: UUID | None = None
    node_id: UUID | None = None
    alias: str | None = None
    place: bool = False

    def operation(self, owner: Owner) -> graph.Operation:
        """Return the operation of ``memsvc.graph``."""
        thread = graph.Thread(edge=self.edge_id, node=self.node_id, alias=self.alias, place=self.place)
        return graph.Retract(thread=thread, **self.span(owner))


class CorrectOperation(WithEvidence, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="correct"):
    """Corrects the content of a current version, over the same time."""

    version_id: UUID
    content: dict[str, Any]
    """The fields to replace: type, label, description, data, importance of a node; fact, data, weight, confidence of an
    edge; confidence of a name; latitude, longitude, radius_m of a location."""

    def operation(self, owner: Owner) -> graph.Operation:  # noqa: ARG002 - the same signature as the others
        """Return the operation of ``memsvc.graph``."""
        return graph.Correct(version=self.version_id, content=self.content, evidence=self.evidence)


class MergeOperation(WithEvidence, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="merge"):
    """Merges a node into another one, which represents both from now on."""

    node_id: UUID
    canonical_id: UUID
    reason: str = ""
    confidence: float = 1.0
    """Above 0, at most 1."""

    def operation(self, owner: Owner) -> graph.Operation:  # noqa: ARG002
        """Return the operation of ``memsvc.graph``."""
        return graph.Merge(
            node=self.node_id,
            canonical=self.canonical_id,
            reason=self.reason,
            confidence=self.confidence,
            evidence=self.evidence,
        )


class UnmergeOperation(WithEvidence, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="unmerge"):
    """Undoes the merge of a node."""

    node_id: UUID

    def operation(self, owner: Owner) -> graph.Operation:  # noqa: ARG002
        """Return the operation of ``memsvc.graph``."""
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
    """A batch of operations, run in order, all of them or none."""

    operations: list[AnyOperation]
    """1 to 1,000 operations."""

    def read(self, owner: Owner) -> list[graph.Operation]:
        """Return the operations of ``memsvc.graph``.

        Raises:
            MemsvcError: an operation cannot be read; ``details["row"]`` is its index.
        """
        found = []
        for row, given in enumerate(self.operations):
            try:
                found.append(given.operation(owner))
            except MemsvcError as error:
                error.details = {**error.details, "row": row}
                raise
        return found
