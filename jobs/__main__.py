"""``python -m jobs`` works until it is told to stop (SIGTERM, SIGINT); ``--drain`` ends when nothing is due.

``memsvc up`` does the same work within its own process; this one stands alone, as many of it as wanted. It starts no
server: MEMSVC_DATABASE_URL names one.
"""

from __future__ import annotations

import asyncio
import signal
import sys

from memsvc.db.engine import Database, role_url
from memsvc.errors import ConfigurationError, MemsvcError
from memsvc.llm.embedders.resident import resident_embedder
from memsvc.observe import configure_logging
from memsvc.queue.run import run_due, work
from memsvc.settings import settings
from memsvc.sources.embedding import embedding_steps


async def main(*, drain: bool) -> None:
    """Work on the configured database."""
    chosen = settings()
    configure_logging(chosen)
    if chosen.database_url is None:
        raise ConfigurationError("The worker needs MEMSVC_DATABASE_URL.", hint="Set it; 'memsvc up' works without.")
    url = role_url(chosen.database_url.get_secret_value(), "memsvc_app", chosen.secret("app_password"))
    db = Database(url, chosen, pool_size=2)
    resident = resident_embedder(chosen)
    steps = embedding_steps(resident)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        if drain:
            await run_due(db, steps, stop=stop)
        else:
            await work(db, stop, steps)
    finally:
        if resident is not None:
            resident.close()
        await db.close()


if __name__ == "__main__":
    try:
        asyncio.run(main(drain="--drain" in sys.argv[1:]))
    except MemsvcError as failure:
        print(f"memsvc: {failure.message} {failure.advice}", file=sys.stderr)  # noqa: T201
        sys.exit(failure.exit_code)
