"""When recurring work is due: by the clock of its user's zone, once a date, across every change of that clock."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cluster import Cluster
from tests.examples import some_of
from tests.sql.world import value

NEXT = "SELECT memsvc.next_run(%s, %s, %s::smallint[], %s)"
ZONES = sorted(zone for zone in available_timezones() if not zone.startswith(("posix", "right", "local", "Factory")))
DAY = timedelta(days=1)
# (zone, time, after, the next three runs), the runs on the zone's clock with their offset from UTC
CHANGES: list[tuple[str, str, str, list[str]]] = [
    ("UTC", "02:30", "2026-03-28T12:00Z", ["2026-03-29T02:30+00:00", "2026-03-30T02:30+00:00"]),
    # Spring: 02:00 is followed by 03:00.
    ("Europe/Berlin", "02:30", "2026-03-28T00:00Z",
     ["2026-03-28T02:30+01:00", "2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"]),
    ("Europe/Berlin", "02:00", "2026-03-28T12:00Z", ["2026-03-29T03:00+02:00", "2026-03-30T02:00+02:00"]),
    ("Europe/Berlin", "03:00", "2026-03-28T12:00Z", ["2026-03-29T03:00+02:00", "2026-03-30T03:00+02:00"]),
    # Autumn: 02:59 is followed by 02:00. The first of the two, and never the second.
    ("Europe/Berlin", "02:30", "2026-10-24T00:00Z",
     ["2026-10-24T02:30+02:00", "2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"]),
    ("Europe/Berlin", "02:30", "2026-10-25T00:30Z", ["2026-10-26T02:30+01:00"]),
    ("Europe/Berlin", "02:30", "2026-10-25T00:29:59Z", ["2026-10-25T02:30+02:00"]),
    ("Europe/Berlin", "02:30", "2026-10-25T01:29Z", ["2026-10-26T02:30+01:00"]),
    ("Europe/Berlin", "03:00", "2026-10-24T12:00Z", ["2026-10-25T03:00+01:00"]),
    ("America/New_York", "02:15", "2026-03-07T12:00Z", ["2026-03-08T03:00-04:00", "2026-03-09T02:15-04:00"]),
    ("America/New_York", "01:15", "2026-10-31T12:00Z", ["2026-11-01T01:15-04:00", "2026-11-02T01:15-05:00"]),
    # Half an hour: 02:00 becomes 02:30 in October, and 01:30 in April.
    ("Australia/Lord_Howe", "02:10", "2026-10-03T00:00Z", ["2026-10-04T02:30+11:00", "2026-10-05T02:10+11:00"]),
    ("Australia/Lord_Howe", "01:40", "2026-04-04T00:00Z", ["2026-04-05T01:40+11:00", "2026-04-06T01:40+10:30"]),
    # The gap is at midnight, or ends there.
    ("Africa/Cairo", "00:30", "2026-04-23T12:00Z", ["2026-04-24T01:00+03:00", "2026-04-25T00:30+03:00"]),
    ("America/Nuuk", "23:30", "2024-03-30T06:00Z", ["2024-03-31T00:00-01:00", "2024-03-31T23:30-01:00"]),
    # No 30 December 2011; 23 hours earlier, an offset of fourteen hours more.
    ("Pacific/Apia", "03:00", "2011-12-28T20:00Z", ["2011-12-29T03:00-10:00", "2011-12-31T03:00+14:00"]),
    ("Asia/Kathmandu", "00:05", "2026-01-01T00:00Z", ["2026-01-02T00:05+05:45"]),
    ("Pacific/Chatham", "02:50", "2026-09-26T00:00Z", ["2026-09-27T03:45+13:45", "2026-09-28T02:50+13:45"]),
    ("a zone that PostgreSQL does not know", "03:00", "2026-01-01T00:00Z", ["2026-01-01T03:00+00:00"]),
]  # fmt: skip


def next_run(
    admin: psycopg.Connection, zone: str, at: time | str, weekdays: list[int] | None, after: datetime
) -> datetime:
    found: datetime = value(admin, NEXT, [zone, at, weekdays, after])
    return found


@pytest.mark.parametrize(("zone", "at", "after", "runs"), CHANGES)
def test_clocks_that_are_turned(admin: psycopg.Connection, zone: str, at: str, after: str, runs: list[str]) -> None:
    moment = datetime.fromisoformat(after)
    for expected in runs:
        moment = next_run(admin, zone, at, None, moment)
        assert moment == datetime.fromisoformat(expected)


@pytest.mark.parametrize(
    ("weekdays", "runs"),
    [
        ([1], ["2026-03-30", "2026-04-06"]),
        ([7, 3], ["2026-03-29", "2026-04-01", "2026-04-05"]),
        ([1, 2, 3, 4, 5, 6, 7], ["2026-03-29", "2026-03-30"]),
        (None, ["2026-03-29", "2026-03-30"]),
    ],
)
def test_days_of_the_week(admin: psycopg.Connection, weekdays: list[int] | None, runs: list[str]) -> None:
    moment = datetime(2026, 3, 28, 12, tzinfo=UTC)  # a Saturday
    for day in runs:
        moment = next_run(admin, "Europe/Berlin", "04:00", weekdays, moment)
        assert moment.astimezone(ZoneInfo("Europe/Berlin")).isoformat()[:16] == f"{day}T04:00"


def test_a_day_of_the_week_that_was_skipped_comes_in_the_next_week(admin: psycopg.Connection) -> None:
    thursday = datetime(2011, 12, 29, 20, tzinfo=UTC)
    friday = next_run(admin, "Pacific/Apia", "03:00", [5], thursday)
    assert friday == datetime.fromisoformat("2012-01-06T03:00+14:00")


def test_the_callers_zone_changes_nothing(admin: psycopg.Connection) -> None:
    after = datetime(2026, 3, 28, 12, tzinfo=UTC)
    for zone in ("UTC", "America/New_York", "Pacific/Apia"):
        admin.execute("SELECT set_config('TimeZone', %s, false)", [zone])
        assert next_run(admin, "Europe/Berlin", "02:30", None, after) == datetime(2026, 3, 29, 1, tzinfo=UTC)


# Against a model --------------------------------------------------------------------------------------------------


def first_shown(zone: ZoneInfo, local: datetime) -> datetime | None:
    """The model: look at each minute in order, from the first zone's to the last one's, until the clock has come there.

    All changes of clocks since 1973 were on a whole minute. None: the clock never shows the date.
    """
    start = local.replace(tzinfo=UTC) - timedelta(hours=15)
    minutes = (start + timedelta(minutes=number) for number in range(28 * 60))
    reached = next(moment for moment in minutes if shown(zone, moment) >= local)
    if shown(zone, reached).date() > local.date() > shown(zone, reached - timedelta(minutes=1)).date():
        return None
    return reached


def shown(zone: ZoneInfo, moment: datetime) -> datetime:
    """What a clock shows."""
    return moment.astimezone(zone).replace(tzinfo=None)


def modelled(zone: ZoneInfo, at: time, weekdays: list[int] | None, after: datetime) -> datetime:
    day = shown(zone, after).date() - DAY
    while True:
        if weekdays is None or day.isoweekday() in weekdays:
            reached = first_shown(zone, datetime.combine(day, at))
            if reached is not None and reached > after:
                return reached
        day += DAY


def changes_of(zone: ZoneInfo, year: int) -> list[datetime]:
    """Moments in a year, to the hour, after which the zone has another offset."""
    hours = [datetime(year, 1, 1, tzinfo=UTC) + timedelta(hours=12 * number) for number in range(732)]
    return [
        before
        for before, later in pairwise(hours)
        if before.astimezone(zone).utcoffset() != later.astimezone(zone).utcoffset()
    ]


@st.composite
def moments(draw: st.DrawFn, zone: ZoneInfo) -> datetime:
    """Any moment, but mostly one within two days of a change of the zone's clock."""
    year = draw(st.integers(1973, 2037))
    near = draw(st.sampled_from(changes_of(zone, year) or [datetime(year, 7, 1, tzinfo=UTC)]))
    return near + timedelta(minutes=draw(st.integers(-2880, 2880)))


