"""Plans: the moments that a text speaks of and that were still to come, with their hour, across a change of clocks."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.recall.due import asked_spans
from memsvc.times.dates import DAY
from memsvc.times.plans import LONGEST, coming_dates, plans
from memsvc.times.relative import relative_times
from memsvc.times.telling import NOTHING, TELLING_IN_SQL, marks

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


TUESDAY = datetime(2026, 11, 10, 14, 0, tzinfo=BERLIN)


@pytest.mark.parametrize(
    "text",
    [
        "We met Ben on 3 November", "On 3 December, we met Ben", "We met Ben on 3 December.",
        "The due date was 5 December",
        "We had an appointment on 3 December", "I was going to see her on 3 December",
        "The trip on 3 December was great",
        "The essay was due 5 December last year", "Due 5 December last year", "last year on 5 December",
        "Due 5 December of last year", "5. Dezember letzten Jahres", "Wir trafen Ben am 3. Dezember",
        "Wir haben Ben am 3. Dezember getroffen", "我们12月3日见了本", "We met Ben today at 9", "We saw Ben on Friday",
        "I will tell you whom we met on 3 December", "Call the man I met on Friday", "on 5 December, 2024 at 9",
    ],
)  # fmt: skip
def test_what_is_told_in_the_past_tense_is_no_plan(text: str) -> None:
    assert [(plan.words, str(plan.begins)) for plan in plans(text, TUESDAY, BERLIN)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("due 5 December", "2026-12-05"),
        ("due 5 December next year", "2027-12-05"),
        ("Next year on 5 December we move", "2027-12-05"),
        ("5. Dezember nächsten Jahres", "2027-12-05"),
        ("the rent is due on 5 December this year", "2026-12-05"),
        ("I told Ben that I will meet him on 3 December", "2026-12-03"),
        ("I told Ben that we meet on Friday", "2026-11-13"),
        ("We met Ben on 3 November, and I will see Ann on 5 December", "2026-12-05"),
        ("We met Ben. Dentist on 5 December.", "2026-12-05"),
        ("I got an appointment on 3 December at 9", "2026-12-03 09:00"),
        ("We booked a table for 3 August", "2027-08-03"),
        ("We booked a table on 3 December", "2026-12-03"),
        ("They moved the exam to 3 August", "2027-08-03"),
        ("Ich habe am 3. Dezember um 9 einen Termin", "2026-12-03 09:00"),
        ("Remind me on 5 December of the talk that we gave", "2026-12-05"),
        ("I was out last night, dentist tomorrow at 9", "2026-11-11 09:00"),
        ("Great evening yesterday. Dentist tomorrow at 9.", "2026-11-11 09:00"),
        ("dinner at 7 in the evening tomorrow", "2026-11-11 19:00"),
        ("Call Dr. Kim tomorrow at 9 a.m. about it", "2026-11-11 09:00"),
        ("Dentist Nov. 23 at 9", "2026-11-23 09:00"),
        ("13 November 2026 is over there, on 3 November 2027 we go", "2026-11-13 2027-11-03"),
        ("Dentist tomorrow, haircut on Friday at 9", "2026-11-11 2026-11-13 09:00"),
    ],
)
def test_the_clause_and_the_year_beside_a_date_decide(text: str, expected: str) -> None:
    found = plans(text, TUESDAY, BERLIN)
    assert " ".join(f"{plan.begins:%Y-%m-%d %H:%M}".removesuffix(" 00:00") for plan in found) == expected


def test_a_birthday_in_another_clause_makes_no_date_yearly() -> None:
    found = plans("It's my birthday today, and I must see the dentist on 5 December", TUESDAY, BERLIN)
    assert [(plan.words, plan.yearly) for plan in found] == [("5 December", False)]


def test_a_date_is_looked_for_where_it_stands() -> None:
    [first, second] = plans("Dentist on 13 November, and 3 December at 9 the exam", TUESDAY, BERLIN)
    assert (first.timed, second.timed) == (False, True)


PIECES = re.findall(
    r"\S+",
    "tomorrow on 3 3rd 3. May Nov. of the Friday at 9:30 pm next week weekend today 2027-05-03 5/7/2027 am Montag "
    "morgen übermorgen 明天 下周三 12月3日 last day in days first monat MÄRZ until ?.",
)


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_what_has_no_marks_has_no_plans(said: list[str]) -> None:
    text = " ".join(said)
    if marks(text) is NOTHING:
        assert relative_plans(text) == []
    else:
        patterns = [pattern.replace(r"\y", r"\b") for pattern in TELLING_IN_SQL]
        assert any(re.search(pattern, text.lower()) for pattern in patterns), "the database would not give it"


def relative_plans(text: str) -> list[object]:
    """Days of a text that a plan may mean, whatever its marks."""
    times = [one for one in relative_times(text, TUESDAY, ahead=True) if one.end > TUESDAY.date()]
    dates = [one for one in coming_dates(" ".join(text.split()), TUESDAY, BERLIN) if one[3] > TUESDAY.date()]
    return [one for one in times if one.end - one.begin <= LONGEST] + [one for one in dates if one[3] - one[2] == DAY]


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
        ("What did I have to do on 3 September?", "2026-09-03", "2026-09-04"),
        ("What did I have to do on Friday?", "2026-10-23", "2026-10-24"),
        ("Was musste ich am 3. September machen?", "2026-09-03", "2026-09-04"),
        ("What was I supposed to do on 26 October?", "2026-10-26", "2026-10-27"),
        ("What was I supposed to do on 22 October?", "2026-10-22", "2026-10-23"),
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
