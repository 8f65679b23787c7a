"""Reading that is asked for, and how far it is: for doors.

A source is read by jobs of the kind ``extract``, which go on where the last one stopped: ``extractions`` has, for each
source and extractor, how far it has read. So asking twice does nothing twice, cancelling the jobs pauses, and asking
again resumes.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.extract.extraction import Extractor


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


async def ask_all(
    db: Database,
    owner: Owner,
    extractor: Extractor,
    backend: str,
    *,
    since: datetime | None = None,
    source: UUID | None = None,
) -> Asked:
    """Ask for reading of all that an extractor has not read; workers do it.

    Args:
        db: the database.
        owner: whose memories.
        extractor: who is to read. One that never read before reads all of it again, and what only others found in what
            it read is taken back; one that has read goes on where it stopped.
        backend: its name in ``memsvc.extract.registry``, under which workers load it.
        since: what was said before is left out, as far as nothing newer stands before it; aware.
        source: one conversation; None: all.

    Raises:
        InvalidTimeError: ``since`` has no offset.
        ConversationUnknownError: there is no such source.
    """
    raise NotImplementedError


async def pause(db: Database, owner: Owner, *, source: UUID | None = None) -> int:
    """Cancel the jobs that read, of one source or of all; how many. What was read stays; ``ask_all`` goes on."""
    raise NotImplementedError


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
    raise NotImplementedError


async def totals(db: Database, owner: Owner, extractor: str) -> Totals:
    """The same over all sources of one extractor, by its name with version; zeros where it never read."""
    raise NotImplementedError
