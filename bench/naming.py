"""Whether two names mean the same thing, as ``bench.matching`` counts it.

Names are compared without case, accents, punctuation, determiners, possessives and titles; plurals and "-ing" forms
are folded, so that "the boots" is "boot" and "baking" is "bake". Beyond equality, liberally where only a description
is compared with another:

- a description ("my old blue van", "Ana's van") is a name that has no capital letter once its determiner or possessor
  is dropped. Two descriptions are the same where the head phrase of one, the words before the first preposition, ends
  in that of the other: "blue van" and "van", "model of a ship" and "model";
- a task ("selling the Vespa") is the same as whatever shares its content words, or whose content words it holds:
  "sell Vespa", "Vespa". Light verbs and prepositions are no content.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th"})
WORD = re.compile(r"\w+")
POSSESSOR = re.compile(r"^(?:\S+ ){0,2}\S+['’]s? +(?=\S)", re.UNICODE)
DETERMINERS = frozenset(
    WORD.findall("a an the my your his her its our their this that these those some any another own")
)  # fmt: skip
TITLES = frozenset(["mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir"])
PREPOSITIONS = frozenset(
    WORD.findall("of in at on for with from to by about near as into over under between that which who where when")
)  # fmt: skip
LIGHT = frozenset(
    WORD.findall("be become do get have make go take give start try keep up out off back down away again more")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Name:
    """A name, ready to be compared."""

    words: tuple[str, ...]
    """Folded, in order; at least one, unless nothing can be compared."""
    head: tuple[str, ...]
    """Those of the head phrase."""
    content: frozenset[str]
    """Those that say something."""
    described: bool
    """It is a description, no proper name."""


def folded(word: str) -> str:
    """A word without the ending of a plural or of an "-ing" form.

    >>> [folded(word) for word in ("boots", "ponies", "dishes", "bus", "baking", "bake", "swimming", "ring")]
    ['boot', 'pony', 'dish', 'bus', 'bak', 'bak', 'swim', 'ring']
    """
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if len(word) > 5 and word.endswith("ing"):
        word = word[:-3]
        if word[-1] == word[-2] and word[-1] not in "ls":
            word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def plain(text: str) -> str:
    """Lower case, without accents."""
    spread = unicodedata.normalize("NFKD", text.casefold().translate(LETTERS))
    return "".join(sign for sign in spread if not unicodedata.combining(sign))


@lru_cache(maxsize=50_000)
def name_of(written: str) -> Name:
    """A name as it is compared; see the module."""
    text = " ".join(written.split())
    rest = POSSESSOR.sub("", text, count=1)
    parts = rest.split()
    while len(parts) > 1 and plain(parts[0]) in DETERMINERS:
        parts = parts[1:]
    described = bool(parts) and not any(sign.isupper() for sign in "".join(parts))
    if not described:  # "Saint Mary's Church": what looks like a possessor belongs to it
        parts = text.split()
    spoken = WORD.findall(plain(" ".join(parts)).replace("'s", "").replace("’s", ""))
    while len(spoken) > 1 and spoken[0] in TITLES:
        spoken = spoken[1:]
    kept = [word for word in spoken if word not in DETERMINERS] or spoken
    cut = next((place for place, word in enumerate(kept) if place and word in PREPOSITIONS), len(kept))
    words = tuple(map(folded, kept))
    content = frozenset(folded(word) for word in kept if word not in PREPOSITIONS and word not in LIGHT)
    return Name(words, words[:cut], content, described)


def ends_in(phrase: tuple[str, ...], end: tuple[str, ...]) -> bool:
    """Whether a phrase ends in another, which is not empty."""
    return bool(end) and phrase[-len(end) :] == end


def same_name(one: str, other: str, *, task: bool = False) -> bool:
    """Whether two names mean the same.

    Args:
        one: a name.
        other: another.
        task: at least one of them is that of a task.

    >>> same_name("Ana's blue van", "the van"), same_name("Blue Van Ltd", "van"), same_name("Zoë", "ZOE")
    (True, False, True)
    """
    first, second = name_of(one), name_of(other)
    if first.words == second.words:
        return bool(first.words)
    if task:
        return bool(first.content and second.content) and (
            first.content <= second.content or second.content <= first.content
        )
    described = first.described and second.described
    return described and (ends_in(first.head, second.head) or ends_in(second.head, first.head))
