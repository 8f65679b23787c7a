"""What two memories have in common, by their words: of two that say nearly the same one is enough."""

from __future__ import annotations

import re

from memsvc.recall.items import Item

LEAST_WORDS = 4
"""Of fewer, any two may be alike by chance."""
LEAST_SHARED = 0.8
"""Of all their words, so many are common to two that say nearly the same."""
_WORD = re.compile(r"\w+")
_QUESTION = re.compile("[?？؟][\\s\"'”’»)]*$")


class Said:
    """What has been given, by its kind, who said it, and its words."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._words: dict[tuple[str, str], list[frozenset[str]]] = {}

    def add(self, item: Item) -> None:
        """Note an item."""
        self._words.setdefault((item.kind, item.speaker), []).append(words_of(item.text))

    def has(self, item: Item) -> bool:
        """Whether one of the same kind, by the same person, says nearly the same."""
        words = words_of(item.text)
        return any(alike(words, other) for other in self._words.get((item.kind, item.speaker), ()))


def words_of(text: str) -> frozenset[str]:
    """The different words of a text, in small letters."""
    return frozenset(_WORD.findall(text.casefold()))


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether texts of these words say nearly the same: most words are common, and no number differs."""
    if min(len(one), len(other)) < LEAST_WORDS:
        return False
    differing = one ^ other
    shared = len(one & other)
    return shared >= LEAST_SHARED * (shared + len(differing)) and not any(
        char.isdigit() for word in differing for char in word
    )


def asks_at_its_end(text: str) -> bool:
    """Whether a text ends with a question mark."""
    return _QUESTION.search(text) is not None
