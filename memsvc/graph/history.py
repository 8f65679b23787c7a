"""The only way to change the graph: batches of operations, each recorded at one time, all of it or nothing.

Nothing is overwritten: what is superseded or taken back is kept, with the time until which it was believed. Rules and
reasons: docs/adr/0011-history.md. ``memsvc.write_history`` in ``sql/functions`` does the work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
import psycopg
from sqlalchemy import exc as sa
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_name
from memsvc.db.engine import EVENTS, Database
from memsvc.db.once import Once
from memsvc.errors import (
    AlreadyExistsError,
    AlreadyMergedError,
    ChangeBuiltUponError,
    ChangeUnknownError,
    EndpointForbiddenError,
    FactUnknownError,
    InvalidAliasError,
    InvalidIntervalError,
    InvalidRequestError,
    InvalidSpanError,
    MemsvcError,
    MergeCycleError,
    NodeUnknownError,
    NotFoundError,
    PassageUnknownError,
    TextRefusedError,
    TypeDeprecatedError,
    TypeProposedError,
    TypeStateError,
    TypeUnknownError,
    VersionSupersededError,
)
from memsvc.graph.operations import (
    Alias,
    Close,
    Correct,
    Edge,
    Evidence,
    Merge,
    Node,
    Operation,
    Retract,
    Thread,
    Unmerge,
    as_rows,
)

Outcome = Literal["written", "known", "superseded", "closed", "unchanged", "erased"]
REFUSED = "MS002"
TEXTS = ("label", "alias", "description", "fact", "data", "content", "reason")
"""What rows of operations have of people's words."""
ENDS = frozenset({"close", "retract"})
"""Operations whose words only name what is there."""
ERRORS: dict[str, type[MemsvcError]] = {
    error.code: error
    for error in (
        AlreadyExistsError,
        AlreadyMergedError,
        ChangeBuiltUponError,
        ChangeUnknownError,
        EndpointForbiddenError,
        FactUnknownError,
        InvalidAliasError,
        InvalidIntervalError,
        InvalidRequestError,
        InvalidSpanError,
        MergeCycleError,
        NodeUnknownError,
        NotFoundError,
        PassageUnknownError,
        TypeDeprecatedError,
        TypeProposedError,
        TypeStateError,
        TypeUnknownError,
        VersionSupersededError,
    )
}
WRITE = text("SELECT * FROM memsvc.write_history(:user_id, :actor, CAST(:operations AS jsonb))")
UNDO = text("SELECT * FROM memsvc.undo_change(:user_id, :actor, :change_id)")


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one operation."""

    index: int
    outcome: Outcome
    """written; known: it was already recorded, and evidence was added; superseded: a later operation of the batch says
    otherwise; closed: something ended or was taken back; unchanged: there was nothing to end; erased: it was forgotten,
    and the evidence is older than that, so nothing was written."""
    node_id: UUID | None
    """The node, for operations on nodes, names and merges."""
    edge_id: UUID | None
    versions: list[UUID]
    """Versions that now hold the content or its end: of nodes, edges, names (their alias_id) or merges."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded batch."""

    change_id: UUID
    recorded_at: datetime
    """Reads with a ``known_at`` from this moment on see the change."""
    results: list[Result]


def refusal(error: sa.DBAPIError) -> MemsvcError | None:
    """Translate a refusal by ``write_history`` into an error of ours; None: it is another error."""
    cause = error.orig
    if not isinstance(cause, psycopg.Error) or cause.sqlstate != REFUSED:
        return None
    row = cause.diag.column_name
    details: dict[str, Any] = {"row": int(row)} if row else {}
    return ERRORS[cause.diag.message_detail or ""](cause.diag.message_primary or "", **details)


def admitted(rows: Sequence[dict[str, Any]], owner: Owner) -> list[dict[str, Any]]:
    """Return rows of ``as_rows`` as they may be stored under the owner's policy on secrets.

    Raises:
        TextRefusedError: one has a secret of a kind that is refused; ``details["row"]`` is its index.
    """
    if owner.policy.is_off:
        return list(rows)
    kept: list[dict[str, Any]] = []
    for index, row in enumerate(rows):
        try:
            names = [name for name in TEXTS if name in row and row["op"] not in ENDS]
            texts = {name: owner.policy.admit_all(row[name], name) for name in names}
        except TextRefusedError as error:
            error.details = {**error.details, "row": index}
            raise
        kept.append({**row, **texts})
    return kept


async def write_in(
    connection: AsyncConnection, owner: Owner, operations: Sequence[Operation], *, asserted_by: str
) -> Change:
    """Do ``write`` in the caller's transaction. Two batches in one transaction can deadlock with other transactions."""
    parameters = {
        "user_id": owner.user_id,
        "actor": valid_name(asserted_by, "asserted_by"),
        "operations": msgspec.json.encode(admitted(as_rows(operations), owner)).decode(),
    }
    try:
        rows = (await connection.execute(WRITE, parameters)).all()
    except sa.DBAPIError as error:
        refused = refusal(error)
        if refused is None:
            raise
        raise refused from error
    return Change(
        change_id=rows[0].change_id,
        recorded_at=rows[0].recorded_at,
        results=[
            Result(index=row.nth, outcome=row.outcome, node_id=row.node_id, edge_id=row.edge_id, versions=row.versions)
            for row in rows
        ],
    )


