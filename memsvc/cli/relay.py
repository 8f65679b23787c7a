"""``memsvc relay``: forward jobs from the database to Redis or RabbitMQ."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import note, with_database

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.settings import Settings


def relay(
    waiting: int = typer.Option(100, min=1, help="Most messages of a queue that wait on the broker."),
) -> None:
    """Forward jobs from the database to the Redis or RabbitMQ that MEMSVC_QUEUE_URL names, until Ctrl-C or SIGTERM.

    Several relays can run at the same time, and each may be killed at any moment: no job is lost.
    """
    from memsvc.queue.capability import checked
    from memsvc.settings import settings

    server = checked(settings())

    async def work(db: Database, _settings: Settings) -> None:
        from memsvc.queue.relay import Relay

        relaying = Relay(db, server, most_waiting=waiting)
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        note("The relay is running. Press Ctrl-C to stop.")
        await relaying.run(stop)

    with_database(work)
