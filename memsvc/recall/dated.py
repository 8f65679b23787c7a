"""Dates for the relative words of a quoted message: "call the plumber tomorrow [21 November 2026] at 9".

A reader of a context sees when a message was said, but counts days badly. So each block of text puts the date in square
brackets behind such words (``memsvc.times.relative``), counted on the speaker's clock of when it was said. What is
stored and what replies hold as the text stays to the letter; there the dates are a list.

A quote cannot imitate that: whatever in it looks like a date in square brackets, or in brackets that look like them, is
shown in round ones. Names, which stand in front of quotes, are shown so too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime

import msgspec

from memsvc.recall.times_in_words import days
from memsvc.times import phrases_cjk as cjk
from memsvc.times import words
from memsvc.times.dates import DAY
from memsvc.times.relative import RelativeTime, relative_times

LONGEST = 80
"""Characters between brackets of a quote that may be taken for a date."""
OPENING, CLOSING = "[［【〔〖⟦❲⁅﹝", "]］】〕〗⟧❳⁆﹞"
"""Square brackets, and signs that look like them."""
_BRACKET = re.compile(rf"([{re.escape(OPENING + CLOSING)}])")
_LIKE_A_DATE = re.compile(
    rf"\b(?:{words.any_of((*words.MONTHS, *words.WEEKDAYS, *words.DAYS))})\b|\d{{4}}"
    r"|\d\s*[./-]\s*\d|\d(?:st|nd|rd|th)\b|\b\d{1,2}\b\.?,?\s+[^\W\d]|[^\W\d]{3}\.?,?\s+\d{1,2}\b|[\d一二三四五六七八九十〇零]\s*[年月日号號]"
    rf"|{'|'.join(cjk.DAYS)}|(?:星期|礼拜|周|週)[一二三四五六日天]",
    re.IGNORECASE,
)
"""A name of a month or a day, a year, a number beside a word, or numbers with a dot, a dash or a slash between them."""


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
    text = without_dates(text)
    pieces, done = [], 0
    for one in dated:
        pieces += [text[done : one.stop], f" [{one.means}]"]
        done = one.stop
    return "".join([*pieces, text[done:]])


def without_dates(text: str) -> str:
    """A text as long as before in which no square bracket, closed or not, stands beside what looks like a date."""
    if _BRACKET.search(text) is None:
        return text
    between = _BRACKET.split(text)  # texts at even places, brackets at odd ones
    for at in range(1, len(between), 2):
        opens = between[at] in OPENING
        other = at + 2 if opens else at - 2
        inner = between[at + 1 if opens else at - 1]
        paired = 0 < other < len(between) and (between[other] in "])" + CLOSING) == opens
        if paired and len(inner) > LONGEST:
            continue
        near = inner[:LONGEST] if opens else inner[-LONGEST:]
        if _LIKE_A_DATE.search(unicodedata.normalize("NFKC", near)):
            between[at] = "(" if opens else ")"
    return "".join(between)
