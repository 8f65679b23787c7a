"""What a prompt holds of a conversation anyway, and need not hold again."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memsvc.recall.items import Item
from memsvc.recall.results import Memory
from memsvc.text.fence import split_blocks
from memsvc.text.split import split_text


class Present:
    """Words of messages, whole and in the parts in which long ones are stored. A picture may have no words.

    Only those are split that hold what is looked for: a chat's request may hold a million signs.
    """

    def __init__(self, texts: Sequence[str], window: int) -> None:
        """``window``: most tokens of a part."""
        self._texts = frozenset(texts)
        self._whole = frozenset(text.strip() for text in texts)
        self._window = window
        self._parts: dict[str, frozenset[str]] = {}

    def __contains__(self, text: str) -> bool:
        """Whether a text, or a part of one, is among them."""
        words = text.strip()
        if not words or words in self._whole:
            return bool(words)
        return any(words in self._parts_of(whole) for whole in self._texts if words in whole)

    def _parts_of(self, whole: str) -> frozenset[str]:
        if whole not in self._parts:
            parts = (part for text, _ in split_blocks(whole) for part in split_text(text, self._window))
            self._parts[whole] = frozenset(part.strip() for part in parts)
        return self._parts[whole]


def without_present(
    memories: Sequence[Memory], present: Present, said: str | None, source_id: UUID | None
) -> list[Memory]:
    """Without messages of the conversation that the prompt holds anyway, by their words, or that is answered."""
    return [
        memory
        for memory in memories
        if source_id is None
        or memory.kind == "fact"
        or memory.conversation_id != source_id
        or not (memory.text in present or (said is not None and memory.message_id == said))
    ]


def without_words(items: list[Item], words: Present, source_id: UUID | None) -> list[Item]:
    """Without messages of the conversation that have these words."""
    return [item for item in items if item.conversation_id != source_id or item.text not in words]
