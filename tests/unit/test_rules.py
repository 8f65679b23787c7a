"""Rules by which something is done again, on clocks that are put forward and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.errors import InvalidRequestError
from memsvc.times.recurrence import read_recurrence
from memsvc.times.rules import read_rule

ZONES = st.sampled_from(
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "Asia/Kathmandu", "Africa/Cairo"]
).map(ZoneInfo)
MOMENTS = st.integers(0, 3 * 366 * 24 * 60).map(
    lambda minutes: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)
DAYS: tuple[tuple[int, int], ...] = ((3, 7), (3, 28), (10, 24), (10, 31), (4, 4), (10, 3))
NEAR_CHANGES = st.builds(
    lambda day, minutes: datetime(2026, day[0], day[1], tzinfo=UTC) + timedelta(minutes=minutes),
    st.sampled_from(DAYS),
    st.integers(0, 3 * 24 * 60),
)
"""Near the nights in which clocks are put forward or back."""
ANY = MOMENTS | NEAR_CHANGES
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@given(ANY, ANY, ZONES, st.integers(1, 30), st.sampled_from(["hour", "minute"]))
def test_hours_and_minutes_pass_alike_whatever_the_clock_does(
    start: datetime, after: datetime, zone: ZoneInfo, number: int, unit: str
) -> None:
    step = number * (HOUR if unit == "hour" else MINUTE)
    found = read_rule(f"every {number} {unit}s").after(after, start.astimezone(zone))
    assert found is not None
    begun = max(after, start - MINUTE)
    assert begun < found <= begun + max(step, MINUTE)
    assert (found - start) % step == timedelta(0)


@given(ANY, ZONES, st.integers(0, 23), st.integers(0, 59))
def test_a_time_of_day_comes_once_each_day(after: datetime, zone: ZoneInfo, hour: int, minute: int) -> None:
    rules = [
        read_rule(f"RRULE:FREQ=DAILY;BYHOUR={hour};BYMINUTE={minute}"),
        read_rule(f"{minute} {hour} * * *"),
        read_rule(f"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR={hour};BYMINUTE={minute}"),
    ]
    start = (after - timedelta(days=40)).replace(second=0).astimezone(zone)
    seen = []
    for rule in rules:
        moments, moment = [], after
        for _ in range(4):
            found = rule.after(moment, start)
            assert found is not None
            moments.append(found.astimezone(UTC))
            moment = found
        seen.append(moments)
    assert seen[0] == seen[1] == seen[2]
    days = [one.astimezone(zone).date() for one in seen[0]]
    assert days == [days[0] + timedelta(days=ahead) for ahead in range(4)]
    for one in seen[0]:
        local = one.astimezone(zone)
        asked = datetime(local.year, local.month, local.day, hour, minute, tzinfo=zone)
        is_left_out = asked.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != asked.replace(tzinfo=None)
        assert is_left_out or (local.hour, local.minute, local.fold) == (hour, minute, 0)


FIELDS = st.tuples(
    st.sampled_from(["*/15", "0", "5,35", "7-9"]),
    st.sampled_from(["*", "*/3", "2", "1-4", "0,23"]),
    st.sampled_from(["*", "1", "29-31"]),
    st.sampled_from(["*", "mar,oct,nov", "4"]),
    st.sampled_from(["*", "sun", "1-5", "7"]),
).map(" ".join)


NAMES = {"mar": 3, "oct": 10, "nov": 11, "sun": 7}


def among(field: str, number: int) -> bool:
    """Whether a field of cron means a number."""
    for part in field.split(","):
        whole, _, step = part.partition("/")
        if whole == "*":
            if number % int(step or 1) == 0:
                return True
            continue
        first, _, last = (NAMES.get(word) or word for word in whole.partition("-"))
        if int(first) <= number <= int(last or first):
            return True
    return False


@given(FIELDS, NEAR_CHANGES, ZONES)
def test_cron_is_what_a_clock_that_is_looked_at_each_minute_says(text: str, after: datetime, zone: ZoneInfo) -> None:
    """The model of what the rules say, a minute at a time; times that a gap leaves out are another test's."""
    minute, hour, day, month, weekday = text.split()

    def means(moment: datetime) -> bool:
        local = moment.astimezone(zone)
        if not (among(minute, local.minute) and among(hour, local.hour) and among(month, local.month)):
            return False
        days = among(day, local.day), among(weekday, local.isoweekday())
        is_repeated = hour[0] != "*" and local.fold
        return not is_repeated and (any(days) if "*" not in {day, weekday} else all(days))

    moments = [after + timedelta(minutes=ahead) for ahead in range(1, 2 * 24 * 60)]
    expected = next((moment for moment in moments if means(moment)), None)
    found = read_rule(text).after(after, after.astimezone(zone))
    if found is not None and not means(found):  # in the gap of a clock that is put forward
        assert expected is None or found <= expected
        assert hour[0] != "*"
    elif expected is not None:
        assert found == expected.astimezone(zone)
    else:
        assert found is None or found > moments[-1]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [  # examples of RFC 5545, section 3.8.5.3
        ("FREQ=DAILY;COUNT=3", ["02 Sep 97 09", "03 Sep 97 09", "04 Sep 97 09"]),
        ("FREQ=DAILY;UNTIL=19970904T000000Z", ["02 Sep 97 09", "03 Sep 97 09"]),
        ("FREQ=WEEKLY;INTERVAL=2;WKST=SU;COUNT=3;BYDAY=TU,TH", ["02 Sep 97 09", "04 Sep 97 09", "16 Sep 97 09"]),
        ("FREQ=MONTHLY;COUNT=3;BYDAY=1FR", ["05 Sep 97 09", "03 Oct 97 09", "07 Nov 97 09"]),
        ("FREQ=MONTHLY;COUNT=2;BYDAY=-2MO", ["22 Sep 97 09", "20 Oct 97 09"]),
        ("FREQ=MONTHLY;BYMONTHDAY=-3;COUNT=2", ["28 Sep 97 09", "29 Oct 97 09"]),
        ("FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", ["04 Sep 97 09", "07 Oct 97 09", "06 Nov 97 09"]),
        ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=2", ["13 Feb 98 09", "13 Mar 98 09"]),
        ("FREQ=YEARLY;COUNT=3;BYMONTH=6,7", ["02 Jun 98 09", "02 Jul 98 09", "02 Jun 99 09"]),
        ("FREQ=YEARLY;BYDAY=20MO;COUNT=2", ["18 May 98 09", "17 May 99 09"]),
        ("FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=2,3,4,5,6,7,8;BYDAY=TU;COUNT=2", ["04 Nov 97 09", "03 Nov 98 09"]),
        ("FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z", ["02 Sep 97 09", "02 Sep 97 12"]),
        ("FREQ=MONTHLY;BYDAY=5MO;COUNT=2", ["29 Sep 97 09", "29 Dec 97 09"]),
        ("FREQ=MONTHLY;BYDAY=-5MO;COUNT=2", ["01 Dec 97 09", "02 Mar 98 09"]),
    ],
)  # fmt: skip
def test_recurrences_are_those_of_the_standard(rule: str, expected: list[str]) -> None:
    start = datetime(1997, 9, 2, 9, tzinfo=ZoneInfo("America/New_York"))
    assert [f"{one:%d %b %y %H}" for one in islice(read_recurrence(rule).moments(start), 10)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "every", "every 0 hours", "every 2 fortnights", "FREQ=SECONDLY", "FREQ=DAILY;COUNT=3", "every ² hours",
        "FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;BYHOUR=24", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "0 0 30 2 *", "* * * *",
        "60 * * * *", "*/0 * * * *", "5-1 * * * *", "0 0 * * 8", "FREQ=WEEKLY;BYDAY=2TU", "FREQ=YEARLY;BYWEEKNO=20",
        "FREQ=DAILY;FREQ=DAILY", "FREQ=DAILY;EVIL=1", "0 " * 300, "FREQ=DAILY;INTERVAL=²", "FREQ=MONTHLY;BYMONTHDAY=0",
    ],
)  # fmt: skip
def test_what_is_no_rule_or_never_comes_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequestError):
        read_rule(text)
