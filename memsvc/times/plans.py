"""Reads plans: moments that a text speaks of and that were not past when it was said, with the hour where it is told.

"Remind me to buy milk tomorrow at 9" said on 20 November is 21 November, 09:00, on the clock of the place where it was
said. Words that move with the day are read by ``memsvc.times.relative``, dates by ``memsvc.times.reading``, sentence by
sentence. A date without a year is the next such day, in a clause that tells of the past the last one
(``memsvc.times.tense``), unless the weekday beside it tells the year. A question is no plan, nor is "see you tomorrow".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from memsvc.times.calendar import MONTHS_A_YEAR, months_from
from memsvc.times.dates import DAY
from memsvc.times.reading import read_times
from memsvc.times.relative import MOST_SIGNS, relative_times
from memsvc.times.telling import NOTHING, marks
from memsvc.times.tense import Way, clause_at, sentences, way_at
from memsvc.times.weekdays import meant_by_weekday
from memsvc.times.words import STEP_OF_YEAR, STEPS

LONGEST = timedelta(days=7)
"""Of the days that a plan may mean; "next month" is no appointment."""
MOST_SENTENCES = 6
"""Of a text that are read."""
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
BESIDE = 20
"""Characters before and after a day and its hour in which such a word belongs to them."""
ASKED_TO_REMIND = re.compile(r"\bremind|\bforget|\berinner|\bvergiss|提醒|别忘", re.IGNORECASE)
PARTING = re.compile(r"\b(?:see|talk to|speak to|catch) (?:you|ya)(?: all| again)? $|\bbis $", re.IGNORECASE)
YEARLY = re.compile(r"\b(?:birthdays?|anniversary|geburtstag|hochzeitstag|jahrestag)\b|生日|誕生日", re.IGNORECASE)
_STEP = r"(?P<step>last|this|next|letzte[nsm]?|vorige[nsm]?|diese[nsm]?|nächste[nsm]?) (?:year|jahre?s?)"
YEAR_BEHIND = re.compile(rf",? \(?(?:of |in |im |des )?(?:the )?{_STEP}\b", re.IGNORECASE)
YEAR_BEFORE = re.compile(rf"\b{_STEP},?(?: (?:on|in|am|the|dem|den))* ?$", re.IGNORECASE)


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
        text: what somebody said; of a long one the first 2,000 characters count, and six sentences with words of time.
        said_at: on the speaker's clock.
        zone: the user's; its changes of clocks count where the speaker's clock is that of the zone.
    """
    text = text[:MOST_SIGNS]
    days, dates = told = marks(text)
    if told is NOTHING:
        return []
    clock: tzinfo = zone if said_at.astimezone(zone).utcoffset() == said_at.utcoffset() else said_at.tzinfo or zone
    given: dict[tuple[datetime, datetime], Plan] = {}
    left = MOST_SENTENCES
    for raw in sentences(text):
        low = " ".join(raw.lower().split())
        moves, dated = any(mark in low for mark in days), any(mark in low for mark in dates)
        if not (moves or dated):
            continue
        for plan in _of_sentence(" ".join(raw.split()), said_at, zone, clock, (moves, dated)):
            given.setdefault((plan.begins, plan.ends), plan)
        left -= 1
        if not left:
            break
    return list(given.values())


def coming_dates(text: str, now: datetime, zone: ZoneInfo, way: Way | None = None) -> list[tuple[int, str, date, date]]:
    """The dates in a sentence, with their places, their words, and the days from one up to another.

    Args:
        text: with single spaces.
        now: aware.
        zone: the user's time zone.
        way: which day is meant by a date without a year: 1 the next, -1 the last, 0 the nearer one; None: what the
            text says, and where it says nothing the next.
    """
    found: dict[tuple[int, int, int], tuple[int, str, date, date]] = {}
    at = 0
    for window in read_times(text, now, zone).windows:
        if window.kind != "explicit":
            continue
        place = re.compile(rf"(?<!\w){re.escape(window.phrase)}").search(text, at)
        at = place.start() if place else at
        begin, end = window.begin.date(), window.end.date()
        if (key := (at, begin.month, begin.day)) not in found:  # the same day of two years is read once
            days = _year_meant(text, (at, at + len(window.phrase)), (begin, end), now, way)
            found[key] = (at, window.phrase, *days)
    return list(found.values())


