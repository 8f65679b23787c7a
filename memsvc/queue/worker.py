"""Dramatiq's worker in this process. Jobs are coroutines and run on the event loop that started it.

The worker's threads take messages and wait. The work itself runs on the API's event loop, with the same connection pool
and the same model, so that ``memsvc up`` is one process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from typing import Any
from uuid import UUID

import structlog
from dramatiq import Broker, Worker

from memsvc.db.admission import Work, work_is
from memsvc.db.engine import Database
from memsvc.errors import MemsvcError
from memsvc.queue.broker import LaterError, NotUnderstoodError, QueueBroker
from memsvc.queue.execution import Outcome, Steps, fail, run_job, unforeseen

GRACE_S = 5.0
"""How long a running job may continue after the worker was asked to stop; then it is cancelled and stays pending."""
IDLE_MS = 1_000
"""How long a thread without work waits before it looks for messages again."""
log = structlog.get_logger()


class JobRunner:
    """Called by an actor in a worker's thread: runs the job on the event loop and waits for its end."""

    def __init__(self, db: Database, steps: Steps, broker: Broker) -> None:
        """Bind the runner to the running event loop."""
        self._db = db
        self._steps = steps
        self._broker = broker
        self._loop = asyncio.get_running_loop()
        self._running: set[asyncio.Task[Any]] = set()

    def __call__(self, kind: str, *ids: Any, traceparent: str | None = None) -> None:
        """Run one job.

        Args:
            kind: kind of the job.
            *ids: ids of user and job, as text.
            traceparent: the trace in which the job was requested.

        Raises:
            NotUnderstoodError: these are not two ids.
            LaterError: this worker has no steps for the job, the database cannot be reached, another worker is running
                the job, or it was cancelled.
        """
        try:
            user_id, job_id = (UUID(one) for one in ids)
        except (TypeError, ValueError, AttributeError) as error:
            raise NotUnderstoodError(f"A message of {kind!r} has the ids of user and job, and nothing else.") from error
        if kind not in self._steps:
            raise LaterError(f"This worker has no steps for {kind!r}.")
        try:
            outcome = self._wait(self._run(kind, user_id, job_id, traceparent))
        except MemsvcError as error:
            log.warning("jobs wait for the database", code=error.code)
            raise LaterError(error.code) from error
        except CancelledError as error:
            raise LaterError("broken off") from error
        if outcome == "busy":
            raise LaterError(outcome)
        if outcome != "gone" and isinstance(self._broker, QueueBroker):  # others' messages are acknowledged one by one
            self._broker.settled.add(str(job_id))

    async def _run(self, kind: str, user_id: UUID, job_id: UUID, traceparent: str | None) -> Outcome:
        try:
            return await run_job(self._db, kind, user_id, job_id, self._steps[kind], traceparent=traceparent)
        except MemsvcError:
            raise
        except Exception as error:
            log.exception("job failed", job_id=str(job_id))
            return await fail(self._db, user_id, job_id, unforeseen(error))

    def _wait(self, work: Coroutine[Any, Any, Outcome]) -> Outcome:
        return asyncio.run_coroutine_threadsafe(self._noted(work), self._loop).result()

    async def _noted(self, work: Coroutine[Any, Any, Outcome]) -> Outcome:
        work_is(Work.LATE)
        task = asyncio.create_task(work)
        self._running.add(task)
        try:
            return await task
        finally:
            self._running.discard(task)

    def break_off(self) -> None:
        """Cancel the running jobs, on the event loop; they stay pending.

        This cancels the tasks, not the threads' futures: each thread, and so the worker's stop, waits until its job
        has handled the cancellation.
        """
        for task in tuple(self._running):
            task.cancel()


class QueueWorker:
    """A worker, from start to stop."""

    def __init__(self, broker: Broker, runner: JobRunner, threads: int) -> None:
        """Prepare the worker; the broker must already have its actors."""
        self._broker = broker
        self._runner = runner
        self._worker = Worker(broker, worker_threads=threads, worker_timeout=IDLE_MS)

    def start(self) -> None:
        """Start taking jobs."""
        self._worker.start()

    async def stop(self) -> None:
        """Take no more jobs, wait a few seconds for the running ones, and give the others back."""
        breaking = asyncio.get_running_loop().call_later(GRACE_S, self._runner.break_off)
        await asyncio.to_thread(self._worker.stop, int((GRACE_S + 5) * 1_000))
        breaking.cancel()
        await asyncio.to_thread(self._broker.close)


def prefetch_of(steps: Steps, queues: Mapping[str, str]) -> dict[str, int]:
    """How many messages of each queue a process holds: one if the queue's jobs have steps, which are slow."""
    return {queue: 1 for kind, queue in queues.items() if steps.get(kind)}