async def write(
    db: Database, owner: Owner, operations: Sequence[Operation], *, asserted_by: str, once: Once | None = None
) -> Change:
    """Write a batch of operations, in their order, in one transaction and at one recorded time.

    Args:
        db: the database.
        owner: the user whose graph is changed.
        operations: 1 to 1,000.
        asserted_by: who asserts them: user, app, or the name of an extractor.
        once: the request that they come from; if it was done before, its change is returned and nothing is written.

    Raises:
        MemsvcError: one operation is refused, so none is done; ``details["row"]`` is its index, from 0.
        IdempotencyConflictError: the key of ``once`` came with another request.
    """

    async def work(connection: AsyncConnection) -> Change:
        known = await once.answer(connection, owner.user_id) if once is not None else None
        if known is not None:
            return msgspec.json.decode(known, type=Change)
        change = await write_in(connection, owner, operations, asserted_by=asserted_by)
        if once is not None:
            await once.keep(connection, owner.user_id, msgspec.json.encode(change).decode())
        return change

    change = await db.attempt(owner.user_id, work)
    db.notify(EVENTS)
    return change


async def assert_facts(db: Database, owner: Owner, facts: Sequence[Node | Edge | Alias], *, asserted_by: str) -> Change:
    """Assert nodes, edges and names over their valid times, superseding what contradicts them. Raises: as ``write``."""
    return await write(db, owner, facts, asserted_by=asserted_by)


async def close(
    db: Database,
    owner: Owner,
    threads: Sequence[Thread],
    at: datetime,
    *,
    asserted_by: str,
    evidence: Sequence[Evidence] = (),
) -> Change:
    """End threads at a moment.

    Raises:
        InvalidIntervalError: one began at that moment or later. Others: as ``write``.
    """
    operations = [Close(thread=thread, at=at, evidence=evidence) for thread in threads]
    return await write(db, owner, operations, asserted_by=asserted_by)


async def retract(
    db: Database,
    owner: Owner,
    threads: Sequence[Thread],
    *,
    asserted_by: str,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    evidence: Sequence[Evidence] = (),
) -> Change:
    """Take threads back: they were never true, or not during this time. Raises: as ``write``."""
    operations = [
        Retract(thread=thread, valid_from=valid_from, valid_to=valid_to, evidence=evidence) for thread in threads
    ]
    return await write(db, owner, operations, asserted_by=asserted_by)


async def correct(
    db: Database,
    owner: Owner,
    version: UUID,
    content: Mapping[str, Any],
    *,
    asserted_by: str,
    evidence: Sequence[Evidence] = (),
) -> Change:
    """Correct the content of a version, over the same valid time.

    Raises:
        VersionSupersededError: the version is not what is known now. Others: as ``write``.
    """
    operation = Correct(version=version, content=content, evidence=evidence)
    return await write(db, owner, [operation], asserted_by=asserted_by)


async def merge(
    db: Database,
    owner: Owner,
    node: UUID,
    canonical: UUID,
    *,
    asserted_by: str,
    reason: str = "",
    confidence: float = 1.0,
    evidence: Sequence[Evidence] = (),
) -> Change:
    """Merge ``node`` into ``canonical``, which represents it in every read from now on. No data is moved.

    Raises:
        MergeCycleError, AlreadyMergedError: it represents the other, or is merged elsewhere. Others: as ``write``.
    """
    operation = Merge(node=node, canonical=canonical, reason=reason, confidence=confidence, evidence=evidence)
    return await write(db, owner, [operation], asserted_by=asserted_by)


async def unmerge(
    db: Database, owner: Owner, node: UUID, *, asserted_by: str, evidence: Sequence[Evidence] = ()
) -> Change:
    """End the merge of a node. Raises: as ``write``."""
    return await write(db, owner, [Unmerge(node=node, evidence=evidence)], asserted_by=asserted_by)


async def alias(
    db: Database, owner: Owner, node: UUID, names: Sequence[str], *, asserted_by: str, confidence: float = 1.0
) -> Change:
    """Give a node a name. Raises: as ``write``."""
    operations = [Alias(node=node, alias=name, confidence=confidence) for name in names]
    return await write(db, owner, operations, asserted_by=asserted_by)


async def unalias(
    db: Database, owner: Owner, node: UUID, names: Sequence[str], *, asserted_by: str, since: datetime | None = None
) -> Change:
    """Take a name of a node back, or end it at a moment. Raises: as ``write``."""
    threads = [Thread(node=node, alias=name) for name in names]
    if since is not None:
        return await close(db, owner, threads, since, asserted_by=asserted_by)
    return await retract(db, owner, threads, asserted_by=asserted_by)


async def undo(db: Database, owner: Owner, change_id: UUID, *, asserted_by: str) -> Change:
    """Undo a change by a new change that restores what it altered.

    Raises:
        ChangeUnknownError: the user has no such change.
        ChangeBuiltUponError: something that it altered was altered again.
        MergeCycleError: restoring a merge that it ended would close a cycle.
    """
    change = await db.attempt(owner.user_id, lambda connection: undo_in(connection, owner, change_id, asserted_by))
    db.notify(EVENTS)
    return change


async def undo_in(connection: AsyncConnection, owner: Owner, change_id: UUID, asserted_by: str) -> Change:
    """Do ``undo`` in the caller's transaction."""
    parameters = {
        "user_id": owner.user_id, "actor": valid_name(asserted_by, "asserted_by"), "change_id": change_id,
    }  # fmt: skip
    try:
        row = (await connection.execute(UNDO, parameters)).one()
    except sa.DBAPIError as error:
        refused = refusal(error)
        if refused is None:
            raise
        raise refused from error
    return Change(change_id=row.change_id, recorded_at=row.recorded_at, results=[])
