"""Elapsed time as people count it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.times.elapsed import elapsed, last_spoke

BERLIN = ZoneInfo("Europe/Berlin")


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("since", "now", "expected"),
    [
        ("2026-03-18T00:05", "2026-03-18T23:55", "earlier today"),
        ("2026-03-17T23:50", "2026-03-18T00:10", "yesterday"),
        ("2026-03-17T00:10", "2026-03-18T23:50", "yesterday"),
        ("2026-03-16T23:50", "2026-03-18T00:10", "2 days"),
        ("2026-03-28T23:30", "2026-03-29T23:30", "yesterday"),  # 23 hours later by the clock that went forward
        ("2026-10-24T00:10", "2026-10-25T23:50", "yesterday"),  # 48 hours and 40 minutes: the clock went back
        ("2026-03-05T12:00", "2026-03-18T11:00", "13 days"),
        ("2026-03-04T12:00", "2026-03-18T11:00", "2 weeks"),
        ("2026-01-19T12:00", "2026-03-18T11:00", "8 weeks"),
        ("2026-01-18T12:00", "2026-03-18T11:00", "2 months"),
        ("2025-12-31T12:00", "2026-02-28T11:00", "2 months"),
        ("2025-07-19T12:00", "2026-03-18T11:00", "7 months"),
        ("2024-03-19T12:00", "2026-03-18T11:00", "23 months"),
        ("2024-02-29T12:00", "2026-02-28T11:00", "2 years"),
        ("2026-03-19T00:10", "2026-03-18T23:50", "in the future"),
    ],
)
def test_days_are_those_of_the_calendar(since: str, now: str, expected: str) -> None:
    assert elapsed(moment(since), moment(now), BERLIN) == expected


def test_the_clock_is_the_users_wherever_it_was_said() -> None:
    """Said in New York at 20:00, which was two in the night in Berlin; an hour later it is 03:00 in Berlin."""
    said = datetime(2026, 7, 1, 20, tzinfo=ZoneInfo("America/New_York"))
    now = datetime(2026, 7, 2, 1, tzinfo=UTC)
    assert elapsed(said, now, BERLIN) == "earlier today"
    assert elapsed(said, now + timedelta(hours=3), ZoneInfo("America/New_York")) == "yesterday"


def test_when_you_last_spoke() -> None:
    now = moment("2026-03-18T12:00")
    assert last_spoke(moment("2026-03-15T23:00"), now, BERLIN) == "3 days since you last spoke"
    assert last_spoke(moment("2026-03-17T23:00"), now, BERLIN) == "You last spoke yesterday"


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)), st.integers(2, 40_000))  # noqa: DTZ001
def test_what_is_said_is_never_more_than_what_has_passed(since: datetime, days: int) -> None:
    count, unit = elapsed(since, since + timedelta(days), ZoneInfo("UTC")).split()
    shortest, longest = {"days": (1, 1), "weeks": (7, 8), "months": (28, 32), "years": (365, 549)}[unit]
    assert int(count) > 1
    assert int(count) * shortest <= days < int(count) * longest + (1 if unit == "days" else 32)
