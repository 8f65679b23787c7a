"""``memsvc up``, ``memsvc api`` and ``memsvc worker``: run the service in the foreground, in one process."""

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

from memsvc.cli.common import AppName, UserRef, WithoutBackup, note

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.llm.embedders.residents import Residents
    from memsvc.settings import Settings

WATCH_SECONDS = 2.0
Host = typer.Option(None, help="Address to listen on; default: MEMSVC_HOST, else 127.0.0.1.")
Port = typer.Option(None, min=1, max=65535, help="Port to listen on; default: MEMSVC_PORT, else 8765.")


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
    """Check that the port is free.

    Raises:
        PortInUseError: the port is in use, or the address does not belong to this machine.
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
    """Serve until SIGTERM or Ctrl-C, then finish open requests and the running job before returning."""
    from jobs.worker import working
    from memsvc import traces
    from memsvc.api.app import create_app, drain, hang_up
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
    stopping = stop_signal()
    serving = asyncio.create_task(server.serve())
    warming = asyncio.create_task(warm(db, models))
    note(f"memsvc listens on http://{settings.host}:{settings.port} (documentation at /docs). Press Ctrl-C to stop.")
    await _say_the_page(db, settings)
    try:
        async with working(settings, url, models, db.recalls) if with_worker else nullcontext():
            await asyncio.wait({serving, asyncio.create_task(stopping.wait())}, return_when=asyncio.FIRST_COMPLETED)
            note("Stopping after the current work is finished.")
            if not serving.done():
                await drain(app, settings.drain_s)
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


async def _say_the_page(db: Database, settings: Settings) -> None:
    """Print the address of the web page, on a terminal as a link that signs the only user in.

    Elsewhere this output may be a log, where no link belongs.
    """
    from memsvc.access.page import page_address, page_link
    from memsvc.access.users import DEFAULT_APP, find_app
    from memsvc.cli.common import chosen_user
    from memsvc.errors import MemsvcError, NotFoundError, UserUnknownError

    shown, hint = page_address(settings), "'memsvc web' prints a link that signs you in"
    if sys.stderr.isatty():
        try:
            user = await chosen_user(db, await find_app(db, os.environ.get("MEMSVC_APP", DEFAULT_APP)), None)
            shown, hint = page_link(db, settings, user.owner), "the link signs you in once, within ten minutes"
        except (NotFoundError, UserUnknownError):
            hint = "first 'memsvc user add --name YOUR-NAME', then 'memsvc web'"
        except MemsvcError:  # there are several users, or the database is not there yet
            hint = "'memsvc web --user NAME' prints a link that signs you in"
    note(f"Look inside at {shown} ({hint}).")


def web(
    user: str | None = UserRef,
    admin: bool = typer.Option(
        False, "--admin", help="The session may also administer the app: keys, users, jobs, audit log."
    ),
    app: str = AppName,
) -> None:
    """Print a link that signs you in to the web page of a running 'memsvc up'. It works once, within ten minutes."""
    from memsvc.access.page import page_link
    from memsvc.cli.common import for_owner_with

    async def link(db: Database, owner: Owner, settings: Settings) -> str:
        return page_link(db, settings, owner, admin=admin)

    print(for_owner_with(user, app, link))


async def warm(db: Database, models: Residents | None) -> None:
    """Load the models, then exclude all live objects from garbage collection: its scans stopped requests for 0.2 s."""
    if models is not None:
        await models.ready(db)
    gc.collect()
    gc.freeze()


def stop_signal() -> asyncio.Event:
    """Return an event that SIGTERM or Ctrl-C sets."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


async def _work(settings: Settings, admin_url: str) -> None:
    """Run jobs until SIGTERM or Ctrl-C, then finish the running job before returning."""
    from jobs.worker import working
    from memsvc import traces
    from memsvc.llm.embedders.residents import residents
    from memsvc.observe import configure_logging, log_uncaught, metrics_served
    from memsvc.server.locate import app_url

    configure_logging(settings)
    log_uncaught()
    traces.start(settings)
    models = residents(settings)
    stopping = stop_signal()
    port = settings.worker_metrics_port
    try:
        with metrics_served(settings.host, port) if port else nullcontext():
            async with working(settings, app_url(admin_url, settings), models):
                note("The worker is running. Press Ctrl-C to stop.")
                await stopping.wait()
                note("Stopping after the current job is finished.")
    finally:
        if models is not None:
            models.close()
        traces.stop()


@contextmanager
def kept_up(settings: Settings) -> Iterator[None]:
    """Restart the embedded server whenever it stops, until the block ends."""
    from memsvc.errors import MemsvcError
    from memsvc.server import embedded

    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(WATCH_SECONDS):
            try:
                if not embedded.server_running(settings.data_dir):
                    note("The embedded server has stopped; restarting it.")
                    held.enter_context(embedded.running(settings.data_dir, options=settings.embedded_options))
            except MemsvcError as error:
                note(f"The embedded server cannot be restarted: {error.message}")

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
    """End this process without the interpreter's shutdown; all work must be finished and all resources closed.

    The shutdown would wait for a model that hangs. A thread of the HTTP server may also still release Python objects:
    if the interpreter ends first, Rust aborts the process (about one time in ten).
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def up(host: str | None = Host, port: int | None = Port, without_backup: bool = WithoutBackup) -> None:
    """Run everything in the foreground: the database (unless MEMSVC_DATABASE_URL names one), the API and a worker."""
    if without_backup:
        os.environ["MEMSVC_UPGRADE_BACKUPS"] = "0"
    _run(host, port, with_worker=True)


def api(host: str | None = Host, port: int | None = Port, without_backup: bool = WithoutBackup) -> None:
    """Serve only the REST API; run 'memsvc worker' elsewhere for the background work."""
    if without_backup:
        os.environ["MEMSVC_UPGRADE_BACKUPS"] = "0"
    _run(host, port, with_worker=False)


def worker() -> None:
    """Run background jobs until SIGTERM or Ctrl-C. Any number of workers can run, also on several machines."""
    import uvloop

    from memsvc.server.locate import ready
    from memsvc.settings import settings

    chosen = settings()
    if chosen.worker_metrics_port:
        _check_port(chosen.host, chosen.worker_metrics_port)
    with ready(chosen, note) as admin_url, kept_up(chosen):
        # On Linux it counts for this thread and those it starts, so not for the one that restarts the embedded server.
        os.nice(chosen.worker_nice)
        uvloop.run(_work(chosen, admin_url))
    end()
