"""With which other facts a fact is compared: by its type, the same two ends the other way round, or denied."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

SYMMETRIC = frozenset({"KNOWS", "FAMILY_OF"})
"""Types that say the same in both directions."""
_OPPOSITES = {"LIKES": "DISLIKES", "DISLIKES": "LIKES"}

Relation = tuple[UUID, str, UUID]
"""Start, type and end of a fact."""


def turned(start: UUID, type_: str, end: UUID) -> Relation | None:
    """The same, said the other way round; None where that is something else."""
    return (end, type_, start) if type_ in SYMMETRIC else None


def opposite(start: UUID, type_: str, end: UUID) -> Relation | None:
    """What cannot hold at the same time between the same two; None where everything can."""
    denied = _OPPOSITES.get(type_)
    return None if denied is None else (start, denied, end)


def compared(start: UUID, type_: str, end: UUID) -> Iterator[Relation]:
    """What is looked up before a fact is written: itself, itself turned round, and its opposite."""
    yield start, type_, end
    yield from (other for other in (turned(start, type_, end), opposite(start, type_, end)) if other is not None)
