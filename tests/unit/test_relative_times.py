"""Words of time that move with the day: which are read, where they stand, and what they meant when they were said."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.times.plans import plans
from memsvc.times.relative import relative_times

FRIDAY = datetime(2026, 11, 20, 14, 0, tzinfo=timezone(timedelta(hours=-5)))
UTC_ZONE = ZoneInfo("UTC")
MONDAY = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)


def read(text: str, said_at: datetime = FRIDAY) -> dict[str, tuple[str, str]]:
    """Each phrase with its first and its last day."""
    return {
        text[time.start : time.stop]: (str(time.begin), str(time.end - timedelta(1)))
        for time in relative_times(text, said_at)
    }


@pytest.mark.parametrize(
    ("text", "phrase", "first", "last"),
    [
        ("call the plumber tomorrow at 9", "tomorrow", "2026-11-21", "2026-11-21"),
        ("we met yesterday evening", "yesterday evening", "2026-11-19", "2026-11-19"),
        ("see you tonight!", "tonight", "2026-11-20", "2026-11-20"),
        ("the storm last night", "last night", "2026-11-19", "2026-11-19"),
        ("it rained last week", "last week", "2026-11-09", "2026-11-15"),
        ("we moved last year", "last year", "2025-01-01", "2025-12-31"),
        ("in two weeks we move", "in two weeks", "2026-12-04", "2026-12-04"),
        ("two months from now", "two months from now", "2027-01-01", "2027-01-31"),
        ("three weeks ago", "three weeks ago", "2026-10-30", "2026-10-30"),
        ("I saw her on Monday", "Monday", "2026-11-16", "2026-11-16"),
        ("I'll see her on Monday", "Monday", "2026-11-23", "2026-11-23"),
        ("Dentist appointment on Wednesday at 9", "Wednesday", "2026-11-25", "2026-11-25"),
        ("Ich muss am Montag zum Arzt", "Montag", "2026-11-23", "2026-11-23"),
        ("übermorgen um 8", "übermorgen", "2026-11-22", "2026-11-22"),
        ("bitte morgen früh anrufen", "morgen früh", "2026-11-21", "2026-11-21"),
        ("vor drei Tagen", "vor drei Tagen", "2026-11-17", "2026-11-17"),
        ("nächste Woche", "nächste Woche", "2026-11-23", "2026-11-29"),
        ("我明天去看医生", "明天", "2026-11-21", "2026-11-21"),
        ("下周三开会", "下周三", "2026-11-25", "2026-11-25"),
        ("so  \n we go\t tomorrow", "tomorrow", "2026-11-21", "2026-11-21"),
    ],
)
def test_what_moves_with_the_day_is_read(text: str, phrase: str, first: str, last: str) -> None:
    assert read(text) == {phrase: (first, last)}


@pytest.mark.parametrize(
    "text",
    [
        "on 3 May 2026", "in May", "the summer of 2024", "Friday, 23 January", "2026-11-21",  # they stand still
        "recently", "a few days ago", "an hour ago", "in ten minutes",  # they say too little
        "today was fine", "this morning", "heute",  # the day that stands in front of the quote
        "the shop opens on Monday", "Mondays", "Friday's child",  # past or to come?
        "I read it in two weeks", "three weeks in a row", "twice in 3 days a week",  # how long, not when
        "Guten Morgen!", "am Morgen", "the next one", "last but not least", "I sat down", "",
    ],
)  # fmt: skip
def test_what_does_not_move_or_says_too_little_is_left_alone(text: str) -> None:
    assert read(text) == {}


def test_next_friday_said_on_a_monday_may_be_one_of_two() -> None:
    [time] = relative_times("let's meet next Friday", MONDAY)
    assert (time.begin, time.otherwise) == (date(2026, 11, 20), date(2026, 11, 27))
    [time] = relative_times("let's meet next Friday", FRIDAY)
    assert (time.begin, time.otherwise) == (date(2026, 11, 27), None)


def test_days_are_those_of_the_speakers_clock() -> None:
    late = datetime(2026, 11, 20, 23, 30, tzinfo=timezone(timedelta(hours=-8)))
    assert read("tomorrow", late) == {"tomorrow": ("2026-11-21", "2026-11-21")}
    assert read("tomorrow", late.astimezone(UTC)) == {"tomorrow": ("2026-11-22", "2026-11-22")}


def test_of_many_times_three_are_given_and_each_day_once() -> None:
    text = "tomorrow, tomorrow, yesterday, last week, next week, in three days"
    assert list(read(text)) == ["tomorrow", "yesterday", "last week"]


@given(st.text(st.sampled_from("tomorrow last week in two 9 vor on Monday 明天 \n\t İß[]().,!'’-"), max_size=80))
def test_places_lie_within_any_text(text: str) -> None:
    for time in relative_times(text, FRIDAY):
        assert 0 <= time.start < time.stop <= len(text)
        assert not text[time.start].isspace()
        assert not text[time.stop - 1].isspace()
        assert time.begin < time.end


@pytest.mark.parametrize(
    "text",
    [
        "Only for a meeting, on 9 July, there and back in a day", "We'll be there and back again in two days",
        "In a day there and back", "done in a week", "Read it in two days", "The house is built in three weeks",
        "Two hundred pages, read the book in two days", "You can do it in a day", "It is possible in two weeks",
        "I planned it in four days", "It is doable, in a week", "They walked it in 3 days flat",
        "in einem Tag hin und zurück", "Hin und zurück in einem Tag", "Das Buch in zwei Tagen gelesen",
        "Ich las es in zwei Tagen", "Das ist in einer Woche zu schaffen", "Man kann es in zwei Tagen machen",
    ],
)  # fmt: skip
def test_how_long_something_takes_is_no_day(text: str) -> None:
    assert read(text) == {}
    assert [plan.words for plan in plans(text, FRIDAY, UTC_ZONE) if plan.words != "9 July"] == []


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("I leave in a week", "in a week"),
        ("I'll be back in a week", "in a week"),
        ("It will be done in a week", "in a week"),
        ("The report has to be finished in two days", "in two days"),
        ("Can you remind me in two days?", "in two days"),
        ("I can come in a week", "in a week"),
        ("The exam is in two weeks", "in two weeks"),
        ("In a day we fly to Rome", "In a day"),
        ("We do the tour in two weeks", "in two weeks"),
        ("Ich fahre in einer Woche", "in einer Woche"),
        ("In zwei Tagen fahren wir hin", "In zwei Tagen"),
        ("Das wird in einer Woche erledigt", "in einer Woche"),
        ("Ich bin in einer Woche zurück", "in einer Woche"),
    ],
)
def test_when_something_is_stays_a_day(text: str, phrase: str) -> None:
    assert list(read(text)) == [phrase]
