"""Runs due jobs.

A job's statistics are folded, then its steps run (Python, given by whoever starts the runner, for this floor knows
nothing of models), then ``memsvc.run_job`` ends it. Each is a transaction of its own and may be done twice; a process
that is killed in the middle leaves the job pending. Several runners may work at once: an advisory lock of the session,
which a dead process gives back at once, keeps two from the steps of one job.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import Row, text

from memsvc.db.engine import Database
from memsvc.errors import (
    DatabaseTooOldError,
    DatabaseUnavailableError,
    MemsvcError,
    OverloadedError,
    StorageFullError,
)

BATCH = 100
IDLE_S = 0.5
GRACE_S = 5.0
"""How long a job that is being done may go on after the worker was told to stop; then it stays pending."""
OF_THE_DATABASE = (DatabaseUnavailableError, DatabaseTooOldError, OverloadedError, StorageFullError)
log = structlog.get_logger()

Step = Callable[[Database, UUID, UUID], Awaitable[None]]
"""Does a part of a job for a user's source, if it is not done yet; may be run again at any time."""


async def run_due(
    db: Database,
    steps: Sequence[Step] = (),
    progress: Callable[[], None] = lambda: None,
    stop: asyncio.Event | None = None,
) -> int:
    """Run jobs until none is due.

    Args:
        db: the database; a job with steps takes two of its connections.
        steps: what is to be done for each source, in this order.
        progress: called after each job.
        stop: no further job is begun once it is set.

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
            if stop is not None and stop.is_set():
                return done
            outcome = await _run(db, job, steps)
            advanced += outcome in {"done", "again", "failed"}
            if outcome in {"done", "again"}:
                done += outcome == "done"
                progress()
        if not advanced:
            return done


async def _run(db: Database, job: Row[Any], steps: Sequence[Step]) -> str:
    """Run one job: done, again, busy or gone, as ``memsvc.run_job`` says, or failed."""
    async with db.holding(f"memsvc.work {job.job_id}") if steps else nullcontext(enter_result=True) as mine:
        if not mine:
            return "busy"
        try:
            async with db.transaction(job.user_id) as connection:
                await connection.execute(text("SELECT memsvc.fold_statistics(:user_id)"), {"user_id": job.user_id})
            failure = await _take(db, job, steps)
            if failure is None:
                call = text("SELECT memsvc.run_job(:user_id, :job_id, :requests)")
                values = {"user_id": job.user_id, "job_id": job.job_id, "requests": job.requests}
                async with db.transaction(job.user_id) as connection:
                    outcome: str = (await connection.execute(call, values)).scalar_one()
                return outcome
        except MemsvcError:
            raise
        except Exception as error:
            log.exception("job failed", job_id=str(job.job_id))
            failure = "internal", f"{type(error).__name__}: see the worker's log", False
        code, says, passing = failure
        async with db.transaction(job.user_id) as connection:
            await connection.execute(
                text("SELECT memsvc.fail_job(:user_id, :job_id, :code, :error, :passing)"),
                {"user_id": job.user_id, "job_id": job.job_id, "code": code, "error": says, "passing": passing},
            )
        return "failed"


async def _take(db: Database, job: Row[Any], steps: Sequence[Step]) -> tuple[str, str, bool] | None:
    """Take the steps; the code and the message of the one that failed, and whether that passes by itself.

    Raises:
        MemsvcError: it is the database that fails, and all jobs with it.
    """
    for step in steps:
        try:
            await step(db, job.user_id, job.subject_id)
        except OF_THE_DATABASE:
            raise
        except MemsvcError as error:
            log.warning("job failed", job_id=str(job.job_id), code=error.code, error=error.message)
            return error.code, error.message, error.passing
    return None


async def work(db: Database, stop: asyncio.Event, steps: Sequence[Step] = ()) -> None:
    """Run due jobs, look for new ones every half second, until ``stop`` is set; outlives a database that goes away."""
    wait_s = IDLE_S
    stopping = asyncio.create_task(stop.wait())
    running: asyncio.Task[int] | None = None
    try:
        while not stop.is_set():
            running = asyncio.create_task(run_due(db, steps, stop=stop))
            await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                await asyncio.wait({running}, timeout=GRACE_S)
                running.cancel()
            try:
                await running
                wait_s = IDLE_S
            except asyncio.CancelledError:
                if not stop.is_set():
                    raise
            except MemsvcError as error:
                log.warning("jobs wait for the database", code=error.code)
                wait_s = min(wait_s * 2, 10)
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(stopping), wait_s)
    finally:
        stopping.cancel()
        if running is not None:
            running.cancel()
