"""Fewer memories that say the same: maximal marginal relevance over the best candidates, off by default.

Vectors do not leave the database, so two memories are as like as the words that they share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate

from memsvc.recall.results import Memory

POOL = 50
"""So many of the best are compared with each other, or as many as are wanted."""
# Scripts without spaces count sign by sign: a sentence in them would else be one word, like no other.
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def words_of(text: str) -> frozenset[str]:
    """The words of a text, whatever their case."""
    return frozenset(WORD.findall(text.casefold()))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared words by all words: 0 (none in common, or none at all) to 1 (the same ones)."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _scaled(scores: Sequence[float]) -> list[float]:
    """From 0 for the least to 1 for the highest; all 1 where they are equal."""
    least, highest = min(scores), max(scores)
    return [(score - least) / (highest - least) if highest > least else 1.0 for score in scores]


def mmr(scores: Sequence[float], similarity: Callable[[int, int], float], limit: int, diversity: float) -> list[int]:
    """Maximal marginal relevance: one by one, the candidate that is relevant and unlike those already chosen.

    Carbonell and Goldstein, The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing Summaries
    (SIGIR 1998); their lambda is ``1 - diversity``.

    Args:
        scores: relevance of each candidate, higher is better; scaled to 0 … 1 before it is compared.
        similarity: of two candidates by index, 0 to 1, symmetric.
        limit: most candidates chosen.
        diversity: 0 (by score alone) to 1 (the best first, then by unlikeness alone).

    Returns:
        Indices in the order chosen, each once; ties go to the higher score, then to the lower index.
    """
    if not scores:
        return []
    relevance = _scaled(scores)
    left = sorted(range(len(scores)), key=lambda index: -scores[index])
    likeness = [0.0] * len(scores)
    chosen: list[int] = []
    while left and len(chosen) < limit:
        # max() keeps the first of equals, and left is in order of the score.
        best = max(left, key=lambda index: (1 - diversity) * relevance[index] - diversity * likeness[index])
        left.remove(best)
        chosen.append(best)
        if diversity:
            for index in left:
                likeness[index] = max(likeness[index], similarity(index, best))
    return chosen


def _relevance(memories: Sequence[Memory]) -> list[float]:
    """Scores that fall along the order of the memories: a reranker's where one gave it, else their own.

    A score that is higher than one before it counts as much as that: what late interaction has not compared stands
    behind what it has, whatever its points. What a reranker has not read counts as the last that it has.
    """
    reranked: list[float] = [memory.arms["reranker"]["score"] for memory in memories if "reranker" in memory.arms]
    scores = [*reranked, *reranked[-1:] * (len(memories) - len(reranked))] or [memory.score for memory in memories]
    return list(accumulate(scores, min))


def diversify(memories: Sequence[Memory], limit: int, diversity: float) -> tuple[list[Memory], list[Memory]]:
    """The best memories that do not repeat each other.

    Args:
        memories: candidates, best first; some more than ``limit``, or there is nothing to choose from.
        limit: at most so many.
        diversity: 0 (the order stays) to 1.

    Returns:
        What was chosen, in its order; and what would have been, were it not too like something chosen.
    """
    if not diversity:
        return list(memories[:limit]), []
    pool = memories[: max(POOL, limit)]
    words = [words_of(memory.text) for memory in pool]
    order = mmr(_relevance(pool), lambda one, other: jaccard(words[one], words[other]), limit, diversity)
    kept = set(order)
    return [pool[index] for index in order], [memory for index, memory in enumerate(pool[:limit]) if index not in kept]
