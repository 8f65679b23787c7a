"""Whether a sentence says what a claim says, or denies it: by its words in their order, nothing is guessed.

Two statements are the same if they have the same words in the same order, but for the few that add nothing (``EMPTY``);
one denies the other if only a negation differs. "I" and "my" of a speaker count as the speaker's name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from memsvc.extract.names import folded, words_of
from memsvc.recall.asks import asks

LEAST_WORDS = 2
"""A statement of fewer telling words is compared with nothing: "he is back" fits too much."""
EMPTY = frozenset([
    "a", "an", "the", "is", "are", "am", "be", "do", "does", "did", "has", "have", "also", "too", "still", "now",
    "currently", "just", "really", "very", "yes", "well", "oh", "so", "that", "this", "please", "already", "indeed",
    "honestly", "actually",
])  # fmt: skip
"""Words that change nothing in what a statement says. Those of time and of doubt are not among them."""
NEGATIONS = frozenset(["not", "no", "never", "without"])
SPEAKER = "i"
OWN = frozenset(["i", "me", "my", "mine", "myself"])
SPLIT = re.compile(r"(?<=[.!?…。！？])\s+|\n+|;\s+")
CONTRACTED = (
    (re.compile(r"\bcan['’]t\b|\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon['’]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"n['’]t\b", re.IGNORECASE), " not"),
    (re.compile(r"['’](?:m|re)\b", re.IGNORECASE), " are"),
    (re.compile(r"['’]ll\b", re.IGNORECASE), " will"),
    (re.compile(r"['’]ve\b", re.IGNORECASE), " have"),
    (re.compile(r"['’]d\b", re.IGNORECASE), " would"),
    (re.compile(r"\b(he|she|it|that|there)['’]s\b", re.IGNORECASE), r"\1 is"),
)
Agreement = Literal["same", "denied"]
LONGEST_PLAIN = 3
"""Up to so many letters a final s belongs to the word: "gas"."""


def singular(word: str) -> str:
    """A word without the ending of plurals and of verbs of the third person."""
    return word[:-1] if len(word) > LONGEST_PLAIN and word.endswith("s") and not word.endswith("ss") else word


def telling_words(text: str) -> list[str]:
    """The words of a text that say something, in their order, compared without case, accents and endings."""
    for pattern, plain in CONTRACTED:
        text = pattern.sub(plain, text)
    return [singular(word) for word in words_of(text) if word not in EMPTY]


def spoken_by(words: Iterable[str], names: Collection[tuple[str, ...]]) -> tuple[str, ...]:
    """The words with each name of the speaker replaced by "i", as the speaker would say it."""
    given = [SPEAKER if word in OWN else word for word in words]
    made: list[str] = []
    place = 0
    ordered = sorted((name for name in names if name), key=len, reverse=True)
    while place < len(given):
        length = next((len(name) for name in ordered if tuple(given[place : place + len(name)]) == name), 0)
        made.append(SPEAKER if length else given[place])
        place += length or 1
    return tuple(made)


def names_of(names: Iterable[str]) -> set[tuple[str, ...]]:
    """Names as ``spoken_by`` compares them: each whole, and its first word, by which people are called."""
    whole = [tuple(singular(word) for word in words_of(name)) for name in names]
    return {name for words in whole if words for name in (words, words[:1])}


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text that state something: questions are left out."""
    yield from (one for one in SPLIT.split(text) if one.strip() and not asks(one))


def agreement(claim: str, text: str, speaker: Iterable[str]) -> tuple[Agreement, str] | None:
    """What a message says about a claim, with the sentence that says it; None: nothing that is certain.

    Args:
        claim: a statement.
        text: the message.
        speaker: the names of who says it.
    """
    names = names_of(speaker)
    wanted = spoken_by(telling_words(claim), names)
    plain = tuple(word for word in wanted if word not in NEGATIONS)
    if len(plain) < LEAST_WORDS:
        return None
    for sentence in sentences(text):
        said = spoken_by(telling_words(sentence), names)
        if tuple(word for word in said if word not in NEGATIONS) == plain:
            even = (len(said) - len(wanted)) % 2 == 0
            return ("same" if even else "denied"), sentence.strip()
    return None


def names_in(claim: str) -> set[str]:
    """The words of a claim that look like names or numbers: a message that speaks of it has all of them."""
    found = {word for word in re.findall(r"[^\W_][\w'’.:-]*", claim) if word[0].isupper() or word[0].isdigit()}
    return {singular(word) for one in found for word in words_of(one) if word not in EMPTY | OWN}


def speaks_of(claim: str, text: str, speaker: Iterable[str]) -> bool:
    """Whether a message has all names and numbers of a claim, and half of its other words."""
    names = {word for name in names_of(speaker) for word in name}
    held = set(telling_words(text)) | names
    wanted = set(telling_words(claim)) - NEGATIONS
    shared = len(wanted & held)
    return (
        bool(wanted - names) and names_in(claim) <= held | {folded(one) for one in names} and 2 * shared >= len(wanted)
    )
