"""What an unknown name looks like: somebody's, or a place's, by the letters that it begins and ends with.

A naive Bayes classifier over prefixes and suffixes, counted once a process in the lists of given names and of places.
It is weak, so it has few votes; but "Augustina" is told from "Benidorm" even where no other word helps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from memsvc.extract.offline.lexicon_given import GIVEN
from memsvc.extract.offline.lexicon_places import PLACES

LONGEST = 4
"""Letters of the longest ending and beginning that count."""
PRIOR = 1.0


def ends(word: str) -> Iterator[str]:
    """The beginnings and endings of a word, "^" and "$" beside them."""
    for length in range(2, LONGEST + 1):
        if len(word) >= length:
            yield f"{word[-length:]}$"
            yield f"^{word[:length]}"


def counted(words: Iterable[str]) -> Counter[str]:
    """How many words have each beginning and ending."""
    counts: Counter[str] = Counter()
    for word in words:
        counts.update(set(ends(word)))
    return counts


@cache
def counts() -> tuple[Counter[str], Counter[str], float]:
    """The counts of given names and of places, and how many more given names there are."""
    people = {word for word in GIVEN if word.isalpha()} - PLACES
    places = {word for word in PLACES if word.isalpha()} - GIVEN
    return counted(people), counted(places), len(people) / len(places)


@cache
def personal(word: str) -> float:
    """How much a word looks like a given name rather than like a place, in lower case.

    Returns:
        A log-likelihood ratio; above 0 like a given name, below 0 like a place, mostly between -6 and 6.
    """
    people, places, more = counts()
    ratios = [
        math.log((people[end] + PRIOR * more) / (places[end] + PRIOR) / more) * (len(end) - 1) / LONGEST
        for end in ends(word)
    ]
    return sum(ratios)
