"""Counts for people: "1 message", "2 messages", "12,000 memories"."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    Args:
        number: how many.
        one: the noun in the singular, with what stands before it: "new message".
        many: the plural; empty: with an s.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
