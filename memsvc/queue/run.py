"""Runs due jobs, one transaction each.

A job's work is ``memsvc.run_job`` in SQL, in the transaction that marks it done; a process that is killed in the middle
leaves the job pending and nothing half done. Several runners may work at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog
from sqlalchemy import text

from memsvc.db.engine import Database
from memsvc.errors import MemsvcError

BATCH = 100
IDLE_S = 0.5
log = structlog.get_logger()


async def run_due(db: Database, progress: Callable[[], None] = lambda: None) -> int:
    """Run jobs until none is due; ``progress`` is called after each.

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
        for user_id, job_id in due:
            call = {"user_id": user_id, "job_id": job_id}
            try:
                async with db.transaction(user_id) as connection:
                    outcome: str = (
                        await connection.execute(text("SELECT memsvc.run_job(:user_id, :job_id)"), call)
                    ).scalar_one()
            except MemsvcError:
                raise
            except Exception as error:
                log.exception("job failed", job_id=str(job_id))
                async with db.transaction(user_id) as connection:
                    await connection.execute(
                        text("SELECT memsvc.fail_job(:user_id, :job_id, 'internal', :error)"),
                        {**call, "error": f"{type(error).__name__}: see the worker's log"},
                    )
                advanced += 1
                continue
            if outcome in {"done", "again"}:
                advanced += 1
                done += outcome == "done"
                progress()
        if not advanced:
            return done


async def work(db: Database, stop: asyncio.Event) -> None:
    """Run due jobs, look for new ones every half second, until ``stop`` is set; outlives a database that goes away."""
    wait_s = IDLE_S
    while not stop.is_set():
        try:
            await run_due(db)
            wait_s = IDLE_S
        except MemsvcError as error:
            log.warning("jobs wait for the database", code=error.code)
            wait_s = min(wait_s * 2, 10)
        try:
            await asyncio.wait_for(stop.wait(), wait_s)
        except TimeoutError:
            continue
