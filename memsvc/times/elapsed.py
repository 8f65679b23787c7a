"""How long ago something was, as people count it: in calendar days, not in hours."""

from __future__ import annotations

from datetime import date, datetime, tzinfo

from memsvc.times.calendar import DAYS_A_WEEK, MONTHS_A_YEAR, months_from

TODAY, YESTERDAY, FUTURE = "earlier today", "yesterday", "in the future"
WEEKS_FROM, MONTHS_FROM, YEARS_FROM = 2 * DAYS_A_WEEK, 2, 2 * MONTHS_A_YEAR
"""Numbers of days from which weeks are used, and of months from which months and then years are used."""


def elapsed(since: datetime, now: datetime, zone: tzinfo) -> str:
    """Return the time since a moment: "earlier today", "yesterday", "3 days", "2 weeks", "8 months", "2 years".

    Args:
        since: aware, in any zone.
        now: aware; if it is on the next calendar day, ``since`` is yesterday, even after twenty minutes. If ``since``
            is on a later day, the result is "in the future".
        zone: the user's present time zone; both moments are converted to it.
    """
    first, last = since.astimezone(zone).date(), now.astimezone(zone).date()
    days = (last - first).days
    if days <= 1:
        return FUTURE if days < 0 else YESTERDAY if days else TODAY
    months = months_between(first, last)
    if days < WEEKS_FROM:
        count, unit = days, "day"
    elif months < MONTHS_FROM:
        count, unit = days // DAYS_A_WEEK, "week"
    elif months < YEARS_FROM:
        count, unit = months, "month"
    else:
        count, unit = months // MONTHS_A_YEAR, "year"
    return f"{count} {unit}s"


def months_between(first: date, last: date) -> int:
    """Return the whole calendar months between two days; a month from the 31st ends on the last day of the next."""
    months = (last.year - first.year) * MONTHS_A_YEAR + last.month - first.month
    return months - (months_from(first, months) > last)


def last_spoke(since: datetime, now: datetime, zone: tzinfo) -> str:
    """Return a line for an assistant: "3 days since you last spoke", "You last spoke yesterday"."""
    time = elapsed(since, now, zone)
    return f"You last spoke {time}" if time in {TODAY, YESTERDAY, FUTURE} else f"{time} since you last spoke"
