"""Concepts as they are stored: nodes of the type ConceptGroup, with edges to them from what they hold.

A group of one kind has EXAMPLE_OF edges from its things and from narrower groups; what hangs together has PART_OF
edges. The node's text names what it holds; its data have a key that never changes, by which it is found again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal
from uuid import UUID, uuid5

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.files import query
from memsvc.graph.operations import MAX_EVIDENCE, Edge, Evidence, Node, Operation, Retract, Thread

WRITER = "concepts"
"""Who asserts them; sql/functions knows the name, too."""
TYPE = "ConceptGroup"
Sort = Literal["kind", "circle"]
"""kind: things that one word fits; circle: people and things that facts join more than by chance."""
EDGES: Mapping[Sort, str] = {"kind": "EXAMPLE_OF", "circle": "PART_OF"}
SURE = 0.8
"""Confidence of an edge."""
LEAST_IMPORTANCE, MOST_IMPORTANCE = 3.0, 7.0
MOST_LABEL = 200
"""Characters."""


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """What a group holds."""

    node_id: UUID
    name: str
    passages: Sequence[UUID] = ()
    """Which say so, or mention it."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A group as it is to be."""

    sort: Sort
    key: str
    label: str
    text: str
    children: Sequence[Child]
    quoted: Sequence[UUID]
    """Passages whose words stand in the text."""
    by: str = ""
    """The language model that wrote the text or gave the word; empty: none."""

    @property
    def digest(self) -> str:
        """Of all that is stored of it."""
        told = msgspec.json.encode([self.label, self.text, sorted(child.node_id for child in self.children)])
        return hashlib.sha256(told).hexdigest()[:32]


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A group that is or was stored."""

    node_id: UUID
    digest: str | None
    stands: bool
    refused: bool
    """Somebody took it back: it is not written again."""
    edges: Mapping[UUID, Tie]
    """By the child, or the node that stands for it."""
    by: str
    """The language model that gave its word."""


class Tie(msgspec.Struct, frozen=True, kw_only=True):
    """An edge into a group that is or was stored."""

    edge_id: UUID
    stands: bool
    refused: bool


def id_of(owner: Owner, key: str) -> UUID:
    """The node of a group: always the same for a user and a key, also after it was erased."""
    return uuid5(owner.user_id, f"concept {key}")


async def known_groups(connection: AsyncConnection, owner: Owner) -> dict[str, Known]:
    """All groups that are or were stored, by key; those without a key are not ours."""
    values = {"user_id": owner.user_id, "writer": WRITER}
    ties: dict[UUID, dict[UUID, Tie]] = {}
    for row in await connection.execute(query("concept_edges"), values):
        tie = Tie(edge_id=row.edge_id, stands=row.stands, refused=row.refused)
        some = ties.setdefault(row.to_node, {})
        if row.child not in some or row.stands:
            some[row.child] = tie
    found: dict[str, Known] = {}
    for row in await connection.execute(query("concept_groups"), values):
        data: Mapping[str, Any] = msgspec.json.decode(row.data) if row.data else {}
        if row.key:
            found[row.key] = Known(
                node_id=row.node_id, digest=row.digest, stands=row.stands, refused=row.refused,
                edges=ties.get(row.node_id, {}), by=str(data.get("by", "")),
            )  # fmt: skip
    return found


def steps(owner: Owner, wanted: Wanted, known: Known | None) -> Iterator[Operation]:
    """What makes a group as it is to be; nothing if it is so, or if somebody took it back."""
    if known is not None and known.refused:
        return
    node = known.node_id if known is not None else id_of(owner, wanted.key)
    ties = known.edges if known is not None else {}
    children = [child for child in wanted.children if child.node_id not in ties or not ties[child.node_id].refused]
    if known is None or not known.stands or known.digest != wanted.digest:
        yield Node(
            node=node, make=True, type=TYPE, label=wanted.label[:MOST_LABEL], description=wanted.text,
            data={"sort": wanted.sort, "key": wanted.key, "digest": wanted.digest, "by": wanted.by},
            importance=min(MOST_IMPORTANCE, LEAST_IMPORTANCE + len(wanted.children) / 10),
            evidence=_evidence(wanted.quoted),
        )  # fmt: skip
    for child in children:
        if child.node_id not in ties or not ties[child.node_id].stands:
            fact = f"{child.name} is an example of {wanted.label}" if wanted.sort == "kind" else (
                f"{child.name} belongs to {wanted.label}"
            )  # fmt: skip
            yield Edge(
                from_node=child.node_id, type=EDGES[wanted.sort], to_node=node, fact=fact, confidence=SURE,
                evidence=_evidence(child.passages),
            )  # fmt: skip
    kept = {child.node_id for child in children}
    over = [tie for child_id, tie in ties.items() if tie.stands and child_id not in kept]
    yield from (Retract(thread=Thread(edge=tie.edge_id)) for tie in over)


def withdrawal(known: Known) -> Iterator[Operation]:
    """What takes a group back."""
    yield from (Retract(thread=Thread(edge=tie.edge_id)) for tie in known.edges.values() if tie.stands)
    if known.stands:
        yield Retract(thread=Thread(node=known.node_id))


def _evidence(passages: Sequence[UUID]) -> list[Evidence]:
    return [Evidence(passage_id=one) for one in dict.fromkeys(passages)][:MAX_EVIDENCE]
