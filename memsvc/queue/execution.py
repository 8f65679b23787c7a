"""Runs jobs: what is done between the moment in which one is handed to us and the moment in which it is settled.

The steps of a job are Python, given by whoever starts a worker, for this floor knows nothing of models; then
``memsvc.finish_job`` folds statistics and ends it. Each is a transaction of its own and may be done twice; a process
that is killed in the middle leaves the job pending. An advisory lock of the session, which a dead process gives back
at once, keeps two workers from the steps of one job.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
STEP_LIMIT_S = 300.0
"""A step that takes longer hangs: it is broken off, and its job fails."""
SLICE_S = 2.0
"""A step that has more to do than this gives way to others' jobs, and its job goes on behind them."""
MOST_DEATHS = 5
"""A relayed job that was begun so often without an end, or failed, is not begun again for a while; the queue has the
same limit."""
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
"""Does a part of a job for a user's subject, if it is not done yet; may be run again at any time. True: its time
(``SLICE_S``) was up before its work was."""
Steps = Mapping[str, Sequence[Step]]
"""What is to be done for each kind of job, in this order; whoever lacks a kind leaves its jobs alone."""
WORDS_ALONE: Steps = {"process": (), "embed": ()}
"""What is to be done where there is no model: to say that it is done."""
Outcome = Literal["done", "again", "failed", "gone", "busy"]
"""done; again: there is more to do, it waits behind others; failed: tried again later, or never, as the job says;
gone: it was not pending; busy: somebody else is at it."""


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
    relayed: bool = False,
) -> Outcome:
    """Run one job and settle it.

    Args:
        db: the database; a job with steps takes two of its connections.
        kind: of the job.
        user_id: whose job it is.
        job_id: which.
        steps: what is to be done.
        traceparent: of the trace in which it was asked for.
        relayed: another broker brought it, so nobody but us counts how often it is begun.

    Raises:
        MemsvcError: it is the database that fails; the job stays pending.
    """
    began = asyncio.get_running_loop().time()
    with traces.span(f"job {kind}", "consumer", parent=traceparent, values={"memsvc.job.kind": kind}) as told:
        outcome = await _run(db, user_id, job_id, steps, relayed=relayed)
        told.note("memsvc.job.outcome", outcome)
    JOB_SECONDS.labels(kind).observe(asyncio.get_running_loop().time() - began)
    JOBS_RUN.labels(kind, outcome).inc()
    return outcome


async def _run(db: Database, user_id: UUID, job_id: UUID, steps: Sequence[Step], *, relayed: bool) -> Outcome:
    try:
        if not steps:
            return await _finish(db, user_id, job_id, None, more=False)
        async with db.holding(f"memsvc.work {job_id}") as mine:
            return await _take(db, user_id, job_id, steps, relayed=relayed) if mine else "busy"
    except UserUnknownError:  # the user is being erased, and the job with the user
        return "gone"


async def _take(db: Database, user_id: UUID, job_id: UUID, steps: Sequence[Step], *, relayed: bool) -> Outcome:
    """Take the steps of a job that is ours alone, then settle it."""
    begun = await (_begin_relayed if relayed else _begin)(db, user_id, job_id)
    if begun is None:
        return "gone"
    if isinstance(begun, Dead):
        log.warning("job failed", job_id=str(job_id), code=begun.code, error=begun.error)
        traces.note("error.type", begun.code)
        return "failed"
    more = False
    failure: MemsvcError | None = None
    try:
        for step in steps:
            async with asyncio.timeout(STEP_LIMIT_S):
                more = await step(db, user_id, begun.subject_id) or more
    except OF_THE_DATABASE:
        raise
    except MemsvcError as error:
        failure = error
    except TimeoutError:
        failure = JobTimeoutError(f"A step took longer than {STEP_LIMIT_S:.0f} s.")
    except Exception as error:
        log.exception("job failed", job_id=str(job_id))
        failure = JobFailedError(f"{type(error).__name__}: see the worker's log.")
    finally:
        if relayed:
            await _end_relayed(db, user_id, job_id, begun.started_at)
    if failure is not None:
        log.warning("job failed", job_id=str(job_id), code=failure.code, error=said(failure))
        traces.note("error.type", failure.code)
        return await _fail(db, user_id, job_id, begun, failure)
    return await _finish(db, user_id, job_id, begun, more=more)


async def _begin(db: Database, user_id: UUID, job_id: UUID) -> Row[Any] | None:
    async with db.transaction() as connection:
        return (await connection.execute(BEGIN, {"user_id": user_id, "job_id": job_id})).one_or_none()


async def _begin_relayed(db: Database, user_id: UUID, job_id: UUID) -> Row[Any] | Dead | None:
    """The same, counted; or why it has failed now, where it was begun too often."""
    values = {"user_id": user_id, "job_id": job_id}

    async def begin(connection: AsyncConnection) -> Row[Any] | Dead | None:
        failed = await connection.execute(query("fail_deadly_job"), {**values, "most": MOST_DEATHS})
        if (dead := failed.one_or_none()) is not None:
            return Dead(dead.error_code, dead.error)
        return (await connection.execute(query("begin_relayed_job"), values)).one_or_none()

    return await db.attempt(user_id, begin)


async def _end_relayed(db: Database, user_id: UUID, job_id: UUID, started_at: datetime) -> None:
    """Take back what ``_begin_relayed`` counted: this worker lives. Without the database it stays counted."""
    values = {"user_id": user_id, "job_id": job_id, "started_at": started_at}

    async def end(connection: AsyncConnection) -> None:
        await connection.execute(query("end_relayed_job"), values)

    await db.attempt(user_id, end)


async def _finish(db: Database, user_id: UUID, job_id: UUID, begun: Row[Any] | None, *, more: bool) -> Outcome:
    requests: int | None = begun.requests if begun is not None else None
    started_at: datetime | None = begun.started_at if begun is not None else None
    values = {"user_id": user_id, "job_id": job_id, "requests": requests, "more": more, "started_at": started_at}

    async def finish(connection: AsyncConnection) -> Outcome:
        outcome: Outcome = (await connection.execute(FINISH, values)).scalar_one()
        return outcome

    return await db.attempt(user_id, finish)


async def _fail(db: Database, user_id: UUID, job_id: UUID, begun: Row[Any], failure: MemsvcError) -> Outcome:
    values = {
        "user_id": user_id, "job_id": job_id, "code": failure.code, "error": failure.message,
        "passing": failure.passing, "started_at": begun.started_at,
    }  # fmt: skip

    async def fail(connection: AsyncConnection) -> Outcome:
        await connection.execute(FAIL, values)
        return "failed"

    return await db.attempt(user_id, fail)


async def run_due(db: Database, steps: Steps = WORDS_ALONE, progress: Callable[[], None] = lambda: None) -> int:
    """Run jobs until none is due, without a worker: for commands that wait for the end.

    Args:
        db: the database.
        steps: what is to be done for each kind of job; those of other kinds are left to others.
        progress: called after each job that went on.

    Returns:
        How many were done.

    Raises:
        MemsvcError: the database cannot be reached; what was being done stays pending.
    """
    done = 0
    while True:
        async with db.transaction() as connection:
            due = (await connection.execute(text("SELECT * FROM memsvc.due_jobs(:limit)"), {"limit": BATCH})).all()
        advanced = 0
        for job in due:
            if job.kind not in steps:
                continue
            outcome = await run_job(db, job.kind, job.user_id, job.job_id, steps[job.kind])
            advanced += outcome in {"done", "again", "failed"}
            if outcome in {"done", "again"}:
                done += outcome == "done"
                progress()
        if not advanced:
            return done
