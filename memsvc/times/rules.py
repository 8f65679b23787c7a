"""Rules by which something is done again: a recurrence rule, "every 2 hours", or the five fields of cron.

All are about the clock of a person's time zone. A time of day that the clock leaves out means as much later as the
clock was put forward, and one that occurs twice means the first occurrence. A rule of hours or minutes ("every 2
hours", and cron with ``*`` or ``*/n`` hours) counts time that passes: in the night when clocks are put back it goes on
through the repeated hour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Protocol

from memsvc.errors import InvalidRequestError
from memsvc.times.recurrence import Recurrence, next_moment, read_recurrence

MOST_CHARS = 200
EVERY = re.compile(r"every(?: (?P<number>[1-9][0-9]{0,3}))? (?P<unit>minute|hour|day|week)s?")
UNITS = {"minute": "MINUTELY", "hour": "HOURLY", "day": "DAILY", "week": "WEEKLY"}
CRON_PART = re.compile(r"(?:\*|(?P<first>[a-z0-9]+)(?:-(?P<last>[a-z0-9]+))?)(?:/(?P<step>[0-9]{1,2}))?")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
CRON_MONTHS = {name: number for number, name in enumerate(MONTHS, 1)}
CRON_DAYS = {name: number for number, name in enumerate(DAYS)}
FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("day of the week", 0, 7))
NO_NAMES: dict[str, int] = {}
FAR = timedelta(days=8 * 366 + 1)
"""If a rule means nothing within this time, it means nothing at all: February 29 comes after 8 years at most."""
EXAMPLES = 'Use a rule such as "every 2 hours", "RRULE:FREQ=DAILY;BYHOUR=7;BYMINUTE=30", or five fields of cron.'


class Rule(Protocol):
    """When something is done again."""

    def after(self, moment: datetime, start: datetime) -> datetime | None:
        """Return the first time after a moment; None: there is none.

        Args:
            moment: the moment.
            start: since when the rule holds, in the zone of its clock; says what the rule leaves open.
        """


@dataclass(frozen=True, slots=True)
class Recurring:
    """A recurrence rule."""

    rule: Recurrence

    def after(self, moment: datetime, start: datetime) -> datetime | None:
        """Return the first time after a moment."""
        found = next_moment(self.rule, start, moment)
        return found if found is not None and found.astimezone(UTC) - moment.astimezone(UTC) <= FAR else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """Five fields of cron: minute, hour, day of the month, month, day of the week. Each has the numbers that it means.

    As in cron, a day counts if either of its fields names it, where both say more than ``*``.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """0 (Sunday) to 6."""
    is_by_hours: bool
    """The hours begin with ``*``: they are about time that passes."""
    is_either: bool
    """A day counts if the day of the month or the day of the week does."""

    def after(self, moment: datetime, start: datetime) -> datetime | None:
        """Return the first time after a moment."""
        zone, since = start.tzinfo, moment.astimezone(UTC)
        day = since.astimezone(zone).date() - timedelta(days=1)  # a time may be moved past midnight
        last = day + FAR
        while day <= last:
            if self._has(day):
                found = next((one for one in sorted(self._moments(day, zone)) if one > since), None)
                if found is not None:
                    return found.astimezone(zone)
            day += timedelta(days=1)
        return None

    def _has(self, day: date) -> bool:
        of_month, of_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return day.month in self.months and ((of_month or of_week) if self.is_either else (of_month and of_week))

    def _moments(self, day: date, zone: tzinfo | None) -> Iterator[datetime]:
        """Yield the times of a day, in UTC."""
        for hour in self.hours:
            for minute in self.minutes:
                first = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
                found = [first.replace(fold=fold).astimezone(UTC) for fold in ((0, 1) if self.is_by_hours else (0,))]
                for one in found:
                    there = one.astimezone(zone)
                    if not self.is_by_hours or (there.hour, there.minute) == (hour, minute):
                        yield one


def read_rule(text: str, field: str = "rule") -> Rule:
    """Read a rule.

    Raises:
        InvalidRequestError: it is none, is not supported, has an end (COUNT, UNTIL), or never comes.
    """
    words = " ".join(text.lower().split())
    if len(text) > MOST_CHARS or not text.isascii():
        raise _wrong(f"A rule has at most {MOST_CHARS} characters of ASCII", field)
    rule: Rule
    if (every := EVERY.fullmatch(words)) is not None:
        rule = Recurring(read_recurrence(f"FREQ={UNITS[every['unit']]};INTERVAL={every['number'] or 1}", field))
    elif "=" in words:
        recurrence = read_recurrence(text, field)
        if recurrence.count is not None or recurrence.until is not None:
            raise _wrong("A rule with COUNT or UNTIL ends; pause instead", field)
        rule = Recurring(recurrence)
    else:
        rule = _cron(words, field)
    now = datetime.now(UTC)
    if rule.after(now, now) is None:
        raise _wrong("This rule never comes", field)
    return rule


def _cron(words: str, field: str) -> Cron:
    parts = words.split()
    if len(parts) != len(FIELDS):
        raise _wrong(f"{words[:60]!r} is no rule", field)
    minutes, hours, days, months, weekdays = (
        _numbers(part, name, least, most, field) for part, (name, least, most) in zip(parts, FIELDS, strict=True)
    )
    return Cron(
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=frozenset(day % 7 for day in weekdays),
        is_by_hours=parts[1].startswith("*"),
        is_either=not (parts[2].startswith("*") or parts[4].startswith("*")),
    )


def _numbers(part: str, name: str, least: int, most: int, field: str) -> frozenset[int]:
    names = CRON_MONTHS if name == "month" else CRON_DAYS if name == "day of the week" else NO_NAMES
    found: set[int] = set()
    for one in part.split(","):
        read = CRON_PART.fullmatch(one)
        if read is None:
            raise _wrong(f"{one[:20]!r} is no {name} of cron", field)
        step = int(read["step"] or 1)
        begin, end = least, most
        if read["first"] is not None:
            begin = _number(read["first"], names)
            end = _number(read["last"], names) if read["last"] is not None else most if read["step"] else begin
        if not (least <= begin <= end <= most and step >= 1):
            raise _wrong(f"{one[:20]!r} is no {name} of cron: {least} to {most}", field)
        found.update(range(begin, end + 1, step))
    return frozenset(found)


def _number(word: str, names: dict[str, int]) -> int:
    """Return a number or the number of a name; -1 if it is neither."""
    return int(word[:4]) if word.isdecimal() else names.get(word, -1)


def _wrong(message: str, field: str) -> InvalidRequestError:
    return InvalidRequestError(f"{message}.", hint=EXAMPLES, field=field)
