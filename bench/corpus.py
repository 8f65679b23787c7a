"""A chat corpus without anybody's words, for questions of size: the same texts on every machine.

Words follow Zipf's law over 40,000 invented, pronounceable words; turns have the lengths of real chat turns (the twenty
quantiles of LoCoMo's 4,119 turns with captions: mean 25 words). Such text has no stop words, so its commonest words
stand in most passages and weigh on a search: harder than English.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator

VOCABULARY = 40_000
# Words a turn at the shares 0, 0.05, … 1.
LENGTHS = (1, 8, 10, 12, 13, 14, 16, 17, 18, 20, 22, 24, 26, 28, 31, 33, 37, 41, 47, 55, 95)
ONSETS = (
    *("b", "br", "c", "ch", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pl", "qu", "r", "s"),
    *("sh", "st", "t", "tr", "v", "w", "z"),
)
VOWELS = ("a", "ai", "e", "ea", "i", "o", "oo", "ou", "u")
ENDINGS = ("", "", "", "l", "m", "n", "nd", "r", "rt", "s", "t")


@functools.cache
def vocabulary() -> list[str]:
    """All words, the commonest first and, as in speech, shortest."""
    draw = random.Random(7)
    words: dict[str, None] = {}
    for syllables, wanted in ((1, 300), (2, 12_000), (3, VOCABULARY)):
        while len(words) < wanted:
            parts = [draw.choice(ONSETS) + draw.choice(VOWELS) for _ in range(syllables)]
            words["".join(parts) + draw.choice(ENDINGS)] = None
    return list(words)


class Corpus:
    """An endless, seeded stream of turns."""

    def __init__(self, seed: int) -> None:
        """Start the stream; equal seeds give equal turns."""
        self._draw = random.Random(seed)
        self._words = vocabulary()
        self._weights = list(itertools.accumulate(1 / rank for rank in range(1, len(self._words) + 1)))

    def _length(self) -> int:
        step, rest = divmod(self._draw.random() * (len(LENGTHS) - 1), 1)
        low, high = LENGTHS[int(step)], LENGTHS[int(step) + 1]
        return max(1, round(low + rest * (high - low)))

    def texts(self, count: int) -> Iterator[str]:
        """The next turns."""
        for _ in range(count):
            yield " ".join(self._draw.choices(self._words, cum_weights=self._weights, k=self._length())) + "."

    def question(self, text: str) -> str:
        """4 to 8 words of a passage, each as likely as it is frequent there: rare and common ones as they come."""
        words = text.rstrip(".").split()
        return " ".join(self._draw.sample(words, min(len(words), self._draw.randint(4, 8)))) + "?"
