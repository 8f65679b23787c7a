"""Reads a chat server's answer while it is passed on: what the assistant says, and how the answer ends.

It never blocks the answer, and ignores what it does not understand.
"""

from __future__ import annotations

from typing import Any

import msgspec

from memsvc.text.characters import trimmed

MAX_CHARS = 200_000
MAX_LINE_BYTES = 4_000_000
END = b"[DONE]"


class Hearing:
    """What was read so far of the first choice of an answer."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self.finish = ""
        """Why it ended: stop, length, tool_calls …; done: the server gave no reason; empty: it has not ended."""
        self.acts = False
        """True: the assistant calls tools, so its text, if any, is not yet an answer."""
        self._words: list[str] = []
        self._chars = 0
        self._rest = b""

    @property
    def text(self) -> str:
        """What the assistant said."""
        return trimmed("".join(self._words))

    def whole(self, body: bytes) -> None:
        """Read an answer that came as a whole."""
        self._take(body)

    def piece(self, piece: bytes) -> None:
        """Read a piece of a stream of events, wherever it begins and ends."""
        *lines, rest = (self._rest + piece).split(b"\n")
        self._rest = rest if len(rest) <= MAX_LINE_BYTES else b""
        for line in lines:
            if line.startswith(b"data:"):
                data = line.removeprefix(b"data:").strip()
                if data == END:
                    self.finish = self.finish or "done"  # some servers give no reason
                else:
                    self._take(data)

    def _take(self, document: bytes) -> None:
        try:
            choices = msgspec.json.decode(document)["choices"]
            self._hear(next(choice for choice in choices if not choice.get("index")))
        except (msgspec.MsgspecError, KeyError, TypeError, AttributeError, StopIteration, RecursionError, ValueError):
            return

    def _hear(self, choice: dict[str, Any]) -> None:
        said = choice.get("message") or choice.get("delta") or {}
        content = said.get("content")
        if isinstance(content, str) and self._chars < MAX_CHARS:
            self._words.append(content[: MAX_CHARS - self._chars])
            self._chars += len(content)
        self.acts = self.acts or bool(said.get("tool_calls") or said.get("function_call"))
        if isinstance(finish := choice.get("finish_reason"), str):
            self.finish = finish
