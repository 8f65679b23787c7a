"""The one way to change the graph: batches of operations, each recorded at one time, all of it or nothing.

Nothing is overwritten: what is superseded or taken back stays with the time until which it was believed. Rules and
reasons: docs/adr/0011-history.md. The work is done by ``memsvc.write_history`` in ``sql/functions``.
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
    """What became of one operation."""

    index: int
    outcome: Outcome
    """written; known: it was so already, evidence was added; superseded: a later operation of the batch says otherwise;
    closed: something ended or was taken back; unchanged: there was nothing to end; erased: it was forgotten, and the
    evidence is older than that, so nothing was written."""
    node_id: UUID | None
    """The node, of operations on nodes, names and merges."""
    edge_id: UUID | None
    versions: list[UUID]
    """Versions that say it now, or that it ended: of nodes, edges, names (their alias_id) or merges."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded batch."""

    change_id: UUID
    recorded_at: datetime
    """``known_at`` from here on sees it."""
    results: list[Result]


def refusal(error: sa.DBAPIError) -> MemsvcError | None:
    """What a refusal of ``write_history`` means; None: it is another error."""
    cause = error.orig
    if not isinstance(cause, psycopg.Error) or cause.sqlstate != REFUSED:
        return None
    row = cause.diag.column_name
    details: dict[str, Any] = {"row": int(row)} if row else {}
    return ERRORS[cause.diag.message_detail or ""](cause.diag.message_primary or "", **details)


async def write_in(
    connection: AsyncConnection, owner: Owner, operations: Sequence[Operation], *, asserted_by: str
) -> Change:
    """Do a batch in the caller's transaction; see ``write``. Two in one transaction can deadlock with others."""
    parameters = {
        "user_id": owner.user_id,
        "actor": valid_name(asserted_by, "asserted_by"),
        "operations": msgspec.json.encode(as_rows(operations)).decode(),
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
    """Do a batch of operations, in their order, in one transaction and at one recorded time.

    Args:
        db: the database.
        owner: whose graph it is.
        operations: 1 to 1,000.
        asserted_by: who says so: user, app, or the name of an extractor.
        once: the request that they come from: where it was done before, that change is given and nothing is done.

    Raises:
        MemsvcError: one operation cannot be done, so none is; ``details["row"]`` is its place, from 0.
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
    """Nodes, edges and names are so, each over its time; what says otherwise is superseded. Raises: as ``write``."""
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
    """They ended at this moment.

    Raises:
        InvalidIntervalError: one began only then or later. Others: as ``write``.
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
    """They were never so, or not in this time. Raises: as ``write``."""
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
    """A version should say something else, over the same time.

    Raises:
        VersionSupersededError: it is not what is known now. Others: as ``write``.
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
    """``node`` is the same as ``canonical``, which stands for it in every read from now on. Nothing is moved.

    Raises:
        MergeCycleError, AlreadyMergedError: it stands for the other, or is merged elsewhere. Others: as ``write``.
    """
    operation = Merge(node=node, canonical=canonical, reason=reason, confidence=confidence, evidence=evidence)
    return await write(db, owner, [operation], asserted_by=asserted_by)


async def unmerge(
    db: Database, owner: Owner, node: UUID, *, asserted_by: str, evidence: Sequence[Evidence] = ()
) -> Change:
    """A node is itself again. Raises: as ``write``."""
    return await write(db, owner, [Unmerge(node=node, evidence=evidence)], asserted_by=asserted_by)


async def alias(
    db: Database, owner: Owner, node: UUID, names: Sequence[str], *, asserted_by: str, confidence: float = 1.0
) -> Change:
    """A node is called so. Raises: as ``write``."""
    operations = [Alias(node=node, alias=name, confidence=confidence) for name in names]
    return await write(db, owner, operations, asserted_by=asserted_by)


async def unalias(
    db: Database, owner: Owner, node: UUID, names: Sequence[str], *, asserted_by: str, since: datetime | None = None
) -> Change:
    """A node was never called so, or is not any more since a moment. Raises: as ``write``."""
    threads = [Thread(node=node, alias=name) for name in names]
    if since is not None:
        return await close(db, owner, threads, since, asserted_by=asserted_by)
    return await retract(db, owner, threads, asserted_by=asserted_by)


async def undo(db: Database, owner: Owner, change_id: UUID, *, asserted_by: str) -> Change:
    """Put back what a change altered, by a new change.

    Raises:
        ChangeUnknownError: the user has no such change.
        ChangeBuiltUponError: something that it altered was altered again.
        MergeCycleError: a merge that it ended would close a circle by now.
    """
    actor = valid_name(asserted_by, "asserted_by")

    async def work(connection: AsyncConnection) -> Change:
        parameters = {"user_id": owner.user_id, "actor": actor, "change_id": change_id}
        try:
            row = (await connection.execute(UNDO, parameters)).one()
        except sa.DBAPIError as error:
            refused = refusal(error)
            if refused is None:
                raise
            raise refused from error
        return Change(change_id=row.change_id, recorded_at=row.recorded_at, results=[])

    change = await db.attempt(owner.user_id, work)
    db.notify(EVENTS)
    return change
