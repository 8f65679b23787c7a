"""Times in words, for prompts: how long ago, on which day, since when."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

from memsvc.recall.results import RecalledFact
from memsvc.times.elapsed import FUTURE, TODAY, YESTERDAY, elapsed

# A block tells dozens of days and times: strftime would take ten times as long for each.
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def age(moment: datetime, now: datetime) -> str:
    """How long ago something was: "earlier today", "yesterday", "3 days ago"; by days of the clock that now has."""
    told = elapsed(moment, now, now.tzinfo or UTC)
    return told if told in {TODAY, YESTERDAY, FUTURE} else f"{told} ago"


def day(moment: datetime) -> str:
    """The day on the moment's own clock: "14 March 2026"."""
    return _date(moment)


def days(begin: date, end: date) -> str:
    """The days from one up to, and without, another: "7 May 2026", "3 to 9 May 2026", "May 2026", "2025"."""
    last = end - timedelta(1)
    if begin == last:
        return _date(begin)
    if begin.day == end.day == 1:
        first_month, last_month = MONTHS[begin.month - 1], MONTHS[last.month - 1]
        if begin.month == end.month == 1:
            return f"{begin.year}" if begin.year == last.year else f"{begin.year} to {last.year}"
        if begin.year != last.year:
            return f"{first_month} {begin.year} to {last_month} {last.year}"
        return f"{first_month if begin.month == last.month else f'{first_month} to {last_month}'} {begin.year}"
    if begin.year != last.year:
        return f"{_date(begin)} to {_date(last)}"
    month = "" if begin.month == last.month else f" {MONTHS[begin.month - 1]}"
    return f"{begin.day}{month} to {_date(last)}"


def _date(day_of: date) -> str:
    return f"{day_of.day} {MONTHS[day_of.month - 1]} {day_of.year}"


def clock(moment: datetime) -> str:
    """The time of day on the moment's own clock: "09:05"."""
    return f"{moment.hour:02}:{moment.minute:02}"


def on_clock_of(moment: datetime, zone: ZoneInfo) -> datetime:
    """The moment on the user's clock; as it is at the ends of the calendar."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment


def since(moment: datetime, zone: ZoneInfo) -> str:
    """A day, month or year: what begins with a month or a year on the user's clock is called by it alone."""
    local = on_clock_of(moment, zone)
    if local.timetz().replace(tzinfo=None) == datetime.min.time() and local.day == 1:
        return f"{local:%Y}" if local.month == 1 else f"{local:%B %Y}"
    return day(local)


def validity(fact: RecalledFact, now: datetime, zone: ZoneInfo, *, stale: bool = False) -> str:
    """Since when and until when a fact is true, as far as anybody said, and whether it is contested; else empty."""
    begin, end = fact.valid_from, fact.valid_to
    if fact.contested:
        plain = validity(msgspec.structs.replace(fact, contested=False), now, zone, stale=stale)
        doubt = "contested" if fact.certainty is None else f"contested (certainty {fact.certainty:.0%})"
        return f"{plain}, {doubt}" if plain else doubt
    begun = called(fact, zone)
    if end is not None and end <= now:
        over = f" since {since(end, zone)}" if fact.end_is_told else ""
        return f"no longer true{over}{f', true from {begun}' if begun and fact.begin_is_told else ''}"
    if stale:
        return "no longer true"
    parts = []
    if begin is not None:
        parts.append(f"{'from' if begin > now else 'since' if fact.begin_is_told else 'known since'} {begun}")
    if end is not None and fact.end_is_told:
        parts.append(f"until {since(end, zone)}")
    return ", ".join(parts)


def called(fact: RecalledFact, zone: ZoneInfo) -> str:
    """A fact's begin as exactly as it was told: "5 May 2023", "2004", "about 2004"; empty: nobody told it.

    What it was called counts as long as the begin lies in the year or decade of which that speaks.
    """
    if fact.valid_from is None:
        return ""
    year = on_clock_of(fact.valid_from, zone).year
    told = fact.times.since if fact.times else ""
    fits = re.search(rf"\b(?:{year}|{year // 10 * 10}s)$", told) is not None
    return told if fits and len(told) <= LONGEST else since(fact.valid_from, zone)


LONGEST = 40
"""Signs of what a time is called."""
SITTING = timedelta(minutes=30)


def last_before(moments: Iterable[datetime], now: datetime) -> datetime | None:
    """The last time before the present sitting: who has spoken a minute ago is asked about the time before.

    Args:
        moments: when the user spoke, newest first.
        now: the present; later moments do not count.
    """
    edge = now
    for moment in moments:
        if moment > now:
            continue
        if edge - moment > SITTING:
            return moment
        edge = moment
    return None
