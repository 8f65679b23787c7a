"""A request for a chat completion, as clients of OpenAI's API send it, read as far as memory needs it.

Nothing is made anew: fields that nobody here knows, tools, pictures and numbers go on byte by byte (``msgspec.Raw``).
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
    """What is read of a message; all else is the chat server's business."""

    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """Its words, without pictures and the like."""
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
    """Words of a person or of the assistant."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request with what memory needs of it."""

    fields: dict[str, msgspec.Raw]
    """All of it, as it came."""
    messages: Sequence[msgspec.Raw]
    system: int
    """How many messages of the client's own system stand at its begin."""
    turns: Sequence[Turn]
    """What person and assistant said, in words."""
    asks: bool
    """Its last message is the user's."""
    model: str | None

    @property
    def query(self) -> str:
        """What the user said last; empty: nothing in words."""
        return next((turn.text for turn in reversed(self.turns) if turn.role == "user"), "")

    @property
    def alone(self) -> bool:
        """The client sends no history: what the user says stands alone, or behind a greeting."""
        return len(self.turns) == 1 or (self.asks and sum(turn.role == "user" for turn in self.turns) == 1)

    def digest(self, *of: str) -> str:
        """Names these turns after all that was said before them, so that a request that comes again has it again.

        A person who says the same words once more says them after other ones.
        """
        told = msgspec.json.encode([*of, *([turn.role, turn.text] for turn in self.turns)])
        return hashlib.sha256(told).hexdigest()[:40]

    def with_memory(self, block: str | None, model: str | None) -> bytes:
        """The request for the chat server.

        Args:
            block: what memory has to say: a system message of its own, behind the client's. None: nothing.
            model: asked where the request names none, or ours.
        """
        messages = list(self.messages)
        if block is not None:
            told = msgspec.json.encode({"role": "system", "content": block})
            messages.insert(self.system, msgspec.Raw(told))
        fields: dict[str, Any] = {**self.fields, "messages": messages}
        if model is not None and self.model in {None, "", OURS}:
            fields["model"] = model
        return msgspec.json.encode(fields)


def read_request(body: bytes, decode: Decode) -> ChatRequest:
    """Read a request.

    Args:
        body: JSON.
        decode: how.

    Raises:
        InvalidRequestError: it is no such request.
    """
    wanted: _Wanted = decode(body, _Wanted)
    fields: dict[str, msgspec.Raw] = decode(body, dict[str, msgspec.Raw])
    said = wanted.messages
    system = next((place for place, one in enumerate(said) if one.role not in SYSTEM), len(said))
    turns = [Turn(one.role, text) for one in said if one.role in {"user", "assistant"} and (text := trimmed(one.text))]
    return ChatRequest(
        fields=fields,
        messages=decode(bytes(fields["messages"]), list[msgspec.Raw]),
        system=system,
        turns=turns,
        asks=bool(said) and said[-1].role == "user" and is_visible(said[-1].text),
        model=wanted.model,
    )
