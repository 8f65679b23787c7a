"""Dates for the relative words of a quoted message: "call the plumber tomorrow [21 November 2026] at 9".

A reader of a context sees when a message was said, but counts days badly. So each block of text puts the date in square
brackets behind such words (``memsvc.times.relative``), counted on the speaker's clock of when it was said. What is
stored and what replies hold as the text stays to the letter; there the dates are a list.

A quote cannot imitate that: whatever in it looks like a date in square brackets is shown in round ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

import msgspec

from memsvc.recall.times_in_words import MONTHS, days
from memsvc.times.dates import DAY
from memsvc.times.relative import RelativeTime, relative_times

LONGEST = 80
"""Characters between brackets of a quote that may be taken for a date."""
_MONTHS = "|".join(f"{month[:3]}|{month}" for month in MONTHS)
LIKE_OURS = re.compile(
    rf"\[(?=[^\[\]]{{0,{LONGEST}}}\])(?P<date>[^\[\]]*?(?:\b(?:{_MONTHS})\b|\d{{4}}|\d[./-]\d)[^\[\]]*)\]",
    re.IGNORECASE,
)
"""A month's name, a year, or numbers with a dot, a dash or a slash between them, in square brackets."""


class DatedWords(msgspec.Struct, frozen=True, kw_only=True):
    """Relative words of a message, and the date that they meant when it was said."""

    words: str
    """As they stand in the text: "tomorrow"."""
    means: str
    """In English: "21 November 2026", "9 to 15 November 2026", "about December 2026"."""
    stop: int
    """Where they end in the text, in characters."""


def dated_words(text: str, said_at: datetime) -> list[DatedWords]:
    """The relative words of time in a text, three at most.

    Args:
        text: what somebody said.
        said_at: on the speaker's clock.
    """
    return [
        DatedWords(words=text[time.start : time.stop], means=_means(time), stop=time.stop)
        for time in relative_times(text, said_at)
    ]


def _means(time: RelativeTime) -> str:
    told = days(time.begin, time.end)
    if time.otherwise is not None:
        return f"{told} or {days(time.otherwise, time.otherwise + DAY)}"
    return f"about {told}" if time.about else told


def with_dates(text: str, dated: Sequence[DatedWords]) -> str:
    """A quote with the dates in square brackets behind its words; its own dates in such brackets get round ones."""
    text = LIKE_OURS.sub(r"(\g<date>)", text) if "[" in text else text  # as long as before
    pieces, done = [], 0
    for one in dated:
        pieces += [text[done : one.stop], f" [{one.means}]"]
        done = one.stop
    return "".join([*pieces, text[done:]])
