"""Request bodies: JSON in UTF-8, decoded strictly into the type that the handler declares.

Litestar would first decode to plain values and convert them leniently ("1" for 1). Here msgspec decodes once, and every
way in which bytes can differ from the expected JSON becomes a clear error.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from litestar import Request
from litestar.exceptions import ClientException, HTTPException, InternalServerException
from litestar.types import HTTPScope, Receive

from memsvc.api.callers import service_of
from memsvc.api.problems import invalid_value
from memsvc.errors import BodyTooSlowError, InvalidRequestError, InvalidTextError, OverloadedError
from memsvc.sources.messages import MessageIn

FORM = "multipart/form-data"
WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
SMALL_BYTES = 64_000
"""The first bytes of a body that are not counted. In all connections together they are few."""
LONE_SURROGATE = re.compile(
    rb"""
      \\u[dD][89abAB][0-9a-fA-F]{2} (?! \\u[dD][c-fC-F])                 # a high one without its low one
    | (?<! \\u[dD][89abAB][0-9a-fA-F]{2} ) \\u[dD][c-fC-F][0-9a-fA-F]{2}  # a low one without its high one
    """,
    re.VERBOSE,
)


class Batch(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Several messages, of which all or none are stored."""

    messages: list[MessageIn]
    """1 to 1,000 messages, of one or of several conversations."""


def decode(body: bytes, into: Any) -> Any:
    """Decode a JSON body.

    Raises:
        InvalidTextError: it is not UTF-8, or contains half of a surrogate pair.
        InvalidRequestError: it is not JSON, is nested too deeply, or does not have the form of ``into``.
    """
    try:
        return msgspec.json.decode(body, type=into)
    except msgspec.ValidationError as error:
        raise invalid_value(error, into) from error
    except UnicodeDecodeError as error:
        raise InvalidTextError("The body is not valid UTF-8.") from error
    except RecursionError as error:
        raise InvalidRequestError("The body is nested too deeply.", hint="Send flatter JSON.") from error
    except msgspec.DecodeError as error:
        if LONE_SURROGATE.search(body):
            raise InvalidTextError("The body contains half of a surrogate pair, so it is not valid UTF-8.") from error
        raise InvalidRequestError(f"The body is not JSON: {error}.", hint="Send one JSON object.") from error


def decode_messages(body: bytes, _into: Any) -> MessageIn | Batch:
    """Decode one message, or an object with the single field ``messages``. ``decode`` lists the errors."""
    top: dict[str, msgspec.Raw] = decode(body, dict[str, msgspec.Raw])
    found: MessageIn | Batch = decode(body, Batch if "messages" in top else MessageIn)
    return found


class Room:
    """The memory for large bodies of all running requests, counted as bytes arrive and not as they are announced.

    One key gets at most a quarter of it, and small bodies need none, so no single key keeps others out.
    """

    def __init__(self, most: int) -> None:
        """Start with all of it free.

        Args:
            most: bytes.
        """
        self._free = most
        self._share = most // 4
        self._taken = Counter[str | None]()

    @contextmanager
    def receiving(self, scope: HTTPScope, receive: Receive) -> Iterator[Receive]:
        """Return a ``receive`` that takes room for a request until the block ends.

        Raises, when it receives:
            OverloadedError: no room is left.
        """
        if scope["method"] not in WITH_BODY:  # a body that comes anyway is not kept
            yield receive
            return
        came, taken = 0, 0
        key: str | None = None

        async def counted() -> Any:
            nonlocal came, taken, key
            message: Any = await receive()
            size = len(message.get("body", b""))
            came += size
            if came > SMALL_BYTES and size:
                key = getattr(scope.get("auth"), "key_id", None)
                if size > self._free or self._taken[key] + size > self._share:
                    raise OverloadedError("Too many large bodies are arriving at the same time.")
                self._free -= size
                self._taken[key] += size
                taken += size
            return message

        try:
            yield counted
        finally:
            self._free += taken
            self._taken[key] -= taken
            if not self._taken[key]:
                del self._taken[key]


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body is JSON of the handler's type. ``opt["decode"]`` replaces ``decode``.

    With ``opt["form"]``, a coroutine function of the request, the body may also be multipart/form-data.
    """

    async def json(self) -> Any:
        """The decoded body.

        Raises:
            HTTPException: 415, the content type is not JSON.
            InvalidRequestError: see ``decode``.
        """
        kind, options = self.content_type
        if kind.lower() == FORM and "form" in self.route_handler.opt:
            return await self.route_handler.opt["form"](self)
        if kind.lower() != "application/json" or options.get("charset", "utf-8").lower() not in {"utf-8", "utf8"}:
            raise HTTPException(status_code=415, detail=f"The body's type is {kind[:100] or 'not named'!r}.")
        field = self.route_handler.parsed_data_field
        decoder = self.route_handler.opt.get("decode", decode)
        return decoder(await self.body(), field.annotation if field is not None else Any)

    async def body(self) -> bytes:
        """The body's bytes.

        Raises:
            ClientException: the client disconnected before it was complete.
            BodyTooSlowError: it takes longer than MEMSVC_BODY_TIMEOUT_S. Nothing else waits for it meanwhile.
        """
        try:
            async with asyncio.timeout(service_of(self).settings.body_timeout_s):
                return await super().body()
        except TimeoutError as error:
            raise BodyTooSlowError from error
        except InternalServerException as error:
            raise ClientException("The body is incomplete.") from error
