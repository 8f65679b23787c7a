"""What the process that reads documents and its parent say to each other: frames of MessagePack behind their length."""

from __future__ import annotations

import struct
from typing import Any

import msgspec

from memsvc.documents.form import ParsedDocument
from memsvc.documents.limits import Limits

LENGTH = struct.Struct("<Q")
MOST_REQUEST_BYTES = 1 << 20


class Request(msgspec.Struct, frozen=True):
    """Which file to read."""

    path: str
    name: str
    limits: Limits


class Done(msgspec.Struct, frozen=True, tag=True):
    """The document was read."""

    document: ParsedDocument


class Refused(msgspec.Struct, frozen=True, tag=True):
    """It could not be read: an error of ``memsvc.errors``."""

    code: str
    message: str
    hint: str
    details: dict[str, Any] = {}
    is_spent: bool = False
    """The process ends, because its memory is used up."""


Answer = Done | Refused


def frame(value: object) -> bytes:
    """Return a value as a frame."""
    data = msgspec.msgpack.encode(value)
    return LENGTH.pack(len(data)) + data
