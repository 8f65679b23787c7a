"""Splits names into parts, and compares two of them.

A name is converted to Latin letters (``anyascii``), lower case and words; titles and legal forms are kept separately.
Names of two people agree in full, by initials, by nicknames, by a part or by a typo, or they contradict each other: the
same family name with a different first name is another person.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

import msgspec
from anyascii import anyascii

from memsvc.identity.counts import differently_counted, numbers, pieces
from memsvc.identity.similarity import is_typo, likeness, ratio
from memsvc.identity.words import (
    EPITHETS,
    FEMALE,
    LEGAL_FORMS,
    MALE,
    MARRIED,
    PLACE_WORDS,
    SMALL_WORDS,
    SUFFIXES,
    TITLES,
    UNMARRIED,
    other_names,
)

PERSON = "Person"
BEFORE_NAMES = TITLES.keys() | SMALL_WORDS | EPITHETS
PLACES = frozenset({"Place"})
ORGANIZATIONS = frozenset({"Organization"})
WORD = re.compile(r"[^\W_]+(?:[.'’](?=[^\W_]))?")
RELATIVE = re.compile(r"^.*\s?['’]s\s(?=(?:aunt|uncle|cousin|mother|father|sister|brother)\s)", re.IGNORECASE)
HYPHENED = re.compile(r"\b([A-Za-z])-(?=[0-9])")
"""A letter and a number that belong together: in F-150 and A-4, of which the A is no article."""
POSSESSIVE = re.compile(r"\s?['’]s\b", re.IGNORECASE)
MOST_COMPARED = 400
"""Most pairs of names of two cards that are compared letter by letter."""
SPELLED_ALIKE = 0.86
"""Least share of letters in the same order for two long names of things to be spellings of one name."""


class Agreement(IntEnum):
    """How two names agree, from worst to best."""

    CONTRARY = 0
    """They cannot mean the same: a different first name or sex, or junior and senior."""
    NONE = 1
    ALIKE = 2
    """They only share rare words or many letters."""
    PART = 3
    """One is a part of the other: a first name, a family name."""
    INITIAL = 4
    """In full, but with an initial in place of a word."""
    NICKNAME = 5
    """In full, or as far as both go, with a nickname in place of the first name."""
    TYPO = 6
    """The same except for a typo."""
    ORDER = 7
    """The same words in another order."""
    EQUAL = 8


class Name(msgspec.Struct, frozen=True):
    """A name split into its parts."""

    words: tuple[str, ...]
    """Latin, lower case, without titles, suffixes, legal forms and small words; with them if nothing else is left."""
    titles: frozenset[str]
    suffixes: frozenset[str]
    sex: str
    """m, f or empty: the sex that a title implies."""


@lru_cache(maxsize=500_000)
def latin(text: str) -> str:
    """Convert to Latin letters, lower case, and single spaces between words; drop possessive endings."""
    plain = text if text.isascii() else anyascii(text)
    plain = RELATIVE.sub("", plain)
    return " ".join(WORD.findall(POSSESSIVE.sub("", plain).lower()))


@lru_cache(maxsize=500_000)
def parse(text: str, node_type: str = PERSON) -> Name:
    """Split a name of a node of this type into its parts."""
    plain = text if node_type == PERSON else HYPHENED.sub(r"\1", text)
    words = [word.rstrip(".'’") for word in latin(plain).split()]
    if node_type == PERSON:
        titles: list[str] = []
        while len(words) > 1 and words[0] in BEFORE_NAMES:
            word = words.pop(0)
            titles += [word] if word in TITLES else []
        suffixes: list[str] = []
        while len(words) > 1 and words[-1] in SUFFIXES:
            suffixes.append(words.pop())
        sexes = {TITLES[title] for title in titles} - {""}
        kept = [word for word in words if word not in SMALL_WORDS] or words
        return Name(tuple(kept), frozenset(titles), frozenset(suffixes), sexes.pop() if len(sexes) == 1 else "")
    dropped = SMALL_WORDS | (LEGAL_FORMS if node_type in ORGANIZATIONS else frozenset())
    dropped |= PLACE_WORDS if node_type in PLACES else frozenset()
    kept = [word for word in words if word not in dropped] or words
    return Name(tuple(kept), frozenset(), frozenset(), "")


@lru_cache(maxsize=500_000)
def agree(a: str, b: str, node_type: str = PERSON) -> Agreement:
    """Return how two names, as written, agree as names of nodes of this type."""
    one, two = parse(a, node_type), parse(b, node_type)
    if not one.words or not two.words:
        return Agreement.NONE
    if node_type == PERSON:
        return _people(one, two)
    if node_type not in PLACES and differently_counted(one.words, two.words):
        return Agreement.NONE
    return _things(one, two)


def _things(a: Name, b: Name) -> Agreement:
    if differently_counted(a.words, b.words, times=False):
        return Agreement.NONE
    found = _spellings(a.words, b.words)
    ours, theirs = pieces(a.words), pieces(b.words)
    if found == Agreement.EQUAL or (ours, theirs) == (a.words, b.words):
        return found
    return max(found, _spellings(ours, theirs))


def _spellings(a: tuple[str, ...], b: tuple[str, ...]) -> Agreement:
    if "".join(a) == "".join(b):
        return Agreement.EQUAL
    if sorted(a) == sorted(b):
        return Agreement.ORDER
    one, two = " ".join(a), " ".join(b)
    if is_typo(one, two) and bool(numbers(a)) == bool(numbers(b)):
        return Agreement.TYPO
    short, long = sorted((a, b), key=len)
    if long[: len(short)] == short:
        return Agreement.PART
    if len(one) > LEAST_ALIKE_CHARS and (ratio(one, two) >= SPELLED_ALIKE or likeness(one, two) >= SPELLED_LIKENESS):
        return Agreement.ALIKE
    return Agreement.NONE


LEAST_ALIKE_CHARS = 4
SPELLED_LIKENESS = 0.9


def _contrary(a: Name, b: Name) -> bool:
    """Whether titles or suffixes cannot belong to one person."""
    if {a.sex, b.sex} == {MALE, FEMALE} or (a.suffixes and b.suffixes and a.suffixes != b.suffixes):
        return True
    return bool((a.titles & MARRIED and b.titles & UNMARRIED) or (a.titles & UNMARRIED and b.titles & MARRIED))


def _people(a: Name, b: Name) -> Agreement:
    if _contrary(a, b):
        return Agreement.CONTRARY
    if a.words == b.words:
        return Agreement.EQUAL
    if "".join(a.words) == "".join(b.words):
        return Agreement.TYPO
    if len(a.words) == len(b.words):
        if len(a.words) > 1 and sorted(a.words) == sorted(b.words):
            return Agreement.ORDER
        return _word_by_word(a.words, b.words)
    short, long = sorted((a, b), key=lambda name: len(name.words))
    return _within(short, long)


def _word(a: str, b: str, *, first: bool) -> Agreement:
    """Return how two words at the same position agree."""
    if a == b:
        return Agreement.EQUAL
    if 1 in {len(a), len(b)}:
        return Agreement.INITIAL if a[0] == b[0] else Agreement.CONTRARY
    if first and (b in other_names(a) or a in other_names(b)):
        return Agreement.NICKNAME
    if is_typo(a, b) and b not in {f"{a}s", a.removesuffix("s")}:  # a final s is not a typo: Robert and Roberts
        return Agreement.TYPO
    return Agreement.NONE


def _word_by_word(a: tuple[str, ...], b: tuple[str, ...]) -> Agreement:
    found = [_word(one, two, first=index == 0) for index, (one, two) in enumerate(zip(a, b, strict=True))]
    worst = min(found)
    if worst > Agreement.NONE:
        return worst
    if len(found) == 1:
        return Agreement.NONE
    agreed = [value for value in found if value > Agreement.NONE]
    return Agreement.CONTRARY if agreed else Agreement.NONE


def _within(short: Name, long: Name) -> Agreement:
    """Compare a name with a longer one: "Anna" and "Anna Berg", "A. Berg" and "Anna Maria Berg"."""
    if len(short.words) == 1:
        word = short.words[0]
        if word in {long.words[0], long.words[-1]} and len(word) > 1:
            return Agreement.PART
        if word in other_names(long.words[0]) and not short.titles:
            return Agreement.NICKNAME
        return Agreement.ALIKE if len(word) > 1 and word in long.words else Agreement.NONE
    first = _word(short.words[0], long.words[0], first=True)
    last = _word(short.words[-1], long.words[-1], first=False)
    if first > Agreement.NONE and last >= Agreement.TYPO:
        middle = frozenset(short.words[1:-1]) <= frozenset(long.words)
        return min(first, last, Agreement.INITIAL) if middle else Agreement.CONTRARY
    if frozenset(short.words) <= frozenset(long.words):
        return Agreement.PART
    if any(word in long.words for word in short.words if len(word) > 1):
        return Agreement.CONTRARY
    return Agreement.NONE


def best(ours: tuple[str, ...], theirs: tuple[str, ...], node_type: str) -> tuple[Agreement, str, str]:
    """Return the best agreement between names of two nodes, and the two names; CONTRARY only if no names agree.

    Equal names are found directly; of the others, at most 400 pairs are compared.
    """
    found, pair = Agreement.NONE, (ours[0] if ours else "", theirs[0] if theirs else "")
    contrary = False
    by_words = {parse(name, node_type).words: name for name in theirs}
    equal = [(name, by_words[words]) for name in ours if (words := parse(name, node_type).words) in by_words]
    most_words = 0
    for one, two in equal:
        value = agree(one, two, node_type)
        length = len(parse(one, node_type).words)
        if value > found or (value == found and length > most_words):
            found, pair, most_words = value, (one, two), length
        contrary |= value == Agreement.CONTRARY
    if found == Agreement.EQUAL and (most_words > 1 or node_type != PERSON):
        return found, *pair
    for compared, (one, two) in enumerate((one, two) for one in ours for two in theirs):
        if compared >= MOST_COMPARED:
            break
        value = agree(one, two, node_type)
        contrary |= value == Agreement.CONTRARY
        if value > found:
            found, pair = value, (one, two)
    if contrary and found <= Agreement.PART:
        return Agreement.CONTRARY, *pair
    return found, *pair
