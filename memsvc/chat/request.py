"""Reads a request for a chat completion, as clients of OpenAI's API send it, as far as memory needs it.

The rest is passed on unchanged, byte by byte (``msgspec.Raw``): unknown fields, tools, pictures and numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from memsvc.text.characters import is_visible, trimmed

OURS = "memsvc"
"""A model of this name means the configured one."""
SYSTEM = frozenset({"system", "developer"})
Decode = Callable[[bytes, Any], Any]
"""Decodes JSON into a type; raises errors of ``memsvc.errors``."""


class _Said(msgspec.Struct):
    """The fields of a message that memory reads. The rest concerns only the chat server."""

    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """Its text, without pictures and other parts."""
        if isinstance(self.content, list):
            parts = (part.get("text") for part in self.content if part.get("type") == "text")
            return "\n".join(part for part in parts if isinstance(part, str))
        return self.content or ""


class _Wanted(msgspec.Struct):
    messages: list[_Said]
    model: str | None = None
    stream: bool | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A text of the user or of the assistant."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request, and what memory needs from it."""

    fields: dict[str, msgspec.Raw]
    """All fields, as they came."""
    messages: Sequence[msgspec.Raw]
    system: int
    """How many system messages of the client are at the start."""
    turns: Sequence[Turn]
    """The texts of the user and the assistant."""
    asks: bool
    """True: the last message is the user's."""
    model: str | None

    @property
    def query(self) -> str:
        """The user's last text; empty: there is none."""
        return next((turn.text for turn in reversed(self.turns) if turn.role == "user"), "")

    @property
    def alone(self) -> bool:
        """True: the client sends no history; the user's message is alone, or follows a greeting."""
        return len(self.turns) == 1 or (self.asks and sum(turn.role == "user" for turn in self.turns) == 1)

    def digest(self, *of: str) -> str:
        """Return a digest of all turns, so a repeated request has the same one.

        A person who says the same again says it after other turns, which gives another digest.
        """
        turns = msgspec.json.encode([*of, *([turn.role, turn.text] for turn in self.turns)])
        return hashlib.sha256(turns).hexdigest()[:40]

    def with_memory(self, block: str | None, model: str | None) -> bytes:
        """Return the request for the chat server.

        Args:
            block: the memory block, which becomes a system message after the client's own; None: there is none.
            model: the model to ask if the request names none, or memsvc.
        """
        messages = list(self.messages)
        if block is not None:
            message = msgspec.json.encode({"role": "system", "content": block})
            messages.insert(self.system, msgspec.Raw(message))
        fields: dict[str, Any] = {**self.fields, "messages": messages}
        if model is not None and self.model in {None, "", OURS}:
            fields["model"] = model
        return msgspec.json.encode(fields)


def read_request(body: bytes, decode: Decode) -> ChatRequest:
    """Read a request.

    Args:
        body: JSON.
        decode: decodes JSON into a type.

    Raises:
        InvalidRequestError: it does not have the form of a request.
    """
    wanted: _Wanted = decode(body, _Wanted)
    fields: dict[str, msgspec.Raw] = decode(body, dict[str, msgspec.Raw])
    said = wanted.messages
    system = next((index for index, one in enumerate(said) if one.role not in SYSTEM), len(said))
    turns = [Turn(one.role, text) for one in said if one.role in {"user", "assistant"} and (text := trimmed(one.text))]
    return ChatRequest(
        fields=fields,
        messages=decode(bytes(fields["messages"]), list[msgspec.Raw]),
        system=system,
        turns=turns,
        asks=bool(said) and said[-1].role == "user" and is_visible(said[-1].text),
        model=wanted.model,
    )
