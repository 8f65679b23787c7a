"""Days, weeks, months and years on a user's clock, as spans of time.

All counting is done in dates, and a date becomes a moment by the rules of the time zone, so a day has 23, 24 or 25
hours. Weeks begin on Monday. Seasons are the meteorological ones of the northern hemisphere: summer is June to August,
winter begins in December.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

EARLIEST, LATEST = date(1000, 1, 2), date(8999, 12, 30)
"""Years that the database can store in every time zone."""
MONTHS_A_YEAR, DAYS_A_WEEK, SATURDAY = 12, 7, 5


@dataclass(frozen=True, slots=True)
class Span:
    """The time from ``begin`` up to, and without, ``end``, on the user's clock."""

    begin: datetime
    end: datetime


def months_from(day: date, months: int) -> date:
    """Return the same day some months later (negative: earlier), or the last day of a shorter month."""
    year, month = divmod(day.year * MONTHS_A_YEAR + day.month - 1 + months, MONTHS_A_YEAR)
    first = date(year, month + 1, 1)
    following = date(year + (month + 1) // MONTHS_A_YEAR, (month + 1) % MONTHS_A_YEAR + 1, 1)
    return first.replace(day=min(day.day, (following - first).days))


@dataclass(frozen=True, slots=True)
class Calendar:
    """A user's calendar at one moment. Dates outside the years 1000 to 9000 raise ValueError or OverflowError."""

    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()

    def at(self, day: date, hour: int = 0) -> datetime:
        """Return a moment of a day on the user's clock; the first one, if the clock shows that time twice."""
        if not EARLIEST <= day <= LATEST:
            raise ValueError(day)
        return datetime(day.year, day.month, day.day, hour, tzinfo=self.zone)

    def days(self, begin: date, end: date) -> Span:
        """Return the span from the beginning of one day to the beginning of another."""
        return Span(self.at(begin), self.at(end))

    def day(self, day: date) -> Span:
        return self.days(day, day + timedelta(1))

    def hours_ago(self, count: int, minutes: int) -> Span:
        """Return the span around ``count`` times ``minutes`` ago, from one count more to one less."""
        moments = [self.now.astimezone(UTC) - timedelta(minutes=(count + more) * minutes) for more in (1, -1)]
        begin, end = (moment.astimezone(self.zone) for moment in moments)
        self.at(begin.date())
        return Span(begin, end)

    def unit(self, unit: str, day: date, count: int = 0) -> Span:
        """Return the week, weekend, month … of a day, or the one that many units later (negative: earlier)."""
        if unit in {"week", "weekend"}:
            monday = day - timedelta(day.weekday()) + count * timedelta(DAYS_A_WEEK)
            return self.days(monday + timedelta(SATURDAY if unit == "weekend" else 0), monday + timedelta(DAYS_A_WEEK))
        if unit == "day":
            return self.day(day + timedelta(count))
        size = {"month": 1, "quarter": 3, "season": 3, "year": MONTHS_A_YEAR, "decade": 10 * MONTHS_A_YEAR}[unit]
        if unit == "decade":
            first = date(day.year // 10 * 10, 1, 1)
        elif unit == "season":
            first = months_from(day.replace(day=1), -(day.month % 3))
        else:
            first = date(day.year, (day.month - 1) // size * size + 1, 1)
        return self.days(months_from(first, count * size), months_from(first, (count + 1) * size))

    def shifted(self, unit: str, day: date, count: int) -> date:
        """Return the day that many units later (negative: earlier)."""
        if unit in {"day", "week", "weekend"}:
            return day + timedelta(count * (1 if unit == "day" else DAYS_A_WEEK))
        return months_from(day, count * {"month": 1, "quarter": 3, "year": MONTHS_A_YEAR, "decade": 120}[unit])

    def ago(self, unit: str, fewest: int, most: int) -> Span:
        """Return the span of "so many units ago": a day exactly, anything longer with half a unit of tolerance."""
        if unit in {"minute", "hour"}:
            size = 60 if unit == "hour" else 1
            return Span(self.hours_ago(most, size).begin, self.hours_ago(fewest, size).end)
        slack = {"day": 0, "week": 3, "weekend": 3, "month": 15, "quarter": 45, "year": 183, "decade": 1826}[unit]
        if unit == "day" and fewest < most:
            slack = 1
        return self.days(
            self.shifted(unit, self.today, -most) - timedelta(slack),
            min(self.shifted(unit, self.today, -fewest) + timedelta(slack), self.today) + timedelta(1),
        )

    def past(self, unit: str, most: int) -> Span:
        """Return the span of the last so many units up to the end of today."""
        if unit in {"minute", "hour"}:
            begin = self.now.astimezone(UTC) - timedelta(minutes=most * (60 if unit == "hour" else 1))
            return Span(begin.astimezone(self.zone), self.at(self.today + timedelta(1)))
        return self.days(self.shifted(unit, self.today, -most), self.today + timedelta(1))

    def weekday(self, number: int, near: date, direction: Literal[-1, 0, 1]) -> Span:
        """Return a weekday (0: Monday): the last one before a day, the next one after it, or the last up to it (0)."""
        if direction > 0:
            return self.day(near + timedelta((number - near.weekday() - 1) % DAYS_A_WEEK + 1))
        before = (near.weekday() - number) % DAYS_A_WEEK
        return self.day(near - timedelta(before or (DAYS_A_WEEK if direction else 0)))

    def before(self, moment: datetime) -> Span:
        """Return the span of all time up to a moment."""
        return Span(self.at(EARLIEST), moment)

    def after(self, moment: datetime) -> Span:
        """Return the span from a moment to the end of today, or without end if the moment is in the future."""
        tonight = self.at(self.today + timedelta(1))
        return Span(moment, tonight if moment < tonight else self.at(LATEST))
