"""``/ws``: what happens to a user's memory, as it happens, over a WebSocket.

A client connects with a key or token in the header Authorization, or with a ticket in the URL. It receives messages of
``memsvc.graph.events``, each with a cursor. What the client sends is ignored. An error is sent as ``ERROR {code,
message, hint}``; then the socket is closed with the code 4000 plus the error's HTTP status, or with 1012 if
the service restarts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar import WebSocket, websocket
from litestar.exceptions import WebSocketDisconnect, WebSocketException

from memsvc import observe
from memsvc.access.keys import Principal
from memsvc.access.tickets import use_ticket, user_of_ticket
from memsvc.access.users import Owner
from memsvc.api.callers import authenticate, service_of
from memsvc.api.live import Hub, Subscription
from memsvc.api.origins import check_origin
from memsvc.db.engine import Database
from memsvc.errors import (
    DatabaseUnavailableError,
    InvalidRequestError,
    MemsvcError,
    OverloadedError,
    RateLimitedError,
    RestartingError,
    SlowReaderError,
    TicketInvalidError,
)
from memsvc.graph.events import NOW, Ready, end_of, position_of

Socket = WebSocket[Any, Any, Any]
PING = '{"type":"PING"}'
QUIET_S = 20.0
"""After this time without a message, a ping shows proxies that the connection is alive."""
SEND_S = 20.0
"""A client that does not take a message within this time is too slow."""
CHECK_S = 60.0
"""How often a key or token is checked again."""
MOST_RECEIVED = 100
MOST_RECEIVED_CHARS = 10_000
"""The most messages that a client may send, and the longest of them; it has no reason to send any."""
CLOSE_BASE = 4_000
RESTARTS = 1012
"""The close code of RFC 6455's registry for a service that restarts: connect again."""
NO_VERDICT = (RateLimitedError, OverloadedError, DatabaseUnavailableError)
"""Errors that do not mean that the client may no longer listen."""
PARAMETERS = {"ticket", "cursor"}


class Error(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="ERROR"):
    """The last message before the socket is closed because of an error."""

    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """A client that may listen."""

    owner: Owner
    db: Database
    """The database with the user's memory."""
    still: Callable[[], Awaitable[None]]
    """Raises when the client may no longer listen."""


async def _admit(socket: Socket) -> Admitted:
    """Admit a client.

    Raises:
        HostRefusedError, OriginRefusedError: the host name, or the web page, is not allowed.
        UnauthenticatedError, ForbiddenError, UserRequiredError, UserUnknownError: the key, token or ticket is refused.
        InvalidRequestError: the URL has an unknown parameter.
    """
    service = service_of(socket)
    check_origin(socket, service.settings)
    for given in socket.query_params:
        if given not in PARAMETERS:
            raise InvalidRequestError(f"{given[:60]!r} is not a parameter here.", field=given[:60])
    ticket = socket.query_params.get("ticket")
    if ticket is not None:
        db = await service.cells.find(user_of_ticket(service.db, ticket))
        owner = await use_ticket(db, ticket)
        over = time.monotonic() + service.settings.jwt_ttl_s

        async def in_time() -> None:
            if time.monotonic() >= over:
                raise TicketInvalidError("The time that the ticket allows is over.")

        return Admitted(owner, db, in_time)

    async def by_key() -> None:
        await authenticate(socket, socket.route_handler)

    await by_key()
    principal: Principal = socket.scope["auth"]
    return Admitted(principal.require_owner("read"), socket.state["db"], by_key)


async def _send(socket: Socket, text: str) -> None:
    try:
        async with asyncio.timeout(SEND_S):
            await socket.send_data(text, mode="text")
    except TimeoutError as error:
        raise SlowReaderError from error


async def _talk(socket: Socket, hub: Hub, owner: Owner, subscription: Subscription) -> None:
    """Send all messages until the subscription ends."""
    await _send(socket, msgspec.json.encode(Ready(cursor=subscription.position.cursor)).decode())
    async for text in hub.messages(owner.user_id, subscription, QUIET_S):
        if text is None:
            await _send(socket, PING)
        elif text:
            await _send(socket, text)
            observe.LIVE_MESSAGES.inc()


async def _receive(socket: Socket) -> None:
    """Return when the client disconnects; refuse one that sends too much."""
    received = 0
    with suppress(WebSocketDisconnect):
        while received < MOST_RECEIVED:
            said = await socket.receive_data(mode="text")
            received += 1
            if len(said or "") > MOST_RECEIVED_CHARS:
                break
        raise InvalidRequestError("This socket takes no messages.", hint="Only listen, and use the REST API to ask.")


async def _watch(admitted: Admitted, subscription: Subscription) -> None:
    """Raise when the client may no longer listen, or when its room is closed."""
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(CHECK_S):
                await subscription.ended.wait()
        if subscription.error is not None:
            raise subscription.error
        with suppress(*NO_VERDICT):
            await admitted.still()


@asynccontextmanager
async def _closing(socket: Socket) -> AsyncIterator[None]:
    """Send the client the error that ended the block, and close the socket."""
    code = 1000
    try:
        yield
    except MemsvcError as error:
        message = Error(code=error.code, message=error.message, hint=error.advice)
        code = RESTARTS if isinstance(error, RestartingError) else CLOSE_BASE + error.status
        with suppress(SlowReaderError, WebSocketException, RuntimeError):
            if not isinstance(error, SlowReaderError):
                await _send(socket, msgspec.json.encode(message).decode())
    with suppress(WebSocketException, RuntimeError, TimeoutError):
        async with asyncio.timeout(SEND_S):
            await socket.close(code=code)


@websocket("/ws")
async def live_socket(socket: Socket) -> None:
    """Serve one client until it disconnects."""
    await socket.accept()
    async with _closing(socket):
        if socket.app.state["draining"].is_set():
            raise RestartingError
        with socket.app.state["live"].present():
            await _serve(socket)


async def _serve(socket: Socket) -> None:
    admitted = await _admit(socket)
    service, db = service_of(socket), admitted.db
    hub: Hub = socket.app.state["live"].of(db)
    end = await end_of(db)
    cursor = socket.query_params.get("cursor", NOW)
    kept, user_id = service.settings.keep_events_days, admitted.owner.user_id
    position = await position_of(db, cursor, kept, user_id) if cursor != NOW else end
    with hub.listening(user_id, position, end) as subscription:
        tasks = [
            asyncio.ensure_future(work)
            for work in (
                _talk(socket, hub, admitted.owner, subscription),
                _receive(socket),
                _watch(admitted, subscription),
            )
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()
