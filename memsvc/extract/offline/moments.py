"""The times that a clause of a chat names, read with its tense: "on Saturday" is the last one, or the next.

``memsvc.times`` reads most of them, as of a question about the past, and nothing that might be something else. A clause
tells more: whether it speaks of what was or of what is to come. So bare weekdays and months, feasts, days of the month
and "in two weeks" are read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timedelta, tzinfo
from itertools import islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

from memsvc.extract.offline import eras
from memsvc.extract.offline.eras import number, roughly
from memsvc.times import words
from memsvc.times.calendar import DAYS_A_WEEK, MONTHS_A_YEAR, Calendar, months_from
from memsvc.times.durations import is_duration
from memsvc.times.reading import TimeWindow, read_times
from memsvc.times.weekdays import meant_by_weekday

MOST = 3
"""Times of a clause that count."""
LONGEST, NEAR = 1_000, 60
"""Signs of a clause that are read, and those before a time that tell how it counts."""
DAY, WEEK = timedelta(1), timedelta(7)
SINCE = frozenset({"since", "from", "after", "starting", "onwards", "beginning"})
UNTIL = frozenset({"until", "till", "til", "by", "before", "through", "to"})
SKIPPED = frozenset({"the", "about", "around", "like", "roughly", "early", "late", "mid", "end", "of", "start", "on",
                     "in", "at"})  # fmt: skip
"""Words between "since" and its time."""
FIXED = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:ago|last|past|this|next|yesterday|today|tonight|tomorrow|recently|lately|coming)\b",
    re.IGNORECASE,
)
"""A time that says by itself whether it is past."""
DATED = re.compile(r"\d|\bof\b")
"""A day of a month."""
RANGE = re.compile(r"^\s*(?:to|till|until|til|-|–|through|and)\s*(?:the\s+)?$", re.IGNORECASE)
"""Between the two ends of a span of time."""
FULL_DAYS = {name: number for name, number in words.WEEKDAYS.items() if name.endswith("day")}
SHORT_DAYS = {name: number for name, number in words.WEEKDAYS.items() if name in words.SHORT}
SURE_MONTHS = words.any_of(words.MONTHS.keys() - words.VERBS - {"mar", "mai", "jun", "sep", "dec"})
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
            "twelfth")  # fmt: skip
FEASTS = {
    "christmas eve": (12, 24), "christmas": (12, 25), "xmas": (12, 25), "boxing day": (12, 26), "new year": (1, 1),
    "new years": (1, 1), "new year's": (1, 1), "nye": (12, 31), "new year's eve": (12, 31), "new years eve": (12, 31),
    "valentines": (2, 14), "valentine's": (2, 14), "halloween": (10, 31), "bonfire night": (11, 5),
    "st patrick's": (3, 17), "paddy's day": (3, 17), "midsummer": (6, 21), "easter": (0, 0), "good friday": (0, -2),
    "easter friday": (0, -2), "easter sunday": (0, 0), "easter monday": (0, 1), "pentecost": (0, 49),
}  # fmt: skip
"""Month and day; month 0: so many days after Easter."""


DAY_ALONE = SINCE | UNTIL | words.WEEKDAYS.keys() | {"this", "on", "the", "morning", "afternoon", "evening", "night"}
"""Words of a phrase that names a weekday, and not which one."""
ORDINAL_FOLLOWS = re.compile(r",? (?:the )?\d{1,2}(?:st|nd|rd|th)\b")
EVERY = re.compile(r"\b(?:every|each|most|any)(?: (?:other|second|third|single))? $", re.IGNORECASE)
"""Before a time at which something happens again and again."""
AGAIN = re.compile(r" ?(?:mornings|afternoons|evenings|nights|lunchtimes)\b", re.IGNORECASE)
"""After it: "on Tuesday nights"."""


class Moment(NamedTuple):
    """A time that a text names."""

    begin: datetime
    end: datetime
    before: str
    """The word that says how it counts: "since", "until", or whatever stands before it."""
    about: str = ""
    """What to call its begin where that is not meant to the day, month or year: "about 2004", "the early 1990s"."""


class Read(NamedTuple):
    """A time with its place in the text."""

    start: int
    stop: int
    begin: date
    end: date


Rule = Callable[[re.Match[str], date, bool], tuple[date, date] | None]


def moments(text: str, now: datetime, *, ahead: bool) -> list[Moment]:
    """The times that a text names, in its order.

    Args:
        text: a clause.
        now: when it was said, aware, on the clock by which days are counted.
        ahead: what has no year is still to come; otherwise it is past.
    """
    clock = now.tzinfo
    zone = now.tzinfo if isinstance(now.tzinfo, ZoneInfo) else ZoneInfo("UTC")
    now = now if now.tzinfo == zone else now.replace(tzinfo=zone)  # days are counted as the clock of the place shows
    calendar = Calendar(now, zone)
    text = re.sub(r"\bmid-(?=\d)", "mid ", " ".join(text[:LONGEST].split())).replace(" ,", ",")
    taken: list[tuple[int, int]] = []
    rules: list[tuple[re.Pattern[str], Rule]] = [(pattern, plain(rule)) for pattern, rule in eras.RULES]
    places = list(of_rules(rules, text, calendar.today, ahead, taken=taken))
    places += [
        place
        for place in of_library(text, now, zone, ahead=ahead)
        if not any(place.start < stop and start < place.stop for start, stop in taken)
    ]
    taken += [(place.start, place.stop) for place in places]
    places += of_rules(RULES, text, calendar.today, ahead, taken=taken)
    once = [place for place in sorted(places)[: 2 * MOST] if not is_repeated(text, place)]
    return joined(text, once, calendar, clock)


def is_repeated(text: str, place: Read) -> bool:
    """Whether something happens at each such time, so that none is named: "every Friday", "on Tuesday nights"."""
    return EVERY.search(text, 0, place.start) is not None or AGAIN.match(text, place.stop) is not None


def of_library(text: str, now: datetime, zone: ZoneInfo, *, ahead: bool) -> Iterator[Read]:
    """What ``memsvc.times`` reads, moved on where it is still to come."""
    at = 0
    for window in read_times(text, now, zone).windows[:MOST]:
        start = text.find(window.phrase, at)
        if start < 0:
            continue
        at = start + len(window.phrase)
        if DAY_ALONE.issuperset(window.phrase.lower().split()) and ORDINAL_FOLLOWS.match(text, at):
            continue  # "on Friday 4th"
        to_come = ahead and lead(text, start, window.phrase) not in words.SINCE
        begin, end = moved_on(window, now) if to_come else middle(window)
        begin, end = of_weekday(text, (start, at), (begin, end), now.date(), ahead=to_come)
        weeks = weeks_off(window.phrase, (begin, end), now.date(), to_come=to_come)
        yield Read(start, at, begin + weeks * WEEK, end + weeks * WEEK)


def of_weekday(
    text: str, place: tuple[int, int], days: tuple[date, date], today: date, *, ahead: bool
) -> tuple[date, date]:
    """A day in the year that the weekday beside it tells: "Friday, 4 December"."""
    if days[1] - days[0] != DAY or FIXED.search(text[place[0] : place[1]]) or not DATED.search(text[slice(*place)]):
        return days
    found = meant_by_weekday(text, place, days[0], today, ahead=ahead)
    return (found, found + DAY) if found is not None else days


def weeks_off(phrase: str, days: tuple[date, date], today: date, *, to_come: bool) -> int:
    """By how many weeks a weekday without "last" or "next" was read off: the tense says whether it is past.

    "This Friday" may be today, and so may a Friday that is still to come; of a Friday that is past it is said "today".
    """
    said = phrase.lower().split()
    if not DAY_ALONE.issuperset(said) or days[1] - days[0] != DAY or not words.WEEKDAYS.keys() & set(said):
        return 0
    if to_come:
        return 1 if days[0] < today else 0
    return -1 if days[0] > today or (days[0] == today and "this" not in said) else 0


def middle(window: TimeWindow) -> tuple[date, date]:
    """A window; of "two weeks ago", which is meant to be about then, the day in its middle."""
    begin, end = window.begin.date(), window.end.date()
    first = window.phrase.split(" ", 1)[0].lower()
    if first in words.SINCE | words.AFTER:
        return begin, begin + DAY
    if first in words.UNTIL | words.BEFORE:
        end = end if first in words.BEFORE else without(window.phrase, end)
        return end, end + DAY
    if window.phrase.lower().endswith(("ago", "back")) and end - begin > DAY:
        half = begin + (end - begin) // 2
        return (half, half + DAY) if end - begin <= 2 * DAYS_A_WEEK * DAY else (half, end)
    return begin, max(end, begin + DAY)


def without(phrase: str, end: date) -> date:
    """Until when by "until June", "until 2012": where the month, season or year that is named begins, not its end."""
    if end.day != 1 or re.search(r"\b\d{1,2}(?:st|nd|rd|th)?\b", phrase):
        return end
    month = re.search(rf"\b(?:{words.any_of(words.MONTHS)})\b", phrase, re.IGNORECASE)
    if month is None and eras.SEASON.search(phrase) is None:
        return months_from(end, -MONTHS_A_YEAR) if re.search(r"\d{4}|\byear\b", phrase) else end
    return months_from(end, -1 if month else -3)


def moved_on(window: TimeWindow, now: datetime) -> tuple[date, date]:
    """The next such time, where "in October" or "on Thursday" is said of what is to come."""
    begin, end = middle(window)
    if window.end > now or FIXED.search(window.phrase):
        return begin, end
    if any(re.search(rf"\b{name}\b", window.phrase.lower()) for name in words.WEEKDAYS):
        return begin + DAYS_A_WEEK * DAY, end + DAYS_A_WEEK * DAY
    return months_from(begin, MONTHS_A_YEAR), months_from(end, MONTHS_A_YEAR)


def plain(rule: eras.Rule) -> Rule:
    """A rule for which it is the same whether a time is past or to come."""
    return lambda match, today, _: rule(match, today)


def of_rules(
    rules: Iterable[tuple[re.Pattern[str], Rule]], text: str, today: date, ahead: bool, *, taken: list[tuple[int, int]]
) -> Iterator[Read]:
    """What rules read, where nothing was read yet."""
    for pattern, rule in rules:
        for match in islice(pattern.finditer(text), 2 * MOST):
            if any(match.start() < stop and start < match.end() for start, stop in taken):
                continue
            to_come = ahead and lead(text, match.start(), match[0]) not in words.SINCE
            try:
                found = rule(match, today, to_come)
            except (ValueError, OverflowError):  # 30 February
                continue
            if found is not None:
                span = match.span("at" if "at" in pattern.groupindex else 0)
                if rule is dated:
                    found = of_weekday(text, span, found, today, ahead=to_come)
                taken.append(span)
                yield Read(*span, *found)


def lead(text: str, start: int, phrase: str) -> str:
    """The word that says how a time counts: its own first one, or the one before it, articles left out."""
    first = phrase.split(" ", 1)[0].lower()
    if first in SINCE | UNTIL:
        return first
    for word in reversed(re.findall(r"[a-z'_]+|[.,;:!?]", text[max(0, start - NEAR) : start].lower())):
        if word not in SKIPPED:
            return str(word)
    return ""


def joined(text: str, places: list[Read], calendar: Calendar, clock: tzinfo | None) -> list[Moment]:
    """Times as moments on the clock; "from Monday to Thursday" is one."""
    found: list[Moment] = []
    last: Read | None = None
    for place in places:
        before = lead(text, place.start, text[place.start : place.stop])
        try:
            begin, end = (calendar.at(day).replace(tzinfo=clock) for day in (place.begin, place.end))
        except ValueError:
            continue
        if last is not None and found and RANGE.match(text[last.stop : place.start]) and place.end > last.begin:
            found[-1] = found[-1]._replace(end=end, before="between")
        else:
            about = roughly(text, place.start, place.stop, place.begin, place.end)
            found.append(Moment(begin, end, "between" if spans(text, place) else before, about))
        last = place
    return found[:MOST]


def spans(text: str, place: Read) -> bool:
    """Whether a phrase holds two ends: "2010 to 2015"."""
    return (
        re.search(r"\d\S* ?(?:to|till|until|-|–|and) ?(?:[a-z]+ )?\S*\d", text[place.start : place.stop], re.IGNORECASE)
        is not None
    )


# --- rules ----------------------------------------------------------------------------------------------------------


def weekday(match: re.Match[str], today: date, ahead: bool) -> tuple[date, date]:
    """Saturday: the last one, or the next; today only where it is still to come."""
    number = words.WEEKDAYS[match["day"].lower()]
    days = (number - today.weekday()) % DAYS_A_WEEK if ahead else -((today.weekday() - number) % DAYS_A_WEEK)
    found = today + (days or (0 if ahead else -DAYS_A_WEEK)) * DAY
    return found, found + DAY


def day_of_month(match: re.Match[str], today: date, ahead: bool) -> tuple[date, date] | None:
    """The 15th: of this month or one beside it."""
    for months in (0, 1, 2) if ahead else (0, -1, -2):
        try:
            found = months_from(today.replace(day=1), months).replace(day=int(match["number"]))
        except ValueError:
            continue
        if (found >= today) if ahead else (found <= today):
            return found, found + DAY
    return None


def dated(match: re.Match[str], today: date, ahead: bool) -> tuple[date, date]:
    """4 may, where a small letter hides the month."""
    written = match["number"].lower()
    day = ORDINALS.index(written) + 1 if written in ORDINALS else int(written)
    found = nearest(lambda year: date(year, words.MONTHS[match["name"].lower()], day), today, ahead)
    return found, found + DAY


def month(match: re.Match[str], today: date, ahead: bool) -> tuple[date, date]:
    """September; last march."""
    step = (match["step"] or "").lower()
    ahead = step in {"next", "this"} or (ahead and step != "last")
    first = nearest(lambda year: date(year, words.MONTHS[match["name"].lower()], 1), today.replace(day=1), ahead)
    return first, months_from(first, 1)


def season(match: re.Match[str], today: date, ahead: bool) -> tuple[date, date]:
    """In the summer."""
    first = nearest(lambda year: date(year, words.SEASONS[match["name"].lower()], 1), today, ahead)
    return first, months_from(first, 3)


def seasons_ago(match: re.Match[str], today: date, _: bool) -> tuple[date, date]:
    """Two summers ago."""
    last, _end = season(match, today, ahead=False)
    first = months_from(last, -MONTHS_A_YEAR * (number(match["count"]) - 1))
    return first, months_from(first, 3)


def feast(match: re.Match[str], today: date, ahead: bool) -> tuple[date, date]:
    """Christmas, new year, Easter."""
    month_of, day = FEASTS[" ".join(match["name"].lower().split())]

    def of_year(year: int) -> date:
        return date(year, month_of, day) if month_of else easter(year) + day * DAY

    if match["year"]:
        found = of_year(int(match["year"]))
    else:
        step = (match["step"] or "").lower()
        found = nearest(of_year, today, step in {"next", "this"} or (ahead and step != "last"))
    return found, found + DAY


def nearest(of_year: Callable[[int], date], today: date, ahead: bool) -> date:
    """The next, or the last, of what comes once a year."""
    years = [of_year(today.year + step) for step in (-1, 0, 1)]
    return next(day for day in years if day >= today) if ahead else [day for day in years if day <= today][-1]


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar (Butcher's algorithm, as in Meeus, Astronomical Algorithms, 1991)."""
    a, b, c = year % 19, year // 100, year % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return date(year, f // 31, f % 31 + 1)


