"""Reads the times that a query names: windows of time, and whether it asks for the first or the last.

The windows go to ``memsvc.match_times`` and ``memsvc.time_fit``. It uses rules and no model: English in full, the most
frequent forms of German, Chinese and Japanese. Rules prefer to miss a time rather than to invent one: a month's name
needs a year, a day or a preposition, and a number is a year only where a year is expected.

Only the first 2,000 words within the first 8,000 characters of a query are read, and at most 16 windows are returned,
so a whole document takes as long as a long message.
"""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec

from memsvc.times import hints, words
from memsvc.times import phrases_cjk as cjk
from memsvc.times.calendar import Calendar
from memsvc.times.dates import Found
from memsvc.times.hints import Order
from memsvc.times.phrases import RULES, WORD, Reader

MAX_WINDOWS, MAX_SIGNS, MAX_WORDS, MAX_TRIED, MAX_QUESTION = 16, 8_000, 2_000, 300, 400
TELLING = hints.HINTS | RULES.keys()


class TimeWindow(msgspec.Struct, frozen=True, kw_only=True):
    """The time from ``begin`` up to, and without, ``end``, on the user's clock."""

    begin: datetime
    end: datetime
    phrase: str
    """The words in the query."""
    kind: Literal["explicit", "relative"]
    """explicit: it contains a date; relative: counted from now."""


class QueryTimes(msgspec.Struct, frozen=True, kw_only=True):
    """The times and the order in a query."""

    windows: tuple[TimeWindow, ...] = ()
    """In the order of the query, 16 at most, without duplicates."""
    order: Order | None = None
    """first, or last (also for what is true now); None for texts of more than 400 characters."""


def read_times(query: str, now: datetime, zone: ZoneInfo) -> QueryTimes:
    """Read the times that a query names.

    Args:
        query: any text; of a long one only the beginning counts.
        now: aware; "yesterday" is the previous day on the user's clock.
        zone: the user's time zone.
    """
    text = " ".join(query[:MAX_SIGNS].split())
    if len(query) > MAX_SIGNS:
        text = text.rpartition(" ")[0] or text  # the last word may be cut
    calendar = Calendar(now, zone)
    reader = Reader(text, calendar)
    asks = len(text) <= MAX_QUESTION
    phrases, order = read_words(reader, asks)
    if cjk.SIGNS.search(text):
        phrases += islice(cjk.read_all(reader.low, calendar), MAX_WINDOWS)
        phrases.sort(key=lambda phrase: phrase[0])
        order = order or (hints.order_of_signs(text) if asks else None)
    if any(found.kind == "explicit" for _, found in phrases):  # "recently, in May 2023"
        phrases = [(at, found) for at, found in phrases if not found.vague]
    windows: dict[tuple[datetime, datetime], TimeWindow] = {}
    for at, found in phrases:
        for span in found.spans:
            window = TimeWindow(begin=span.begin, end=span.end, phrase=text[at : found.stop], kind=found.kind)
            windows.setdefault((span.begin, span.end), window)
    return QueryTimes(windows=tuple(windows.values())[:MAX_WINDOWS], order=order)


def read_words(reader: Reader, asks: bool) -> tuple[list[tuple[int, Found]], Order | None]:
    """Read the phrases of a text with their offsets, and the order that it asks for."""
    low = reader.low
    phrases: list[tuple[int, Found]] = []
    orders: list[tuple[Order, bool]] = []
    front, before, opener, end, stop = "", "", 0, 0, 0
    tries = MAX_TRIED
    for match in islice(WORD.finditer(low), MAX_WORDS):
        word, at = match[0], match.start()
        if at != end + 1 or low[end] != " ":
            front = before = ""  # punctuation precedes the word
        end = match.end()
        if at >= stop and (word in TELLING or word[0].isdecimal()):
            tries -= 1
            found = reader.read(word, at, before, front) if tries > 0 and len(phrases) < MAX_WINDOWS else None
            if found:
                phrases.append((opener if before in words.OPENING else at, found))
                stop = found.stop
            elif asks and word in hints.HINTS:
                orders += filter(None, [hints.order_at(low, word, end, front)])
        front = word
        if word not in words.ARTICLES:
            before, opener = word, at
    orders.sort(key=lambda order: not order[1])
    return phrases, orders[0][0] if orders else None