def _year_meant(
    text: str, place: tuple[int, int], days: tuple[date, date], now: datetime, way: Way | None
) -> tuple[date, date]:
    """The days of a date, in the year that its words, those beside them or the tense of its clause mean."""
    (start, stop), begin = place, days[0]
    if re.search(r"\d{4}", text[start:stop]) or STEP_OF_YEAR.search(text[start:stop].lower()):
        return days
    if beside := YEAR_BEHIND.match(text, stop) or YEAR_BEFORE.search(text[:start]):
        step = beside["step"].lower()
        return _years_on(days, now.year + STEPS[step] - begin.year)
    today = now.date()
    meant = way if way is not None else way_at(text, start, stop)
    if days[1] - begin == DAY and (day := meant_by_weekday(text, place, begin, today, ahead=meant != -1)):
        return day, day + DAY
    last = days if begin <= today else _years_on(days, -1)
    if last[1] > today:
        return last
    coming = _years_on(last, 1)
    if meant == 0:
        meant = 1 if coming[0] - today <= today - last[0] else -1
    return last if meant == -1 else coming


def _years_on(days: tuple[date, date], years: int) -> tuple[date, date]:
    begin, end = days
    return months_from(begin, years * MONTHS_A_YEAR), months_from(end, years * MONTHS_A_YEAR)


def _of_sentence(
    sentence: str, said_at: datetime, zone: ZoneInfo, clock: tzinfo, telling: tuple[bool, bool]
) -> Iterator[Plan]:
    """The plans of one sentence; none of a question, unless it asks for a reminder.

    Args:
        sentence: with single spaces.
        said_at: on the speaker's clock.
        zone: the user's.
        clock: the speaker's.
        telling: whether it may hold words that move with the day, and dates.
    """
    if sentence.endswith(("?", "？")) and ASKED_TO_REMIND.search(sentence) is None:
        return
    today = said_at.date()
    found: list[tuple[int, int, date, date]] = []
    if telling[0]:
        times = relative_times(sentence, said_at, ahead=True)
        found += [(one.start, one.stop, one.begin, one.end) for one in times]
    if telling[1]:
        dates = coming_dates(sentence, said_at.replace(tzinfo=zone), zone)
        found += [(at, at + len(phrase), begin, end) for at, phrase, begin, end in dates if end - begin == DAY]
    found.sort()
    for number, (start, stop, begin, end) in enumerate(found):
        if end <= today or end - begin > LONGEST:
            continue
        previous = max((one[1] for one in found[:number] if one[1] <= start), default=None)
        following = min((one[0] for one in found[number + 1 :] if one[0] >= stop), default=len(sentence))
        plan = _plan(sentence, (start, stop), (begin, end), clock, (previous, following))
        if plan is None:
            continue
        way = way_at(sentence, start, stop) if begin <= today else 1
        if way == 1 or (plan.timed and way != -1):
            yield plan


def _plan(
    sentence: str,
    place: tuple[int, int],
    days: tuple[date, date],
    clock: tzinfo,
    others: tuple[int | None, int],
) -> Plan | None:
    """The plan that words of time are part of; None: a farewell.

    Args:
        sentence: with single spaces.
        place: of the words.
        days: what they mean.
        clock: of the speaker.
        others: where the words of time before these end (None: there are none), and where the next ones begin.
    """
    start, stop = place
    begin, end = clause_at(sentence, start, stop)
    if others[0] is not None:
        begin = max(begin, others[0], sentence.rfind(",", others[0], start))
    end = max(stop, min(end, others[1]))
    told = None
    if days[1] - days[0] == DAY:
        told = _hour(sentence, stop, min(end, stop + NEAR)) or _hour(sentence, max(begin, start - NEAR), start)
    words, yearly = sentence[start:stop].rstrip("."), YEARLY.search(sentence, begin, end) is not None
    if told is None:
        if PARTING.search(sentence[max(begin, start - NEAR) : start]):
            return None
        return Plan(_midnight(days[0], clock), _midnight(days[1], clock), timed=False, words=words, yearly=yearly)
    hour, first, last = told
    near = sentence[max(begin, min(start, first) - BESIDE) : min(end, max(stop, last) + BESIDE)]
    late = hour.hour < NOON and LATE.search(near) is not None and not re.search(r"\bam\b|a\.m", near.lower())
    at = datetime.combine(days[0], hour.replace(hour=hour.hour + NOON) if late else hour, clock)
    return Plan(at, at, timed=True, words=words, yearly=yearly)


def _hour(text: str, begin: int, end: int) -> tuple[time, int, int] | None:
    """The first time of day in a part of a text, and its place."""
    for match in HOUR.finditer(text[:end], begin):
        hour = int(next(match[name] for name in ("hour", "hour2", "hour3", "hour4") if match[name]))
        minute = int(match["minute"] or match["minute2"] or match["minute4"] or 0)
        half = (match["half"] or "").lower()[:1]
        if (half == "p" or match["part"] in {"下午", "晚上"}) and hour < NOON:
            hour += NOON
        elif half == "a" and hour == NOON:
            hour = 0
        if hour < HOURS and minute < MINUTES:
            return time(hour, minute), match.start(), match.end()
    return None


def _midnight(day: date, clock: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=clock)
