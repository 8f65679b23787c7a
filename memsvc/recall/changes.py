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
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from memsvc.recall.results import Memory
from memsvc.recall.sameness import asks_at_its_end
from memsvc.text.sentences import sentences

LEAST_SHARED = 2
"""Names and numbers that two messages share where they share no word of the query."""
LOOKED_AT = 600
"""Characters of a message: further on it tells of other things."""
LEAST_STEM, ENDING = 3, 3
"""A word counts by its beginning, without so many letters of its ending: messages may have other forms of it."""
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÀ-ÖØ-Þ][\w'-]{2,}")
"""Words with a capital that do not begin a sentence."""
_TELLING = re.compile(r"[^\W\d_]{5,}")
VALUES = ("day", "number")
MOST_READ, MOST_CHANGES = 50, 3
"""So many messages are looked at, and of each so many sentences: what is recalled is the user's to choose."""


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


class _Read(NamedTuple):
    """What counts of a message, read once however many others it is compared with."""

    memory: Memory
    names: frozenset[str]
    values: dict[str, frozenset[str]]
    """Days, and numbers."""
    changes: list[_Change]


class _Change(NamedTuple):
    """A sentence with words of change."""

    words: str
    """The sentence before it, for what it is about, and itself, in small letters."""
    names: frozenset[str]
    values: dict[str, frozenset[str]]
    definite: bool
    """It says so by itself; else the values must differ."""


def later_words(memories: Sequence[Memory]) -> dict[UUID, Memory]:
    """Return for messages the latest of the others that may have changed what they say.

    Args:
        memories: what was recalled for one query, best first; ``matched`` are the query's words that each of them
            holds. The best ``MOST_READ`` are looked at.

    Returns:
        The earlier one's id -> the later one. A message that something is known of (``remark``) is left out.
    """
    said = [one for one in memories if one.kind == "message" and one.role != "assistant"][:MOST_READ]
    speakers = frozenset(name for memory in said for name in memory.speaker.casefold().split())
    read = [_read(memory) for memory in sorted(said, key=lambda one: one.said_at, reverse=True)]
    found: dict[UUID, Memory] = {}
    for earlier in read:
        memory = earlier.memory
        for later in read if not memory.remark else ():
            if later.memory.said_at <= memory.said_at:
                break
            if later.memory.speaker == memory.speaker and any(
                _concerns(earlier, change, speakers) for change in later.changes
            ):
                found[memory.memory_id] = later.memory
                break
    return found


def may_have_moved(earlier: str, later: str) -> bool:
    """Whether a message may have changed what an earlier one says of the same day: it says so of something in it."""
    small = set(_TELLING.findall(earlier[:LOOKED_AT].casefold()))
    words = {word for word in small if _WORDS["plain"].fullmatch(word) is None}
    changes = islice(_changes_in(later[:LOOKED_AT]), MOST_CHANGES)
    return any(_says(change.words, word) for change in changes for word in words)


def says_change(small: str) -> bool:
    """Whether a sentence in small letters has a word of change."""
    return any(_WORDS[name].search(small) for name in ("definite", "chinese", "change"))


def is_plain(word: str) -> bool:
    """Whether a word in small letters tells nothing of what a plan is about: a month, a day, "please"."""
    return _WORDS["plain"].fullmatch(word) is not None or _WORDS["day"].fullmatch(word) is not None


def _read(memory: Memory) -> _Read:
    text = memory.text[:LOOKED_AT]
    changes = list(islice(_changes_in(text), MOST_CHANGES))
    return _Read(memory, frozenset(_NAME.findall(text)), _values(text.casefold()), changes)


def _changes_in(text: str) -> Iterator[_Change]:
    """What a message says with words of change; questions say nothing, but what they are about."""
    before = ""
    for piece in sentences(text):
        small = piece.casefold()
        definite = _WORDS["definite"].search(small) or _WORDS["chinese"].search(small)
        if not asks_at_its_end(piece) and (definite or _WORDS["change"].search(small)):
            names = frozenset(_NAME.findall(before + piece))
            yield _Change(before.casefold() + small, names, _values(small), definite is not None)
        before = piece


def _values(small: str) -> dict[str, frozenset[str]]:
    return {kind: frozenset(_WORDS[kind].findall(small)) for kind in VALUES}


def _concerns(earlier: _Read, change: _Change, speakers: frozenset[str]) -> bool:
    """Whether an earlier message is about the same as a sentence of change, and may be out of date."""
    words = (word.casefold() for word in earlier.memory.matched)
    shared = any(_says(change.words, word) for word in words if word not in speakers)
    names = {name for name in earlier.names & change.names if name.casefold() not in speakers}
    if not shared and len(names) < LEAST_SHARED:
        return False
    return change.definite or any(
        earlier.values[kind] and change.values[kind] and earlier.values[kind].isdisjoint(change.values[kind])
        for kind in VALUES
    )


def _says(small: str, word: str) -> bool:
    """Whether a text in small letters says a word, or another form of it, from the begin of a word."""
    stem = word[: max(LEAST_STEM, len(word) - ENDING)]
    at = small.find(stem)
    while at > 0 and small[at - 1].isalnum() and stem[0].isascii():
        at = small.find(stem, at + 1)
    return at >= 0
