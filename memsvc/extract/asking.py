"""Reading that is asked for, and how far it is: for doors.

A source is read by jobs of the kind ``extract``, which go on where the last one stopped: ``extractions`` has, for each
source and extractor, how far it has read. So asking twice does nothing twice, cancelling the jobs pauses, and asking
again resumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import check_page
from memsvc.errors import ConversationUnknownError, InvalidTimeError
from memsvc.extract.extraction import Extractor
from memsvc.extract.run import begin_after_older
from memsvc.queue.jobs import announce_jobs


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What will be read."""

    extractor: str
    """Who will read, with its version."""
    jobs: list[UUID]
    """One for each source that has something to be read; jobs of ``memsvc.queue.jobs``."""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far an extractor has read a source."""

    source_id: UUID
    identifier: str
    extractor: str
    turns: int
    """Messages, or parts of long ones, that it read."""
    left: int
    """That it has yet to read."""
    again: int
    """That an older version of it has read, and that it has yet to read again."""
    facts: int
    """That it found and wrote."""
    refused: int
    """That it found and that were not written; those that a person is asked about included."""
    asked: bool
    """It was asked to read what is left, besides what the configured extractor does by itself."""
    last_at: datetime | None
    """When it read last; None: not yet."""
    job_id: UUID | None
    """The job that reads, or that failed."""
    job_state: str | None
    """pending or failed."""
    error_code: str | None
    """Why it failed, or waits for another try."""


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """The same over all sources, for a progress bar."""

    extractor: str
    sources: int
    turns: int
    left: int
    facts: int
    refused: int
    pending: int
    """Jobs that wait or run."""
    failed: int
    """Sources whose job failed for good; 'memsvc jobs retry' tries again."""
    tokens: int
    """Of a language model that reads, questions and answers together, failed ones too; 0: none is asked."""


async def ask_all(
    db: Database,
    owner: Owner,
    extractor: Extractor,
    backend: str,
    *,
    since: datetime | None = None,
    source: UUID | None = None,
    left_out: Sequence[str] = (),
) -> Asked:
    """Ask for reading of all that an extractor has not read; workers do it.

    Args:
        db: the database.
        owner: whose memories.
        extractor: who is to read. One that never read before reads all of it again, and what only others found in what
            it read is taken back; one that has read goes on where it stopped, and a new version where older ones did
            (``memsvc.extract.rereading`` reads what they have read).
        backend: its name in ``memsvc.extract.registry``, under which workers load it.
        since: what was said before is left out, as far as nothing newer stands before it; aware.
        source: one conversation; None: all.
        left_out: kinds of sources that "all" does not include.

    Raises:
        InvalidTimeError: ``since`` has no offset.
        ConversationUnknownError: there is no such source.
    """
    if since is not None and since.utcoffset() is None:
        raise InvalidTimeError("since has no offset.", field="since")
    values = {
        "user_id": owner.user_id, "source_id": source, "extractor": extractor.name, "backend": backend, "since": since,
        "left_out": list(left_out),
    }  # fmt: skip

    async def ask(connection: AsyncConnection) -> list[UUID]:
        if source is not None:
            there = await connection.execute(query("get_source"), {"user_id": owner.user_id, "source_id": source})
            if there.one_or_none() is None:
                raise ConversationUnknownError(f"There is no conversation {source}.")
        return list((await connection.execute(query("ask_readings"), values)).scalars())

    await begin_after_older(db, owner, extractor, backend, source=source)
    jobs = await db.attempt(owner.user_id, ask)
    announce_jobs(db)
    return Asked(extractor=extractor.name, jobs=jobs)


async def pause(db: Database, owner: Owner, *, source: UUID | None = None) -> int:
    """Cancel the jobs that read, of one source or of all; how many. What was read stays; ``ask_all`` goes on."""
    values = {"user_id": owner.user_id, "source_id": source}

    async def cancel(connection: AsyncConnection) -> int:
        return len((await connection.execute(query("pause_readings"), values)).all())

    return await db.attempt(owner.user_id, cancel)


async def progress(
    db: Database, owner: Owner, *, source: UUID | None = None, after: tuple[UUID, str] | None = None, limit: int = 50
) -> list[Progress]:
    """How far each extractor has read each source, by source and extractor.

    Args:
        db: the database.
        owner: whose memories.
        source: one conversation; None: all.
        after: (source_id, extractor) of the last one of the page before.
        limit: 1 to 1,000.

    Raises:
        InvalidRequestError: the limit cannot be used.
    """
    check_page(limit)
    values = {
        "user_id": owner.user_id, "source_id": source, "limit": limit,
        "after_source": after[0] if after else None, "after_extractor": after[1] if after else None,
    }  # fmt: skip
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(query("reading_progress"), values)).mappings()
        return [Progress(**_renamed(row)) for row in rows]


def _renamed(row: RowMapping) -> dict[str, Any]:
    return {"left" if name == "unread" else str(name): value for name, value in row.items()}


async def totals(db: Database, owner: Owner, extractor: str) -> Totals:
    """The same over all sources of one extractor, by its name with version; zeros where it never read."""
    values = {"user_id": owner.user_id, "extractor": extractor}
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("reading_totals"), values)).mappings().one()
    return Totals(extractor=extractor, **_renamed(row))
