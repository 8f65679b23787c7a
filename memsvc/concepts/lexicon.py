"""The table of kinds (``kinds.txt``): which words people have for things of one kind, and what is a kind of what.

It is our own, in English, for people's everyday world. A name is looked up as a whole, as a model of a make ("iPhone
12"), and by its last words ("rye sourdough").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from memsvc.concepts.words import MODEL, bare, folded, head_of, singular

TABLE = Path(__file__).with_name("kinds.txt")
ROOT = re.compile(r"= (?P<word>[^(]+) \((?P<types>[^)]*)\): (?P<cues>.*)")
KIND = re.compile(r"(?P<names>[^<:]+) < (?P<parent>[^:!]+?)(?P<unusual> !)?:(?P<members>.*)")
LONGEST = 5
"""Words of a member."""
THINGS = frozenset({"Object", "Concept"})
"""Types that readers of texts mix up: a sport may be an object to them."""


class Root(NamedTuple):
    """A field of kinds, too broad to be the parent of a thing."""

    word: str
    types: tuple[str, ...]
    """Of nodes that belong here, the usual one first."""
    cues: frozenset[str]
    """Words that are said beside such things."""


class Kind(NamedTuple):
    """A word for things of one kind."""

    word: str
    parent: str
    root: str
    depth: int
    """Kinds and the root above it."""
    usual: bool
    """False: people rather say its parent's word, so it needs more members."""


class Sense(NamedTuple):
    """What a name may say that something is."""

    kind: str
    needs_cue: bool
    """It counts only where a word of the field is said beside it."""


class Lexicon:
    """Words for kinds, and names of what belongs there."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Read a table.

        Raises:
            ValueError: a line cannot be read, a parent is missing, or kinds go round.
        """
        self.roots: dict[str, Root] = {}
        self.names: dict[str, str] = {}
        """Name of a kind -> its word; roots, too."""
        self._members: dict[str, list[Sense]] = {}
        parents: dict[str, tuple[str, bool]] = {}
        for line in lines:
            if not line.strip() or line.startswith("#"):
                continue
            if root := ROOT.fullmatch(line.strip()):
                types = tuple(part.strip() for part in root["types"].split(","))
                self.roots[root["word"]] = Root(root["word"], types, frozenset(_parts(root["cues"])))
                self.names[root["word"]] = root["word"]
            elif kind := KIND.fullmatch(line.strip()):
                names = _parts(kind["names"])
                if taken := self.names.keys() & set(names):
                    message = f"two kinds have the name {min(taken)!r}"
                    raise ValueError(message)
                parents[names[0]] = (kind["parent"].strip(), kind["unusual"] is None)
                self.names |= dict.fromkeys(names, names[0])
                for member in _parts(kind["members"]):
                    sense = Sense(names[0], member.endswith("?"))
                    self._members.setdefault(singular(member.removesuffix("?")), []).append(sense)
            else:
                message = f"a line of the table of kinds cannot be read: {line[:60]!r}"
                raise ValueError(message)
        self.kinds: dict[str, Kind] = {word: self._kind(word, parents) for word in parents}

    def _kind(self, word: str, parents: Mapping[str, tuple[str, bool]]) -> Kind:
        parent, usual = parents[word]
        above, depth = parent, 1
        while above not in self.roots:
            if above not in parents or depth > len(parents):
                message = f"{above!r} is no kind, or kinds go round: {word!r}"
                raise ValueError(message)
            above, depth = parents[above][0], depth + 1
        return Kind(word, parent, above, depth, usual)

    def above(self, word: str) -> list[str]:
        """Return the kinds above a kind, the nearest first, without the root."""
        found = []
        while (parent := self.kinds[word].parent) in self.kinds:
            found.append(parent)
            word = parent
        return found

    def kind_of(self, phrase: str) -> str | None:
        """Return the kind or root that a phrase is a name of, in the singular or plural."""
        return self.names.get(phrase) or self.names.get(singular(phrase))

    def senses(self, name: str) -> list[Sense]:
        """Return what a name may say that something is; empty if it says nothing."""
        whole = bare(name)
        known = self.kind_of(whole)
        if known is not None:  # the kind itself, spoken of as a thing
            above = self.kinds[known].parent if known in self.kinds else ""
            return [Sense(above, needs_cue=False)] if above in self.kinds else []
        words = whole.split()
        found = self.member(words) or self._model(words)
        return found or self._last_words(name)

    def member(self, words: Sequence[str]) -> list[Sense]:
        """Return what a whole phrase says that something is."""
        return self._members.get(singular(" ".join(words).replace(",", "")), [])

    def _model(self, words: Sequence[str]) -> list[Sense]:
        """By a make, in front of words that only models have."""
        for end in range(len(words) - 1, 0, -1):
            if not MODEL.fullmatch(words[end]):
                return []
            if found := self.member(words[:end]):
                return [Sense(sense.kind, needs_cue=False) for sense in found]
        return []

    def _last_words(self, name: str) -> list[Sense]:
        """By the noun at the end, which is no proper name."""
        words = head_of(name)
        proper = name.rsplit(maxsplit=1)[-1][:1].isupper() if name.split() else True
        for begin in range(max(0, len(words) - LONGEST), len(words)):
            tail = words[begin:]
            kind = self.kind_of(" ".join(tail))
            if kind in self.kinds and begin > 0:
                return [Sense(kind, needs_cue=False)]
            if found := self.member(tail) if not proper or len(words) == 1 else []:
                return found
        return []


def _parts(listed: str) -> list[str]:
    return [folded(part) for part in listed.split(",") if part.strip()]


@cache
def lexicon() -> Lexicon:
    """Return the table of this installation."""
    return Lexicon(TABLE.read_text(encoding="utf-8").splitlines())
