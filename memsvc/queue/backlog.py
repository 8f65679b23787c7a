"""Work of all users, for operators: counts, ages and codes, never user ids (``sql/functions/queue/50_work.sql``)."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import msgspec
from sqlalchemy import text

from memsvc.db.engine import Database

EMBEDDING_QUEUE, EXTRACTION_QUEUE = "models", "facts"


class KindNow(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs of one kind."""

    queue: str
    kind: str
    """'?' for dead letters that belong to no job."""
    waiting: int
    running: int
    """A worker has taken them."""
    retrying: int
    """Failed, and waiting for another try."""
    failed: int
    """Failed for good."""
    dead: int
    """Messages that no worker understood."""
    done_last_minute: int
    failed_last_hour: int
    oldest_seconds: float | None
    """Age of the oldest job that is not done; None if no job is left."""


class WorkerNow(msgspec.Struct, frozen=True, kw_only=True):
    """A worker process."""

    worker_id: UUID
    silent_seconds: float
    """Since its last heartbeat; it sends one every 3 s."""
    running: int
    """Jobs that it has taken."""


class ErrorNow(msgspec.Struct, frozen=True, kw_only=True):
    """An error with which jobs failed lately."""

    error_code: str
    retrying: int
    failed_last_hour: int
    last_seconds: float | None
    """Since the last failure with this error."""


class WorkNow(msgspec.Struct, frozen=True, kw_only=True):
    """All background work at one moment."""

    at: datetime
    kinds: list[KindNow]
    workers: list[WorkerNow]
    errors: list[ErrorNow]

    @property
    def oldest_seconds(self) -> float:
        """Age of the oldest job that is not done."""
        return max((kind.oldest_seconds or 0.0 for kind in self.kinds), default=0.0)

    @property
    def embedding_lag_seconds(self) -> float:
        """No message that has a job waits longer than this for its vector."""
        return self._lag(EMBEDDING_QUEUE)

    @property
    def extraction_lag_seconds(self) -> float:
        """No message that has a job waits longer than this for being read for facts."""
        return self._lag(EXTRACTION_QUEUE)

    def _lag(self, queue: str) -> float:
        return max((kind.oldest_seconds or 0.0 for kind in self.kinds if kind.queue == queue), default=0.0)


class Backlog(msgspec.Struct, frozen=True, kw_only=True):
    """How much work waits, over all users."""

    pending: int
    running: int
    retrying: int
    failed: int
    dead_letters: int
    workers: int
    oldest_pending_seconds: float
    embedding_lag_seconds: float
    extraction_lag_seconds: float
    unfolded_deltas: int


# Columns by name: a newer database may return more.
BACKLOG = text(f"SELECT {', '.join(Backlog.__struct_fields__)} FROM memsvc.backlog()")  # noqa: S608 - names of ours


async def backlog(db: Database) -> Backlog:
    """How much work waits, over all users; counts and ages only."""
    async with db.transaction() as connection:
        row = (await connection.execute(BACKLOG)).one()
    return Backlog(**row._mapping)  # noqa: SLF001 - the public name of a row's mapping


async def work_now(db: Database) -> WorkNow:
    """What waits, runs, failed and was done, over all users, and who works."""
    async with db.transaction() as connection:
        kinds = (await connection.execute(text("SELECT * FROM memsvc.work_now()"))).all()
        workers = (await connection.execute(text("SELECT * FROM memsvc.work_hands()"))).all()
        errors = (await connection.execute(text("SELECT * FROM memsvc.work_errors()"))).all()
    return WorkNow(
        at=datetime.now(UTC),
        kinds=[KindNow(**row._mapping) for row in kinds],  # noqa: SLF001
        workers=[WorkerNow(**row._mapping) for row in workers],  # noqa: SLF001
        errors=[ErrorNow(**row._mapping) for row in errors],  # noqa: SLF001
    )
