"""Memories as recall gives them, made by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memsvc.recall.options import NOTHING
from memsvc.recall.results import Memory, RecalledFact

WORDS_ALONE = {**NOTHING, "words": 1.0}
NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


def memory(number: int, text: str = "I like oak.", **more: Any) -> Memory:
    """A message; its score falls with its number."""
    fields: dict[str, Any] = {
        "memory_id": UUID(int=number), "passage_id": UUID(int=number), "conversation_id": UUID(int=8),
        "conversation": "kitchen", "session": "S1", "ordinal": number, "part": 0, "message_id": f"m{number}",
        "speaker": "Ada", "role": "user", "text": text, "caption": None, "said_at": NOON, "recorded_at": NOON,
        "score": 10.0 - number, "arms": {}, "matched": [], "why": "says “oak”",
    }  # fmt: skip
    return Memory(**(fields | more))


def fact(number: int, text: str = "Ines lives in Lyon.", **more: Any) -> Memory:
    """A fact; ``valid_from`` and ``valid_to`` are its span."""
    spans = {name: more.pop(name, None) for name in ("valid_from", "valid_to")}
    told = RecalledFact(
        version_id=UUID(int=number), edge_id=UUID(int=number), type="LIVES_IN", from_node=UUID(int=1),
        from_label="Ines", to_node=UUID(int=2), to_label="Lyon", confidence=more.pop("confidence", 1.0), **spans,
    )  # fmt: skip
    return memory(number, text, kind="fact", fact=told, **more)
