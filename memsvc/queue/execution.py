"""Runs jobs, from the moment one is received to the moment it ends.

The steps of a job are Python functions that the starter of a worker provides, because this package knows nothing of
models. Then ``memsvc.finish_job`` folds statistics and ends the job. Each step is a transaction of its own and may be
done twice; a process that is killed in between leaves the job pending. A session's advisory lock, which is released
when its process dies, keeps two workers from running the steps of one job at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

import structlog
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc import traces
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import (
    ContendedError,
    DatabaseTooOldError,
    DatabaseUnavailableError,
    JobFailedError,
    JobTimeoutError,
    MemsvcError,
    OverloadedError,
    StorageFullError,
    UserUnknownError,
)
from memsvc.observe import JOB_SECONDS, JOBS_RUN, said

BATCH = 100
DUE = text("SELECT * FROM memsvc.due_jobs(:limit, CAST(:kinds AS text[]))")
STEP_LIMIT_S = 300.0
"""A step that takes longer counts as hung: it is cancelled, and its job fails."""
SLICE_S = 2.0
"""A step that needs more time than this gives way to other jobs, and its job continues after them."""
OF_THE_DATABASE = (
    ContendedError,
    DatabaseUnavailableError,
    DatabaseTooOldError,
    OverloadedError,
    StorageFullError,
)
log = structlog.get_logger()

BEGIN = text("SELECT * FROM memsvc.begin_job(:user_id, :job_id)")
FINISH = text("SELECT memsvc.finish_job(:user_id, :job_id, CAST(:requests AS integer), :more, :started_at)")
FAIL = text("SELECT memsvc.fail_job(:user_id, :job_id, :code, :error, :passing, :started_at)")

Step = Callable[[Database, UUID, UUID], Awaitable[bool]]
"""Does a part of a job for a user's subject, if it is not done yet; may be run again at any time. Returns True if its
time (``SLICE_S``) ran out before its work was done."""
Steps = Mapping[str, Sequence[Step]]
"""The steps of each kind of job, in their order. A worker leaves jobs of other kinds alone."""
WORDS_ALONE: Steps = {"process": (), "embed": ()}
"""Steps without any model: these jobs need no work and end as done."""
Outcome = Literal["done", "again", "failed", "gone", "busy"]
"""done; again: there is more to do, the job waits its turn; failed: it is retried later, or not at all, as the job
says; gone: it was not pending; busy: another worker is running it."""


class Dead(NamedTuple):
    """Why a job failed for good before it was begun again."""

    code: str
    error: str


async def run_job(
    db: Database,
    kind: str,
    user_id: UUID,
    job_id: UUID,
    steps: Sequence[Step] = (),
    *,
    traceparent: str | None = None,
) -> Outcome:
    """Run one job and settle it.

    Args:
        db: the database; a job with steps takes two of its connections.
        kind: kind of the job.
        user_id: whose job it is.
        job_id: id of the job.
        steps: steps of the job.
        traceparent: the trace in which the job was requested.

    Raises:
        MemsvcError: the database failed; the job stays pending.
    """
    began = asyncio.get_running_loop().time()
    with traces.span(f"job {kind}", "consumer", parent=traceparent, values={"memsvc.job.kind": kind}) as span:
        outcome = await _run(db, user_id, job_id, steps)
        span.note("memsvc.job.outcome", outcome)
    JOB_SECONDS.labels(kind).observe(asyncio.get_running_loop().time() - began)
    JOBS_RUN.labels(kind, outcome).inc()
    return outcome


async def _run(db: Database, user_id: UUID, job_id: UUID, steps: Sequence[Step]) -> Outcome:
    try:
        if not steps:
            return await _finish(db, user_id, job_id, None, more=False)
        async with db.holding(f"memsvc.work {job_id}") as mine:
            return await _take(db, user_id, job_id, steps) if mine else "busy"
    except UserUnknownError:  # the user is being erased, together with the job
        return "gone"


async def _take(db: Database, user_id: UUID, job_id: UUID, steps: Sequence[Step]) -> Outcome:
    """Run the steps of a job whose lock we hold, then end it."""
    begun = await _begin(db, user_id, job_id)
    if begun is None:
        return "gone"
    if isinstance(begun, Dead):
        log.warning("job failed", job_id=str(job_id), code=begun.code, error=begun.error)
        traces.note("error.type", begun.code)
        return "failed"
    try:
        more, failure = await _work(db, user_id, job_id, begun, steps)
        if failure is None:
            return await _finish(db, user_id, job_id, begun, more=more)
        log.warning("job failed", job_id=str(job_id), code=failure.code, error=said(failure))
        traces.note("error.type", failure.code)
        return await fail(db, user_id, job_id, failure, begun.started_at)
    except (MemsvcError, asyncio.CancelledError):
        await _end_start(db, user_id, job_id, begun.started_at)
        raise


async def _work(
    db: Database, user_id: UUID, job_id: UUID, begun: Row[Any], steps: Sequence[Step]
) -> tuple[bool, MemsvcError | None]:
    """Run a job's steps; whether there is more to do, and why the job failed, if it did."""
    more = False
    try:
        for step in steps:
            async with asyncio.timeout(STEP_LIMIT_S):
                more = await step(db, user_id, begun.subject_id) or more
    except OF_THE_DATABASE:
        raise
    except MemsvcError as error:
        return more, error
    except TimeoutError:
        return more, JobTimeoutError(f"A step took longer than {STEP_LIMIT_S:.0f} s.")
    except Exception as error:
        log.exception("job failed", job_id=str(job_id))
        return more, unforeseen(error)
    return more, None


