"""Re-reading: a new version of an extractor reads what older versions have read, in the background, as one operation.

A new version begins to read each source where older ones stopped (``extractions.begun_after``), so new messages do not
wait. What stands before is read again by sleep's task ``reread`` (``memsvc.sleep.reread``), the most recalled sources
first. A row of ``rereadings`` is the operation of one user and one version: each change that it makes carries its id
(``changes.rereading_id``), which gives the report, and by which it is undone. ``rehearsal`` does the dry run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, get_args
from uuid import UUID

import msgspec
from sqlalchemy import Row, RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, check_page, read_cursor, read_id, write_cursor
from memsvc.errors import (
    ChangeBuiltUponError,
    InvalidRequestError,
    MergeCycleError,
    NotFoundError,
    RereadingStateError,
)
from memsvc.extract.extraction import Extractor
from memsvc.extract.outcomes import Counts, Outcome
from memsvc.extract.proposals import Proposal
from memsvc.extract.run import begin_after_older
from memsvc.graph import history

State = Literal["open", "done", "stopped", "undoing", "undone"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
UNDONE_TOGETHER = 20
"""Changes that one transaction undoes."""


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How many facts had an outcome."""

    outcome: Outcome
    type: str
    """The type of the facts."""
    facts: int


class Rereading(msgspec.Struct, frozen=True, kw_only=True):
    """One version of an extractor reads again what older versions have read of a user's messages."""

    rereading_id: UUID
    extractor: str
    """Who reads, with its version."""
    state: State
    """open: it goes on; done: all is read; stopped: somebody stopped it; undoing, undone: somebody takes it back."""
    turns: int
    """Messages, or parts of long ones, that it has read."""
    left: int
    """That it has yet to read."""
    counts: list[Count]
    """What became of facts so far."""
    not_undone: int
    """When it is undone: changes that stay, because something that they altered was altered again since."""
    started_at: datetime
    last_at: datetime | None
    """When it last read or undid something; None: not yet."""
    finished_at: datetime | None
    """None: it goes on."""


class Reread(msgspec.Struct, frozen=True, kw_only=True):
    """What a re-reading made of a fact."""

    outcome: Outcome
    type: str
    fact: str
    """As a sentence."""
    reason: str
    """Why it was refused, as a code; else empty."""
    edge_id: UUID | None
    """None: it was refused."""
    passage_id: UUID | None
    """The message that says so; None: it was erased."""
    valid_from: datetime | None
    valid_to: datetime | None


class Wanted(NamedTuple):
    """Which facts a report is about."""

    outcome: str | None = None
    """Only this one; None: all but refused."""
    type: str | None = None
    """Only facts of this type; None: all."""
    not_undone: bool = False
    """Only those that undoing the re-reading left."""
    passages: Sequence[UUID] | None = None
    """Of refused ones only those of these passages; None: all."""


class Reported(NamedTuple):
    """One page of what a re-reading made of facts."""

    facts: list[Reread]
    next_cursor: str | None


def counted(counts: Counts) -> list[Count]:
    """Counts as a list, by outcome, the most frequent types first."""
    return [
        Count(outcome=outcome, type=name, facts=facts)
        for outcome in OUTCOMES
        for name, facts in sorted(counts.get(outcome, {}).items(), key=lambda one: (-one[1], one[0]))
    ]


def _rereading(row: RowMapping) -> Rereading:
    values: dict[str, Any] = dict(row)
    values["left"] = values.pop("unread")
    values["counts"] = counted(msgspec.convert(values["counts"], Counts))
    return Rereading(**values)


async def _listed(connection: AsyncConnection, owner: Owner, **wanted: Any) -> list[Rereading]:
    values = {
        "user_id": owner.user_id, "rereading_id": None, "states": None, "extractor": None, "after": None, "limit": 1,
    }  # fmt: skip
    rows = (await connection.execute(query("list_rereadings"), values | wanted)).mappings()
    return [_rereading(row) for row in rows]


async def list_rereadings(db: Database, owner: Owner, *, after: UUID | None = None, limit: int = 50) -> list[Rereading]:
    """A user's re-readings, newest first; ``after`` is the last one of the previous page.

    Raises:
        InvalidRequestError: a limit outside 1 to 1,000.
    """
    check_page(limit)
    async with db.transaction(owner.user_id) as connection:
        return await _listed(connection, owner, after=after, limit=limit)


async def get_rereading(db: Database, owner: Owner, rereading_id: UUID) -> Rereading:
    """One re-reading.

    Raises:
        NotFoundError: this user has none with this id.
    """
    async with db.transaction(owner.user_id) as connection:
        return await rereading_in(connection, owner, rereading_id)


async def rereading_in(connection: AsyncConnection, owner: Owner, rereading_id: UUID) -> Rereading:
    found = await _listed(connection, owner, rereading_id=rereading_id)
    if not found:
        raise NotFoundError("There is no re-reading with this id.")
    return found[0]


