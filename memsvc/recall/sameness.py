"""What two memories have in common, by their words: of two messages that say the same one is enough."""

from __future__ import annotations

import re

from memsvc.recall.items import Item

LEAST_WORDS = 4
"""Of fewer, any two may be alike by chance."""
FILLERS = frozenset({
    "a", "ah", "again", "ahh", "also", "and", "anyway", "btw", "but", "eh", "er", "hello", "hey", "hi", "hm", "hmm",
    "just", "lol", "oh", "ok", "okay", "please", "really", "so", "the", "thanks", "uh", "um", "wait", "well", "wow",
    "yeah", "yep", "yes", "ach", "äh", "bitte", "danke", "eben", "halt", "hallo", "ja", "mal", "na", "naja", "oder",
    "tja", "und", "bueno", "gracias", "hola", "oye", "pues", "sí", "y", "alors", "bah", "ben", "bonjour", "donc",
    "et", "merci", "oui",
})  # fmt: skip
"""Words by which nothing else is said. Negations, names, numbers and values are none."""
_WORD = re.compile(r"\w+")
_QUESTION = re.compile("[?？؟][\\s\"'”’»)]*$")


class Said:
    """Messages that have been given, by who said them and their words. What is known is told once as it is."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._words: dict[str, list[frozenset[str]]] = {}

    def add(self, item: Item) -> None:
        """Note an item."""
        if item.kind == "message":
            self._words.setdefault(item.speaker, []).append(words_of(item.text))

    def has(self, item: Item) -> bool:
        """Whether the same person said the same in a message that was given."""
        if item.kind != "message" or item.speaker not in self._words:
            return False
        words = words_of(item.text)
        return any(alike(words, other) for other in self._words[item.speaker])


def words_of(text: str) -> frozenset[str]:
    """The different words of a text, in small letters."""
    return frozenset(_WORD.findall(text.casefold()))


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether texts of these words say the same: they differ in fillers alone."""
    return min(len(one), len(other)) >= LEAST_WORDS and one ^ other <= FILLERS


def asks_at_its_end(text: str) -> bool:
    """Whether a text ends with a question mark."""
    return _QUESTION.search(text) is not None
