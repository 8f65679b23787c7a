"""Runs all of memsvc in this process: the embedded database, the application and a worker, in their own thread.

The thread has its own event loop, so it works with blocking programs and with any kind of loop. The sync and the async
client send the same requests as over HTTP, without a socket. There are no keys: each request gets a token that is valid
for one minute and one user.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as WaitedLongError
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx
import structlog

from memsvc.client.wire import USER_HEADER
from memsvc.errors import MemsvcError
from memsvc.settings import Settings

if TYPE_CHECKING:
    from memsvc.access.users import User
    from memsvc.db.engine import Database

TOKEN_SECONDS = 60
SCOPES = frozenset({"read", "write", "forget"})
BASE_URL = "http://memsvc.local"


class Local:
    """A running memsvc on a data folder. Several processes may open the same folder."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        """Start it, and return when it answers.

        Raises:
            MemsvcError: it does not start. The message says why.
        """
        self._settings = Settings.model_validate({**settings, "data_dir": folder, "database_url": None})
        self._started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="memsvc", daemon=True)
        self._thread.start()
        try:
            self._started.result()
        except BaseException:
            self._thread.join()
            raise
        _before_exit(self.stop)

    def stop(self) -> None:
        """Stop it after running requests and jobs are finished. The last process stops the database."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join()

    def ask(self, request: httpx.Request) -> Future[httpx.Response]:
        """Let the application answer a request whose body was read.

        Raises:
            ConnectError: it was stopped.
        """
        if not self._thread.is_alive() or self._over.is_set():
            message = "This memory is closed."
            raise httpx.ConnectError(message, request=request)
        return asyncio.run_coroutine_threadsafe(self._answer(request), self._loop)

    def _run(self) -> None:
        from memsvc.server.locate import ready  # noqa: PLC0415 - a client of a remote service does not need it

        if not structlog.is_configured():  # keep the program's own configuration
            quiet = structlog.make_filtering_bound_logger(logging.WARNING)
            structlog.configure(wrapper_class=quiet, logger_factory=structlog.PrintLoggerFactory(sys.stderr))
        try:
            with ready(self._settings) as admin_url:
                asyncio.run(self._live(admin_url))
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)

    async def _live(self, admin_url: str) -> None:
        from jobs.worker import working  # noqa: PLC0415 - takes a second to load
        from memsvc.access.users import app_id  # noqa: PLC0415
        from memsvc.api.app import create_app  # noqa: PLC0415
        from memsvc.db.engine import Database  # noqa: PLC0415
        from memsvc.llm.embedders.residents import residents  # noqa: PLC0415
        from memsvc.server.locate import app_url  # noqa: PLC0415

        url = app_url(admin_url, self._settings)
        self._db = Database(url, self._settings)
        models = residents(self._settings)
        app = create_app(self._settings, self._db, models)
        self._transport = httpx.ASGITransport(app=app)  # type: ignore[arg-type]
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        warming = asyncio.create_task(models.ready(self._db)) if models is not None else None
        try:
            self._app_id = await app_id(self._db)
            async with app.lifespan(), working(self._settings, url, models):
                self._started.set_result(None)
                await self._over.wait()
        finally:
            if models is not None and warming is not None:
                warming.cancel()
                models.close()
            await self._db.close()

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        headers = httpx.Headers(request.headers)
        try:
            headers["Authorization"] = f"Bearer {await self._token(headers.pop(USER_HEADER, ''))}"
        except MemsvcError as error:  # answered as the application would
            problem = {"code": error.code, "detail": error.message, "hint": error.advice, **error.details}
            return httpx.Response(error.status, json=problem)
        inner = httpx.Request(request.method, request.url, headers=headers, content=request.content)
        answer = await self._transport.handle_async_request(inner)
        return httpx.Response(answer.status_code, headers=answer.headers, content=await answer.aread())

    async def _token(self, user: str) -> str:
        from memsvc.access.keys import Principal, issue_jwt  # noqa: PLC0415
        from memsvc.access.users import owner_of  # noqa: PLC0415

        owner = await owner_of(self._db, (await known_user(self._db, self._app_id, user)).user_id)
        return issue_jwt(self._db, Principal(self._app_id, SCOPES, owner), owner, TOKEN_SECONDS)


async def known_user(db: Database, app: UUID, ref: str) -> User:
    """Return the user with this id or external id, created if needed."""
    from memsvc.access.users import add_user, find_user  # noqa: PLC0415
    from memsvc.errors import AlreadyExistsError, UserUnknownError  # noqa: PLC0415

    try:
        return await find_user(db, app, ref)
    except UserUnknownError:
        try:
            return await add_user(db, app, name=ref, external_id=ref)
        except AlreadyExistsError:  # created by another request just now
            return await find_user(db, app, ref)


def _before_exit(stop: Callable[[], None]) -> None:
    """Also stop what a program forgets to close, before executors end: later no thread can be waited for."""
    # This function is private: concurrent.futures ends its executors with it, before threads are joined and before
    # atexit. Nothing public runs earlier (CPython 3.11 to 3.14). The loop needs executors to end cleanly. If the
    # function is removed one day, atexit at least stops the database.
    register = getattr(threading, "_register_atexit", atexit.register)
    register(stop)


def _patience(request: httpx.Request) -> float | None:
    """How long the caller waits for an answer, in seconds."""
    seconds: float | None = request.extensions.get("timeout", {}).get("read")
    return seconds


def _late(request: httpx.Request) -> httpx.ReadTimeout:
    return httpx.ReadTimeout("No answer in time.", request=request)


def _ended(request: httpx.Request) -> httpx.ReadError:
    return httpx.ReadError("This memory was closed meanwhile.", request=request)


class LocalTransport(httpx.BaseTransport):
    """Passes a sync client's requests to the application."""

    def __init__(self, local: Local) -> None:
        """Keep ``local``, which stops with the transport."""
        self._local = local

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request and wait for the answer."""
        request.read()
        answer = self._local.ask(request)
        try:
            return answer.result(_patience(request))
        except WaitedLongError:
            answer.cancel()
            raise _late(request) from None
        except CancelledError:  # its loop has ended
            raise _ended(request) from None

    def close(self) -> None:
        """Stop memsvc."""
        self._local.stop()


class AsyncLocalTransport(httpx.AsyncBaseTransport):
    """Passes an async client's requests to the application."""

    def __init__(self, local: Local) -> None:
        """Keep ``local``, which stops with the transport."""
        self._local = local

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request and wait for the answer."""
        await request.aread()
        try:
            return await asyncio.wait_for(asyncio.wrap_future(self._local.ask(request)), _patience(request))
        except TimeoutError:
            raise _late(request) from None
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise  # the caller was cancelled, not the answer
            raise _ended(request) from None

    async def aclose(self) -> None:
        """Stop memsvc."""
        await asyncio.to_thread(self._local.stop)
