"""What ChatGPT knows of a user beside the conversations: saved memories and custom instructions.

An export has no list of either. They stand in hidden messages of the conversations, over and over: all memories as one
text, of which the newest counts, and the instructions in an explanation of ChatGPT's. Chatgpt.com answers its own page
with a list of memories, which people save; ``memories`` reads that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.kind import Digests, Placed, Reading, compact
from memsvc.sources.kinds.trees import conversations
from memsvc.sources.messages import MessageIn
from memsvc.text.characters import is_visible

MEMORIES, INSTRUCTIONS = "chatgpt:memories", "chatgpt:instructions"
DATED = re.compile(r"^[ \t]*\d+\.\s*\[(\d{4}-\d\d-\d\d)\]\.?\s*", re.MULTILINE)
NUMBERED = re.compile(r"^[ \t]*\d+\.\s+", re.MULTILINE)
FENCED = re.compile(r"```(.*)```", re.DOTALL)
"""The user's own words within ChatGPT's explanation of them."""


class Memory(msgspec.Struct):
    """A memory of the list; other fields are not read."""

    content: str
    id: str | None = None
    created_timestamp: float | None = None
    updated_at: str | None = None


class Memories(msgspec.Struct):
    """The list of memories; other fields are not read."""

    memories: list[Memory]


@dataclass(slots=True)
class Known:
    """What the conversations of one file say of the user."""

    instructions: dict[str, float] = field(default_factory=dict)
    """Each with the first time at which it was there."""
    memories: str = ""
    memories_time: float = 0.0

    def note(self, content: dict[str, Any], told: dict[str, Any], time: float | None) -> None:
        """Look at a message.

        Args:
            content: its content.
            told: the custom instructions as its metadata have them.
            time: when it was said; None: unknown, and nothing is noted.
        """
        if time is None:
            return
        memories = content.get("model_set_context")
        if isinstance(memories, str) and is_visible(memories) and time >= self.memories_time:
            self.memories, self.memories_time = memories, time
        texts = [told.get("about_user_message"), told.get("about_model_message")]
        if not any(texts):
            texts = [content.get("user_profile"), content.get("user_instructions")]
        for text in texts:
            if isinstance(text, str):
                own = (found[1] if (found := FENCED.search(text)) else text).strip()
                if is_visible(own):
                    self.instructions[own] = min(time, self.instructions.get(own, time))

    def placed(self, reading: Reading, where: str) -> Iterator[Placed]:
        """Yield the instructions as the user's words, then the newest memories as ChatGPT's."""
        ids = Digests()
        for text, time in sorted(self.instructions.items(), key=lambda one: (one[1], one[0])):
            message = MessageIn(
                conversation=INSTRUCTIONS, text=text, id=ids.of("instruction", text), said_at=reading.clock(time, where)
            )
            yield Placed(f"{where}, custom instructions", message, {}, "Custom instructions")
        if self.memories:
            at = reading.clock(self.memories_time, where)
            for day, text in _split(self.memories):
                yield _memory(text, day or at, ids.of("memory", text), f"{where}, saved memories")


def memories(bundle: Bundle, reading: Reading) -> Iterator[Placed]:
    """Yield the memories of a list, as ChatGPT's words."""
    ids, written = Digests(), bundle.modified(bundle.files[0], reading.zone).isoformat()
    for one, where in conversations(bundle, Memories):
        for number, memory in enumerate(one.memories):
            text = memory.content.strip()
            if not is_visible(text):
                continue
            place = f"{where}, memory {number}"
            if memory.created_timestamp is not None:
                at = reading.clock(memory.created_timestamp, place)
            elif memory.updated_at:
                at = memory.updated_at
            else:
                at = written
                reading.odd["memories without a time: that of the file counts"] += 1
            yield _memory(text, at, ids.of("memory", text), place)


def _memory(text: str, said_at: str, identity: str, where: str) -> Placed:
    message = MessageIn(
        conversation=MEMORIES, text=text, speaker="ChatGPT", role="assistant", id=identity, said_at=said_at
    )
    return Placed(where, message, compact(memory="saved"), "Saved memories")


def _split(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield each memory of a text with its day: "1. [2024-05-01]. Lives in Lisbon."."""
    mark = DATED if DATED.search(text) else NUMBERED
    found = list(mark.finditer(text))
    if not found:
        yield None, text.strip()
        return
    ends = [one.start() for one in found[1:]] + [len(text)]
    for one, end in zip(found, ends, strict=True):
        if is_visible(own := text[one.end() : end].strip()):
            yield one[1] if mark is DATED else None, own
