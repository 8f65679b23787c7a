"""When an instruction counts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memsvc.times.conditions import Occasion, holds, read_when, why

SATURDAY = datetime(2026, 3, 14, 23, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({}, True),
        ({"keywords": ["OAK"]}, True),
        ({"keywords": ["oa"]}, False),
        ({"keywords": ["elm", "the oak"]}, True),
        ({"keywords": [" "]}, False),
        ({"keywords": ["o.k"]}, False),
        ({"keywords": ["木"]}, True),
        ({"between": ["23:00", "23:10"]}, False),
        ({"between": ["23:10", "23:11"]}, True),
        ({"between": ["22:00", "06:30"]}, True),
        ({"between": ["23:30", "06:30"]}, False),
        ({"weekdays": ["sat", "sun"]}, True),
        ({"weekdays": ["mon"]}, False),
        ({"event": "begin"}, False),
        ({"keywords": ["oak"], "weekdays": ["mon"]}, False),
        ({"keywords": ["oak"], "weekdays": ["sat"]}, True),
    ],
)
def test_all_that_a_condition_names_must_hold(when: dict[str, Any], expected: bool) -> None:
    read = read_when(when)
    assert read is not None
    assert holds(read, Occasion("About the oak! (木)", SATURDAY, begins=False)) is expected


def test_a_sitting_begins_and_the_reason_says_so() -> None:
    read = read_when({"event": "begin", "keywords": ["elm", "oak"], "between": ["23:00", "01:00"]})
    assert read is not None
    occasion = Occasion("An oak.", SATURDAY, begins=True)
    assert holds(read, occasion)
    assert why(read, occasion) == "says “oak”, from 23:00 to 01:00, a sitting begins"


@pytest.mark.parametrize(
    "when",
    [
        None, [], "oak", {"keyword": ["x"]}, {"between": ["25:00", "1"]}, {"event": "end"}, {"weekdays": [1]},
        {"between": ["08:00+02:00", "17:00+02:00"]}, {"between": ["08:00", "17:00Z"]},
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_no_condition(when: object) -> None:
    assert read_when(when) is None
