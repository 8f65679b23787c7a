"""Times that ``memsvc.times`` does not read in a question: decades, years before 1900, "around 2004".

Each rule gives days and, where the day, month or year on which they begin would say too much, what to call them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from memsvc.times import words
from memsvc.times.calendar import DAYS_A_WEEK, MONTHS_A_YEAR, months_from

Days = tuple[date, date]
Rule = Callable[[re.Match[str], date], Days]
SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
         "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ONES, _UP_TO_19 = "|".join(SMALL[:9]), "|".join(reversed(SMALL))
NUMBER = rf"(?:(?:{'|'.join(TENS)})(?:(?: ?- ?| )(?:{_ONES}))?|{_UP_TO_19})"
DECADES = {"noughties": 0} | {f"{name[:-1]}ies": 10 * (place + 3) for place, name in enumerate(TENS[1:])}
"""Those of which one knows in which century they lie."""
PARTS = {"early": (0, 4), "mid": (4, 7), "late": (7, 10)}
"""Years of a decade."""
SEASON = re.compile(rf"\b(?P<name>{words.any_of(words.SEASONS)})s?\b", re.IGNORECASE)
MONTH = re.compile(rf"\b(?:{words.any_of(words.MONTHS)})\b", re.IGNORECASE)
ROUGHLY = re.compile(
    r"\b(?:around|about|circa|roughly|approximately|some time in|sometime in)(?: the year)? ?$", re.IGNORECASE
)
OR_SO = re.compile(r"^ ?(?:or so|or thereabouts|-? ?ish|or around then)\b", re.IGNORECASE)
THIRD = re.compile(r"^(?:(?P<early>early|beginning|start)|(?P<mid>mid|middle)|(?P<late>late|end))\b", re.IGNORECASE)
AGO = re.compile(r"\b(?P<unit>day|week|month|year|yr|decade)s? (?:ago|back)$", re.IGNORECASE)
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip


def number(written: str) -> int:
    """How many: "3", "a", "few", "forty-four"."""
    written = written.lower()
    if written.isdecimal():
        return int(written)
    if written in words.COUNTS:
        return words.COUNTS[written][0]
    tens, _, ones = re.sub(r"[ -]+", "-", written).partition("-")
    if tens in TENS:
        return 10 * (TENS.index(tens) + 2) + (SMALL.index(ones) + 1 if ones else 0)
    return SMALL.index(tens) + 1


# --- what a time is called ------------------------------------------------------------------------------------------


def roughly(text: str, start: int, stop: int, begin: date, end: date) -> str:
    """What to call a time whose begin is not meant to the day, month or year; empty: it is.

    Args:
        text: what names it.
        start: where it begins there.
        stop: where it ends.
        begin: its first day.
        end: the first day after it.
    """
    phrase = text[start:stop]
    decade = DECADE.search(phrase)
    if decade is not None:
        part = f"{part_of(decade)} " if part_of(decade) else ""
        return f"the {part}{begin.year // 10 * 10}s"
    ago = AGO.search(phrase)
    if ago is not None and ago["unit"].lower() != "day":
        unit = ago["unit"].lower()
        return f"about {called(begin, 'month' if unit == 'month' else 'day' if unit == 'week' else 'year')}"
    if phrase.lower() in words.RECENTLY:
        return f"about {called(begin, 'month')}"
    third = THIRD.match(phrase)
    if third is not None and re.search(rf"\b{begin.year}$", phrase) and not MONTH.search(phrase):
        return f"{third.lastgroup} {begin.year}"
    season = SEASON.search(phrase)
    if season is not None and begin.day == 1 and months_from(begin, 3) == end:
        return f"{season['name'].lower()} {begin.year}"
    if ROUGHLY.search(text[:start]) or ROUGHLY.match(phrase[: phrase.rfind(" ")]) or OR_SO.match(text[stop:]):
        whole = begin.day == end.day == 1
        return f"about {called(begin, 'day' if not whole else 'year' if begin.month == end.month == 1 else 'month')}"
    return ""


def called(day: date, unit: str) -> str:
    """A day, its month or its year."""
    month = f"{MONTHS[day.month - 1]} {day.year}"
    return f"{day.year}" if unit == "year" else month if unit == "month" else f"{day.day} {month}"


# --- rules ----------------------------------------------------------------------------------------------------------


def decade(match: re.Match[str], today: date) -> Days:
    """The early nineties; the 1850s; the 80s."""
    written = match["decade"].lower().strip("'’").removesuffix("s").rstrip("'’")
    if written.isdecimal() and len(written) == len("1990"):
        year = int(written)
    else:
        within = int(written) if written.isdecimal() else DECADES[f"{written}s"]
        year = today.year // 100 * 100 + within
        year -= 100 if year > today.year else 0
    first, last = PARTS.get(part_of(match), (0, 10))
    return date(year + first, 1, 1), date(year + last, 1, 1)


def part_of(match: re.Match[str]) -> str:
    """As "early"; empty: all of a decade."""
    return next((name for name in PARTS if (match["part"] or "").lower().startswith(name)), "")


def year(match: re.Match[str], _: date) -> Days:
    """Around 2004; in 1848."""
    first = date(int(match["year"]), 1, 1)
    return first, months_from(first, MONTHS_A_YEAR)


def written_date(match: re.Match[str], _: date) -> Days:
    """May 1849; 3 May 1849; May 3rd, 1849."""
    day = match["day"] or match["nth"]
    first = date(int(match["year"]), words.MONTHS[match["month"].lower()], int(day or 1))
    return first, first + timedelta(1) if day else months_from(first, 1)


def season(match: re.Match[str], today: date) -> Days:
    """The autumn of '98."""
    written = int(match["two"] or match["year"])
    if match["two"]:
        written += today.year // 100 * 100
        written -= 100 if written > today.year else 0
    first = date(written, words.SEASONS[match["name"].lower()], 1)
    return first, months_from(first, 3)


