"""A worker within this process, for ``memsvc up``, ``memsvc worker`` and ``memsvc mcp``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

from dramatiq import Broker
from sqlalchemy import URL

from jobs.actors import QUEUES, declare_actors
from jobs.steps import all_steps
from memsvc.db.admission import Admission
from memsvc.db.engine import Database
from memsvc.erasing.users import keep_erasing
from memsvc.feeds.planning import keep_feeding
from memsvc.queue.broker import NotUnderstoodError, QueueBroker
from memsvc.queue.capability import checked
from memsvc.queue.schedule import keep_time
from memsvc.queue.worker import JobRunner, QueueWorker, prefetch_of
from memsvc.server.watchdog import keep_watch
from memsvc.settings import Settings
from memsvc.sleep.waking import keep_waking
from memsvc.sources.embedding import ModelsInUse


@asynccontextmanager
async def working(
    settings: Settings, url: URL, models: ModelsInUse | None, turns: Admission | None = None
) -> AsyncIterator[None]:
    """Run jobs and recurring work, continue erasing users, and watch sessions, until the block ends.

    At the end, running jobs are finished first.

    Args:
        settings: the number of threads, and how long finished work is kept.
        url: of the database, as memsvc_app.
        models: the embedding models of this process; None: jobs compute no vectors.
        turns: those of the API in this process, so that jobs wait while somebody asks; None: there is no API.

    Raises:
        ConfigurationError: the queue's server refuses the login, or its certificate is not trusted.
    """
    threads = settings.worker_threads
    steps = all_steps(settings, models)
    prefetch = prefetch_of(steps, QUEUES)
    broker: Broker
    if settings.queue_url is None:
        broker = QueueBroker(url, threads, prefetch=prefetch)
    else:
        checking = partial(checked, settings, prefetch=prefetch, hopeless=(NotUnderstoodError,))
        broker = (await asyncio.to_thread(checking)).broker
    db = Database(url, settings, pool_size=2 * threads + 4, turns=turns)
    runner = JobRunner(db, steps, broker)
    declare_actors(broker, runner)
    worker = QueueWorker(broker, runner, threads)
    worker.start()
    keepers = [asyncio.create_task(keep(db)) for keep in (keep_time, keep_feeding, keep_erasing, keep_watch)]
    keepers.append(asyncio.create_task(keep_waking(db, settings)))
    try:
        yield
    finally:
        for keeper in keepers:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper
        await worker.stop()
        await db.close()