def coming(match: re.Match[str], today: date, ahead: bool) -> tuple[date, date] | None:
    """In two weeks; in a fortnight; three months from now."""
    if not ahead or is_duration(match.string.lower(), *match.span()):
        return None
    return around(match, today, 1)


def ago(match: re.Match[str], today: date, _: bool) -> tuple[date, date]:
    """A fortnight ago."""
    return around(match, today, -1)


def around(match: re.Match[str], today: date, sign: int) -> tuple[date, date]:
    """The day so many units away."""
    count, unit = number(match["count"]), match["unit"].lower().rstrip("s")
    unit, count = ("week", 2 * count) if unit == "fortnight" else ("year" if unit == "yr" else unit, count)
    calendar = Calendar(datetime(today.year, today.month, today.day, 12, tzinfo=ZoneInfo("UTC")), ZoneInfo("UTC"))
    found = calendar.shifted(unit, today, sign * count)
    return found, found + DAY


def weekend(_: re.Match[str], today: date, ahead: bool) -> tuple[date, date]:
    """At the weekend."""
    saturday = today + ((5 - today.weekday()) % DAYS_A_WEEK) * DAY
    if not ahead and saturday > today:
        saturday -= DAYS_A_WEEK * DAY
    return saturday, saturday + 2 * DAY


