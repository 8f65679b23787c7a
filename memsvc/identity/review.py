"""Pairs that may be the same, for a person to decide: listed with both cards, accepted (merged) or rejected."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_name
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Page, Share, check_page, read_cursor, write_cursor
from memsvc.errors import PairDecidedError, PairUnknownError
from memsvc.graph.history import write_in
from memsvc.graph.operations import Merge
from memsvc.identity.candidates import Suspicion, cards, note, refused
from memsvc.identity.cards import Card
from memsvc.identity.judging import judge

State = Literal["open", "merged", "rejected", "split"]
UNJUDGED = 0.5
"""Score of a proposed pair of which a node has no name, so that the two cannot be compared."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One node of a pair, in short."""

    node_id: UUID
    """The node as it was stored in the pair."""
    canonical_id: UUID
    """The node that represents it now."""
    type: str | None
    """None: nothing is known of the node except that it exists."""
    names: list[str]
    facts: int
    """Number of current facts that connect it with other nodes."""
    sources: list[UUID]
    """Conversations and files that mention it."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two nodes that may be the same."""

    a: Side
    b: Side
    score: float
    """Probability from 0 to 1 that they are the same."""
    evidence: Mapping[str, float]
    """Evidence for (above 0) and against (below 0), by comparison."""
    found_by: str
    found_at: datetime
    state: State
    """open; merged: they are the same; rejected: they are not; split: they were one node and were separated."""
    decided_at: datetime | None
    decided_by: str | None


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The decision on a pair."""

    node_a: UUID
    node_b: UUID
    state: State
    canonical_id: UUID | None = None
    """The node that represents both, if they are one."""
    change_id: UUID | None = None
    """The change that merged them; undoing it separates them again. None: nothing was changed."""


async def pairs(
    db: Database, owner: Owner, *, state: State = "open", cursor: str | None = None, limit: int = 50
) -> Page[Pair]:
    """Return pairs in a state, the most probable first.

    Raises:
        InvalidRequestError: the cursor or the limit is not valid.
    """
    check_page(limit)
    found = read_cursor(cursor, tuple[Share, UUID, UUID]) if cursor is not None else (None, None, None)
    after = dict(zip(("after_score", "after_a", "after_b"), found, strict=True))
    async with db.transaction(owner.user_id) as connection:
        asked = {"user_id": owner.user_id, "state": state, **after, "limit": limit + 1}
        rows = (await connection.execute(query("duplicates_page"), asked)).all()
        shown = rows[:limit]
        nodes = [node for row in shown for node in (row.node_a, row.node_b)]
        canonical_of = await _canonical(connection, owner, nodes)
        known = await cards(connection, owner, nodes)
    items = [
        Pair(
            a=_side(row.node_a, canonical_of, known),
            b=_side(row.node_b, canonical_of, known),
            score=row.score,
            evidence=msgspec.json.decode(row.evidence, type=dict[str, float]),
            found_by=row.found_by,
            found_at=row.found_at,
            state=row.state,
            decided_at=row.decided_at,
            decided_by=row.decided_by,
        )
        for row in shown
    ]
    last = shown[-1] if len(rows) > limit else None
    return Page(items=items, next_cursor=write_cursor((last.score, last.node_a, last.node_b)) if last else None)


def _side(node: UUID, canonical_of: Mapping[UUID, UUID], known: Mapping[UUID, Card]) -> Side:
    canonical = canonical_of.get(node, node)
    card = known.get(canonical)
    return Side(
        node_id=node,
        canonical_id=canonical,
        type=card.type if card else None,
        names=list(card.names) if card else [],
        facts=len(card.facts) if card else 0,
        sources=sorted(card.sources) if card else [],
    )


async def _canonical(connection: AsyncConnection, owner: Owner, nodes: list[UUID]) -> dict[UUID, UUID]:
    """Return the canonical node of each node."""
    parameters = {"user_id": owner.user_id, "nodes": nodes, "known_at": None}
    return {row.node_id: row.canonical_id for row in await connection.execute(query("resolve_nodes"), parameters)}


async def propose(db: Database, owner: Owner, node: UUID, other: UUID, *, by: str) -> Decision:
    """Propose that two nodes are the same, for a person to decide. A pair that is open already stays as it is.

    Raises:
        PairDecidedError: they are one node, or were rejected or split.
    """
    actor = valid_name(by, "by")

    async def work(connection: AsyncConnection) -> Decision:
        canonical_of = await _canonical(connection, owner, [node, other])
        node_a, node_b = sorted((canonical_of[node], canonical_of[other]))
        if node_a == node_b:
            raise PairDecidedError("The two are one node already.")
        if await refused(connection, owner, [(node_a, node_b)]):
            raise PairDecidedError("Somebody said that the two are not the same.")
        asked = {"user_id": owner.user_id, "node_a": node_a, "node_b": node_b}
        row = (await connection.execute(query("duplicate_pair"), asked)).one_or_none()
        if row is None or row.state != "open":
            known = await cards(connection, owner, [node_a, node_b])
            verdict = judge(known[node_a], known[node_b]) if len(known) > 1 else None
            score, evidence = (verdict.score, verdict.evidence) if verdict is not None else (UNJUDGED, {})
            found = Suspicion(node=node_a, other=node_b, score=score, evidence=evidence)
            await note(connection, owner, [found], found_by=actor)
        return Decision(node_a=node_a, node_b=node_b, state="open")

    return await db.attempt(owner.user_id, work)


async def accept(db: Database, owner: Owner, node: UUID, other: UUID, *, by: str = "user") -> Decision:
    """Accept a pair: merge the younger node into the older one, or into the one that has a name.

    Accepting it again changes nothing.

    Raises:
        PairUnknownError: there is no such pair.
        PairDecidedError: it was rejected, or split after a merge.
        MergeCycleError, AlreadyMergedError: as ``memsvc.graph.history.merge``.
    """
    actor = valid_name(by, "by")

    async def work(connection: AsyncConnection) -> Decision:
        node_a, node_b, state = await _held(connection, owner, node, other)
        if state in {"rejected", "split"}:
            raise PairDecidedError(f"This pair was {state}.")
        canonical_of = await _canonical(connection, owner, [node_a, node_b])
        one, two = canonical_of[node_a], canonical_of[node_b]
        change_id = None
        if one != two:
            one, two = await _older(connection, owner, one, two)
            merged = Merge(node=two, canonical=one, reason="accepted in review")
            change_id = (await write_in(connection, owner, [merged], asserted_by=actor)).change_id
        if state != "merged":
            await decide(connection, owner, (node_a, node_b), "merged", by=actor)
        return Decision(node_a=node_a, node_b=node_b, state="merged", canonical_id=one, change_id=change_id)

    return await db.attempt(owner.user_id, work)


async def reject(db: Database, owner: Owner, node: UUID, other: UUID, *, by: str = "user") -> Decision:
    """Reject a pair: never propose or merge it again. Rejecting it again changes nothing.

    Raises:
        PairUnknownError: there is no such pair.
        PairDecidedError: the two are one node; split it.
    """
    actor = valid_name(by, "by")

    async def work(connection: AsyncConnection) -> Decision:
        node_a, node_b, state = await _held(connection, owner, node, other)
        canonical_of = await _canonical(connection, owner, [node_a, node_b])
        if canonical_of[node_a] == canonical_of[node_b]:
            raise PairDecidedError("The two are one node now.", hint="Split it by its sources, or undo the merge.")
        if state not in {"rejected", "split"}:
            await decide(connection, owner, (node_a, node_b), "rejected", by=actor)
            state = "rejected"
        return Decision(node_a=node_a, node_b=node_b, state=state)

    return await db.attempt(owner.user_id, work)


async def reopen(db: Database, owner: Owner, node: UUID, other: UUID) -> Decision:
    """Let a decided pair wait again; a merge must be undone before. Repeating it changes nothing.

    Raises:
        PairUnknownError: there is no such pair.
        PairDecidedError: the two are one node.
    """

    async def work(connection: AsyncConnection) -> Decision:
        node_a, node_b, _ = await _held(connection, owner, node, other)
        canonical_of = await _canonical(connection, owner, [node_a, node_b])
        if canonical_of[node_a] == canonical_of[node_b]:
            raise PairDecidedError("The two are one node now.", hint="Undo the merge first.")
        await connection.execute(query("reopen_pair"), {"user_id": owner.user_id, "node_a": node_a, "node_b": node_b})
        return Decision(node_a=node_a, node_b=node_b, state="open")

    return await db.attempt(owner.user_id, work)


async def decide(connection: AsyncConnection, owner: Owner, pair: tuple[UUID, UUID], state: State, *, by: str) -> None:
    """Store the decision on a pair, whether the pair was known or not, in the caller's transaction."""
    parameters = {"user_id": owner.user_id, "node": pair[0], "other": pair[1], "state": state, "decided_by": by}
    await connection.execute(query("decide_duplicates"), parameters)


async def _held(connection: AsyncConnection, owner: Owner, node: UUID, other: UUID) -> tuple[UUID, UUID, State]:
    """Return the stored pair, locked until the transaction ends."""
    node_a, node_b = sorted((node, other))
    parameters = {"user_id": owner.user_id, "node_a": node_a, "node_b": node_b}
    row = (await connection.execute(query("duplicate_pair"), parameters)).one_or_none()
    if row is None:
        raise PairUnknownError
    return row.node_a, row.node_b, row.state


async def _older(connection: AsyncConnection, owner: Owner, one: UUID, two: UUID) -> tuple[UUID, UUID]:
    """Return the node that represents both, then the other: the named one, else the older one (with the smaller id)."""
    known = await cards(connection, owner, [one, two])
    named = {node: card.named for node, card in known.items()}
    first, second = sorted((one, two), key=lambda node: (not named.get(node, False), node))
    return first, second
