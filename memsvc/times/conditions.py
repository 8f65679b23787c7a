"""Conditions of instructions: a word in the query, a time, or the beginning of a conversation.

An Instruction node may have ``when`` in its data. All its conditions must hold; one that cannot be read never holds.
Conditions are checked when a context is built, so timed instructions need no background process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time
from typing import Literal

import msgspec

Clock = str
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class When(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A condition, as stored in a node's data."""

    keywords: list[str] = []
    """One of these is in the query, as whole words, in upper or lower case."""
    between: tuple[Clock, Clock] | None = None
    """From a time of day to another (not included) on the user's clock, HH:MM; past midnight if the first is later."""
    weekdays: list[Weekday] = []
    """On one of these days."""
    event: Literal["begin"] | None = None
    """begin: the user has not spoken for half an hour."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """The situation for which a context is built."""

    query: str
    now: datetime
    """The time on the user's clock."""
    begins: bool
    """A conversation begins."""


def read_when(data: object) -> When | None:
    """Read a condition from a node's data; None: it cannot be read."""
    try:
        when = msgspec.convert(data, When)
        clocks = [time.fromisoformat(clock) for clock in when.between or ()]
    except (msgspec.ValidationError, ValueError):
        return None
    return when if all(clock.tzinfo is None for clock in clocks) else None  # times are on the user's clock


def holds(when: When, occasion: Occasion) -> bool:
    """Whether all parts of a condition hold."""
    return (
        (not when.keywords or _names(when.keywords, occasion.query))
        and (when.between is None or _lies_between(when.between, occasion.now.time()))
        and (not when.weekdays or WEEKDAYS[occasion.now.weekday()] in when.weekdays)
        and (when.event is None or occasion.begins)
    )


def why(when: When, occasion: Occasion) -> str:
    """Return the reason why an instruction applies now, in a few words."""
    found = [f"says “{word}”" for word in when.keywords if _names([word], occasion.query)][:1]
    if when.between is not None:
        found.append(f"from {when.between[0]} to {when.between[1]}")
    if when.weekdays:
        found.append(f"on {WEEKDAYS[occasion.now.weekday()]}")
    if when.event is not None:
        found.append("a sitting begins")
    return ", ".join(found)


def _names(keywords: list[str], query: str) -> bool:
    words = [re.escape(word.strip()) for word in keywords if word.strip()]
    return bool(words) and re.search(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", query, re.IGNORECASE) is not None


def _lies_between(span: tuple[Clock, Clock], now: time) -> bool:
    begin, end = (time.fromisoformat(clock) for clock in span)
    return begin <= now < end if begin <= end else now >= begin or now < end
