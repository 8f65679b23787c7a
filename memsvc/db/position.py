"""The position in the database's log up to which a caller wants to see everything, to see its own writes.

A request that sends ``X-Memsvc-Position`` reads from no replica that is behind it, and its answer has the header, too:
with the position after all that the request stored, or the one that was given. A caller that passes on what it got last
sees its own writes, whichever process answers. A position is written as PostgreSQL writes one: ``16/B374D848``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from memsvc.errors import InvalidRequestError

FORM = re.compile(r"([0-9A-F]{1,8})/([0-9A-F]{1,8})", re.ASCII | re.IGNORECASE)
HEADER = "X-Memsvc-Position"


@dataclass(slots=True)
class Asked:
    """What a request asked for, and whether it stored something."""

    least: int
    """In bytes."""
    stored: bool = False


_asked: ContextVar[Asked | None] = ContextVar("memsvc_position", default=None)


def parse_position(told: str) -> int:
    """A position in bytes.

    Raises:
        InvalidRequestError: it has another form.
    """
    found = FORM.fullmatch(told.strip())
    if found is None:
        raise InvalidRequestError(f"{HEADER} is not a position like 16/B374D848.", hint="Send 0/0 to begin.")
    return (int(found[1], 16) << 32) + int(found[2], 16)


def shown_position(position: int) -> str:
    """A position as PostgreSQL writes it."""
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


def asked_position() -> int:
    """The position that the running request asks for; 0: none."""
    asked = _asked.get()
    return asked.least if asked else 0


def note_stored() -> None:
    """Note that the running request has stored something."""
    if (asked := _asked.get()) is not None:
        asked.stored = True


@contextmanager
def at_least(position: int) -> Iterator[Asked]:
    """Read in the block only what has replayed this position."""
    asked = Asked(position)
    token = _asked.set(asked)
    try:
        yield asked
    finally:
        _asked.reset(token)
