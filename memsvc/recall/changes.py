"""Which recalled messages a later one may have changed, where no fact says so: "the league moves to Thursdays".

A message may be out of date where the same person said later, with a word of change (``changes.txt``), something that
shares a word of the query with it, or two names or numbers. Nothing is claimed by that: who reads the earlier message
is shown the later one. Facts that have ended are told with certainty by ``memsvc.overtaken``. The words were chosen on
the open half of ``bench/gold/days``; ``make bench-days`` has the share of answers that are marked without need.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from memsvc.recall.results import Memory
from memsvc.recall.sameness import asks_at_its_end

LEAST_SHARED = 2
"""Names and numbers that two messages share where they share no word of the query."""
LOOKED_AT = 1_000
"""Characters of a message: further on it tells of other things."""
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÀ-ÖØ-Þ][\w'-]{2,}|\d[\d.:,]*\d|\d")
"""Words with a capital that do not begin a sentence, and numbers."""


def _cues() -> re.Pattern[str]:
    """All that tells of a change, as one expression."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            found.setdefault(section, []).append(line)
    return re.compile(rf"\b(?:{'|'.join(found['words'])})\b|{'|'.join(found['anywhere'])}", re.IGNORECASE)


_CUES = _cues()


def tells_of_a_change(text: str) -> bool:
    """Whether a text says that something is otherwise than before; a question does not."""
    return not asks_at_its_end(text) and _CUES.search(text[:LOOKED_AT]) is not None


def later_words(memories: Sequence[Memory]) -> dict[UUID, Memory]:
    """Return for messages the latest of the others that may have changed what they say.

    Args:
        memories: what was recalled for one query; ``matched`` are the query's words that each of them holds.

    Returns:
        The earlier one's id -> the later one. A message that something is known of (``remark``) is left out.
    """
    said = [memory for memory in memories if memory.kind == "message" and memory.role != "assistant"]
    changing = sorted((one for one in said if tells_of_a_change(one.text)), key=lambda one: one.said_at, reverse=True)
    found: dict[UUID, Memory] = {}
    for memory in said:
        if memory.remark:
            continue
        for later in changing:
            if later.said_at <= memory.said_at:
                break
            if later.speaker == memory.speaker and _about_the_same(memory, later):
                found[memory.memory_id] = later
                break
    return found


def _about_the_same(one: Memory, other: Memory) -> bool:
    """Whether they share a word of the query, or names and numbers."""
    if set(one.matched) & set(other.matched):
        return True
    names = set(_NAME.findall(one.text[:LOOKED_AT])) & set(_NAME.findall(other.text[:LOOKED_AT]))
    return len(names) >= LEAST_SHARED
