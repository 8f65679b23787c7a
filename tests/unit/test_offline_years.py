"""Dates without a year: the weekday beside them, the tense of the verb they belong to, and what is just past decide."""

from __future__ import annotations

from datetime import datetime
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from memsvc.extract.extraction import Fact
from memsvc.extract.offline.extractor import read
from memsvc.extract.window import Candidate, Turn, Window
from memsvc.times.plans import plans
from memsvc.times.reading import read_times
from memsvc.times.weekdays import weekday_beside
from tests.unit.test_offline_facts import ONTOLOGY, SURE

BERLIN = ZoneInfo("Europe/Berlin")
WEDNESDAY = datetime(2026, 11, 25, 10, tzinfo=BERLIN)
MAY = datetime(2026, 5, 17, 18, tzinfo=BERLIN)
WINTER = datetime(2025, 12, 30, 21, 30, tzinfo=BERLIN)


def told(text: str, said_at: datetime, type_: str) -> Fact:
    """The first fact of a type that Sam tells."""
    turn = Turn(passage_id=uuid4(), speaker="Sam", role="user", text=text, said_at=said_at)
    owner = Candidate(number=0, node_id=uuid4(), label="Sam", type="Person")
    found = read(Window(turns=(turn,), candidates=(owner,), speakers={"Sam": 0}, ontology=ONTOLOGY))
    return next(fact for fact in found.facts if fact.type == type_ and fact.confidence >= SURE)


def since(text: str, said_at: datetime, type_: str) -> str:
    return f"{told(text, said_at, type_).since:%Y-%m-%d}"


@pytest.mark.parametrize(
    ("text", "type_", "expected"),
    [
        ("The dentist moved my appointment to Friday 4 December at 9.", "PARTICIPATED_IN", "2026-12-04"),
        ("I was at a concert on Friday 4 December.", "PARTICIPATED_IN", "2026-12-04"),
        ("I have an exam on Friday, 4 December.", "PARTICIPATED_IN", "2026-12-04"),
        ("I have an exam on Friday 4th.", "PARTICIPATED_IN", "2026-12-04"),
        ("I joined Bosch on Tuesday, 4 November.", "WORKS_AT", "2025-11-04"),
        ("I joined Bosch on Wed 4 Nov.", "WORKS_AT", "2026-11-04"),
        ("We moved to Ghent on Tuesday, November 4.", "LIVES_IN", "2025-11-04"),
        ("I started at Bosch on Friday, 1 May.", "WORKS_AT", "2026-05-01"),
        ("I went to a concert on Monday 3 May.", "PARTICIPATED_IN", "2026-05-03"),  # a Monday in 2027: a mistake
    ],
)
def test_a_weekday_decides_the_year(text: str, type_: str, expected: str) -> None:
    assert since(text, WEDNESDAY, type_) == expected


@pytest.mark.parametrize(
    "text",
    [
        "My dentist appointment was moved to 4 December.", "My dentist appointment has been moved to 4 December.",
        "They rescheduled my job interview to 4 December.", "They pushed my job interview back to 4 December.",
        "My interview got pushed to 4 December.", "They put my exam off until 4 December.",
        "They brought my exam forward to 4 December.", "She changed our meeting to 4 December.",
        "I got an appointment at the dentist for 4 December.", "I bought tickets for the concert on 4 December.",
        "I got an invitation to a wedding on 4 December.", "I've been invited to a wedding on 4 December.",
    ],
)  # fmt: skip
def test_a_past_verb_that_the_date_does_not_belong_to_looks_ahead(text: str) -> None:
    fact = told(text, WEDNESDAY, "PARTICIPATED_IN")
    assert (f"{fact.since:%Y-%m-%d}", f"{fact.until:%Y-%m-%d}") == ("2026-12-04", "2026-12-05")
    assert "takes part" in fact.sentence


