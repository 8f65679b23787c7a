"""MCP over streamable HTTP at /mcp, with the same keys as REST.

One address serves every protocol version that the SDK supports: those of 2024 and 2025, which begin with a handshake,
and that of 2026, which does not. Each POST gets one JSON answer. There are no sessions and no stream from the server to
the client, so GET and DELETE are refused. A connection that a client leaves half open holds only its own socket.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from litestar import Litestar, Request, Response, asgi, get
from litestar.connection import ASGIConnection
from litestar.exceptions import ClientException, MethodNotAllowedException
from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from litestar.handlers import BaseRouteHandler
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from memsvc.access.keys import NOT_OF_TOKENS, SCOPES
from memsvc.api.callers import ASKS, authenticate, service_of
from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.messages import refused
from memsvc.api.mcp.server import make_server
from memsvc.api.origins import check_origin
from memsvc.api.problems import EXCEPTION_HANDLERS, answer_error
from memsvc.errors import BodyTooSlowError, UnauthenticatedError
from memsvc.settings import Settings

PATH = "/mcp"
METADATA_PATH = f"/.well-known/oauth-protected-resource{PATH}"
ASKER = "memsvc.asker"
MAX_DIGITS = 18
HOST = re.compile(r"[A-Za-z0-9.:\[\]_-]{1,255}")


class ResourceMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """How /mcp is protected, as RFC 9728 defines it. Keys come from 'memsvc key create', not from a server."""

    resource: str
    """The address for which a key is valid."""
    bearer_methods_supported: tuple[str, ...] = ("header",)
    scopes_supported: tuple[str, ...] = tuple(scope for scope in SCOPES if scope not in NOT_OF_TOKENS)
    resource_name: str = "memsvc"


def _asker(ctx: Any) -> Asker:
    found: Asker = ctx.request.scope[ASKER]
    return found


@asynccontextmanager
async def mcp_served(app: Litestar) -> AsyncIterator[None]:
    """Run the SDK's session manager as long as the app runs. Starts after the database is opened."""
    settings: Settings = app.state["service"].settings
    manager = StreamableHTTPSessionManager(
        make_server(_asker), json_response=True, stateless=True, max_request_body_size=settings.max_body_bytes
    )
    async with manager.run():
        app.state["mcp"] = manager
        yield


def _base_url(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    """The address by which the client calls this service: MEMSVC_PUBLIC_URL, else from its Host header."""
    settings = service_of(connection).settings
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    host = connection.headers.get("host", "")
    return f"{connection.scope['scheme']}://{host if HOST.fullmatch(host) else f'{settings.host}:{settings.port}'}"


async def known_origin(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """A guard that refuses unknown host names and web pages of other sites, as the protocol requires.

    Raises:
        HostRefusedError, OriginRefusedError: as ``check_origin``.
    """
    check_origin(connection, service_of(connection).settings)


def refuse(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    """Answer with problem+json. Without a valid key, the answer also has the address of the metadata."""
    answer = answer_error(request, error)
    if isinstance(error, UnauthenticatedError):
        metadata = f"{_base_url(request)}{METADATA_PATH}"
        answer.headers["WWW-Authenticate"] = f'Bearer realm="memsvc", resource_metadata="{metadata}"'
    if isinstance(error, MethodNotAllowedException):
        answer.headers["Allow"] = "POST"
    return answer


async def received(receive: Receive, most: int, seconds: float) -> bytes:
    """Receive the whole body, so that a body in pieces or a slow one gets the same errors as any other.

    Raises:
        RequestEntityTooLarge: it has more than ``most`` bytes. The rest is not read.
        BodyTooSlowError: it takes longer than ``seconds``.
        ClientException: the client disconnected before it was complete.
    """
    try:
        async with asyncio.timeout(seconds):
            return await _whole(receive, most)
    except TimeoutError as error:
        raise BodyTooSlowError from error


def again(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that yields the received body once more."""
    waiting: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Any:
        return waiting.pop() if waiting else await receive()

    return receive_again


async def _whole(receive: Receive, most: int) -> bytes:
    body, more = bytearray(), True
    while more:
        message: dict[str, Any] = dict(await receive())
        if message["type"] == "http.disconnect":
            raise ClientException("The body is incomplete.")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > most:
            raise RequestEntityTooLarge
    return bytes(body)


@asgi(
    PATH,
    guards=[known_origin, authenticate],
    opt=ASKS,
    exception_handlers=dict.fromkeys(EXCEPTION_HANDLERS, refuse),
    copy_scope=True,
)
async def mcp_door(scope: Scope, receive: Receive, send: Send) -> None:
    """Pass a request with a valid key to the SDK.

    Raises:
        MethodNotAllowedException: it is not a POST.
        RequestEntityTooLarge: its body, or the length that it declares, is too large.
        BodyTooSlowError: its body does not arrive in time.
    """
    connection = ASGIConnection[Any, Any, Any, Any](scope)
    service = service_of(connection)
    if scope["method"] != "POST":  # type: ignore[typeddict-item]
        raise MethodNotAllowedException
    length, most = connection.headers.get("content-length", ""), service.settings.max_body_bytes
    if length.isdecimal() and (len(length) > MAX_DIGITS or int(length) > most):
        raise RequestEntityTooLarge
    body = await received(receive, most, service.settings.body_timeout_s)
    if (error := refused(body)) is not None:
        answer = ASGIResponse(
            body=error.model_dump_json(by_alias=True, exclude_unset=True).encode(),
            status_code=400, media_type="application/json",
        )  # fmt: skip
        await answer(scope, receive, send)
        return
    asker = Asker(scope["state"]["db"], service.settings, service.embedder, scope["auth"], service.extractors)
    manager: StreamableHTTPSessionManager = connection.app.state["mcp"]
    await manager.handle_request({**scope, ASKER: asker}, again(body, receive), send)  # type: ignore[arg-type]


@get(METADATA_PATH, include_in_schema=False, sync_to_thread=False)
def mcp_metadata(request: Request[Any, Any, Any]) -> ResourceMetadata:
    """Return how /mcp is protected."""
    return ResourceMetadata(resource=f"{_base_url(request)}{PATH}")


HANDLERS = (mcp_door, mcp_metadata)
