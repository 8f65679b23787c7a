"""The telling words of a text, compared loosely: which facts account for a claim, and which messages are about it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memsvc.extract.names import folded, words_of

EMPTY = frozenset([
    "a", "an", "the", "is", "are", "am", "be", "do", "does", "has", "have", "also", "too", "still", "now", "currently",
    "really", "very", "yes", "well", "oh", "so", "that", "this", "please", "already", "indeed", "honestly", "actually",
])  # fmt: skip
"""Words that a fact need not account for. Those of the past, of doubt and of limits are not among them."""
LIMITING = frozenset([
    "not", "no", "never", "without", "nor", "neither", "none", "nobody", "nothing", "only", "just", "except", "but",
    "besides", "unless", "if", "until", "before", "hardly", "barely", "scarcely", "rarely", "seldom", "almost",
    "nearly", "maybe", "perhaps", "will", "would", "might", "may", "could", "should",
])  # fmt: skip
"""Words that turn round, limit or doubt what a sentence says: that another sentence has them, too, tells nothing."""
OWN = frozenset(["i", "me", "my", "mine", "myself"])
CONTRACTED = (
    (re.compile(r"\bcan['’]t\b|\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon['’]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"n['’]t\b", re.IGNORECASE), " not"),
    (re.compile(r"\bi['’]?m\b", re.IGNORECASE), "I am"),
    (re.compile(r"\bi['’]?ve\b", re.IGNORECASE), "I have"),
    (re.compile(r"['’]re\b", re.IGNORECASE), " are"),
    (re.compile(r"['’]ll\b", re.IGNORECASE), " will"),
    (re.compile(r"['’]ve\b", re.IGNORECASE), " have"),
    (re.compile(r"['’]d\b", re.IGNORECASE), " d"),  # had or would: nobody can tell
    (re.compile(r"\b(he|she|it|that|there)['’]s\b", re.IGNORECASE), r"\1 is"),
)
LONGEST_PLAIN = 3
"""Up to so many letters a final s belongs to the word: "gas"."""


def written_out(text: str) -> str:
    """A text without contractions: "isn't" is "is not"."""
    for pattern, plain in CONTRACTED:
        text = pattern.sub(plain, text)
    return text


def singular(word: str) -> str:
    """A word without the ending of plurals and of verbs of the third person."""
    return word[:-1] if len(word) > LONGEST_PLAIN and word.endswith("s") and not word.endswith("ss") else word


def telling_words(text: str) -> list[str]:
    """The words of a text that say something, in their order, compared without case, accents and endings."""
    return [singular(word) for word in words_of(written_out(text)) if word not in EMPTY]


def names_in(claim: str) -> set[str]:
    """The words of a claim that look like names or numbers: a message that speaks of it has all of them."""
    found = {word for word in re.findall(r"[^\W_][\w'’.:-]*", claim) if word[0].isupper() or word[0].isdigit()}
    return {singular(word) for one in found for word in words_of(one) if word not in EMPTY | OWN}


def speaks_of(claim: str, text: str, speaker: Iterable[str]) -> bool:
    """Whether a message has all names and numbers of a claim, and half of its other words.

    Args:
        claim: a statement.
        text: the message.
        speaker: the names of who says it, which count as said.
    """
    names = {form for name in speaker for word in words_of(name) for form in (word, singular(word), folded(word))}
    held = set(telling_words(text)) | names
    wanted = set(telling_words(claim)) - LIMITING
    return bool(wanted - names) and names_in(claim) <= held and 2 * len(wanted & held) >= len(wanted)
