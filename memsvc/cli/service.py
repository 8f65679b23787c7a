"""``memsvc up``, ``memsvc api`` and ``memsvc worker``: the service in the foreground, each in one process."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, NoReturn

import typer

from memsvc.cli.common import note

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.llm.embedders.residents import Residents
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
    from jobs.worker import working
    from memsvc import traces
    from memsvc.api.app import create_app, hang_up
    from memsvc.api.serving import server as serving_on
    from memsvc.db.engine import Database
    from memsvc.llm.embedders.residents import residents
    from memsvc.observe import configure_logging, log_uncaught
    from memsvc.server.locate import app_url

    configure_logging(settings)
    log_uncaught()
    traces.start(settings)
    url = app_url(admin_url, settings)
    db = Database(url, settings)
    models = residents(settings)
    app = create_app(settings, db, models)
    server = serving_on(app, settings.host, settings.port, live=settings.live_connections)
    stopping = told_to_stop()
    serving = asyncio.create_task(server.serve())
    warming = asyncio.create_task(warm(db, models))
    note(f"memsvc listens on http://{settings.host}:{settings.port} (documentation at /docs); Ctrl-C ends it.")
    try:
        async with working(settings, url, models) if with_worker else nullcontext():
            await asyncio.wait({serving, asyncio.create_task(stopping.wait())}, return_when=asyncio.FIRST_COMPLETED)
            note("Ending; what is being written is finished first.")
            await hang_up(app)
            server.stop()  # type: ignore[no-untyped-call]
            await serving
    finally:
        if not serving.done():
            await hang_up(app)
            server.stop()  # type: ignore[no-untyped-call]
            await serving
        warming.cancel()
        if models is not None:
            models.close()
        await db.close()
        traces.stop()


async def warm(db: Database, models: Residents | None) -> None:
    """Load the models. What is there then stays: looking through it for garbage stopped all requests for 0.2 s."""
    if models is not None:
        await models.ready(db)
    gc.collect()
    gc.freeze()


def told_to_stop() -> asyncio.Event:
    """Set by SIGTERM or Ctrl-C."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


async def _work(settings: Settings, admin_url: str) -> None:
    """Work on jobs until SIGTERM or Ctrl-C; the job under way is finished first."""
    from jobs.worker import working
    from memsvc import traces
    from memsvc.llm.embedders.residents import residents
    from memsvc.observe import configure_logging, log_uncaught, metrics_served
    from memsvc.server.locate import app_url

    configure_logging(settings)
    log_uncaught()
    traces.start(settings)
    models = residents(settings)
    stopping = told_to_stop()
    port = settings.worker_metrics_port
    try:
        with metrics_served(settings.host, port) if port else nullcontext():
            async with working(settings, app_url(admin_url, settings), models):
                note("This worker takes jobs; Ctrl-C ends it.")
                await stopping.wait()
                note("Ending; what is being done is finished first.")
    finally:
        if models is not None:
            models.close()
        traces.stop()


@contextmanager
def kept_up(settings: Settings) -> Iterator[None]:
    """Start the embedded server again whenever it is gone, until the block ends."""
    from memsvc.errors import MemsvcError
    from memsvc.server import embedded

    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(WATCH_SECONDS):
            try:
                if not embedded.server_running(settings.data_dir):
                    note("The embedded server is gone; starting it again.")
                    held.enter_context(embedded.running(settings.data_dir, options=settings.embedded_options))
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
    import uvloop

    from memsvc.server.locate import ready

    chosen = _configured(host, port)
    with ready(chosen, note) as admin_url, kept_up(chosen):
        uvloop.run(_serve(chosen, admin_url, with_worker=with_worker))
    end()


def end() -> NoReturn:
    """End this process, now that all is done and closed, without an interpreter's end.

    That would wait for a model that hangs. And a thread of the HTTP server may still let go of its Python objects:
    where the interpreter ends before it, Rust aborts the process (about one time in ten).
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def up(host: str | None = Host, port: int | None = Port) -> None:
    """Run everything in the foreground: the database (unless MEMSVC_DATABASE_URL names one), the API and a worker."""
    _run(host, port, with_worker=True)


def api(host: str | None = Host, port: int | None = Port) -> None:
    """Serve the REST API alone; 'memsvc worker' does the background work elsewhere."""
    _run(host, port, with_worker=False)


def worker() -> None:
    """Do background work until it is told to stop; as many of it as wanted, on as many machines."""
    import uvloop

    from memsvc.server.locate import ready
    from memsvc.settings import settings

    chosen = settings()
    if chosen.worker_metrics_port:
        _check_port(chosen.host, chosen.worker_metrics_port)
    with ready(chosen, note) as admin_url, kept_up(chosen):
        uvloop.run(_work(chosen, admin_url))
    end()