def many_ago(match: re.Match[str], today: date) -> Days:
    """Thirty-two years ago."""
    count, unit = number(match["count"]), match["unit"].lower()
    if unit in {"day", "week"}:
        day = today - timedelta(count * (1 if unit == "day" else DAYS_A_WEEK))
    else:
        day = months_from(today, -count * (1 if unit == "month" else MONTHS_A_YEAR))
    return day, day + timedelta(1)


def weekdays_ago(match: re.Match[str], today: date) -> Days:
    """Three Mondays ago."""
    back = (today.weekday() - words.WEEKDAYS[match["name"].lower()]) % DAYS_A_WEEK or DAYS_A_WEEK
    day = today - timedelta(back + DAYS_A_WEEK * (number(match["count"]) - 1))
    return day, day + timedelta(1)


def months_ago(match: re.Match[str], today: date) -> Days:
    """Two Octobers ago."""
    return over(today, words.MONTHS[match["name"].lower()], 1, number(match["count"]) - 1)


def before_last(match: re.Match[str], today: date) -> Days:
    """The summer before last; the Friday before last."""
    name = match["name"].lower()
    if name in words.WEEKDAYS:
        back = (today.weekday() - words.WEEKDAYS[name]) % DAYS_A_WEEK or DAYS_A_WEEK
        day = today - timedelta(back + DAYS_A_WEEK)
        return day, day + timedelta(1)
    if name in words.SEASONS:
        return over(today, words.SEASONS[name], 3, 1)
    return over(today, words.MONTHS[name], 1, 1)


def over(today: date, month: int, length: int, years: int) -> Days:
    """The last months of this kind that are over, or those so many years before them."""
    first = date(today.year, month, 1)
    while months_from(first, length) > today:
        first = months_from(first, -MONTHS_A_YEAR)
    first = months_from(first, -MONTHS_A_YEAR * years)
    return first, months_from(first, length)


COUNT = rf"(?P<count>\d{{1,2}}|{words.any_of(words.COUNTS)}|{NUMBER})"
_WEEKDAYS = words.any_of(name for name in words.WEEKDAYS if name.endswith("day"))
_SEASONS, _MONTHS = words.any_of(words.SEASONS), words.any_of(words.MONTHS)
_ROUGHLY = r"(?:around|about|circa|roughly|approximately)"
_LEADS = r"(?:in|since|from|until|till?|to|by|around|about|circa|before|after|of|and|year|–|-)"
_LONG_AGO = r"(?P<year>1[0-8]\d\d)(?![\d:%]|[.,]\d| ?[-–] ?\d)"
_DATE = (
    rf"\b(?P<at>(?:the )?(?:(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_MONTHS})"
    rf"(?: (?P<nth>[0-3]?\d)(?:st|nd|rd|th)?)?,? (?:of )?{_LONG_AGO})"
)
_PART = r"(?:(?P<part>early|mid|middle|late)(?:[- ]| (?:part )?of the ) ?)?"
_YEARS = r"(?:1\d|20)\d0[’']?s\b"
_NAMED = rf"(?:['’]?[3-9]0[’']?s|{words.any_of(DECADES)})\b"
"""Only behind an article: in one's forties one is that old."""
DECADE = re.compile(rf"{_PART}(?P<decade>{_YEARS}|{_NAMED})", re.IGNORECASE)
PATTERNS: tuple[tuple[str, Rule], ...] = (
    (rf"\b(?P<at>{_PART}(?P<decade>{_YEARS}))", decade),
    (rf"\bthe (?P<at>{_PART}(?P<decade>{_NAMED}))", decade),
    (rf"\b(?P<at>(?P<name>{_SEASONS}) (?:of )?(?:['’] ?(?P<two>\d\d)|(?P<year>1[0-8]\d\d)))\b", season),
    (_DATE, written_date),
    (rf"\b{_LEADS} (?P<at>{_LONG_AGO})(?!{words.AMOUNT.pattern})", year),
    (r"\bborn (?P<at>(?P<year>(?:1\d|20)\d\d))\b", year),
    (rf"\b{_ROUGHLY} (?:the year )?(?P<at>(?P<year>(?:19|20)\d\d))\b(?!{words.AMOUNT.pattern}|[-–]| ?%)", year),
    (rf"\b(?P<count>(?:{'|'.join(TENS)})(?: ?- ?| )(?:{_ONES})) (?P<unit>day|week|month|year)s ago\b", many_ago),
    (rf"\b{COUNT} (?P<name>{_WEEKDAYS})s ago\b", weekdays_ago),
    (rf"\b{COUNT} (?P<name>{_MONTHS})s ago\b", months_ago),
    (rf"\b(?:the )?(?P<name>{_WEEKDAYS}|{_SEASONS}|{_MONTHS}) before last\b(?! \w+day)", before_last),
)  # fmt: skip
RULES = tuple((re.compile(pattern, re.IGNORECASE), rule) for pattern, rule in PATTERNS)
"""What is tried before all else: other rules would take a part of it for a time of its own."""
