"""Which texts can speak of a day: a cheap look before they are read.

A text without ``marks`` names no day that ``memsvc.times.plans`` would find. ``TELLING_IN_SQL`` is the same as
regular expressions of PostgreSQL, case aside; apart they are read faster than as one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from memsvc.times import phrases_cjk as cjk
from memsvc.times import words


def _tree(names: Collection[str]) -> str:
    """A pattern for any of some words that shares their beginnings, which PostgreSQL reads twice as fast."""
    following: dict[str, list[str]] = {}
    for name in sorted(filter(None, names)):
        following.setdefault(name[0], []).append(name[1:])
    branches = "|".join(letter + _tree(rest) for letter, rest in following.items())
    return f"(?:{branches}){'?' if '' in names else ''}" if branches else ""


_UNITS = [unit for unit, size in words.UNITS.items() if size in {"day", "week", "weekend"}]
_ENDINGS = ("", "s", "e", "en", "n", "es")
_PARTS = ("tonight", "morgen", "morning", "afternoon", "evening", "night")
WORDS = frozenset((*words.DAYS, *words.WEEKDAYS, *_PARTS, *(unit + end for unit in _UNITS for end in _ENDINGS)))
_MONTHS = _tree(words.MONTHS)
_BEFORE_A_DAY = rf"{_MONTHS}\.?\s+(?:the\s+)?[0-9]"
_DATES = (
    rf"[0-9](?:st|nd|rd|th|\.)?(?:\s+of)?[\s-]+{_MONTHS}(?!\w)",
    r"[0-9][-./][0-9]{1,2}[-./][0-9]",
    r"[0-9]\s?月\s?[0-9]",
)
_SIGNS = "|".join((*cjk.DAYS, "周", "週", "星期", "礼拜", "禮拜"))
TELLING_IN_SQL = [rf"\y{_tree(WORDS)}\y", rf"\y{_BEFORE_A_DAY}", *_DATES, _SIGNS]
_WORD, _DIGIT, _SIGN = re.compile(r"\w+"), re.compile(r"[0-9]"), re.compile(_SIGNS)
_DATE = re.compile(r"(?=[0-9])(?:" + "|".join(_DATES) + ")")
_MONTH_FIRST = re.compile(rf"\b{_BEFORE_A_DAY}")


class Marks(NamedTuple):
    """What tells of days in a text, in lower case and with single spaces."""

    days: frozenset[str]
    """Words and signs that move with the day, such as tomorrow or week."""
    dates: frozenset[str]
    """Beginnings of dates, and names of months."""


NOTHING = Marks(frozenset(), frozenset())


def marks(text: str) -> Marks:
    """The words of a text that may tell of days; ``NOTHING`` where it names none."""
    low = text.lower()
    said = set(_WORD.findall(low))
    days = WORDS & said
    if not text.isascii():
        days |= set(_SIGN.findall(low))
    months = said & words.MONTHS.keys()
    dates = set()
    if _DIGIT.search(low):
        dates = {" ".join(match[0].split()) for match in _DATE.finditer(low)}
        if months:
            dates |= {" ".join(match[0].split()) for match in _MONTH_FIRST.finditer(low)}
    return Marks(frozenset(days), frozenset(dates | months)) if days or dates else NOTHING
