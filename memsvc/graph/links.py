"""Links between notes, or any nodes: edges of nine types, with the strength as weight. How to: docs/notes.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import FactUnknownError, InvalidRequestError, VersionSupersededError
from memsvc.graph import read
from memsvc.graph.history import write
from memsvc.graph.notes import MAX_PAGE, again, called, checked_text, kind_and_tags
from memsvc.graph.operations import Close, Correct, Edge, Evidence, Operation, Thread
from memsvc.graph.traverse import FAN_OUT, MOST_NODES, Graph, neighbourhood
from memsvc.text.characters import trimmed

Relation = Literal[
    "extends", "contradicts", "supports", "example_of", "part_of", "relates_to", "answers", "caused_by", "temporal"
]
TYPES: dict[Relation, str] = {
    "extends": "EXTENDS", "contradicts": "CONTRADICTS", "supports": "SUPPORTS", "example_of": "EXAMPLE_OF",
    "part_of": "PART_OF", "relates_to": "RELATED_TO", "answers": "ANSWERS", "caused_by": "CAUSED_BY",
    "temporal": "PRECEDES",
}  # fmt: skip
RELATIONS: dict[str, Relation] = {type_: relation for relation, type_ in TYPES.items()}
SENTENCES: dict[Relation, str] = {
    "extends": "{} extends {}.", "contradicts": "{} contradicts {}.", "supports": "{} supports {}.",
    "example_of": "{} is an example of {}.", "part_of": "{} is a part of {}.", "relates_to": "{} is related to {}.",
    "answers": "{} answers {}.", "caused_by": "{} was caused by {}.", "temporal": "{} comes before {}.",
}  # fmt: skip
RADIUS = 2
"""Links from note to note that are followed unless another radius is asked for."""
MAX_RADIUS = 4
LEAST_STRENGTH = 1e-6


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A link between two nodes."""

    link_id: UUID
    """It stays the same when the strength changes."""
    version_id: UUID
    from_node: UUID
    relation: Relation
    to_node: UUID
    strength: float
    """Above 0, at most 1."""
    fact: str
    """The reason, or a sentence made of both titles."""


class LinkedNote(msgspec.Struct, frozen=True, kw_only=True):
    """A note within some links of a node."""

    note_id: UUID
    title: str
    text: str
    kind: str
    tags: list[str]
    distance: int
    """Number of links in between."""
    relations: list[Relation]
    """The relations of these links, from the start node on; a link can be followed in both directions."""
    path: list[UUID]
    """The nodes after the start node; this note is the last."""
    strength: float
    """Product of the strengths of these links; of several links to a node, the strongest counts."""


def _type(relation: str) -> str:
    if relation not in RELATIONS.values():
        raise InvalidRequestError(
            f"{relation[:60]!r} is not a relation of notes.", hint=f"One of: {', '.join(TYPES)}.", field="relation"
        )
    return TYPES[relation]  # type: ignore[index]


async def create_link(
    db: Database,
    owner: Owner,
    from_node: UUID,
    to_node: UUID,
    relation: Relation,
    *,
    strength: float = 1.0,
    reason: str = "",
    evidence: Sequence[Evidence] = (),
    asserted_by: str = "user",
) -> Link:
    """Link two nodes. An existing link gets the new strength, reason and evidence.

    Args:
        db: the database.
        owner: the user whose nodes they are.
        from_node: where the link starts: a note, or any other node.
        to_node: where it ends.
        relation: how the first is related to the second.
        strength: above 0, at most 1.
        reason: why, as a sentence; if empty, a sentence made of both titles is used.
        evidence: passages that support it.
        asserted_by: who says so.

    Raises:
        InvalidRequestError: both are the same node, or another value is not valid.
        NodeUnknownError, PassageUnknownError: a node or passage does not exist.
    """
    type_ = _type(relation)
    if not LEAST_STRENGTH <= strength <= 1:
        raise InvalidRequestError("strength must be above 0 and at most 1.", field="strength")
    reason = trimmed(checked_text(reason, "reason"))

    async def attempt() -> Link:
        canonical = await read.resolve(db, owner, [from_node, to_node])
        start, end = canonical[from_node], canonical[to_node]
        if start == end:
            raise InvalidRequestError("A node cannot be linked with itself.", field="to_node")
        cards = await read.cards(db, owner, [start, end])
        known = await _links(db, owner, start, type_, end)
        fact = reason or SENTENCES[relation].format(*(called(cards[node].label) for node in (start, end)))
        now = datetime.now(UTC)
        holding = next((f for f in known if _holds(f, now)), None)
        operation: Operation
        if holding is not None:
            content = {"fact": fact, "weight": strength, "data": {**holding.data, "reason": reason}}
            operation = Correct(version=holding.version_id, content=content, evidence=evidence)
        else:
            operation = Edge(
                from_node=start, type=type_, to_node=end, fact=fact, weight=strength, evidence=evidence,
                data={"reason": reason}, valid_from=now if known else None,
            )  # fmt: skip
        versions = (await write(db, owner, [operation], asserted_by=asserted_by)).results[0].versions
        written = await _links(db, owner, start, type_, end)
        found = [f for f in written if f.version_id in versions] or [f for f in written if _holds(f, datetime.now(UTC))]
        if not found:
            raise VersionSupersededError  # another writer was faster
        return _link(found[0], relation)

    return await again(attempt)


