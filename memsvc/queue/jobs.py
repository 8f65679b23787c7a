"""A user's jobs: list, read, retry, cancel."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.acting import note_act
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Page, check_page
from memsvc.errors import InvalidRequestError, JobStateError, NotFoundError, UserUnknownError

State = Literal["pending", "done", "failed", "cancelled"]
STATES: tuple[State, ...] = ("pending", "done", "failed", "cancelled")
MAX_PAGE = 1_000
QUEUES = ("models", "facts", "upkeep", "sleep")
"""The queues that carry jobs to workers: jobs that compute vectors, jobs that extract facts, quick jobs, and nightly
jobs."""
OF_APP = text("SELECT * FROM memsvc.jobs_of_app(:app, :job_id, :state, :after, :limit)")
RETRY_FAILED = text("SELECT memsvc.retry_failed_jobs(:user_id)")


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of background work."""

    job_id: UUID
    kind: str
    subject_id: UUID
    """The source, erasure or ingest that it is about; the user, if it is about all memories."""
    state: State
    attempts: int
    restarts: int
    """How often it was restarted automatically after it had failed as ``worker_died``."""
    error_code: str | None
    error: str | None
    """The last error; holds no text of memories."""
    created_at: datetime
    run_after: datetime
    """It is not begun earlier; if it failed as ``worker_died``, it is restarted at this time."""
    started_at: datetime | None
    """When a worker last began it."""
    finished_at: datetime | None


def channel(queue: str) -> str:
    """The PostgreSQL channel that announces new messages of a queue."""
    return f"dramatiq.{queue}.enqueue"


def announce_jobs(db: Database) -> None:
    """Wake the workers after a commit; without it, they poll every second."""
    for queue in QUEUES:
        db.notify(channel(queue))


def _job(row: Row[Any]) -> Job:
    return Job(**row._mapping)  # noqa: SLF001 - the public name of a row's mapping


async def list_jobs(
    db: Database, user_id: UUID, *, state: str | None = None, after: UUID | None = None, limit: int = 50
) -> list[Job]:
    """A user's jobs, newest first; ``after`` is the last job of the previous page.

    Raises:
        InvalidRequestError: an unknown state, or a limit outside 1 to 1,000.
    """
    if state is not None and state not in STATES:
        raise InvalidRequestError(f"state is one of {', '.join(STATES)}.", field="state")
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidRequestError(f"limit must lie between 1 and {MAX_PAGE:,}.", field="limit")
    async with db.transaction(user_id) as connection:
        rows = await connection.execute(
            query("list_jobs"), {"user_id": user_id, "job_id": None, "state": state, "after": after, "limit": limit}
        )
        return [_job(row) for row in rows]


async def get_job(db: Database, user_id: UUID, job_id: UUID) -> Job:
    """One job.

    Raises:
        NotFoundError: this user has no such job.
    """
    async with db.transaction(user_id) as connection:
        rows = await connection.execute(
            query("list_jobs"), {"user_id": user_id, "job_id": job_id, "state": None, "after": None, "limit": 1}
        )
        row = rows.one_or_none()
    if row is None:
        raise NotFoundError("There is no job with this id.")
    return _job(row)


async def _change(db: Database, user_id: UUID, job_id: UUID, statement: str, refusal: str) -> Job:
    async def change(connection: AsyncConnection) -> bool:
        values = {"user_id": user_id, "job_id": job_id}
        changed = (await connection.execute(query(statement), values)).one_or_none() is not None
        if changed and statement == "retry_job":
            await note_act(connection, "job.retry", user_id, str(job_id))
        return changed

    changed = await db.attempt(user_id, change)
    job = await get_job(db, user_id, job_id)
    if not changed:
        raise JobStateError(f"The job is {job.state}{refusal}", state=job.state)
    return job


class JobOfUser(Job, frozen=True, kw_only=True):
    """A job with the user to whom it belongs."""

    user_id: UUID


async def jobs_of_app(
    db: Database,
    app: UUID,
    *,
    job_id: UUID | None = None,
    state: State | None = None,
    after: UUID | None = None,
    limit: int = 50,
) -> Page[JobOfUser]:
    """Return jobs of all users of an app, newest first, for its administrator.

    Args:
        db: the database.
        app: the app.
        job_id: only this job.
        state: only jobs in this state.
        after: the last job of the previous page.
        limit: page size, 1 to 1,000.
    """
    check_page(limit)
    values = {"app": app, "job_id": job_id, "state": state, "after": after, "limit": limit + 1}
    async with db.transaction() as connection:
        rows = (await connection.execute(OF_APP, values)).mappings().all()
    items = [JobOfUser(**row) for row in rows[:limit]]
    return Page(items=items, next_cursor=str(items[-1].job_id) if len(rows) > limit else None)


async def retry_job_of_app(db: Database, app: UUID, job_id: UUID) -> Job:
    """Make a failed or cancelled job of any user of an app pending again.

    Raises:
        NotFoundError: no user of the app has such a job.
        JobStateError: as ``retry_job``.
    """
    found = (await jobs_of_app(db, app, job_id=job_id, limit=1)).items
    if not found:
        raise NotFoundError("There is no job with this id.")
    return await retry_job(db, found[0].user_id, job_id)


async def retry_job(db: Database, user_id: UUID, job_id: UUID) -> Job:
    """Make a failed or cancelled job pending again.

    Raises:
        NotFoundError: this user has no such job.
        JobStateError: it is neither, or another job for the same source is already pending.
    """
    job = await _change(db, user_id, job_id, "retry_job", ", or its source has a pending job already.")
    announce_jobs(db)
    return job


async def cancel_job(db: Database, user_id: UUID, job_id: UUID) -> Job:
    """Take a pending job out of the queue; the text that it was for is kept and can still be recalled.

    Raises:
        NotFoundError: this user has no such job.
        JobStateError: it is not pending.
    """
    return await _change(db, user_id, job_id, "cancel_job", "; only pending jobs can be cancelled.")


async def retry_failed(db: Database, user_id: UUID) -> int:
    """Make all failed jobs of a user pending again, one for each subject; returns how many."""

    async def retry(connection: AsyncConnection) -> int:
        retried: int = (await connection.execute(RETRY_FAILED, {"user_id": user_id})).scalar_one()
        if retried:
            await note_act(connection, "job.retry", user_id, "all", jobs=retried)
        return retried

    retried = await db.attempt(user_id, retry)
    announce_jobs(db)
    return retried


async def retry_failed_of_all(db: Database, progress: Callable[[int], None] = lambda _retried: None) -> int:
    """Retry the failed jobs of all users except those being erased: for operators, after an outage.

    Each user is a transaction of its own.

    Args:
        db: the database.
        progress: called after each user with the number of jobs.
    """
    async with db.transaction() as connection:
        users = (await connection.execute(text("SELECT * FROM memsvc.users_with_failed_jobs()"))).scalars().all()
    total = 0
    for user_id in users:
        try:
            retried = await retry_failed(db, user_id)
        except UserUnknownError:  # the user is being erased, together with the jobs
            continue
        total += retried
        progress(retried)
    return total
