"""``memsvc relay``: carries jobs from the database on to Redis or RabbitMQ."""

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
    waiting: int = typer.Option(100, min=1, help="At most so many messages of a queue wait at the server."),
) -> None:
    """Carry jobs from the database on to the Redis or RabbitMQ that MEMSVC_QUEUE_URL names, until Ctrl-C or SIGTERM.

    May be killed at any moment, and run several times at once: no job is lost.
    """
    from memsvc.errors import ConfigurationError
    from memsvc.settings import settings

    url = settings().queue_url
    if url is None:
        raise ConfigurationError(
            "The relay needs MEMSVC_QUEUE_URL.",
            hint="Set it to a redis:// or amqp:// URL; without it workers take jobs from the database itself.",
        )

    async def work(db: Database, _settings: Settings) -> None:
        from memsvc.queue.relay import Relay
        from memsvc.queue.targets import target

        relaying = Relay(db, target(url.get_secret_value()), most_waiting=waiting)
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        note("The relay runs; Ctrl-C ends it.")
        await relaying.run(stop)

    with_database(work)