@pytest.mark.parametrize(
    ("text", "type_", "expected"),
    [
        ("I moved to Ghent on 4 December.", "LIVES_IN", "2025-12-04"),
        ("We moved to Ghent for Christmas.", "LIVES_IN", "2025-12-25"),
        ("We moved to Ghent in May until 4 June.", "LIVES_IN", "2026-05-01"),
        ("I got a dog on 4 December.", "OWNS", "2025-12-04"),
        ("I went to a concert on 4 December.", "PARTICIPATED_IN", "2025-12-04"),
        ("I had an interview at Lidl on 4 December.", "PARTICIPATED_IN", "2025-12-04"),
        ("The party on 4 December was great.", "LIKES", "2025-12-04"),
        ("I visited Rome on 4 December.", "LOCATED_AT", "2025-12-04"),
        ("I have lived in Ghent since 4 December.", "LIVES_IN", "2025-12-04"),
    ],
)
def test_what_is_told_in_the_past_stays_past(text: str, type_: str, expected: str) -> None:
    assert since(text, WEDNESDAY, type_) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("On 4 June, which is a public holiday here, Rui and I set off by bike from Porto to Rome.", "2026-06-04"),
        ("Rui and I set off to Rome on 4 June.", "2026-06-04"),
        ("Rui set off to Rome on 4 June.", "2025-06-04"),
        ("I set off to Rome on 3 May.", "2026-05-03"),
        ("We set off to Rome on 4 November.", "2025-11-04"),
    ],
)
def test_a_past_that_looks_like_the_present_is_the_nearer_day(text: str, expected: str) -> None:
    fact = told(text, MAY, "LOCATED_AT")
    assert f"{fact.since:%Y-%m-%d}" == expected
    assert (" is in " in fact.sentence) == (expected == "2026-06-04")


@pytest.mark.parametrize(
    ("text", "type_", "expected"),
    [
        ("On 18 December they build gauges, the head office is in the HafenCity.", "LOCATED_AT", "2025-12-18"),
        ("I start at Bosch on 18 December.", "WORKS_AT", "2025-12-18"),
        ("We're in Rome on 20 December.", "LOCATED_AT", "2025-12-20"),
        ("I start at Bosch on 1 October.", "WORKS_AT", "2026-10-01"),
        ("I start at Bosch on 15 January.", "WORKS_AT", "2026-01-15"),
        ("I'll be in Rome on 18 December.", "LOCATED_AT", "2026-12-18"),
        ("I'm going to Rome on 18 December.", "LOCATED_AT", "2026-12-18"),
        ("My birthday is on 18 December.", "PARTICIPATED_IN", "2026-12-18"),
    ],
)
def test_a_present_statement_is_about_a_day_that_has_just_been(text: str, type_: str, expected: str) -> None:
    assert since(text, WINTER, type_) == expected


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("on Friday, 4 December", 4), ("Freitag, den 4 December", 4), ("Fr., 4 December", 4),
        ("4 December, a Friday", 4), ("4 December (Friday)", 4), ("4 December is a Sunday", 6),
        ("so 4 December", None), ("on 4 December", None),
        ("sun 4 December", None), ("Sun, 4 December", 6), ("4 December and Friday", None),
    ],
)  # fmt: skip
def test_the_weekday_beside_a_date(text: str, day: int | None) -> None:
    start = text.index("4 December")
    assert weekday_beside(text, start, start + len("4 December")) == day


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dentist on Friday, 4 December at 9", "2026-12-04"),
        ("Der Termin ist am Freitag, den 4. Dezember", "2026-12-04"),
        ("We met Ben on Tuesday, 4 November", ""),
        ("Exam on Monday, 3 May", "2027-05-03"),
        ("They moved the exam to Wednesday, 18 November", ""),
    ],
)
def test_plans_follow_the_weekday(text: str, expected: str) -> None:
    assert " ".join(f"{plan.begins:%Y-%m-%d}" for plan in plans(text, WEDNESDAY, BERLIN)) == expected


def test_questions_follow_the_weekday() -> None:
    found = read_times("What is on Friday, 4 December?", WEDNESDAY, BERLIN).windows
    assert [f"{one.begin:%Y-%m-%d}" for one in found] == ["2026-12-04"]
    found = read_times("What happened on Tuesday, 4 November?", WEDNESDAY, BERLIN).windows
    assert [f"{one.begin:%Y-%m-%d}" for one in found] == ["2025-11-04"]
