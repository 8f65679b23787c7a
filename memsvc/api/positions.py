"""The header ``X-Memsvc-Position``, by which callers see their own writes on replicas (``memsvc.db.position``)."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers.base import BaseRouteHandler
from litestar.types import Scope

from memsvc.db.engine import Database
from memsvc.db.position import HEADER, Asked, at_least, parse_position, shown_position
from memsvc.errors import DatabaseUnavailableError, InvalidRequestError

NAME = HEADER.lower().encode()


def position_asked(scope: Scope) -> AbstractContextManager[Asked | None]:
    """What a request asks for, for as long as it is answered; None: nothing, or what ``known_position`` refuses."""
    for name, value in scope["headers"]:
        if name.lower() == NAME:
            with suppress(InvalidRequestError):
                return at_least(parse_position(value.decode("latin-1")))
    return nullcontext()


async def position_header(asked: Asked, db: Database) -> tuple[bytes, bytes]:
    """The header of the answer: the position after what the request stored, or else the one it asked for."""
    position = asked.least
    if asked.stored:
        with suppress(DatabaseUnavailableError):  # what was stored is stored; the caller keeps its older position
            position = max(position, await db.replicas.written())
    return NAME, shown_position(position).encode()


async def known_position(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """A guard that refuses a position of another form.

    Raises:
        InvalidRequestError: says which form.
    """
    if (told := connection.headers.get(HEADER)) is not None:
        parse_position(told)