async def _links(db: Database, owner: Owner, start: UUID, type_: str, end: UUID) -> list[read.Fact]:
    """Return all versions of a link that are known now, at any valid time, newest first."""
    found = await read.facts(db, owner, [start], types=[type_], as_of=read.ALWAYS, side="from")
    return [fact for fact in found if fact.to_node == end and not fact.key]


def _holds(fact: read.Fact, now: datetime) -> bool:
    return (fact.valid_from is None or fact.valid_from <= now) and (fact.valid_to is None or fact.valid_to > now)


def _link(fact: read.Fact, relation: Relation) -> Link:
    return Link(
        link_id=fact.edge_id,
        version_id=fact.version_id,
        from_node=fact.from_node,
        relation=relation,
        to_node=fact.to_node,
        strength=fact.weight,
        fact=fact.fact,
    )


async def unlink(
    db: Database, owner: Owner, link_id: UUID, *, evidence: Sequence[Evidence] = (), asserted_by: str = "user"
) -> bool:
    """End a link now; it stays readable in its history.

    Returns:
        Whether there was anything to end.

    Raises:
        FactUnknownError: there is no such link.
    """
    async with db.transaction(owner.user_id) as connection:
        asked = {"user_id": owner.user_id, "edge_id": link_id}
        type_ = (await connection.execute(query("edge_type_of"), asked)).scalar_one_or_none()
    if type_ not in RELATIONS:
        raise FactUnknownError(f"There is no link {link_id}.")
    operation = Close(thread=Thread(edge=link_id), at=datetime.now(UTC), evidence=evidence)
    change = await write(db, owner, [operation], asserted_by=asserted_by)
    return change.results[0].outcome == "closed"


async def get_linked_notes(
    db: Database,
    owner: Owner,
    note_id: UUID,
    *,
    radius: int = RADIUS,
    relations: Sequence[Relation] | None = None,
    min_strength: float = 0.0,
    limit: int = 50,
) -> list[LinkedNote]:
    """Return notes that are connected with a node by links, nearest first, then strongest. Direction does not count.

    Args:
        db: the database.
        owner: the user whose notes they are.
        note_id: where to start: a note, or any other node.
        radius: most links in between, 1 to 4.
        relations: only links of these relations; None: of all.
        min_strength: least product of the strengths of the links in between, 0 to 1.
        limit: 1 to 1,000.

    Raises:
        NodeUnknownError: there is no such node.
        InvalidRequestError: a value is out of range, or a relation does not exist.
    """
    if not 1 <= radius <= MAX_RADIUS:
        raise InvalidRequestError(f"radius must be between 1 and {MAX_RADIUS}.", field="radius")
    if not 0 <= min_strength <= 1:
        raise InvalidRequestError("min_strength must be between 0 and 1.", field="min_strength")
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidRequestError(f"limit must be between 1 and {MAX_PAGE:,}.", field="limit")
    types = [_type(relation) for relation in (TYPES if relations is None else relations)]
    start = (await read.resolve(db, owner, [note_id]))[note_id]
    near = await neighbourhood(
        db, owner, [start], hops=radius, types=types, fan_out=max(FAN_OUT, limit), limit=max(MOST_NODES, 4 * limit)
    )
    return _nearest(near, start, min_strength)[:limit]


def _nearest(near: Graph, start: UUID, min_strength: float) -> list[LinkedNote]:
    """Return the notes of a neighbourhood, each with the strongest of the shortest paths to it."""
    hop = {node.node_id: node.hop for node in near.nodes}
    nearer = defaultdict(list)
    for edge in near.edges:
        for here, there in ((edge.from_node, edge.to_node), (edge.to_node, edge.from_node)):
            if here in hop and hop.get(there) == hop[here] - 1:
                nearer[here].append((there, edge))
    reached: dict[UUID, tuple[float, list[Relation], list[UUID]]] = {start: (1.0, [], [])}
    for node in sorted(hop, key=lambda node: hop[node]):
        for before, edge in nearer[node]:
            if before in reached:
                strength, relations, path = reached[before]
                strength *= min(edge.weight, 1.0)
                if node not in reached or strength > reached[node][0]:
                    reached[node] = (strength, [*relations, RELATIONS[edge.type]], [*path, node])
    found = [
        LinkedNote(
            note_id=node.node_id, title=node.label or "", text=node.description, **kind_and_tags(node.data),
            distance=node.hop, relations=relations, path=path, strength=strength,
        )
        for node in near.nodes
        if node.type == "Note" and node.hop and node.node_id in reached
        for strength, relations, path in (reached[node.node_id],)
        if strength >= min_strength
    ]  # fmt: skip
    return sorted(found, key=lambda note: (note.distance, -note.strength, str(note.note_id)))
