"""Request bodies: JSON in UTF-8, decoded strictly into the type that the handler names.

Litestar would decode to plain values first and convert them leniently ("1" for 1); here msgspec decodes once, and every
way in which bytes can fail to be the expected JSON becomes a clear error.
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

WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
SMALL_BYTES = 64_000
"""So much of a body is not counted: all connections together hold little by it."""
LONE_SURROGATE = re.compile(
    rb"""
      \\u[dD][89abAB][0-9a-fA-F]{2} (?! \\u[dD][c-fC-F])                 # a high one without its low one
    | (?<! \\u[dD][89abAB][0-9a-fA-F]{2} ) \\u[dD][c-fC-F][0-9a-fA-F]{2}  # a low one without its high one
    """,
    re.VERBOSE,
)


class Batch(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Several messages at once, stored all or not at all."""

    messages: list[MessageIn]
    """1 to 1,000 messages, of one or of several conversations."""


def decode(body: bytes, into: Any) -> Any:
    """Decode a JSON body.

    Raises:
        InvalidTextError: it is not UTF-8, or holds half of a surrogate pair.
        InvalidRequestError: it is not JSON, is nested too deeply, or does not have the form of ``into``.
    """
    try:
        return msgspec.json.decode(body, type=into)
    except msgspec.ValidationError as error:
        raise invalid_value(error) from error
    except UnicodeDecodeError as error:
        raise InvalidTextError("The body is not valid UTF-8.") from error
    except RecursionError as error:
        raise InvalidRequestError("The body is nested too deeply.", hint="Send flatter JSON.") from error
    except msgspec.DecodeError as error:
        if LONE_SURROGATE.search(body):
            raise InvalidTextError("The body holds half of a surrogate pair; it is not valid UTF-8.") from error
        raise InvalidRequestError(f"The body is not JSON: {error}.", hint="Send one JSON object.") from error


def decode_messages(body: bytes, _into: Any) -> MessageIn | Batch:
    """Decode one message, or an object with the one field ``messages``; see ``decode`` for errors."""
    top: dict[str, msgspec.Raw] = decode(body, dict[str, msgspec.Raw])
    found: MessageIn | Batch = decode(body, Batch if "messages" in top else MessageIn)
    return found


class Room:
    """What large bodies of all requests under way take together, counted as they come and not as they are announced.

    A quarter of it is one key's at most, and small bodies need none of it, so no key alone keeps others out.
    """

    def __init__(self, most: int) -> None:
        """All of it is free.

        Args:
            most: bytes.
        """
        self._free = most
        self._share = most // 4
        self._taken = Counter[str | None]()

    @contextmanager
    def receiving(self, scope: HTTPScope, receive: Receive) -> Iterator[Receive]:
        """A request's ``receive`` that takes room, until the block ends.

        Raises, when it receives:
            OverloadedError: there is no more room.
        """
        if scope["method"] not in WITH_BODY:  # what comes all the same is kept by nobody
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
                    raise OverloadedError("Too many large bodies arrive at once.")
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
    """A request whose body is JSON of the handler's type; ``opt["decode"]`` names another decoder than ``decode``."""

    async def json(self) -> Any:
        """The decoded body.

        Raises:
            HTTPException: 415, it does not say that it is JSON.
            InvalidRequestError: see ``decode``.
        """
        kind, options = self.content_type
        if kind.lower() != "application/json" or options.get("charset", "utf-8").lower() not in {"utf-8", "utf8"}:
            raise HTTPException(status_code=415, detail=f"The body's type is {kind[:100] or 'not named'!r}.")
        field = self.route_handler.parsed_data_field
        decoder = self.route_handler.opt.get("decode", decode)
        return decoder(await self.body(), field.annotation if field is not None else Any)

    async def body(self) -> bytes:
        """The body's bytes.

        Raises:
            ClientException: the client went away before it was complete.
            BodyTooSlowError: it takes longer than MEMSVC_BODY_TIMEOUT_S; nothing else waits for it meanwhile.
        """
        try:
            async with asyncio.timeout(service_of(self).settings.body_timeout_s):
                return await super().body()
        except TimeoutError as error:
            raise BodyTooSlowError from error
        except InternalServerException as error:
            raise ClientException("The body ended before it was complete.") from error
