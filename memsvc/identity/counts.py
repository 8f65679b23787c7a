"""Numbers and times in the words of a name: they say which one of several things it is.

A number may be written in digits ("12", "2nd"), glued to letters ("iPhone12", "F150"), as a word up to twelve in
English or German ("two", "zwei", "second"), or as a Roman numeral behind another word ("World War II").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from memsvc.identity.words import NUMBERS, TIMES

Written = tuple[str, ...]
ORDINAL = re.compile(r"([0-9]+)(?:st|nd|rd|th)")
PIECE = re.compile(r"\d+|\D+")
NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
ROMAN = {
    tens + ones: str(10 * number + index)
    for number, tens in enumerate(("", "x", "xx", "xxx"))
    for index, ones in enumerate(("", *NUMERALS))
    if tens or ones
}
"""1 to 39."""


@lru_cache(maxsize=500_000)
def pieces(words: tuple[str, ...]) -> Written:
    """Return the words of a name with each number in digits and by itself: iphone12 becomes iphone, 12."""
    return tuple(piece for written in _each(words) for piece in written)


@lru_cache(maxsize=500_000)
def numbers(words: tuple[str, ...]) -> frozenset[Written]:
    """Return the numbers in a name, in pieces, each with the letters that belong to it: a4 is not b4, nor is it 4.

    Letters that are glued to a number belong to it, as does a single letter in front of it.
    """
    each = _each(words)
    found = {written for written in each if _counts(written)}
    for before, written in pairwise(each):
        if len(before) == 1 and len(before[0]) == 1 and before[0].isalpha() and len(written) == 1 and _counts(written):
            found.discard(written)
            found.add((*before, *written))
    return frozenset(found)


def differently_counted(a: tuple[str, ...], b: tuple[str, ...], *, times: bool = True) -> bool:
    """Whether the words of two names have numbers or times, both of them, and not the same.

    Args:
        a: words of one name.
        b: words of the other.
        times: count names of months, weekdays and seasons as well.
    """
    ours, theirs = (
        numbers(words) | (frozenset((word,) for word in words if word in TIMES) if times else frozenset())
        for words in (a, b)
    )
    if not ours or not theirs:
        return False
    return not (_all_in(ours, pieces(b)) and _all_in(theirs, pieces(a)))


def _each(words: Sequence[str]) -> list[Written]:
    """Return each word in pieces."""
    found = list[Written]()
    for index, word in enumerate(words):
        ordinal = ORDINAL.fullmatch(word)
        if ordinal:
            found.append((ordinal[1],))
        elif word in NUMBERS:
            found.append((NUMBERS[word],))
        elif word in ROMAN and _is_numeral(words, index):
            found.append((ROMAN[word],))
        elif any(map(str.isdigit, word)):
            found.append(tuple(PIECE.findall(word)))
        else:
            found.append((word,))
    return found


def _is_numeral(words: Sequence[str], index: int) -> bool:
    """Whether a word with the letters of a Roman numeral is one: "World War I", not "X Factor", "3 x 4", "V 60"."""
    if index == 0 or words[index - 1].isdigit():
        return False
    following = words[index + 1 : index + 2]
    return len(words[index]) > 1 or not following or not following[0][0].isdigit()


def _counts(written: Written) -> bool:
    return any(piece[0].isdigit() for piece in written)


def _all_in(counts: frozenset[Written], name: Written) -> bool:
    """Whether a name has the pieces of each count one after the other."""
    return all(
        any(name[start : start + len(count)] == count for start in range(len(name) - len(count) + 1))
        for count in counts
    )
