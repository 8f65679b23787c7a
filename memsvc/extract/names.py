"""Names and words as they are compared in Python: without case, accents, width, possessive endings, surplus spaces.

``memsvc.normal_form`` is the same in the database, and decides there; here it is enough to be close to it.
"""

from __future__ import annotations

import re
import unicodedata

WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
SMALL = frozenset([
    "a", "an", "the", "my", "your", "his", "her", "its", "our", "their", "of", "in", "on", "at", "to", "for", "and",
    "or",
])  # fmt: skip
"""Words that tell nothing about what is named."""


def folded(text: str) -> str:
    """A name without case, accents, width and surplus spaces."""
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return " ".join(plain.casefold().split())


def words_of(text: str) -> list[str]:
    """Its words, folded, without possessive endings."""
    return WORD.findall(POSSESSIVE.sub("", folded(text)))


def telling(name: str) -> list[str]:
    """The words of a name that tell something; all of them, where none does."""
    words = words_of(name)
    return [word for word in words if word not in SMALL] or words
