"""Answers of the service that only its doors have a name for; all others are the capabilities' own structs."""

from __future__ import annotations

from uuid import UUID

import msgspec

from memsvc.access.keys import Key
from memsvc.erasing.memories import Receipt
from memsvc.sources.messages import StoredMessage


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """What became of each message."""

    messages: list[StoredMessage]


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What erasing would remove now."""

    kind: str
    counts: dict[str, int]
    """Rows that would go, by table."""


class SessionEnded(msgspec.Struct, frozen=True, kw_only=True):
    """What the end of a session did."""

    forgotten: Receipt | None
    """The receipt of erasing it; None: it stays in memory."""


class LinkEnded(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a link."""

    link_id: UUID
    ended: bool
    """False: it had ended before."""


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """A new key."""

    secret: str
    """The whole key, as clients take it."""
    key: Key
