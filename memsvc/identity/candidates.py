"""Pairs of nodes that may be the same: stored when they are found, decided later by the judge or by a person.

A rejected pair stays rejected, whoever finds it again. The table is ``memsvc.duplicate_candidates``.
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
    """Two nodes that may be the same."""

    node: UUID
    other: UUID
    score: float
    """Score from 0 to 1."""
    evidence: Mapping[str, float] = {}


async def note(connection: AsyncConnection, owner: Owner, found: Sequence[Suspicion], *, found_by: str) -> int:
    """Store pairs in the caller's transaction, and return how many are new.

    A pair that is open already gets the new score. Pairs that are one node already or were rejected are left out.

    Args:
        connection: the caller's transaction.
        owner: the user whose memory it is.
        found: pairs of stored or canonical nodes, in any order.
        found_by: the name of an extractor or a task.
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
    """Return those of some pairs that must never be merged: a person rejected them, or split them after a merge."""
    if not pairs:
        return set()
    nodes, others = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    parameters = {"user_id": owner.user_id, "nodes": nodes, "others": others}
    rows = await connection.execute(query("refused_pairs"), parameters)
    return {(row.node_id, row.other_id) for row in rows}


async def cards(connection: AsyncConnection, owner: Owner, nodes: Sequence[UUID]) -> dict[UUID, Card]:
    """Return the cards of the canonical nodes of some nodes, by id, from one statement; unlabelled nodes have none."""
    parameters = {"user_id": owner.user_id, "nodes": list(nodes)}
    rows = await connection.execute(query("identity_cards"), parameters)
    return {row.node_id: card_of(row) for row in rows}


NOT_ATTRIBUTES = frozenset({"named", "kind", "relation", "category", "state"})
"""Properties in ``data`` that do not help to identify somebody."""


def card_of(row: object) -> Card:
    """Make a card from a row of ``memsvc.identity_cards``."""
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
