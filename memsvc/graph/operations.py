"""The operations on the graph: checks each one, for good errors, and makes rows for ``memsvc.write_history``.

A node is named by its id, or by the index (from 0) of the operation in the same batch that makes it.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from memsvc.errors import (
    BatchTooLargeError,
    InvalidAliasError,
    InvalidIntervalError,
    InvalidPlaceError,
    InvalidRequestError,
    InvalidSpanError,
    InvalidTimeError,
    MemsvcError,
    MergeCycleError,
    NodeUnknownError,
    TextTooLongError,
)
from memsvc.text.characters import is_visible, trimmed
from memsvc.text.storable import check_storable
from memsvc.times.conditions import read_when

MAX_OPERATIONS = 1_000
MAX_TEXT_CHARS = 8_000
MAX_DATA_BYTES = 65_536
MAX_NAME_CHARS = 200
MAX_EVIDENCE = 100
BESIDE = "beside"
"""The key of a relation that holds beside other values of its functional type."""
LEAST_SHARE = 1e-6
INSTRUCTION = "Instruction"
"""The type of nodes whose data may hold a condition."""
Ref = UUID | int
Mark = Literal["validated", "disputed"]
"""What a person or an app can mark a fact as."""
Stance = Literal["supports", "ends", "validated", "disputed"]
"""What a passage says of what the graph holds."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A passage that supports an operation."""

    passage_id: UUID
    span: tuple[int, int] | None = None
    """Range of characters in the passage, from 0, without the end; None: the whole passage."""
    confidence: float = 1.0
    """How well the passage supports it: above 0, at most 1."""


class Operation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One operation on the graph."""

    evidence: Sequence[Evidence] = ()


class Spanned(Operation, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An operation about a span of valid time."""

    valid_from: datetime | None = None
    """None: no known start; counts as always."""
    valid_to: datetime | None = None
    """The first moment at which it was not true any more; None: still true."""


