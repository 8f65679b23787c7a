"""Listens to a chat server's answer while it passes by: what the assistant says, and how it ends.

It never stands in the way: what it does not understand it does not hear.
"""

from __future__ import annotations

from typing import Any

import msgspec

from memsvc.text.characters import trimmed

MAX_CHARS = 200_000
MAX_LINE_BYTES = 4_000_000
END = b"[DONE]"


class Hearing:
    """What was heard so far of the first choice of an answer."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.finish = ""
        """Why it ended: stop, length, tool_calls …; done: the server did not say why; empty: it has not."""
        self.acts = False
        """The assistant calls tools: its words, if any, are no answer yet."""
        self._words: list[str] = []
        self._chars = 0
        self._rest = b""

    @property
    def text(self) -> str:
        """What the assistant said."""
        return trimmed("".join(self._words))

    def whole(self, body: bytes) -> None:
        """Take an answer that came in one."""
        self._take(body)

    def piece(self, piece: bytes) -> None:
        """Take a piece of a stream of events, wherever it begins and ends."""
        *lines, rest = (self._rest + piece).split(b"\n")
        self._rest = rest if len(rest) <= MAX_LINE_BYTES else b""
        for line in lines:
            if line.startswith(b"data:"):
                told = line.removeprefix(b"data:").strip()
                if told == END:
                    self.finish = self.finish or "done"  # some servers give no reason
                else:
                    self._take(told)

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
