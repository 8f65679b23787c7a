"""Plans: the moments that a text speaks of and that were still to come, with their hour, across a change of clocks."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.recall.agenda import asked_spans
from memsvc.times.plans import plans

BERLIN = ZoneInfo("Europe/Berlin")
SATURDAY = datetime(2026, 10, 24, 14, 0, tzinfo=timezone(timedelta(hours=2)))
"""The clocks go back in the night to Sunday."""


def read(text: str) -> list[str]:
    """The moments of a text's plans; days where no hour is told."""
    found = plans(text, SATURDAY, BERLIN)
    return [plan.begins.isoformat(timespec="minutes") if plan.timed else str(plan.begins.date()) for plan in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("remind me to buy milk tomorrow", "2026-10-25"),
        ("Dentist on Friday at 9", "2026-10-30T09:00+01:00"),
        ("Can you remind me tomorrow at 5 pm?", "2026-10-25T17:00+01:00"),
        ("See you tomorrow at the dentist at 9", "2026-10-25T09:00+01:00"),
        ("I have to confirm the menu today", "2026-10-24"),
        ("Dinner today at 19:30", "2026-10-24T19:30+02:00"),
        ("Meeting on 3 November at 14:30 with Jo", "2026-11-03T14:30+01:00"),
        ("Meeting on 3 December", "2026-12-03"),
        ("Mum's birthday is on 28 October", "2026-10-28"),
        ("dinner tomorrow evening at 7", "2026-10-25T19:00+01:00"),
        ("Ich muss am Montag um 8:40 zum Arzt", "2026-10-26T08:40+01:00"),
        ("明天下午3点看医生", "2026-10-25T15:00+01:00"),
        ("tomorrow for 3 weeks", "2026-10-25"),
        ("tomorrow at 25", "2026-10-25"),
    ],
)
def test_plans_are_read(text: str, expected: str) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "What was I supposed to do today?", "See you tomorrow!", "today was long", "yesterday I went there at 9",
        "I saw her on Monday", "next month we move", "on 3 May 2024 at 9", "at 9", "",
    ],
)  # fmt: skip
def test_questions_farewells_and_what_is_past_are_no_plans(text: str) -> None:
    assert read(text) == []


def test_a_speaker_elsewhere_keeps_the_clock_of_that_place() -> None:
    tokyo = datetime(2026, 10, 24, 23, 0, tzinfo=timezone(timedelta(hours=9)))
    [plan] = plans("call Jo tomorrow at 9", tokyo, BERLIN)
    assert plan.begins.astimezone(BERLIN).isoformat(timespec="minutes") == "2026-10-25T02:00+02:00"


@given(st.text(st.sampled_from("tomorrow on 3 May Friday at 9:30 pm 明天下午3点 ?.!\n"), max_size=60))
def test_any_text_is_read_without_failing(text: str) -> None:
    for plan in plans(text, SATURDAY, BERLIN):
        assert plan.begins <= plan.ends
        assert plan.timed == (plan.begins == plan.ends)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What was I supposed to do today?", "2026-10-24", "2026-10-25"),
        ("Do I have anything on tomorrow?", "2026-10-25", "2026-10-26"),
        ("Anything on today?", "2026-10-24", "2026-10-25"),
        ("What's on next week?", "2026-10-26", "2026-11-02"),
        ("Do I have an appointment on Friday?", "2026-10-30", "2026-10-31"),
        ("What did I have to do yesterday?", "2026-10-23", "2026-10-24"),
        ("Was steht heute an?", "2026-10-24", "2026-10-25"),
        ("What must I do on 3 December?", "2026-12-03", "2026-12-04"),
    ],
)
def test_a_question_for_plans_names_its_days(question: str, first: str, last: str) -> None:
    spans = [(str(begin.date()), str(end.date())) for begin, end in asked_spans(question, SATURDAY, BERLIN)]
    assert spans[0] == (first, last)


@pytest.mark.parametrize(
    "question", ["Where do we meet Ines?", "What was the weather like yesterday?", "What is my plan?", "hello", ""]
)
def test_other_questions_have_no_agenda(question: str) -> None:
    assert asked_spans(question, SATURDAY, BERLIN) == []
