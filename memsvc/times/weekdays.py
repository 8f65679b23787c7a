"""The weekday beside a date without a year tells its year: "Friday, 4 December", "Freitag, den 4. Dezember"."""

from __future__ import annotations

import re
from datetime import date, timedelta

from memsvc.times import words

NEAR_DAYS = 62
"""A weekday outweighs the tense for days that are no further away: "she moved it to Friday, 4 December"."""
_LONG = {name: number for name, number in words.WEEKDAYS.items() if name not in words.SHORT}
_SHORT_GERMAN = {"mo": 0, "di": 1, "mi": 2, "do": 3, "fr": 4, "sa": 5, "so": 6}
_SHORT = {name: words.WEEKDAYS[name] for name in words.SHORT} | _SHORT_GERMAN
_NUMBERS = _LONG | _SHORT
_LONG_NAME = rf"(?P<day>{words.any_of(_LONG)})"
_SHORT_NAME = rf"(?P<day>{words.any_of(name.capitalize() for name in _SHORT)})\.?"
_LINK = r" ?,? (?:(?:on|the|den|dem|der) ){0,2}"
_BEFORE = (
    re.compile(rf"\b{_LONG_NAME}{_LINK}$", re.IGNORECASE),
    re.compile(rf"\b{_SHORT_NAME}{_LINK}$"),
)
_AFTER = (
    re.compile(
        rf" ?,? ?\(? ?(?:(?:that is|that's|it's|which is|is|das ist|ist|ein|an?) ){{0,2}}{_LONG_NAME}\b", re.IGNORECASE
    ),
    re.compile(rf" ?,? ?\(? ?{_SHORT_NAME}(?!\w)"),
)
_LOOK = 30


def weekday_beside(text: str, start: int, stop: int) -> int | None:
    """The weekday that stands right before or after a date, 0 (Monday) to 6; None: there is none.

    Args:
        text: with single spaces; short names count with a capital, so its capitals must be there.
        start: of the date.
        stop: its end.
    """
    before, after = text[max(0, start - _LOOK) : start], text[stop : stop + _LOOK]
    for found in (*(one.search(before) for one in _BEFORE), *(one.match(after) for one in _AFTER)):
        if found is not None:
            return _NUMBERS[found["day"].lower()]
    return None


def year_by_weekday(weekday: int, day: date, today: date) -> date | None:
    """The day of the same month that is this weekday: this year, the last one or the next; None: in none of them."""
    for year in (today.year, today.year + 1, today.year - 1):
        try:
            found = day.replace(year=year)
        except ValueError:  # 29 February
            continue
        if found.weekday() == weekday:
            return found
    return None


def meant_by_weekday(text: str, place: tuple[int, int], day: date, today: date, *, ahead: bool) -> date | None:
    """The day of the year that the weekday beside a date tells; None: it tells none, or one against the tense.

    Args:
        text: with single spaces.
        place: of the date in it.
        day: a day of that month, of any year.
        today: when it was said.
        ahead: the tense speaks of what is to come; a day within two months counts all the same.
    """
    weekday = weekday_beside(text, *place)
    found = year_by_weekday(weekday, day, today) if weekday is not None else None
    if found is None:
        return None
    near = abs(found - today) <= timedelta(NEAR_DAYS)
    return found if near or (found >= today) == ahead else None