class Node(Spanned, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All properties of a node; without ``node`` a new one is made."""

    type: str
    label: str
    node: UUID | None = None
    make: bool = False
    """Make the node under the given id if it does not exist, so that the same request can be repeated safely."""
    description: str = ""
    data: Mapping[str, Any] = {}
    importance: float = 5.0
    """1 (trivial) to 10 (life-changing)."""


class Edge(Spanned, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fact: a relation between two nodes. Facts that it contradicts during its valid time are superseded."""

    from_node: Ref
    type: str
    to_node: Ref
    fact: str
    """As a sentence."""
    key: str = ""
    """Distinguishes several relations of one type between the same two nodes. ``BESIDE``: the relation holds beside the
    other values of a type that has one value at a time, and neither ends the other."""
    data: Mapping[str, Any] = {}
    weight: float = 1.0
    confidence: float = 1.0


class Alias(Spanned, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name of a node."""

    node: Ref
    alias: str
    confidence: float = 1.0


class Location(Spanned, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The location of a node; other locations of the node during this valid time are superseded."""

    node: Ref
    latitude: float
    """Degrees north (WGS 84), -90 to 90."""
    longitude: float
    """Degrees east (WGS 84), -180 to 180; both ends are the same meridian."""
    radius_m: float = 0.0
    """Radius in metres: the extent of the location, or the uncertainty of the point."""


class Thread(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What can end or be taken back: an edge, a name of a node, its location, or its properties."""

    edge: UUID | None = None
    node: UUID | None = None
    alias: str | None = None
    place: bool = False
    """With ``node``: its location."""


class Close(Operation, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ends a thread: from that moment on it is not true."""

    thread: Thread
    at: datetime


class Retract(Spanned, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Takes a thread back: it was never true, or not during this time."""

    thread: Thread


class Correct(Operation, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Corrects the content of a version that is known now, over the same valid time, or from an earlier begin on."""

    version: UUID
    content: Mapping[str, Any]
    """The fields to replace: type, label, description, data, importance of a node; fact, data, weight, confidence of an
    edge; confidence of a name; latitude, longitude, radius_m of a location."""
    refines: bool = False
    """The evidence of the version supports the correction too, though all its words are replaced."""
    begins: datetime | None = None
    """Since when it holds, where that is earlier than the version says."""


class Merge(Operation, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Merges a node into another, which represents it from now on."""

    node: UUID
    canonical: UUID
    reason: str = ""
    confidence: float = 1.0


class Annotate(Operation, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Marks a version of a fact that is known now; its evidence gives the reason."""

    version: UUID
    stance: Mark


class Unmerge(Operation, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ends the merge of a node."""

    node: UUID


CORRECTABLE = frozenset(
    {
        *("type", "label", "description", "data", "importance", "fact", "weight", "confidence"),
        *("latitude", "longitude", "radius_m"),
    }
)
MOST_LATITUDE, MOST_LONGITUDE = 90.0, 180.0
HALF_WAY_M = 20_015_115.0
"""Half of the Earth's circumference in metres: nothing on Earth is farther away."""
Row = dict[str, Any]


def new_id() -> UUID:
    """Return a UUID of version 7, as PostgreSQL's ``uuidv7()`` makes them (RFC 9562, section 5.7)."""
    moment = time.time_ns() // 1_000_000
    value = (moment & (1 << 48) - 1) << 80 | secrets.randbits(80)
    return UUID(int=value & ~(0xF << 76) & ~(0x3 << 62) | 0x7 << 76 | 0x2 << 62)


def as_rows(operations: Sequence[Operation]) -> list[Row]:
    """Return the rows of ``memsvc.write_history`` for a batch; the first invalid operation raises.

    Raises:
        BatchTooLargeError: more than 1,000 operations.
        MemsvcError: an operation is not valid; ``details["row"]`` is its index, from 0.
    """
    if not operations:
        raise InvalidRequestError("The batch is empty.", hint="Send at least one operation.")
    if len(operations) > MAX_OPERATIONS:
        raise BatchTooLargeError(
            f"{len(operations):,} operations; at most {MAX_OPERATIONS:,} fit one batch.",
            hint="Send them in several batches.",
        )
    made = {
        index: operation.node or new_id()
        for index, operation in enumerate(operations)
        if isinstance(operation, Node) and (operation.node is None or operation.make)
    }
    rows: list[Row] = []
    for index, operation in enumerate(operations):
        try:
            rows.append({"position": index, **_row(operation, index, made)})
        except MemsvcError as error:
            error.details = {**error.details, "row": index}
            raise
    return rows


def _row(operation: Operation, index: int, made: Mapping[int, UUID]) -> Row:
    common: Row = {"evidence": [_evidence(item) for item in _few(operation.evidence)], **_span(operation)}
    match operation:
        case Node():
            return common | _node(operation, index, made)
        case Edge():
            return common | _edge(operation, made)
        case Alias():
            return common | {
                "op": "alias",
                "node_id": _node_id(operation.node, made),
                "alias": _name(operation.alias),
                "confidence": _share(operation.confidence, "confidence"),
            }
        case Location():
            return common | {
                "op": "place",
                "node_id": _node_id(operation.node, made),
                "latitude": latitude(operation.latitude),
                "longitude": longitude(operation.longitude),
                "radius_m": radius(operation.radius_m),
            }
        case Close() | Retract():
            return common | _end(operation)
        case Correct():
            return common | {
                "op": "correct",
                "version_id": operation.version,
                "content": _content(operation.content),
                "refines": operation.refines,
                "valid_from": _moment(operation.begins, "begins") if operation.begins is not None else None,
            }
        case Merge():
            if operation.node == operation.canonical:
                raise MergeCycleError("A node cannot be merged with itself.")
            return common | {
                "op": "merge",
                "node_id": operation.node,
                "canonical_id": operation.canonical,
                "reason": _text(operation.reason, "reason", empty=True),
                "confidence": _share(operation.confidence, "confidence"),
            }
        case Annotate() | Unmerge():
            return common | _plain(operation)
        case _:
            raise AssertionError(operation)


def _plain(operation: Annotate | Unmerge) -> Row:
    if isinstance(operation, Unmerge):
        return {"op": "unmerge", "node_id": operation.node}
    return {"op": "annotate", "version_id": operation.version, "stance": operation.stance}


def check_conditions(operations: Sequence[Operation]) -> None:
    """Refuse new instructions whose condition cannot be read: they would never apply.

    Raises:
        InvalidRequestError: for the first such condition.
    """
    for one in operations:
        if not isinstance(one, Node) or one.type != INSTRUCTION:
            continue
        if "when" in one.data and read_when(one.data["when"]) is None:
            raise InvalidRequestError(
                "The condition in data.when cannot be read, so it would never hold.",
                hint="It has keywords, between (two times of day, HH:MM), weekdays (mon to sun) or event (begin).",
                field="data",
            )


def _node(operation: Node, index: int, made: Mapping[int, UUID]) -> Row:
    return {
        "op": "node",
        "node_id": made.get(index, operation.node),
        "fresh": operation.node is None or operation.make,
        "type": _text(operation.type, "type"),
        "label": _text(operation.label, "label"),
        "description": _text(operation.description, "description", empty=True),
        "data": _data(operation.data),
        "importance": _importance(operation.importance),
    }


def _edge(operation: Edge, made: Mapping[int, UUID]) -> Row:
    if len(operation.key) > MAX_NAME_CHARS:
        raise TextTooLongError(f"key has more than {MAX_NAME_CHARS} characters.", hint="Shorten it.", field="key")
    return {
        "op": "edge",
        "from_node": _node_id(operation.from_node, made),
        "type": _text(operation.type, "type"),
        "to_node": _node_id(operation.to_node, made),
        "key": _text(operation.key, "key", empty=True),
        "fact": _text(operation.fact, "fact"),
        "data": _data(operation.data),
        "weight": _weight(operation.weight),
        "confidence": _share(operation.confidence, "confidence"),
    }


def _node_id(ref: Ref, made: Mapping[int, UUID]) -> UUID:
    if isinstance(ref, UUID):
        return ref
    if ref not in made:
        raise NodeUnknownError(f"Operation {ref} of this batch makes no node.")
    return made[ref]


def _end(operation: Close | Retract) -> Row:
    thread = _thread(operation.thread)
    if isinstance(operation, Retract):
        return {"op": "retract", **thread}
    return {"op": "close", "valid_from": _moment(operation.at, "at"), **thread}


def _thread(thread: Thread) -> Row:
    match thread:
        case Thread(edge=UUID() as edge, node=None, alias=None, place=False):
            return {"edge_id": edge}
        case Thread(edge=None, node=UUID() as node, alias=None, place=False):
            return {"node_id": node}
        case Thread(edge=None, node=UUID() as node, alias=str() as alias, place=False):
            return {"node_id": node, "alias": _name(alias)}
        case Thread(edge=None, node=UUID() as node, alias=None, place=True):
            return {"node_id": node, "place": True}
        case _:
            raise InvalidRequestError(
                "Name an edge, or a node, or a node and its alias or place.",
                hint="Exactly one of these.",
                field="thread",
            )


def latitude(value: float, field: str = "latitude") -> float:
    """Check degrees north.

    Raises:
        InvalidPlaceError: there is no such latitude.
    """
    if not -MOST_LATITUDE <= value <= MOST_LATITUDE:  # false for NaN too
        raise InvalidPlaceError(f"{field} must be between -90 and 90 degrees.", field=field)
    return value + 0.0  # -0.0 is 0.0


def longitude(value: float, field: str = "longitude") -> float:
    """Check degrees east, and return 180 as -180: they are the same meridian.

    Raises:
        InvalidPlaceError: there is no such longitude.
    """
    if not -MOST_LONGITUDE <= value <= MOST_LONGITUDE:
        raise InvalidPlaceError(f"{field} must be between -180 and 180 degrees.", field=field)
    return -MOST_LONGITUDE if value == MOST_LONGITUDE else value + 0.0


def radius(value: float, field: str = "radius_m") -> float:
    """Check a radius in metres, at most half of the Earth's circumference.

    Raises:
        InvalidPlaceError: it is negative or larger.
    """
    if not 0 <= value <= HALF_WAY_M:
        raise InvalidPlaceError(f"{field} must be between 0 and {HALF_WAY_M:,.0f} metres.", field=field)
    return value + 0.0


def _few(evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    if len(evidence) > MAX_EVIDENCE:
        raise BatchTooLargeError(
            f"{len(evidence):,} pieces of evidence; at most {MAX_EVIDENCE} fit one operation.",
            hint="Send the operation again with the rest: only their evidence is added.",
        )
    return evidence


def _evidence(item: Evidence) -> Row:
    begin, end = item.span or (None, None)
    if begin is not None and end is not None and not 0 <= begin < end < 2**31:
        raise InvalidSpanError(f"{begin} to {end} is not a span.", field="evidence")
    return {
        "passage_id": item.passage_id,
        "span_from": begin,
        "span_to": end,
        "confidence": _share(item.confidence, "confidence"),
    }


def _span(operation: Operation) -> Row:
    if not isinstance(operation, Spanned):
        return {}
    begin, end = operation.valid_from, operation.valid_to
    if begin is not None and end is not None and _moment(end, "valid_to") <= _moment(begin, "valid_from"):
        raise InvalidIntervalError(field="valid_to")
    return {
        "valid_from": _moment(begin, "valid_from") if begin is not None else None,
        "valid_to": _moment(end, "valid_to") if end is not None else None,
    }


def _moment(value: datetime, field: str) -> datetime:
    if value.utcoffset() is None:
        raise InvalidTimeError(f"{field} has no offset.", field=field)
    return value


def _name(value: str) -> str:
    check_storable(value, "alias")
    name = trimmed(value)
    if not name or len(name) > MAX_NAME_CHARS:
        raise InvalidAliasError(f"A name has 1 to {MAX_NAME_CHARS} characters.", field="alias")
    return name


def _text(value: str, field: str, *, empty: bool = False) -> str:
    check_storable(value, field)
    if not empty and not is_visible(value):
        raise InvalidRequestError(f"{field} is empty.", field=field)
    if len(value) > MAX_TEXT_CHARS:
        raise TextTooLongError(
            f"{field} has {len(value):,} characters; at most {MAX_TEXT_CHARS:,} fit.", hint="Shorten it.", field=field
        )
    return value


def _data(value: Mapping[str, Any]) -> Mapping[str, Any]:
    check_storable(value, "data")
    if len(msgspec.json.encode(value)) > MAX_DATA_BYTES:
        raise TextTooLongError(f"data has more than {MAX_DATA_BYTES:,} bytes.", hint="Shorten it.", field="data")
    return value


def _share(value: float, field: str) -> float:
    if not LEAST_SHARE <= value <= 1:
        raise InvalidRequestError(f"{field} must be above 0 and at most 1.", field=field)
    return value


def _weight(value: float) -> float:
    if not (math.isfinite(value) and 0 <= value <= 1e30):  # noqa: PLR2004 - well within PostgreSQL's type real
        raise InvalidRequestError("weight must be 0 or a positive number.", field="weight")
    return value if value >= 1e-30 else 0.0  # noqa: PLR2004


def _importance(value: float) -> float:
    if not 1 <= value <= 10:  # noqa: PLR2004 - the scale of node_versions
        raise InvalidRequestError("importance must be between 1 and 10.", field="importance")
    return value


def _content(content: Mapping[str, Any]) -> Row:
    if not content or not content.keys() <= CORRECTABLE:
        raise InvalidRequestError(
            "A correction names the fields to replace.", hint=f"Of {', '.join(sorted(CORRECTABLE))}.", field="content"
        )
    checks: Mapping[str, Any] = {
        "data": _data,
        "importance": _importance,
        "weight": _weight,
        "confidence": lambda value: _share(value, "confidence"),
        "description": lambda value: _text(value, "description", empty=True),
        "latitude": latitude,
        "longitude": longitude,
        "radius_m": radius,
    }
    try:
        return {name: checks.get(name, lambda v, n=name: _text(v, n))(value) for name, value in content.items()}
    except (TypeError, AttributeError) as error:
        raise InvalidRequestError("A value of the correction has the wrong type.", field="content") from error