@pytest.mark.slow
@settings(max_examples=some_of(250), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_it_is_as_a_plain_model_says(admin: psycopg.Connection, known: set[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(ZONES))
    zone = ZoneInfo(name)
    after = data.draw(moments(zone))
    at = time(data.draw(st.integers(0, 4) | st.integers(0, 23)), data.draw(st.sampled_from([0, 15, 30, 45, 59])))
    weekdays = data.draw(st.none() | st.lists(st.integers(1, 7), min_size=1, max_size=3, unique=True))
    if not agreed(admin, known, name, after):
        return
    assert next_run(admin, name, at, weekdays, after) == modelled(zone, at, weekdays, after)


@pytest.fixture(scope="module")
def known(cluster: Cluster, database_name: str) -> set[str]:
    """The zones that PostgreSQL knows."""
    with psycopg.connect(cluster.admin_url(database_name)) as connection:
        return {row[0] for row in connection.execute("SELECT name FROM pg_timezone_names")}


def agreed(admin: psycopg.Connection, known: set[str], zone: str, after: datetime) -> bool:
    """Whether PostgreSQL's and Python's data about the zone agree around a moment; they may be of different years."""
    if zone not in known:
        return False
    hours = [after + timedelta(hours=number) for number in range(-72, 400, 1)]
    theirs = admin.execute(
        "SELECT m AT TIME ZONE %s FROM unnest(%s::timestamptz[]) WITH ORDINALITY AS t (m, n) ORDER BY n", [zone, hours]
    ).fetchall()
    return [row[0] for row in theirs] == [shown(ZoneInfo(zone), hour) for hour in hours]


def test_python_and_postgresql_agree_about_most_zones(admin: psycopg.Connection, known: set[str]) -> None:
    """Otherwise the test above tests little."""
    some = ZONES[:: len(ZONES) // 40]
    assert sum(agreed(admin, known, zone, datetime(2024, 6, 1, tzinfo=UTC)) for zone in some) > 0.9 * len(some)


@settings(max_examples=some_of(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(zone=st.sampled_from(ZONES), year=st.integers(1973, 2037), hour=st.integers(0, 23), minute=st.integers(0, 59))
def test_it_runs_once_on_each_date_of_a_year(
    admin: psycopg.Connection, zone: str, year: int, hour: int, minute: int
) -> None:
    """Each run is the one of its own date: no date twice, and none is left out but those that never came."""
    runs = [
        row[0]
        for row in admin.execute(
            """
            WITH RECURSIVE run AS (
              SELECT memsvc.next_run(%(zone)s, %(at)s, NULL, %(from)s) AS at
              UNION ALL
              SELECT memsvc.next_run(%(zone)s, %(at)s, NULL, run.at) FROM run WHERE run.at < %(to)s
            )
            SELECT at FROM run
            """,
            {
                "zone": zone, "at": time(hour, minute),
                "from": datetime(year, 1, 10, tzinfo=UTC), "to": datetime(year, 12, 20, tzinfo=UTC),
            },
        ).fetchall()
    ]  # fmt: skip
    steps = [later - sooner for sooner, later in pairwise(runs)]
    assert all(timedelta(0) < step < timedelta(hours=50) for step in steps)
    dates = (date(year, 12, 20) - date(year, 1, 10)).days
    assert dates - 1 <= len(runs) <= dates + 2
