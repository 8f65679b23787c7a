"""Similarity of two spellings."""

from __future__ import annotations

from functools import lru_cache

from rapidfuzz.distance import OSA, JaroWinkler

LEAST_TYPO_CHARS = 4
"""Shorter words are too close to other words: "Tim" and "Tom"."""
LONG_CHARS = 8
"""From this length on two edits are still a typo."""
ALIKE = 0.93
"""Least Jaro-Winkler similarity of two spellings of one word (Winkler 1990)."""


@lru_cache(maxsize=200_000)
def is_typo(a: str, b: str) -> bool:
    """Whether two different words are one word with a typo: an edit or two swapped letters; two from eight letters on.

    The distance is optimal string alignment (restricted Damerau 1964): insert, delete, replace, swap.
    """
    shorter, longer = sorted((len(a), len(b)))
    if shorter < LEAST_TYPO_CHARS:
        return False
    allowed = 2 if shorter >= LONG_CHARS else 1
    return longer - shorter <= allowed and OSA.distance(a, b, score_cutoff=allowed) <= allowed


@lru_cache(maxsize=200_000)
def likeness(a: str, b: str) -> float:
    """Return the Jaro-Winkler similarity, from 0 to 1."""
    return JaroWinkler.similarity(a, b)


@lru_cache(maxsize=200_000)
def ratio(a: str, b: str) -> float:
    """Return the share of letters that agree in order, from 0 to 1, by optimal string alignment."""
    return OSA.normalized_similarity(a, b)
