"""Pairs of nodes that may be the same: noted when they are met, decided by the judge or by a person.

A rejected pair stays rejected for ever, whoever meets it again. Kept in ``memsvc.duplicate_candidates``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.files import query
from memsvc.identity.cards import Card


class Suspicion(msgspec.Struct, frozen=True, kw_only=True):
    """Two nodes may be the same."""

    node: UUID
    other: UUID
    score: float
    """From 0 to 1."""
    evidence: Mapping[str, float] = {}


async def note(connection: AsyncConnection, owner: Owner, found: Sequence[Suspicion], *, found_by: str) -> int:
    """Note pairs, in the caller's transaction, and give how many are new.

    A pair that is open already gets the new score. What is one node already, or was refused before, is left out.

    Args:
        connection: the caller's transaction.
        owner: whose memory.
        found: nodes as they are stored, or those that stand for them, in any order.
        found_by: an extractor's or a task's name.
    """
    if not found:
        return 0
    parameters = {
        "user_id": owner.user_id,
        "found": msgspec.json.encode(found).decode(),
        "found_by": found_by,
    }
    fresh: int = (await connection.execute(query("note_duplicates"), parameters)).scalar_one()
    return fresh


async def refused(
    connection: AsyncConnection, owner: Owner, pairs: Sequence[tuple[UUID, UUID]]
) -> set[tuple[UUID, UUID]]:
    """Those of some pairs that must never be one: somebody rejected them, or parted them after a merge."""
    if not pairs:
        return set()
    nodes, others = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    parameters = {"user_id": owner.user_id, "nodes": nodes, "others": others}
    rows = await connection.execute(query("refused_pairs"), parameters)
    return {(row.node_id, row.other_id) for row in rows}


async def cards(connection: AsyncConnection, owner: Owner, nodes: Sequence[UUID]) -> dict[UUID, Card]:
    """Cards of the nodes that stand for some nodes, by their ids, from one statement; a node without label has none."""
    parameters = {"user_id": owner.user_id, "nodes": list(nodes)}
    rows = await connection.execute(query("identity_cards"), parameters)
    return {row.node_id: card_of(row) for row in rows}


NOT_ATTRIBUTES = frozenset({"named", "kind", "relation", "category", "state"})
"""Properties in ``data`` that say nothing about who somebody is."""


def card_of(row: object) -> Card:
    """A card from a row of ``memsvc.identity_cards``."""
    get = row._mapping  # type: ignore[attr-defined]  # noqa: SLF001 - the public name of a row's mapping
    return Card(
        node_id=get["node_id"],
        type=get["type"],
        names=tuple(get["names"]),
        named=get["named"],
        facts=frozenset(zip(get["fact_types"], get["fact_sides"], get["fact_nodes"], strict=True)),
        attributes={key: value for key, value in get["attributes"].items() if key not in NOT_ATTRIBUTES},
        sources=frozenset(get["sources"]),
    )