def unforeseen(error: Exception) -> JobFailedError:
    """What a job says of an error that nobody foresaw; the error's own text may hold a user's words."""
    return JobFailedError(f"{type(error).__name__}: see the worker's log.")


async def _begin(db: Database, user_id: UUID, job_id: UUID) -> Row[Any] | Dead | None:
    """Begin a job, which counts the start; None if it is not pending."""
    values = {"user_id": user_id, "job_id": job_id}

    async def begin(connection: AsyncConnection) -> Row[Any] | Dead | None:
        begun: Row[Any] | None = (await connection.execute(BEGIN, values)).one_or_none()
        if begun is not None:
            return begun
        died = (await connection.execute(query("died_now"), values)).one_or_none()
        return None if died is None else Dead(died.error_code, died.error)

    return await db.attempt(user_id, begin)


async def _end_start(db: Database, user_id: UUID, job_id: UUID, started_at: datetime) -> None:
    """Take the count of a start back, because this worker is alive. Without the database it stays counted."""
    values = {"user_id": user_id, "job_id": job_id, "started_at": started_at}

    async def end(connection: AsyncConnection) -> None:
        await connection.execute(query("end_start"), values)

    with suppress(MemsvcError):
        await db.attempt(user_id, end)


async def _finish(db: Database, user_id: UUID, job_id: UUID, begun: Row[Any] | None, *, more: bool) -> Outcome:
    requests: int | None = begun.requests if begun is not None else None
    started_at: datetime | None = begun.started_at if begun is not None else None
    values = {"user_id": user_id, "job_id": job_id, "requests": requests, "more": more, "started_at": started_at}

    async def finish(connection: AsyncConnection) -> Outcome:
        outcome: Outcome = (await connection.execute(FINISH, values)).scalar_one()
        return outcome

    return await db.attempt(user_id, finish)


async def fail(
    db: Database, user_id: UUID, job_id: UUID, failure: MemsvcError, started_at: datetime | None = None
) -> Outcome:
    """Record that a job failed; it is retried later, or not at all, as ``memsvc.fail_job`` says."""
    values = {
        "user_id": user_id, "job_id": job_id, "code": failure.code, "error": failure.message,
        "passing": failure.passing, "started_at": started_at,
    }  # fmt: skip

    async def record(connection: AsyncConnection) -> Outcome:
        await connection.execute(FAIL, values)
        return "failed"

    return await db.attempt(user_id, record)


async def run_due(db: Database, steps: Steps = WORDS_ALONE, progress: Callable[[], None] = lambda: None) -> int:
    """Run jobs without a worker until none is due: for commands that wait for the end.

    Args:
        db: the database.
        steps: steps for each kind of job; jobs of other kinds are left alone.
        progress: called after each job that is done or has made progress.

    Returns:
        How many jobs were done.

    Raises:
        MemsvcError: the database cannot be reached; the current job stays pending.
    """
    done = 0
    while True:
        async with db.transaction() as connection:
            due = (await connection.execute(DUE, {"limit": BATCH, "kinds": list(steps)})).all()
        advanced = 0
        for job in due:
            outcome = await run_job(db, job.kind, job.user_id, job.job_id, steps[job.kind])
            advanced += outcome in {"done", "again", "failed"}
            if outcome in {"done", "again"}:
                done += outcome == "done"
                progress()
        if not advanced:
            return done
