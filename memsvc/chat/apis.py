"""What the drop-in door needs to know about an API of chat servers. Each API has a module of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memsvc.chat.hearing import Hearing
from memsvc.chat.request import ChatRequest, Decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error of memsvc, to be told in the form of an API."""

    message: str
    code: str
    status: int
    field: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatApi:
    """An API."""

    path: str
    """Of the chat server, after its base URL."""
    read: Callable[[bytes, Decode], ChatRequest]
    """Reads a request; raises InvalidRequestError."""
    hearing: Callable[[], Hearing]
    """Makes a reader for an answer."""
    error: Callable[[Failure], dict[str, Any]]
    """The fields of an error's body."""
    error_event: Callable[[Failure], bytes]
    """An error as an event of a stream."""
