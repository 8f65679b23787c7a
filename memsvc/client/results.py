"""Answers that only the REST API defines. All other answers are structs of the capabilities."""

from __future__ import annotations

from uuid import UUID

import msgspec

from memsvc.access.keys import Key
from memsvc.erasing.memories import Receipt
from memsvc.sources.messages import StoredMessage


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """One receipt for each message."""

    messages: list[StoredMessage]


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What an erasure would remove now."""

    kind: str
    counts: dict[str, int]
    """Rows that would be erased, by table."""


class SessionEnded(msgspec.Struct, frozen=True, kw_only=True):
    """What ending the session did."""

    forgotten: Receipt | None
    """The receipt of the erasure; None: the conversation is kept."""


class LinkEnded(msgspec.Struct, frozen=True, kw_only=True):
    """The result of ending a link."""

    link_id: UUID
    ended: bool
    """False: it had already ended."""


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """A new key."""

    secret: str
    """The full key, as clients send it."""
    key: Key
