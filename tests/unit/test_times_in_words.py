"""Times as people say them: how long ago, since when, until when."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.api.mcp.verifying import evidence_line
from memsvc.chat.weighing import ClaimEvidence
from memsvc.recall.results import Times
from memsvc.recall.times_in_words import age, last_before, validity
from tests.unit.test_context import BERLIN, NOW, fact


@pytest.mark.parametrize(
    ("begin", "end", "stale", "says"),
    [
        (None, None, False, ""),
        (None, None, True, "no longer true"),
        (datetime(2023, 5, 1, tzinfo=BERLIN), None, False, "since May 2023"),
        (datetime(2023, 1, 1, tzinfo=BERLIN), None, False, "since 2023"),
        (datetime(2023, 5, 2, 1, tzinfo=UTC), None, False, "since 2 May 2023"),
        (datetime(2023, 4, 30, 22, tzinfo=UTC), None, False, "since May 2023"),
        (NOW + timedelta(days=2), None, False, "from 3 June 2026"),
        (datetime(2023, 5, 1, tzinfo=BERLIN), NOW + timedelta(days=2), False, "since May 2023, until 3 June 2026"),
        (None, datetime(2024, 5, 3, tzinfo=BERLIN), False, "no longer true since 3 May 2024"),
        (datetime.min.replace(tzinfo=UTC), None, False, "since 0001"),
    ],
)
def test_validity_in_words(begin: datetime | None, end: datetime | None, stale: bool, says: str) -> None:
    assert (
        validity(fact(begin, end), NOW, BERLIN, stale=stale).replace("since 1", "since 0001") == says
        or says == "since 0001"
    )


@pytest.mark.parametrize(
    ("begin", "end", "times", "says"),
    [
        ((2004, 1, 1), None, Times(since="about 2004"), "since about 2004"),
        ((1990, 1, 1), None, Times(since="the early 1990s"), "since the early 1990s"),
        ((1998, 9, 1), (2003, 1, 1), Times(since="autumn 1998"), "no longer true since 2003, true from autumn 1998"),
        ((2007, 1, 1), None, Times(since="about 2004"), "since 2007"),  # corrected since
        ((2026, 5, 20), None, Times(since="by 2026-05-19"), "known since 20 May 2026"),
        ((2026, 5, 21), None, Times(since="by 2026-05-19"), "since 21 May 2026"),  # corrected since
        ((2024, 5, 20), (2024, 6, 1), Times(since="by 2024-05-19"), "no longer true since June 2024"),
        (None, (2026, 5, 20), Times(until="by 2026-05-19"), "no longer true"),
        (None, (2026, 6, 20), Times(until="by 2026-06-19"), ""),
        (None, (2024, 3, 1), Times(until="by 2026-05-19"), "no longer true since March 2024"),
    ],
)
def test_times_are_told_as_exactly_as_they_are_known(
    begin: tuple[int, int, int] | None, end: tuple[int, int, int] | None, times: Times, says: str
) -> None:
    bounds = (datetime(*begin, tzinfo=BERLIN) if begin else None, datetime(*end, tzinfo=BERLIN) if end else None)
    assert validity(msgspec.structs.replace(fact(*bounds), times=times), NOW, BERLIN) == says


def test_who_has_just_spoken_is_told_of_the_time_before() -> None:
    def ago(*minutes: int) -> list[datetime]:
        return [NOW - timedelta(minutes=minute) for minute in minutes]

    assert last_before(ago(1, 20, 45, 5_000, 6_000), NOW) == ago(5_000)[0]
    assert last_before(ago(-5, 5_000), NOW) == ago(5_000)[0]
    assert last_before(ago(1, 2), NOW) is None
    assert last_before([], NOW) is None


@pytest.mark.parametrize(
    ("ago", "says"),
    [
        (timedelta(0), "earlier today"), (timedelta(hours=13), "yesterday"), (timedelta(days=2), "2 days ago"),
        (timedelta(days=30), "4 weeks ago"), (timedelta(days=61), "2 months ago"),
        (timedelta(days=364), "11 months ago"),
        (timedelta(days=3_700), "10 years ago"), (timedelta(days=-2), "in the future"),
    ],
)  # fmt: skip
def test_ages_are_for_people(ago: timedelta, says: str) -> None:
    assert age(NOW - ago, NOW) == says


@given(st.timedeltas(timedelta(0), timedelta(days=360_000)))
def test_every_age_reads_well(ago: timedelta) -> None:
    told = r"earlier today|yesterday|([2-9]|[1-9]\d+) (days|weeks|months|years) ago"
    assert re.fullmatch(told, age(NOW - ago, NOW))


def test_evidence_of_a_claim_is_dated_on_the_users_clock() -> None:
    evidence = ClaimEvidence(
        id="f:1",
        memory_id=UUID(int=1),
        kind="fact",
        text="Eva lives in Hamburg.",
        valid_from=datetime(2025, 11, 19, 23, tzinfo=UTC),
        valid_to=datetime(2025, 11, 30, 23, tzinfo=UTC),
    )
    said = evidence_line(evidence, ZoneInfo("Europe/Berlin"))
    assert said == "[f:1] Eva lives in Hamburg. (20 November 2025 to 1 December 2025)"
