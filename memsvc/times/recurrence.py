"""Recurrence rules as calendars write them (RFC 5545, section 3.3.10): reading one, and the moments that it means.

A rule of days, weeks, months or years is about the clock on the wall: each time of day becomes a moment of the zone. A
time that occurs twice means the first occurrence, and one that the clock leaves out means as much later as the clock
was put forward (section 3.3.5). A rule of hours or minutes counts hours and minutes that pass, whatever the clock does.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import count, islice
from typing import Literal, get_args

from memsvc.errors import InvalidRequestError

Frequency = Literal["MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"]
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
DAY = re.compile(r"(?P<nth>[+-]?[0-9]{1,2})?(?P<day>MO|TU|WE|TH|FR|SA|SU)")
NUMBER = re.compile(r"[+-]?[0-9]{1,4}")
MOMENT = re.compile(r"(?P<date>[0-9]{8})(?:T(?P<time>[0-9]{6})(?P<utc>Z)?)?")
SECONDS = {"HOURLY": 3_600, "MINUTELY": 60}
MONTHS, DAYS_OF_WEEK = 12, 7
MOST_INTERVAL = 10_000
MOST_COUNT = 100_000
MOST_EMPTY = 3_000
"""Periods without any moment after which a rule counts as over: more than 8 years of days."""
LAST_YEAR = 9_990
UNSUPPORTED = ("BYSECOND", "BYYEARDAY", "BYWEEKNO")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """A rule."""

    frequency: Frequency
    interval: int = 1
    count: int | None = None
    until: date | datetime | None = None
    """The last moment: with a zone, on the clock of the event, or a day. None: there is no end."""
    months: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    """1 to 31, or -31 (31 days from the end) to -1 (the last)."""
    days: tuple[tuple[int, int], ...] = ()
    """Which of them (0: all, 2: the second, -1: the last), and the day of the week, from 0 (Monday)."""
    hours: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    """Which of the moments of a period, from 1, or from -1 at the end; empty: all."""
    week_start: int = 0

    def moments(self, start: datetime, since: datetime | None = None) -> Iterator[datetime]:
        """Yield the moments of the rule in order, in the zone of the start.

        Args:
            start: where it begins (DTSTART), with a zone; says what the rule leaves open, such as the time of day.
            since: moments before this are left out.
        """
        zone = start.tzinfo
        early = None if since is None or self.count is not None else since.astimezone(UTC)
        found = self._steps(start, early) if self.frequency in SECONDS else self._periods(start, early)
        for number, moment in enumerate(found, 1):
            local = moment.astimezone(zone)
            if (self.count is not None and number > self.count) or _is_over(local, self.until):
                return
            if since is None or moment >= since.astimezone(UTC):
                yield local

    def _steps(self, start: datetime, since: datetime | None) -> Iterator[datetime]:
        """Yield the moments of a rule of hours or minutes, in UTC; of those before ``since`` perhaps not all."""
        step = timedelta(seconds=SECONDS[self.frequency] * self.interval)
        first, zone = start.astimezone(UTC), start.tzinfo
        number = 0 if since is None else max(0, (since - first) // step - 1)
        last, empty = first - timedelta(microseconds=1), 0
        while empty < MOST_EMPTY:
            local = (first + number * step).astimezone(zone)
            if local.year > LAST_YEAR:
                return
            number += 1
            empty += 1
            if not self._has_day(local.date()):
                midnight = _moment(local.date() + timedelta(days=1), time(), zone)
                number = max(number, math.ceil((midnight - first) / step) - 1)
                continue
            if self.hours and local.hour not in self.hours:
                continue
            for minute in self.minutes if self.frequency == "HOURLY" and self.minutes else (local.minute,):
                moment = local.replace(minute=minute).astimezone(UTC)
                if (not self.minutes or minute in self.minutes) and moment > last:
                    last, empty = moment, 0
                    yield moment

    def _has_day(self, day: date) -> bool:
        return (
            (not self.months or day.month in self.months)
            and (not self.month_days or _is_among(day, self.month_days))
            and (not self.days or any(weekday == day.weekday() for _, weekday in self.days))
        )

    def _periods(self, start: datetime, since: datetime | None) -> Iterator[datetime]:
        """Yield the moments of a rule of days or longer, in UTC; of those before ``since`` perhaps not all."""
        zone, local = start.tzinfo, start.replace(tzinfo=None)
        days_of = self._days_of(local.date())
        hours, minutes = self.hours or (local.hour,), self.minutes or (local.minute,)
        times = [time(hour, minute, local.second) for hour in sorted(hours) for minute in sorted(minutes)]
        begin = 0
        if since is not None:
            begin = max(0, self._period_of(local.date(), since.astimezone(zone).date()) - 1)
        empty, last = 0, start.astimezone(UTC) - timedelta(microseconds=1)
        for number in count(begin):
            try:
                found = [datetime.combine(day, at) for day in sorted(days_of(number)) for at in times]
            except (ValueError, OverflowError):  # after the last year
                return
            if self.positions:
                chosen = {place - 1 if place > 0 else len(found) + place for place in self.positions}
                found = [one for place, one in enumerate(found) if place in chosen]
            empty = 0 if found else empty + 1
            if empty > MOST_EMPTY or (found and found[-1].year > LAST_YEAR):
                return
            for moment in sorted(_moment(one.date(), one.time(), zone) for one in found):
                if moment > last:
                    last = moment
                    yield moment

    def _period_of(self, first: date, day: date) -> int:
        """Return the number of the period that has a day."""
        match self.frequency:
            case "YEARLY":
                return (day.year - first.year) // self.interval
            case "MONTHLY":
                return (MONTHS * (day.year - first.year) + day.month - first.month) // self.interval
            case "WEEKLY":
                return (day - first).days // (DAYS_OF_WEEK * self.interval)
            case _:
                return (day - first).days // self.interval

    def _days_of(self, first: date) -> Callable[[int], list[date]]:
        """Return the function that gives the days of a period by its number."""
        match self.frequency:
            case "YEARLY":
                return lambda number: self._in_year(first.year + number * self.interval, first)
            case "MONTHLY":
                return lambda number: self._in_month(
                    *divmod(MONTHS * first.year + first.month - 1 + number * self.interval, MONTHS), first
                )
            case "WEEKLY":
                monday = first - timedelta(days=(first.weekday() - self.week_start) % DAYS_OF_WEEK)
                return lambda number: self._in_week(
                    monday + timedelta(days=DAYS_OF_WEEK * number * self.interval), first
                )
            case _:
                return lambda number: [
                    day for day in (first + timedelta(days=number * self.interval),) if self._has_day(day)
                ]

    def _in_week(self, begin: date, first: date) -> list[date]:
        wanted = {weekday for _, weekday in self.days} or {first.weekday()}
        days = (begin + timedelta(days=ahead) for ahead in range(DAYS_OF_WEEK))
        return [day for day in days if day.weekday() in wanted and (not self.months or day.month in self.months)]

    def _in_month(self, year: int, month: int, first: date) -> list[date]:
        """Return the days of a month (from 0) that the rule means."""
        if self.months and month + 1 not in self.months:
            return []
        return self._among(_days(year, month + 1), first)

    def _among(self, days: list[date], first: date) -> list[date]:
        """Return those days of a month that the rule means."""
        if not self.days and not self.month_days:
            return [day for day in days if day.day == first.day]
        found = [day for day in days if not self.month_days or _is_among(day, self.month_days)]
        return [day for day in found if day in self._weekdays(days)] if self.days else found

    def _weekdays(self, days: list[date]) -> set[date]:
        """Return the days that BYDAY means among those of a month or a year."""
        found: set[date] = set()
        for nth, weekday in self.days:
            same = [day for day in days if day.weekday() == weekday]
            place = nth - 1 if nth > 0 else len(same) + nth
            found.update(same if nth == 0 else same[place : place + 1] if place >= 0 else [])
        return found

    def _in_year(self, year: int, first: date) -> list[date]:
        months = self.months or (range(1, MONTHS + 1) if self.days or self.month_days else (first.month,))
        if self.days and not self.months and not self.month_days:
            return sorted(self._weekdays([day for month in range(1, MONTHS + 1) for day in _days(year, month)]))
        return [day for month in months for day in self._among(_days(year, month), first)]


def _days(year: int, month: int) -> list[date]:
    return [date(year, month, day) for day in range(1, calendar.monthrange(year, month)[1] + 1)]


def _is_among(day: date, month_days: tuple[int, ...]) -> bool:
    length = calendar.monthrange(day.year, day.month)[1]
    return day.day in month_days or day.day - length - 1 in month_days


def _moment(day: date, at: time, zone: tzinfo | None) -> datetime:
    """Return the moment of a time of day, in UTC; one that the clock leaves out is moved by the gap."""
    return datetime.combine(day, at, zone).astimezone(UTC)


def _is_over(moment: datetime, until: date | datetime | None) -> bool:
    if until is None:
        return False
    if not isinstance(until, datetime):
        return moment.date() > until
    return moment > (until if until.tzinfo is not None else until.replace(tzinfo=moment.tzinfo))


def read_recurrence(text: str, field: str = "rule") -> Recurrence:
    """Read a rule, with or without ``RRULE:`` before it.

    Raises:
        InvalidRequestError: it is none, or has a part that is not supported; names the part.
    """
    parts: dict[str, str] = {}
    for part in text.strip().upper().removeprefix("RRULE:").split(";"):
        name, has_value, value = part.partition("=")
        if not has_value or name in parts:
            raise _wrong(f"{part[:60]!r} is no part of a recurrence rule", field)
        parts[name] = value
    for name in UNSUPPORTED:
        if name in parts:
            raise _wrong(f"{name} is not supported", field)
    frequency = parts.pop("FREQ", "")
    if frequency not in get_args(Frequency):
        raise _wrong(f"FREQ={frequency[:20]} is not supported", field)
    if "COUNT" in parts and "UNTIL" in parts:
        raise _wrong("COUNT and UNTIL exclude each other", field)
    reading = _Parts(parts, field)
    rule = Recurrence(
        frequency=frequency,  # type: ignore[arg-type]  # it was checked
        interval=reading.number("INTERVAL", MOST_INTERVAL) or 1,
        count=reading.number("COUNT", MOST_COUNT),
        until=reading.until(),
        months=reading.numbers("BYMONTH", 1, MONTHS),
        month_days=reading.numbers("BYMONTHDAY", 1, 31, signed=True),
        days=reading.days(),
        hours=reading.numbers("BYHOUR", 0, 23),
        minutes=reading.numbers("BYMINUTE", 0, 59),
        positions=reading.numbers("BYSETPOS", 1, 366, signed=True),
        week_start=reading.week_start(),
    )
    if parts:
        raise _wrong(f"{next(iter(parts))[:20]} is no part of a recurrence rule", field)
    _check(rule, field)
    return rule


def _check(rule: Recurrence, field: str) -> None:
    """Refuse parts that RFC 5545 does not allow together.

    Raises:
        InvalidRequestError: names them.
    """
    if rule.frequency in SECONDS and rule.positions:
        raise _wrong(f"BYSETPOS is not supported with FREQ={rule.frequency}", field)
    if any(nth for nth, _ in rule.days) and (rule.frequency not in {"MONTHLY", "YEARLY"} or rule.month_days):
        raise _wrong("A numbered day such as 2TU needs FREQ=MONTHLY or YEARLY, without BYMONTHDAY", field)
    if rule.frequency == "WEEKLY" and rule.month_days:
        raise _wrong("BYMONTHDAY is not allowed with FREQ=WEEKLY", field)


def _wrong(message: str, field: str) -> InvalidRequestError:
    return InvalidRequestError(f"{message}.", hint="For example RRULE:FREQ=DAILY;BYHOUR=7;BYMINUTE=30.", field=field)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a rule, each taken once."""

    values: dict[str, str]
    field: str

    def number(self, name: str, most: int) -> int | None:
        value = self.values.pop(name, None)
        if value is None:
            return None
        if not value.isascii() or not value.isdecimal() or not 1 <= int(value[:9]) <= most:
            raise _wrong(f"{name} must be 1 to {most:,}", self.field)
        return int(value)

    def numbers(self, name: str, least: int, most: int, *, signed: bool = False) -> tuple[int, ...]:
        value = self.values.pop(name, None)
        if value is None:
            return ()
        found: list[int] = []
        for one in value.split(","):
            number = int(one) if NUMBER.fullmatch(one) else None
            if number is None or not least <= (abs(number) if signed else number) <= most:
                raise _wrong(f"{name} must be {least} to {most}", self.field)
            found.append(number)
        return tuple(sorted(set(found)))

    def days(self) -> tuple[tuple[int, int], ...]:
        value = self.values.pop("BYDAY", None)
        if value is None:
            return ()
        found: list[tuple[int, int]] = []
        for one in value.split(","):
            day = DAY.fullmatch(one)
            if day is None or (day["nth"] is not None and not 1 <= abs(int(day["nth"])) <= 53):  # noqa: PLR2004 - weeks
                raise _wrong(f"{one[:20]!r} is no day of the week", self.field)
            found.append((int(day["nth"] or 0), WEEKDAYS.index(day["day"])))
        return tuple(found)

    def until(self) -> date | datetime | None:
        value = self.values.pop("UNTIL", None)
        if value is None:
            return None
        found = MOMENT.fullmatch(value)
        try:
            day = datetime.strptime(found["date"] if found else "", "%Y%m%d").date()  # noqa: DTZ007 - a day
            if found is None or found["time"] is None:
                return day
            at = datetime.strptime(found["time"], "%H%M%S").time()  # noqa: DTZ007 - a time of day
            return datetime.combine(day, at, UTC if found["utc"] else None)
        except ValueError as error:
            raise _wrong(f"UNTIL={value[:20]} is no time", self.field) from error

    def week_start(self) -> int:
        value = self.values.pop("WKST", "MO")
        if value not in WEEKDAYS:
            raise _wrong(f"WKST={value[:20]} is no day of the week", self.field)
        return WEEKDAYS.index(value)


def next_moment(rule: Recurrence, start: datetime, after: datetime) -> datetime | None:
    """Return the first moment of a rule after a moment; None: there is none.

    Args:
        rule: the rule.
        start: where it begins, with the zone of its clock.
        after: the moment.
    """
    since = after + timedelta(microseconds=1)
    return next(islice(rule.moments(start, since), 1), None)
