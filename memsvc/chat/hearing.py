"""Reads a chat server's answer while it is passed on: what the assistant says, and how the answer ends.

It never blocks the answer, and ignores what it does not understand. Each API has a class of its own beside the reader
of its requests.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any

import msgspec

from memsvc.text.characters import trimmed
from memsvc.turns.calls import CallIn

MAX_CHARS = 200_000
MAX_LINE_BYTES = 4_000_000
FILTERED = "content_filter"


class Hearing(ABC):
    """What was read so far of an answer."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self.finish = ""
        """Why it ended, in the server's words; done: the server gave no reason; empty: it has not ended."""
        self.acts = False
        """True: the assistant calls tools, so its text, if any, is not yet an answer."""
        self.filtered = False
        """True: a filter cut it off."""
        self.cut = False
        """True: the assistant said more than is read."""
        self.called: list[CallIn] = []
        """Calls of tools that the client may answer without sending them back."""
        self._words: list[str] = []
        self._chars = 0
        self._rest = b""

    @property
    def text(self) -> str:
        """What the assistant said. Halves of a character that came in two pieces are joined; a lone one is replaced."""
        text = "".join(self._words)
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return trimmed(text)

    @property
    def is_answer(self) -> bool:
        """True: the assistant said something that is to be stored."""
        return bool(self.text) and not self.acts and not self.filtered

    def whole(self, body: bytes) -> None:
        """Read an answer that came as a whole."""
        self._take(body)

    def piece(self, piece: bytes) -> None:
        """Read a piece of a stream of events, wherever it begins and ends."""
        *lines, rest = (self._rest + piece).split(b"\n")
        if len(rest) > MAX_LINE_BYTES:
            rest, self.cut = b"", True
        self._rest = rest
        for line in lines:
            if line.startswith(b"data:"):
                self._take(line.removeprefix(b"data:").strip())

    def _take(self, document: bytes) -> None:
        try:
            self._hear(_decoded(document))
        except (msgspec.MsgspecError, KeyError, TypeError, AttributeError, StopIteration, RecursionError, ValueError):
            return

    @abstractmethod
    def _hear(self, told: dict[str, Any]) -> None:
        """Read a whole answer, or an event of a stream. Errors of lookups mean that it is not understood."""

    def _say(self, words: Any) -> None:
        """Add what the assistant says, up to ``MAX_CHARS``."""
        if isinstance(words, str) and words:
            self._words.append(words[: max(0, MAX_CHARS - self._chars)])
            self._chars += len(words)
            self.cut = self.cut or self._chars > MAX_CHARS


def _decoded(document: bytes) -> Any:
    """Decode JSON. Only the standard library takes texts with half of a surrogate pair, such as half of an emoji."""
    try:
        return msgspec.json.decode(document)
    except msgspec.DecodeError:
        return json.loads(document)
