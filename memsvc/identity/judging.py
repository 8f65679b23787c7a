"""Whether two cards are of the same: names, attributes, company, weighed as evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memsvc.identity.cards import Card, Verdict


def judge(a: Card, b: Card, frequencies: Mapping[str, float] | None = None) -> Verdict:
    """Whether two cards are of the same.

    Args:
        a: one.
        b: the other.
        frequencies: share (above 0, at most 1) of the user's nodes whose names have this word (normal form); a word that
            is not there counts as rare. None: general knowledge of how common names are.
    """
    raise NotImplementedError


def judge_many(pairs: Iterable[tuple[Card, Card]], frequencies: Mapping[str, float] | None = None) -> list[Verdict]:
    """``judge`` for each pair, in their order."""
    return [judge(a, b, frequencies) for a, b in pairs]
