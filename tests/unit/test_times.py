"""Times that clients send: with an offset, on the user's clock, across summer time, and wrong ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.errors import InvalidTimeError
from memsvc.sources.times import now_in, parse_time

BERLIN = ZoneInfo("Europe/Berlin")
KOLKATA = ZoneInfo("Asia/Kolkata")


@pytest.mark.parametrize(
    ("value", "utc", "offset"),
    [
        ("2026-03-14T09:30:00+01:00", "2026-03-14T08:30:00", 60),
        ("2026-03-14T09:30:00Z", "2026-03-14T09:30:00", 0),
        ("2026-03-14 09:30:00.25-03:30", "2026-03-14T13:00:00.250000", -210),
        ("20260314T093000+0545", "2026-03-14T03:45:00", 345),
        (" 2026-03-14T09:30+14:00\n", "2026-03-13T19:30:00", 840),
    ],
)
def test_an_offset_is_kept_and_nothing_is_assumed(value: str, utc: str, offset: int) -> None:
    said = parse_time(value, BERLIN)
    assert said.moment.astimezone(UTC) == datetime.fromisoformat(utc).replace(tzinfo=UTC)
    assert (said.offset_minutes, said.assumed) == (offset, False)


@pytest.mark.parametrize(
    ("value", "zone", "utc", "offset"),
    [
        ("2026-01-14T09:30:00", BERLIN, "2026-01-14T08:30:00", 60),
        ("2026-07-14T09:30:00", BERLIN, "2026-07-14T07:30:00", 120),
        ("2026-07-14", KOLKATA, "2026-07-13T18:30:00", 330),
        ("2026-07-14T09:30", ZoneInfo("UTC"), "2026-07-14T09:30:00", 0),
        # 02:30 came twice on this night: the first one, still in summer time, is taken.
        ("2026-10-25T02:30:00", BERLIN, "2026-10-25T00:30:00", 120),
        # 02:30 did not exist on this night: the clock from before the change is taken.
        ("2026-03-29T02:30:00", BERLIN, "2026-03-29T01:30:00", 60),
    ],
)
def test_a_time_without_an_offset_is_on_the_users_clock(value: str, zone: ZoneInfo, utc: str, offset: int) -> None:
    said = parse_time(value, zone)
    assert said.moment.astimezone(UTC) == datetime.fromisoformat(utc).replace(tzinfo=UTC)
    assert (said.offset_minutes, said.assumed) == (offset, True)


@pytest.mark.parametrize(
    "value",
    [
        "", " ", "tomorrow", "2026-02-30", "2025-02-29T10:00:00", "2026-13-01", "2026-03-14T25:00:00", "14.03.2026",
        "2026-03-14T09:30:00+25:00", "1773480600", "2026-03-14T09:30:00 CET", "2026", "٢٠٢٦-٠٣-١٤",
        "2026-03-14T09:30:00\0",
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused_and_shown(value: str) -> None:
    with pytest.raises(InvalidTimeError) as caught:
        parse_time(value, BERLIN)
    assert repr(value) in caught.value.message


@pytest.mark.parametrize("value", ["0999-12-31T23:59:59", "0001-01-01", "9000-01-01", "9999-12-31T23:59:59Z"])
def test_years_that_the_database_might_not_hold_are_refused(value: str) -> None:
    with pytest.raises(InvalidTimeError, match="1000 to 9000"):
        parse_time(value, BERLIN)


@pytest.mark.parametrize(
    "value", ["1000-01-01", "8999-12-31T23:59:59", "1000-01-01T00:00:00+14:00", "8999-12-31T23:59-14:00"]
)
def test_years_at_the_edge_are_taken(value: str) -> None:
    assert abs(parse_time(value, BERLIN).offset_minutes) <= 14 * 60


def test_a_refusal_shows_no_more_than_the_beginning() -> None:
    with pytest.raises(InvalidTimeError) as caught:
        parse_time("x" * 10_000, BERLIN)
    assert len(caught.value.message) < 200


@given(
    st.datetimes(datetime(1000, 1, 2), datetime(8999, 12, 30)),  # noqa: DTZ001 - hypothesis adds the zone
    st.integers(-14 * 60, 14 * 60),
)
def test_what_was_written_is_what_is_read(naive: datetime, minutes: int) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    said = parse_time(moment.isoformat(), KOLKATA)
    assert (said.moment, said.offset_minutes, said.assumed) == (moment, minutes, False)


def test_now_is_on_the_users_clock() -> None:
    said = now_in(KOLKATA)
    assert (said.offset_minutes, said.assumed) == (330, False)
    assert abs(datetime.now(UTC) - said.moment) < timedelta(seconds=5)
