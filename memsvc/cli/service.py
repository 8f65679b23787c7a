"""``memsvc up`` and ``memsvc api``: the service in the foreground, in one process."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import note

if TYPE_CHECKING:
    from memsvc.settings import Settings

WATCH_SECONDS = 2.0
Host = typer.Option(None, help="Address to listen on; MEMSVC_HOST or 127.0.0.1 otherwise.")
Port = typer.Option(None, min=1, max=65535, help="Port to listen on; MEMSVC_PORT or 8765 otherwise.")


def _configured(host: str | None, port: int | None) -> Settings:
    from memsvc.settings import settings

    if host is not None:
        os.environ["MEMSVC_HOST"] = host
    if port is not None:
        os.environ["MEMSVC_PORT"] = str(port)
    chosen = settings()
    _check_port(chosen.host, chosen.port)
    return chosen


def _check_port(host: str, port: int) -> None:
    """Refuse a port on which somebody listens already.

    Raises:
        PortInUseError: somebody does, or the address is not this machine's.
    """
    from memsvc.errors import PortInUseError

    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise PortInUseError(f"Cannot listen on {host}:{port}: {error.strerror or error}.") from error


async def _serve(settings: Settings, admin_url: str, *, with_worker: bool) -> None:
    """Serve until SIGTERM or Ctrl-C; requests and the job under way are finished first."""
    from granian.constants import Interfaces
    from granian.server.embed import Server

    from memsvc.api.app import create_app
    from memsvc.db.engine import Database
    from memsvc.db.locate import app_url
    from memsvc.llm.embedders.resident import resident_embedder
    from memsvc.observe import configure_logging
    from memsvc.queue.run import work
    from memsvc.sources.embedding import embedding_steps

    configure_logging(settings)
    url = app_url(admin_url, settings)
    db, workers_db = Database(url, settings), Database(url, settings, pool_size=2)
    resident = resident_embedder(settings)
    server = Server(
        create_app(settings, db, resident),
        address=settings.host,
        port=settings.port,
        interface=Interfaces.ASGI,
        log_enabled=False,
        websockets=False,
    )
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    serving = asyncio.create_task(server.serve())
    working = asyncio.create_task(work(workers_db, stopping, embedding_steps(resident))) if with_worker else None
    warming = asyncio.create_task(resident.ready()) if resident is not None else None
    note(f"memsvc listens on http://{settings.host}:{settings.port} (documentation at /docs); Ctrl-C ends it.")
    try:
        await asyncio.wait({serving, asyncio.create_task(stopping.wait())}, return_when=asyncio.FIRST_COMPLETED)
        note("Ending; what is being written is finished first.")
    finally:
        stopping.set()
        server.stop()  # type: ignore[no-untyped-call]
        await serving
        if working is not None:
            await working
        if resident is not None and warming is not None:
            warming.cancel()
            resident.close()
        await workers_db.close()
        await db.close()


@contextmanager
def _kept_up(settings: Settings) -> Iterator[None]:
    """Start the embedded server again whenever it is gone, until the block ends."""
    from memsvc.db import embedded
    from memsvc.errors import MemsvcError

    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(WATCH_SECONDS):
            try:
                if not embedded.server_running(settings.data_dir):
                    note("The embedded server is gone; starting it again.")
                    held.enter_context(embedded.running(settings.data_dir))
            except MemsvcError as error:
                note(f"The embedded server does not start: {error.message}")

    with ExitStack() as held:
        watcher = threading.Thread(target=watch, name="embedded server", daemon=True)
        if settings.embedded:
            watcher.start()
        try:
            yield
        finally:
            ended.set()
            if watcher.is_alive():
                watcher.join()


def _run(host: str | None, port: int | None, *, with_worker: bool) -> None:
    from memsvc.db.locate import ready

    chosen = _configured(host, port)
    with ready(chosen, note) as admin_url, _kept_up(chosen):
        asyncio.run(_serve(chosen, admin_url, with_worker=with_worker))
    # All is done and closed, but a thread of the server may still let go of its Python objects: where the interpreter
    # ends before it, Rust aborts the process (about one time in ten). So the process ends without an interpreter's end.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def up(host: str | None = Host, port: int | None = Port) -> None:
    """Run everything in the foreground: the database (unless MEMSVC_DATABASE_URL names one), the API and a worker."""
    _run(host, port, with_worker=True)


def api(host: str | None = Host, port: int | None = Port) -> None:
    """Serve the REST API alone; 'python -m jobs' does the background work elsewhere."""
    _run(host, port, with_worker=False)