def short_year(match: re.Match[str], today: date, _: bool) -> tuple[date, date]:
    """'98, in '09."""
    year = today.year // 100 * 100 + int(match["two"])
    year -= 100 if year > today.year + 1 else 0
    return date(year, 1, 1), date(year + 1, 1, 1)


def year_range(match: re.Match[str], _: date, __: bool) -> tuple[date, date]:
    """2019-2021."""
    return date(int(match["first"]), 1, 1), date(int(match["last"]) + 1, 1, 1)


_COUNT = eras.COUNT
_UNIT = r"(?P<unit>days?|weeks?|months?|years?|yrs?|fortnights?)\b"
_NO_FEAST = (  # "a Christmas concert" is no time
    r"(?! (?!(?:and|or|with|at|in|on|for|this|last|next|we|i|he|she|they|it|but|when|so|was|is|if|then|to|as|again)\b)"
    r"[a-z])"
)
_NO_DAY = r"(?! (?:of|birthday|floor|time|grade|year|week|anniversary|century|place|street|st)\b)"
_A_MONTH = rf"(?:{words.any_of(words.MONTHS)})\b"
_DATE_FOLLOWS = rf" ?,? (?:on )?(?:the )?(?:\d{{1,2}}(?:(?:st|nd|rd|th)\b|(?: of)? {_A_MONTH})|{_A_MONTH} (?:the )?\d)"
_STEP = r"(?:(?P<step>last|next|this) )?"
PATTERNS: tuple[tuple[str, Rule], ...] = (
    (r"\b(?P<first>(?:1[0-9]|20)\d\d) ?[-–] ?(?P<last>(?:1[0-9]|20)\d\d)\b", year_range),
    (rf"\b{_STEP}(?P<name>{words.any_of(FEASTS)})(?: day)?\b(?: (?P<year>(?:19|20)\d\d))?{_NO_FEAST}", feast),
    (r"\b(?P<number>[1-3]?\d)(?:st|nd|rd|th)?(?: of)? (?P<name>mar|march|may)\b", dated),
    (rf"\b(?:the )?(?P<number>{'|'.join(ORDINALS)}) of (?P<name>{words.any_of(words.MONTHS)})\b", dated),
    (rf"\b(?:the )?(?P<number>[1-3]?\d)(?:st|nd|rd|th)\b{_NO_DAY}", day_of_month),
    (rf"\bin {_COUNT} {_UNIT}", coming),
    (rf"\b{_COUNT} {_UNIT} from now\b", coming),
    (rf"\b{_COUNT} {_UNIT} ago\b", ago),
    (rf"\b{_COUNT} (?P<name>{words.any_of(words.SEASONS)})s ago\b", seasons_ago),
    (rf"\b(?:(?:in|over|during|since|until|till) the|in) (?P<name>{words.any_of(words.SEASONS)})\b(?! of)", season),
    (r"\b(?:on|at|over|for) the weekend\b(?! of)", weekend),
    (rf"\b{_STEP}(?P<name>{SURE_MONTHS})\b(?! \d)(?!'s)", month),
    (r"\bfrom (?P<at>(?P<step>)(?P<name>march|may)) on(?:wards)?\b", month),
    (r"\b(?P<step>last|next|this) (?P<name>march|may)\b(?! \d)", month),
    (r"\b(?:in|since|from|until|of) ['’] ?(?P<two>\d\d)\b(?!s)", short_year),
    (rf"\b(?P<day>{words.any_of(FULL_DAYS)})\b(?!'s|s\b|{_DATE_FOLLOWS})", weekday),
    (rf"\b(?:on|until|till|til|by|since|from|this) (?P<day>{words.any_of(SHORT_DAYS)})\b(?!{_DATE_FOLLOWS})", weekday),
)
RULES = tuple((re.compile(pattern, re.IGNORECASE), rule) for pattern, rule in PATTERNS)
"""What is tried, in this order."""
