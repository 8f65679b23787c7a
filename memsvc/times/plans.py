"""Reads plans: moments that a text speaks of and that were not past when it was said, with the hour where it is told.

"Remind me to buy milk tomorrow at 9" said on 20 November is 21 November, 09:00, on the clock of the place where it was
said. Words that move with the day are read by ``memsvc.times.relative``, dates by ``memsvc.times.reading``. A question
is no plan, nor is "see you tomorrow".
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from memsvc.times.calendar import MONTHS_A_YEAR, months_from
from memsvc.times.dates import DAY
from memsvc.times.reading import read_times
from memsvc.times.relative import TO_COME, relative_times

LONGEST = timedelta(days=7)
"""Of the days that a plan may mean; "next month" is no appointment."""
NOON, HOURS, MINUTES = 12, 24, 60
NEAR = 80
"""Characters after and before the words of a day in which its hour is looked for."""
HOUR = re.compile(
    r"(?:\b(?:at|by|um|gegen|ab|from|for|@)\s*(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2}))?"
    r"|\b(?P<hour2>\d{1,2}):(?P<minute2>\d{2})|\b(?P<hour3>\d{1,2})(?=\s*(?:[ap]\.?m\b|uhr|o'clock)))"
    r"\s*(?P<half>[ap]\.?m\b)?(?![\d%€$£])(?!\s*(?:people|persons|guests|weeks?|days?|months?|years?)\b)"
    r"|(?P<part>上午|下午|晚上|早上)?(?P<hour4>\d{1,2})[点點时時](?P<minute4>\d{2})?",
    re.IGNORECASE,
)
LATE = re.compile(r"\b(?:afternoon|evening|tonight|night|abends?|nachmittags?)\b|下午|晚上|今晚|明晚", re.IGNORECASE)
ENDS = re.compile(r"[.!?;\n](?=\s|$)|[。！？]")
ASKED_TO_REMIND = re.compile(r"\bremind|\bforget|\berinner|\bvergiss|提醒|别忘", re.IGNORECASE)
PARTING = re.compile(r"\b(?:see|talk to|speak to|catch) (?:you|ya)(?: all| again)? $|\bbis $", re.IGNORECASE)
YEARLY = re.compile(r"\b(?:birthdays?|anniversary|geburtstag|hochzeitstag|jahrestag)\b|生日|誕生日", re.IGNORECASE)


class Plan(NamedTuple):
    """A moment, or days, that a text speaks of."""

    begins: datetime
    ends: datetime
    timed: bool
    """An hour is told, and it begins then; else it is somewhen in these days."""
    words: str
    """As they stand in the text: "tomorrow"."""
    yearly: bool
    """It comes again each year: a birthday, an anniversary."""


def plans(text: str, said_at: datetime, zone: ZoneInfo) -> list[Plan]:
    """The plans in a text, in its order.

    Args:
        text: what somebody said; of a long one the beginning counts.
        said_at: on the speaker's clock.
        zone: the user's; its changes of clocks count where the speaker's clock is that of the zone.
    """
    clock: tzinfo = zone if said_at.astimezone(zone).utcoffset() == said_at.utcoffset() else said_at.tzinfo or zone
    today = said_at.date()
    found = [(one.start, one.stop, one.begin, one.end) for one in relative_times(text, said_at, ahead=True)]
    for phrase, begin, end in coming_dates(text, said_at.replace(tzinfo=zone), zone):
        start = text.find(phrase)
        if start >= 0 and end - begin == DAY:
            found.append((start, start + len(phrase), begin, end))
    given: dict[tuple[datetime, datetime], Plan] = {}
    for start, stop, begin, end in sorted(found):
        near = end > today and end - begin <= LONGEST
        plan = _plan(text, (start, stop), (begin, end), clock) if near else None
        if plan is not None and (begin > today or plan.timed or TO_COME.search(_sentence(text, start)[0])):
            given.setdefault((plan.begins, plan.ends), plan)
    return list(given.values())


def coming_dates(text: str, now: datetime, zone: ZoneInfo) -> list[tuple[str, date, date]]:
    """The dates in a text, with their words and the days from one up to another; without a year, the next such day."""
    found = []
    for window in read_times(text, now, zone).windows:
        if window.kind == "explicit":
            begin, end = window.begin.date(), window.end.date()
            if end <= now.date() and re.search(r"\d{4}", window.phrase) is None:
                begin, end = months_from(begin, MONTHS_A_YEAR), months_from(end, MONTHS_A_YEAR)
            found.append((window.phrase, begin, end))
    return list(dict.fromkeys(found))


def _plan(text: str, place: tuple[int, int], days: tuple[date, date], clock: tzinfo) -> Plan | None:
    """The plan that words of time are part of; None: they are part of a question or a farewell."""
    start, stop = place
    sentence, begin = _sentence(text, start)
    asks = sentence.rstrip().endswith(("?", "？")) and ASKED_TO_REMIND.search(sentence) is None
    if asks:
        return None
    told = None
    if days[1] - days[0] == DAY:
        end = begin + len(sentence)
        told = _hour(text[stop : min(end, stop + NEAR)]) or _hour(text[max(begin, start - NEAR) : start])
    words, yearly = text[start:stop], YEARLY.search(sentence) is not None
    if told is None and PARTING.search(text[max(begin, start - NEAR) : start]):
        return None
    if told is None:
        return Plan(_midnight(days[0], clock), _midnight(days[1], clock), timed=False, words=words, yearly=yearly)
    late = told.hour < NOON and LATE.search(sentence) is not None and not re.search(r"\bam\b|a\.m", sentence.lower())
    at = datetime.combine(days[0], told.replace(hour=told.hour + NOON) if late else told, clock)
    return Plan(at, at, timed=True, words=words, yearly=yearly)


def _sentence(text: str, at: int) -> tuple[str, int]:
    """The sentence at an offset, with its end sign, and where it begins."""
    begin = max((match.end() for match in ENDS.finditer(text, 0, at)), default=0)
    end = ENDS.search(text, at)
    return text[begin : end.end() if end else len(text)], begin


def _hour(text: str) -> time | None:
    """The first time of day in a text."""
    for match in HOUR.finditer(text):
        hour = int(next(match[name] for name in ("hour", "hour2", "hour3", "hour4") if match[name]))
        minute = int(match["minute"] or match["minute2"] or match["minute4"] or 0)
        half = (match["half"] or "").lower()[:1]
        if (half == "p" or match["part"] in {"下午", "晚上"}) and hour < NOON:
            hour += NOON
        elif half == "a" and hour == NOON:
            hour = 0
        if hour < HOURS and minute < MINUTES:
            return time(hour, minute)
    return None


def _midnight(day: date, clock: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=clock)
