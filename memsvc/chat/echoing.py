"""Which memories an answer echoes: those of which it has enough words that the question does not have.

That is a rough sign: an answer may use a memory in other words, or say the same without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from memsvc.extract.names import words_of
from memsvc.recall.results import Memory

LEAST_ECHO = 2
"""So many words of a memory in an answer are an echo."""
LEAST_LETTERS = 4
"""Shorter words say too little, unless they are numbers."""


def echoed(answer: str, question: str, memories: Iterable[Memory]) -> list[UUID]:
    """Return the ids of memories that an answer echoes.

    Args:
        answer: of a model.
        question: what the user said; its words do not count.
        memories: what the model was given.
    """
    said = _words(answer) - _words(question)
    return [one.memory_id for one in memories if len(_words(one.text) & said) >= LEAST_ECHO] if said else []


def _words(text: str) -> set[str]:
    return {word for word in words_of(text) if len(word) >= LEAST_LETTERS or word.isdecimal()}