async def to_undo(db: Database, owner: Owner) -> Rereading | None:
    """The re-reading that is to be undone; None: there is none."""
    async with db.transaction(owner.user_id) as connection:
        return next(iter(await _listed(connection, owner, states=["undoing"])), None)


async def read_before(db: Database, owner: Owner, backend: str) -> bool:
    """Whether any version of an extractor has read anything of a user."""
    values = {"user_id": owner.user_id, "backend": backend}
    async with db.transaction(owner.user_id) as connection:
        return bool((await connection.execute(query("anything_read_before"), values)).scalar_one())


async def begin(
    db: Database, owner: Owner, extractor: Extractor, backend: str, *, nightly: bool = False
) -> Rereading | None:
    """Begin to read again, or go on; the reading itself is sleep's.

    Args:
        db: the database.
        owner: whose messages.
        extractor: the version that reads.
        backend: its name in the registry; other versions of the same name are the older ones.
        nightly: nobody asked for it now: what a person stopped or undid stays so.

    Returns:
        The re-reading, which is done where nothing is left; None: there is nothing to read again, or a person does not
        want it.

    Raises:
        RereadingStateError: this version's re-reading is just being undone.
    """
    await begin_after_older(db, owner, extractor, backend)
    about = {"user_id": owner.user_id, "extractor": extractor.name, "backend": backend}

    async def work(connection: AsyncConnection) -> Rereading | None:
        known = next(iter(await _listed(connection, owner, extractor=extractor.name)), None)
        if known is not None and known.state == "undoing":
            raise RereadingStateError("This version's re-reading is being undone.", state=known.state)
        if known is None or known.state == "undone":
            if nightly and known is not None:
                return None
            values = {**about, "source_id": None, "upto": None}
            await connection.execute(query("set_again_upto"), values)
            if not await sources(connection, owner, extractor.name, moment=datetime.now(UTC), limit=1):
                return None
            await connection.execute(query("open_rereading"), {**about, "again": not nightly})
        elif not nightly and (known.state == "stopped" or known.left):
            await _set(connection, owner, known.rereading_id, "open", ["stopped", "done"])
        return next(iter(await _listed(connection, owner, extractor=extractor.name)))

    return await db.attempt(owner.user_id, work)


async def _set(
    connection: AsyncConnection, owner: Owner, rereading_id: UUID, state: State, states: Sequence[State]
) -> bool:
    values = {"user_id": owner.user_id, "rereading_id": rereading_id, "state": state, "states": list(states)}
    return (await connection.execute(query("set_rereading"), values)).one_or_none() is not None


async def set_state(
    db: Database, owner: Owner, rereading_id: UUID, state: State, states: Sequence[State], *, refusal: str = ""
) -> Rereading:
    """Give a re-reading another state, if it has one of ``states``; doing so twice is no error.

    Raises:
        NotFoundError: this user has none with this id.
        RereadingStateError: it has another state.
    """

    async def work(connection: AsyncConnection) -> Rereading:
        changed = await _set(connection, owner, rereading_id, state, states)
        found = await rereading_in(connection, owner, rereading_id)
        if not changed and found.state != state:
            raise RereadingStateError(f"The re-reading is {found.state}{refusal}", state=found.state)
        return found

    return await db.attempt(owner.user_id, work)


async def stop(db: Database, owner: Owner, rereading_id: UUID) -> Rereading:
    """Stop an open re-reading. What it read stays read; ``begin`` goes on. Raises: as ``set_state``."""
    return await set_state(db, owner, rereading_id, "stopped", ["open"], refusal="; only an open one can be stopped.")


async def ask_undo(db: Database, owner: Owner, rereading_id: UUID) -> Rereading:
    """Let sleep undo a re-reading; of one that is undone, what could not be undone then. Raises: as ``set_state``."""
    states: tuple[State, ...] = ("open", "done", "stopped", "undone")
    return await set_state(db, owner, rereading_id, "undoing", states, refusal="; its version has begun another one.")


async def instead(connection: AsyncConnection, owner: Owner, extractor: str, backend: str) -> UUID:
    """A new re-reading in place of a version's present one, for a dry run, whose transaction is rolled back."""
    about = {"user_id": owner.user_id, "extractor": extractor, "backend": backend}
    for known in await _listed(connection, owner, extractor=extractor):
        await _set(connection, owner, known.rereading_id, "undone", ["open", "done", "stopped", "undoing"])
    rereading_id: UUID = (await connection.execute(query("open_rereading"), {**about, "again": True})).scalar_one()
    return rereading_id


# Where it goes on ----------------------------------------------------------------------------------------------------


class Source(NamedTuple):
    """A source that is to be read again, and how far that has come."""

    source_id: UUID
    strength: float
    """How strongly it is recalled, 0 or more."""
    again_upto: UUID | None
    begun_after: UUID


