"""Which recalled messages a later one may have changed, where no fact says so: "the league moves to Thursdays".

A message may be out of date where the same person said later, in a sentence with a word of change (``changes.txt``),
something that shares a word of the query with it (but for names of speakers), or two names. Words like "now" count only
where both have a value of one kind, a day or a number, and these differ. Nothing is claimed by that: who reads the
earlier message is shown the later one. Facts that have ended are told with certainty by ``memsvc.overtaken``. The words
were chosen on the open half of ``bench/gold/days``; ``make bench-days`` counts marks, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from memsvc.recall.results import Memory
from memsvc.recall.sameness import asks_at_its_end
from memsvc.text.split import sentences

LEAST_SHARED = 2
"""Names and numbers that two messages share where they share no word of the query."""
LOOKED_AT = 600
"""Characters of a message: further on it tells of other things."""
LEAST_STEM, ENDING = 3, 3
"""A word counts by its beginning, without so many letters of its ending: messages may have other forms of it."""
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÀ-ÖØ-Þ][\w'-]{2,}")
"""Words with a capital that do not begin a sentence."""
VALUES = ("day", "number")


def _expressions() -> dict[str, re.Pattern[str]]:
    """Section of the file -> its expressions, as one."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            found.setdefault(section, []).append(line)
    return {
        name: re.compile("|".join(lines) if name == "chinese" else rf"\b(?:{'|'.join(lines)})\b")
        for name, lines in found.items()
    }


_WORDS = _expressions()


class Change(NamedTuple):
    """What a message says with words of change."""

    memory: Memory
    told: str
    """The sentence, and the one before it."""
    definite: bool
    """It says so by itself; else the values must differ."""

    def concerns(self, earlier: Memory, speakers: frozenset[str]) -> bool:
        """Whether an earlier message is about the same, and may be out of date."""
        return _about_the_same(earlier, self.told, speakers) and (self.definite or _differ(earlier.text, self.told))


def changes_in(memory: Memory) -> Iterator[Change]:
    """What a message says with words of change; questions say nothing."""
    before = ""
    for piece in sentences(memory.text[:LOOKED_AT]):
        small = piece.casefold()
        if not asks_at_its_end(piece):
            definite = _WORDS["definite"].search(small) or _WORDS["chinese"].search(small)
            if definite or _WORDS["change"].search(small):
                yield Change(memory, before + piece, definite is not None)
        before = piece


def later_words(memories: Sequence[Memory]) -> dict[UUID, Memory]:
    """Return for messages the latest of the others that may have changed what they say.

    Args:
        memories: what was recalled for one query; ``matched`` are the query's words that each of them holds.

    Returns:
        The earlier one's id -> the later one. A message that something is known of (``remark``) is left out.
    """
    said = [memory for memory in memories if memory.kind == "message" and memory.role != "assistant"]
    speakers = frozenset(name for memory in said for name in memory.speaker.casefold().split())
    changes = [change for memory in said for change in changes_in(memory)]
    changes.sort(key=lambda change: change.memory.said_at, reverse=True)
    found: dict[UUID, Memory] = {}
    for memory in said:
        for change in changes if not memory.remark else ():
            if change.memory.said_at <= memory.said_at:
                break
            if change.memory.speaker == memory.speaker and change.concerns(memory, speakers):
                found[memory.memory_id] = change.memory
                break
    return found


def _about_the_same(memory: Memory, told: str, speakers: frozenset[str]) -> bool:
    small = told.casefold()
    words = (word.casefold() for word in memory.matched)
    if any(word[: max(LEAST_STEM, len(word) - ENDING)] in small for word in words if word not in speakers):
        return True
    names = set(_NAME.findall(memory.text[:LOOKED_AT])) & set(_NAME.findall(told))
    return len([name for name in names if name.casefold() not in speakers]) >= LEAST_SHARED


def _differ(one: str, other: str) -> bool:
    """Whether both have values of one kind, and none in common."""
    for kind in VALUES:
        mine, theirs = (set(_WORDS[kind].findall(text[:LOOKED_AT].casefold())) for text in (one, other))
        if mine and theirs and mine.isdisjoint(theirs):
            return True
    return False
