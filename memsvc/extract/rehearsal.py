"""The dry run of a re-reading: all is done as it would be, in transactions that are rolled back.

So it gives the report that applying would give. The windows of a source are read first, then written together and
rolled back, because the extractor works outside of transactions. Each page begins with what is stored: what earlier
pages of a dry run would have changed is not there.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeVar
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, read_cursor, write_cursor
from memsvc.errors import ContendedError, DryRunTooSlowError, InvalidRequestError
from memsvc.extract.dividing import Sizes
from memsvc.extract.extraction import Extractor, for_user
from memsvc.extract.outcomes import Counts
from memsvc.extract.rereading import (
    OUTCOMES,
    Count,
    Reread,
    Source,
    Wanted,
    counted,
    instead,
    report_in,
    rereading_in,
    sources,
)
from memsvc.extract.run import find
from memsvc.extract.unread import NOTHING, turns_between
from memsvc.extract.write import Found, write_window
from memsvc.settings import Settings

MOST_MESSAGES = 600
"""Messages of one page of a dry run."""
MOST_EXAMPLES = 40
"""Facts of each outcome that a page shows one by one, of each conversation; all are counted."""
Strength = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
T = TypeVar("T")


class Rehearsal(msgspec.Struct, frozen=True, kw_only=True):
    """What reading some messages again would change; nothing was stored."""

    extractor: str
    """Who would read, with its version."""
    turns: int
    """Messages, or parts of long ones, that were read for it."""
    left: int
    """Messages that are to be read again in all, those included."""
    counts: list[Count]
    """What would become of facts."""
    facts: list[Reread]
    """Examples: at most 40 of each outcome and conversation."""
    next_cursor: str | None
    """Send it as ``cursor`` to look at what would be read next; None: this was the last."""


class _RolledBack(Exception):  # noqa: N818 - how a transaction ends, no error
    def __init__(self, result: Any) -> None:
        self.result = result


async def _rolled_back(db: Database, owner: Owner, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
    """Do work in a transaction that is rolled back; its result."""

    async def once() -> T:
        try:
            async with db.transaction(owner.user_id) as connection:
                raise _RolledBack(await work(connection))  # noqa: TRY301 - the transaction is what it ends
        except _RolledBack as done:
            result: T = done.result
            return result

    return await db.again(once)


class _Part(NamedTuple):
    """What was found in a part of a source."""

    windows: list[Found]
    over: bool
    """The source has nothing more."""


class _Stage(NamedTuple):
    """Where a dry run takes place."""

    db: Database
    owner: Owner
    extractor: Extractor
    backend: str

    def about(self, source: UUID | None = None) -> dict[str, Any]:
        """Parameters of statements."""
        return {
            "user_id": self.owner.user_id, "extractor": self.extractor.name, "backend": self.backend,
            "source_id": source,
        }  # fmt: skip


async def rehearse(
    db: Database,
    owner: Owner,
    extractor: Extractor,
    backend: str,
    settings: Settings,
    *,
    cursor: str | None = None,
    messages: int = 120,
) -> Rehearsal:
    """Say what a re-reading would change, for the messages that it would read next; nothing is stored.

    Args:
        db: the database.
        owner: whose messages.
        extractor: the version that would read.
        backend: its name in the registry.
        settings: how long it may take; what was read until then is told.
        cursor: where the page before ended; None: the most recalled source is read first.
        messages: about how many messages to read, 1 to 600; windows of up to 12 are read whole.

    Raises:
        InvalidRequestError: ``messages`` or the cursor cannot be used.
        DryRunTooSlowError: not even one window was read in time.
        ExtractorError, LlmError: it could not be read.
    """
    if not 1 <= messages <= MOST_MESSAGES:
        raise InvalidRequestError(f"messages must lie between 1 and {MOST_MESSAGES}.", field="messages")
    until = time.monotonic() + settings.dry_run_s
    moment, strength, last, upto = _position(cursor)
    stage = _Stage(db, owner, extractor, backend)
    after = (strength, last) if strength is not None and last is not None else None
    found, left = await _rolled_back(db, owner, lambda connection: _planned(connection, stage, moment, after, messages))
    turns, counts, facts, more = 0, Counts(), list[Reread](), False
    for source in found:
        begin = upto if upto != NOTHING else source.again_upto or NOTHING
        part = await _read(stage, source, begin, messages - turns, until)
        if part.windows:
            made, shown = await _rolled_back(db, owner, partial(_written, stage, source, part.windows))
            turns += sum(len(window.turns.turns) for window in part.windows)
            upto = part.windows[-1].turns.passages[-1]
            facts += shown
            for one in made:
                of_type = counts.setdefault(one.outcome, {})
                of_type[one.type] = of_type.get(one.type, 0) + one.facts
        if not part.over:
            more = True
            break
        strength, last, upto = source.strength, source.source_id, NOTHING
    if more and not turns:
        raise DryRunTooSlowError(f"No message was read within {settings.dry_run_s:g} seconds (MEMSVC_DRY_RUN_S).")
    return Rehearsal(
        extractor=extractor.name,
        turns=turns,
        left=left,
        counts=counted(counts),
        facts=sorted(facts, key=lambda one: OUTCOMES.index(one.outcome)),
        next_cursor=write_cursor((moment, strength, last, upto)) if more or len(found) == messages else None,
    )


def _position(cursor: str | None) -> tuple[datetime, float | None, UUID | None, UUID]:
    """When the dry run began, strength and id of the last source that was read to its end, how far the next one was."""
    if cursor is None:
        return datetime.now(UTC), None, None, NOTHING
    return read_cursor(cursor, tuple[Moment, Strength | None, UUID | None, UUID])


async def _planned(
    connection: AsyncConnection, stage: _Stage, moment: datetime, after: tuple[float, UUID] | None, limit: int
) -> tuple[list[Source], int]:
    """The sources that would be read next, and how many messages would be read in all."""
    await connection.execute(query("begin_after_older"), stage.about())
    found = await sources(connection, stage.owner, stage.extractor.name, moment=moment, after=after, limit=limit)
    left: int = (await connection.execute(query("left_to_reread"), stage.about())).scalar_one()
    return found, left


async def _read(stage: _Stage, source: Source, after: UUID, most: int, until: float) -> _Part:
    """Read a source from a passage on, until so many messages were read or the time is up."""
    reader = for_user(stage.extractor, stage.db, stage.owner.user_id)
    windows: list[Found] = []
    sizes: Sizes = {}
    while True:
        async with stage.db.transaction(stage.owner.user_id) as connection:
            turns = await turns_between(connection, stage.owner, source.source_id, after, source.begun_after)
        if turns is None:
            return _Part(windows, over=True)
        if most <= 0:
            return _Part(windows, over=False)
        try:
            async with asyncio.timeout(max(until - time.monotonic(), 0)) as limit:
                found = await find(stage.db, stage.owner, reader, turns, backend=stage.backend, most=sizes)
        except TimeoutError:
            if not limit.expired():
                raise
            return _Part(windows, over=False)
        if found is None:
            continue
        windows.append(found)
        after = found.turns.passages[-1]
        most -= len(found.turns.turns)


async def _written(
    stage: _Stage, source: Source, windows: list[Found], connection: AsyncConnection
) -> tuple[list[Count], list[Reread]]:
    """Write windows as a re-reading does, and take its report; the caller rolls it back."""
    begin, about = windows[0].turns.upto, stage.about(source.source_id)
    await connection.execute(query("begin_after_older"), about)
    await connection.execute(query("set_again_upto"), {**about, "upto": None if begin == NOTHING else begin})
    rereading_id = await instead(connection, stage.owner, stage.extractor.name, stage.backend)
    for found in windows:
        turns = msgspec.structs.replace(found.turns, rereading=rereading_id)
        written = await write_window(connection, stage.owner, source.source_id, dataclasses.replace(found, turns=turns))
        if written is None:
            raise ContendedError("Messages were erased, or read again, during the dry run.")
    passages = [passage for found in windows for passage in found.turns.passages]
    facts = list[Reread]()
    for outcome in OUTCOMES:
        shown = await report_in(
            connection, stage.owner, rereading_id, Wanted(outcome, passages=passages), limit=MOST_EXAMPLES
        )
        facts += shown.facts
    return (await rereading_in(connection, stage.owner, rereading_id)).counts, facts