async def sources(
    connection: AsyncConnection,
    owner: Owner,
    extractor: str,
    *,
    moment: datetime,
    after: tuple[float, UUID] | None = None,
    limit: int,
) -> list[Source]:
    """Sources that an extractor is to read again, those first that are recalled most at a moment.

    Args:
        connection: a transaction of the user.
        owner: whose.
        extractor: who reads.
        moment: recalls fade until then; aware.
        after: strength and id of the source that they follow.
        limit: at most so many.
    """
    strength, source_id = after or (None, None)
    values = {
        "user_id": owner.user_id, "extractor": extractor, "moment": moment, "strength": strength,
        "source_id": source_id, "limit": limit,
    }  # fmt: skip
    return [Source(*row) for row in await connection.execute(query("sources_to_reread"), values)]


# The report --------------------------------------------------------------------------------------------------------


async def report(
    db: Database,
    owner: Owner,
    rereading_id: UUID,
    *,
    outcome: str | None = None,
    type_: str | None = None,
    not_undone: bool = False,
    cursor: str | None = None,
    limit: int = 50,
) -> Reported:
    """One page of what a re-reading made of facts, in the order in which it did.

    Args:
        db: the database.
        owner: whose.
        rereading_id: the re-reading.
        outcome: only this one; None: all but refused.
        type_: only facts of this type.
        not_undone: only those that undoing it left.
        cursor: where the page begins.
        limit: 1 to 1,000.

    Raises:
        NotFoundError: this user has none with this id.
        InvalidRequestError: no such outcome, or a cursor or limit that cannot be used.
    """
    check_page(limit)
    if outcome is not None and outcome not in OUTCOMES:
        raise InvalidRequestError(f"outcome is one of {', '.join(OUTCOMES)}.", field="outcome")
    async with db.transaction(owner.user_id) as connection:
        return await report_in(
            connection, owner, rereading_id, Wanted(outcome, type_, not_undone), cursor=cursor, limit=limit
        )


async def report_in(
    connection: AsyncConnection,
    owner: Owner,
    rereading_id: UUID,
    wanted: Wanted,
    *,
    cursor: str | None = None,
    limit: int,
) -> Reported:
    """Do ``report`` in the caller's transaction."""
    refused = wanted.outcome == "refused"
    at, last = read_cursor(cursor, tuple[Moment, UUID]) if cursor is not None and not refused else (None, None)
    values: dict[str, Any] = {"user_id": owner.user_id, "type": wanted.type, "limit": limit + 1, "at": at, "id": last}
    if refused:
        values["id"] = read_id(cursor)
    found = await rereading_in(connection, owner, rereading_id)
    if refused:
        values |= {"extractor": found.extractor, "passages": wanted.passages}
        reviews = (await connection.execute(query("facts_refused_again"), values)).all()
        more = str(reviews[limit - 1].review_id) if len(reviews) > limit else None
        return Reported([_refused(row) for row in reviews[:limit]], more)
    values |= {"rereading_id": rereading_id, "outcome": wanted.outcome, "not_undone": wanted.not_undone}
    rows = (await connection.execute(query("facts_reread"), values)).mappings().all()
    end = rows[limit - 1] if len(rows) > limit else None
    more = write_cursor((end["recorded_at"], end["version_id"])) if end is not None else None
    return Reported([_made(row) for row in rows[:limit]], more)


def _made(row: Mapping[Any, Any]) -> Reread:
    return Reread(**{name: row[name] for name in Reread.__struct_fields__ if name != "reason"}, reason="")


def _refused(row: Row[Any]) -> Reread:
    proposal = msgspec.convert(row.proposal, Proposal)
    return Reread(
        outcome="refused", type=proposal.type, fact=proposal.sentence, reason=row.reason, edge_id=None,
        passage_id=row.passage_id, valid_from=proposal.since, valid_to=proposal.until,
    )  # fmt: skip


# Undoing -----------------------------------------------------------------------------------------------------------


async def changes_to_undo(
    db: Database, owner: Owner, rereading_id: UUID, *, before: datetime | None
) -> list[tuple[UUID, datetime]]:
    """Changes that are to be undone next, the last one first, with their times; before a time, if one is given."""
    values = {"user_id": owner.user_id, "rereading_id": rereading_id, "before": before, "limit": UNDONE_TOGETHER}
    async with db.transaction(owner.user_id) as connection:
        rows = await connection.execute(query("changes_to_undo"), values)
        return [(row.change_id, row.recorded_at) for row in rows]


async def undo_changes(connection: AsyncConnection, owner: Owner, changes: Sequence[UUID], *, asserted_by: str) -> int:
    """Undo changes in the caller's transaction; how many. Those that something else was built upon stay."""
    undone = 0
    await connection.execute(query("write_facts_alone"), {"user_id": owner.user_id})
    for change_id in changes:
        try:
            async with connection.begin_nested():
                await history.undo_in(connection, owner, change_id, asserted_by)
        except (ChangeBuiltUponError, MergeCycleError):
            continue
        undone += 1
    return undone
