"""A turn while it is found out whom it speaks of: what relatives, names and lists read of it, and write into it.

``turns.TurnReading`` is one. It calls ``kinship``, ``naming`` and ``listing``, which know it by this protocol alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spacy.tokens import Token

from memsvc.extract.offline.cast import Cast, Entry
from memsvc.extract.offline.coreference import Mention
from memsvc.extract.offline.reading import Bond, Reading


class Settling(Reading, Protocol):
    """A ``Reading`` that may still be written."""

    cast: Cast
    bonds: list[Bond]
    persons: list[Mention]
    """Where persons are spoken of."""
    named: dict[int, int]
    """Tokens of names, with the key of what they name."""
    known: dict[int, int | None]
    """Persons that ``person`` worked out, by token."""

    @property
    def earlier(self) -> Sequence[Settling]:
        """See ``Reading.earlier``."""

    def living(self, pronoun: Token, *, animals: bool) -> int | None:
        """Whom "she" or "he" means."""

    def note(self, entry: Entry, start: int, end: int) -> None:
        """Remember where an entity is spoken of first."""
