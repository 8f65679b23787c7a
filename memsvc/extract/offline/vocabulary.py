"""Which strings are English words: the index of WordNet that spaCy's lemmatizer carries; what is none may be a name."""

from __future__ import annotations

from functools import cache

from memsvc.extract.offline import lexicon_chat as chat
from memsvc.extract.offline import pipeline
from memsvc.extract.offline.language import ENGLISH

ENDINGS = (
    ("'s", ""),
    ("ies", "y"),
    ("es", ""),
    ("s", ""),
    ("ied", "y"),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
    ("er", ""),
    ("er", "e"),
    ("est", ""),
    ("ly", ""),
    ("ish", ""),
    ("y", ""),
    ("ie", ""),
    ("in", "ing"),
)


@cache
def words() -> frozenset[str]:
    """All words of the lemmatizer's index and its exceptions, some 90,000, lower case; proper names among them."""
    lookups = pipeline.load().get_pipe("lemmatizer").lookups  # type: ignore[attr-defined]
    found: set[str] = set(ENGLISH)
    for table in ("lemma_index", "lemma_exc"):
        for entries in lookups.get_table(table).values():
            found.update(entries)
    found.update(*(full.lower().split() for full in chat.SPELLINGS.values()))
    found.update(chat.FILLERS, chat.ADVERBS, chat.PAST)
    return frozenset(found)


@cache
def is_word(word: str) -> bool:
    """Whether a string, or what remains without an ending, is a word."""
    low = word.lower()
    known = words()
    if low in known:
        return True
    for ending, into in ENDINGS:
        stem = low[: -len(ending)]
        if low.endswith(ending) and len(stem) > 1:
            if stem + into in known:
                return True
            if ending in {"ing", "ed", "er", "y"} and len(stem) > 2 and stem[-1] == stem[-2] and stem[:-1] in known:  # noqa: PLR2004
                return True
    return any(sign.isdigit() for sign in low) or ("-" in low and all(part in known for part in low.split("-") if part))
