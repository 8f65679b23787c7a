"""Reads a date in English or German text: 7 May 2023, 2023-05-07, May, summer 2022, Q2 2024, 3 to 9 May.

``Dates`` is the part of ``memsvc.times.phrases.Reader`` that does not refer to other phrases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

from memsvc.times import words
from memsvc.times.calendar import MONTHS_A_YEAR, Calendar, Span, months_from
from memsvc.times.weekdays import meant_by_weekday

Kind = Literal["explicit", "relative"]
LEAP_YEAR, LEAP = 2000, 8
"""The last 29 February is never longer ago than this many years."""
DAY = timedelta(1)
SOON = 31
"""A date without a year may mean a day within this many days in the future."""
DATE_FOLLOWS = re.compile(r",? (?:on |the |on the |dem |den )?")
PERHAPS_A_VERB = re.compile(r" (?!(?:was|is|did|at|i|we|he|she|they|with|and|or|to)\b)[a-z]")
"""What follows "March 15" at the beginning of a sentence if it may not be a date."""
PARTS_OF_NUMBERS = ".,-–/+#$€£¥_:@"


@dataclass(frozen=True, slots=True)
class Date:
    """A date as written; None: the part was left out."""

    stop: int
    year: int | None
    month: int | None
    day: int | None = None
    last: int | None = None
    """Last day of a span within the month."""
    months: int = 1
    """Length in months, if no day is given: 1, 3 (a quarter, a season) or 12."""


@dataclass(frozen=True, slots=True)
class Found:
    """The spans that a phrase names (two if it is ambiguous), and the offset of its end."""

    spans: tuple[Span, ...]
    stop: int
    kind: Kind
    vague: bool = False
    """True for phrases such as "recently" that only mean "not long ago"."""


class Dates:
    """A text, and the calendar by which its dates are read."""

    def __init__(self, text: str, calendar: Calendar) -> None:
        self.text = text
        """The text, with single spaces."""
        self.low = text.replace("İ", "i").lower()  # the only letter whose lower case is longer
        self.calendar = calendar
        self.front = ""
        """The word before the current offset, articles included."""

    def capital(self, at: int) -> bool:
        """Whether the word begins with a capital and is not all in capitals."""
        return self.text[at : at + 1].isupper() and not self.text[at + 1 : at + 2].isupper()

    def dates(self, at: int, before: str) -> Found | None:
        """Read a date, or two dates with everything between them."""
        if at and self.low[at - 1] in (PARTS_OF_NUMBERS if self.low[at].isdecimal() else "@#_"):
            return None
        between = before in words.FROM
        days = words.BARE_DAY.match(self.low, at)
        if days and (between or days["link"].strip() not in {"and", "und"}):
            until = self.date(days.end(), words.SPAN)
            if until and until.day and until.month and not until.last:
                return self.between(replace(until, day=int(days["day"])), until)
        twofold = words.YEAR_LAST.match(self.low, at)
        if twofold and twofold["dash"] != ".":
            return self.either_order(twofold)
        since = self.date(at, before)
        if since is None:
            return None
        link = None if since.last else words.LINK.match(self.low, since.stop)
        if link and (between or link[0].split()[0] not in {"and", "und"}):
            until = self.date(link.end(), words.SPAN)
            if until and (until.day is None) == (since.day is None):
                return self.between(since, until)
        if before in {"between", "zwischen"} or (between and since.year is None and since.day is None):
            return None
        since = self.of_weekday(since, at)
        soon = None if before in words.OPENING else self.upcoming(since)
        return Found((self.resolved(since), *filter(None, [soon])), since.stop, "explicit")

    def of_weekday(self, found: Date, at: int) -> Date:
        """A date without a year in the year that the weekday beside it tells: "Friday, 4 December"."""
        if found.year is not None or found.month is None or found.day is None or found.last is not None:
            return found
        leap = date(LEAP_YEAR, found.month, found.day)
        day = meant_by_weekday(self.text, (at, found.stop), leap, self.calendar.today, ahead=False)
        return replace(found, year=day.year) if day is not None else found

    def between(self, since: Date, until: Date) -> Found | None:
        """Read a range of dates; parts that the first date leaves out come from the second."""
        last = self.resolved(until)
        whole = replace(since, month=since.month or until.month, year=since.year or last.begin.year)
        first = self.resolved(whole)
        if since.year is None and first.begin >= last.end:  # November to January 2023
            first = self.resolved(replace(whole, year=last.begin.year - 1))
        return Found((Span(first.begin, last.end),), until.stop, "explicit") if first.begin < last.end else None

    def either_order(self, match: re.Match[str]) -> Found | None:
        """Read 5/7/2023, with the day or the month first; if both are dates, return both days."""
        year, numbers = int(match["year"]), (int(match["first"]), int(match["second"]))
        days = {date(year, month, day) for day, month in (numbers, numbers[::-1]) if month <= MONTHS_A_YEAR}
        spans = tuple(self.calendar.day(day) for day in sorted(days))
        return Found(spans, match.end(), "explicit") if spans else None

    def date(self, at: int, before: str) -> Date | None:
        """Read a date at an offset, with its year or the year of "last year"."""
        found = self.date_alone(at, before)
        if found is None:
            name = words.PERIOD.match(self.low, at)
            if name and words.STEP_OF_YEAR.match(self.low, name.end()):
                word = name["name"]
                found = Date(
                    name.end(), None, words.MONTHS.get(word) or words.SEASONS[word], months=3 if name["season"] else 1
                )
        of_year = words.STEP_OF_YEAR.match(self.low, found.stop) if found and found.year is None else None
        if found and of_year:
            return replace(found, stop=of_year.end(), year=self.calendar.today.year + words.STEPS[of_year["step"]])
        return found

    def date_alone(self, at: int, before: str) -> Date | None:
        if self.low[at : at + 1].isdecimal():
            return self.date_by_number(at, before)
        for pattern in (words.MONTH_FIRST, words.MONTH_YEAR):
            match = pattern.match(self.low, at)
            if match:
                return self.written(match, before)
        match = words.SEASON.match(self.low, at)
        if match:
            return Date(match.end(), int(match["year"]), words.SEASONS[match["season"]], months=3)
        alone = before in words.INSIDE | words.FROM
        match = words.QUARTER.match(self.low, at)
        if match and (match["year"] or alone):
            year = int(match["year"]) if match["year"] else None
            return Date(match.end(), year, 3 * int(match["quarter"]) - 2, months=3)
        match = words.MONTH_ALONE.match(self.low, at) if alone else None
        if match is None or match["month"] == "mar":
            return None
        if match["month"] in words.VERBS and before not in {"in", "during", words.SPAN} and not self.capital(at):
            return None
        return Date(match.end(), None, words.MONTHS[match["month"]])

    def date_by_number(self, at: int, before: str) -> Date | None:
        if not self.low[at : at + 4].isdecimal():
            match = words.DAY_FIRST.match(self.low, at)
            if match:
                return self.written(match, before)
            match = words.YEAR_LAST.match(self.low, at)
            known = match and match["dash"] == "."
            return (
                Date(match.end(), int(match["year"]), int(match["second"]), int(match["first"]))
                if match and known
                else None
            )
        match = words.ISO.match(self.low, at) or words.YEAR_FIRST.match(self.low, at)
        if match:
            return self.written(match, before)
        match = words.YEAR_MONTH.match(self.low, at)
        if match and not self.front[:1].isdecimal():
            return Date(match.end(), int(match["year"]), int(match["month"]))
        match = words.YEAR_QUARTER.match(self.low, at)
        if match:
            return Date(match.end(), int(match["year"]), 3 * int(match["quarter"]) - 2, months=3)
        match = words.YEAR_ALONE.match(self.low, at)
        alone = before in words.INSIDE | words.FROM | {"year", "jahr", "by"}
        if match and alone and not words.AMOUNT.match(self.low, match.end()):
            return Date(match.end(), int(match["year"]), 1, months=MONTHS_A_YEAR)
        return None

    def written(self, match: re.Match[str], before: str) -> Date | None:
        """Return the date of a match with year, month and day; None if its month is a verb ("the 10 may change")."""
        group = match.groupdict()
        month, year, last = group["month"], group["year"], group.get("last")
        day = int(group["day"]) if group.get("day") else None
        stop = match.end()
        if month.isdigit():
            return Date(stop, int(year), int(month), day)
        if last and "and" in group["dash"] and before not in words.FROM:
            last, stop = None, match.start("dash")  # two single days, not a range
        if month in words.VERBS and not year and not group["nth"]:
            at = match.start("month")
            prepared = before in words.ON or before in words.INSIDE | words.OPENING | words.FROM
            opens = at == match.start() and self.text[max(at - 2, 0) : at].strip() in {"", ".", "!", "?"}
            if not prepared and (not self.capital(at) or (opens and PERHAPS_A_VERB.match(self.low, stop))):
                return None
        return Date(stop, int(year) if year else None, words.MONTHS[month], day, int(last) if last else None)

    def upcoming(self, found: Date) -> Span | None:
        """Return the future day that a date without a year may mean as well, if it is within a month."""
        if found.year is not None or found.month is None or found.day is None:
            return None
        today = self.calendar.today
        days = (day_of(today.year + more, found.month, found.day) for more in (0, 1))
        begin = next((day for day in days if day and today < day <= today + SOON * DAY), None)
        return self.calendar.days(begin, begin.replace(day=found.last or found.day) + DAY) if begin else None

    def resolved(self, found: Date) -> Span:
        """Return the days of a date; without a year, those of the latest one that has begun."""
        month, day = found.month or 1, found.day or 1
        if found.year is None:
            today = self.calendar.today
            years = (today.year - back for back in range(LEAP + 1))
            days = filter(None, (day_of(y, month, day) for y in years))
            begin = next((first for first in days if first <= today), None)
        else:
            begin = day_of(found.year, month, day)
        if begin is None:
            raise ValueError("no year has this day")  # 31 April
        if found.day is None:
            return self.calendar.days(begin, months_from(begin, found.months))
        return self.calendar.days(begin, begin.replace(day=found.last or day) + DAY)

    def dated(self, at: int) -> bool:
        """Whether a date follows, as in "Friday, 23 January"."""
        match = DATE_FOLLOWS.match(self.low, at)
        return bool(match and self.date(match.end(), "on"))


def day_of(year: int, month: int, day: int) -> date | None:
    """Return a day; None if the year does not have it."""
    try:
        return date(year, month, day)
    except ValueError:
        return None
