"""Plans that a later message moved to another day: which are marked, and which are not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from memsvc.recall.moved import Told, later_messages
from memsvc.times.plans import plans

ZONE = ZoneInfo("Europe/Berlin")
BEGIN = datetime(2026, 11, 25, 10, tzinfo=UTC)


def marked(*texts: str, speakers: str = "") -> dict[str, str]:
    """The plans that a later message may have moved -> that message; texts are said one hour after the other."""
    told = [
        Told(UUID(int=number), speakers[number : number + 1] or "Sam", said_at, text, plan.words, plan.begins.date())
        for number, text in enumerate(texts)
        for said_at in [BEGIN + timedelta(hours=number)]
        for plan in plans(text, said_at, ZONE)
    ]
    return {told[place].text: texts[passage.int] for place, passage in later_messages(told, told).items()}


@pytest.mark.parametrize(
    ("plan", "later"),
    [
        ("Der Termin beim Tierarzt ist am 5. Dezember um 15 Uhr.",
         "Der Tierarzttermin wurde auf den 8. Dezember verschoben."),
        ("Der Tierarzttermin ist am 5. Dezember um 15 Uhr.",
         "Der Termin beim Tierarzt wurde auf den 8. Dezember verlegt."),
        ("Am 5. Dezember ist das Elterntreffen.", "Leider wurde das Elterntreffen auf den 8. Dezember verschoben."),
        ("Friseur am Freitag um 9.", "Der Friseur ist jetzt am 8. Dezember um 10."),
        ("The vet appointment is on 5 December at 3 pm.", "The vet appointment was moved to 8 December."),
        ("The vet appointment is on 5 December.", "The vet called, our appointment has been moved to 8 December."),
        ("Dentist appointment on Wednesday 2 December at 9.",
         "The dentist moved my appointment to Friday 4 December at 9."),
        ("My piano lesson is on Thursday at 5.", "My piano lesson is now on Friday at 5."),
        ("Dinner with Kim on 5 December.", "Dinner with Kim was postponed to 12 December."),
        ("The exam is on 5 December.", "They rescheduled the exam to 8 December."),
        ("I have an appointment on 5 December.", "My appointment was moved to 8 December."),
        ("The concert is on 5 December at 8 pm.", "The concert is on 6 December instead."),
    ],
)  # fmt: skip
def test_a_plan_that_was_moved_to_another_day_is_marked(plan: str, later: str) -> None:
    assert marked(plan, later) == {plan: later}


@pytest.mark.parametrize(
    ("plan", "other"),
    [
        ("The vet appointment is on 5 December.", "The dentist appointment was moved to 8 December."),
        ("The vet appointment is on 5 December.", "Another vet appointment is on 8 December."),
        ("The vet appointment is on 5 December.", "Was the vet appointment moved to 8 December?"),
        ("Der Termin beim Tierarzt ist am 5. Dezember.", "Der Zahnarzttermin wurde auf den 8. Dezember verschoben."),
        ("Dinner with Kim on 5 December.", "The meeting with Tom was moved to 8 December."),
        ("Ana's birthday is on 5 December.", "The birthday party was moved to 8 December."),
        ("The rent is due on 5 December.", "The parents' evening was moved to 8 December."),
        ("The vet appointment is on 5 December.", "I moved my desk to the vet, we do it on 8 December."),
    ],
)  # fmt: skip
def test_other_plans_are_not_marked(plan: str, other: str) -> None:
    assert marked(plan, other) == {}


def test_only_later_words_of_the_same_person_count() -> None:
    plan, moved = "The vet appointment is on 5 December.", "The vet appointment was moved to 8 December."
    assert marked(moved, plan) == {}
    assert marked(plan, moved, speakers="AB") == {}


def test_of_several_changes_the_latest_is_named() -> None:
    plan = "The vet appointment is on 5 December."
    first, last = "The vet appointment was moved to 8 December.", "The vet appointment was moved to 9 December."
    assert marked(plan, first, last) == {plan: last, first: last}


def test_words_that_many_plans_share_count_where_just_one_plan_has_them() -> None:
    moved = "My appointment was moved to 8 December."
    plans_ = "Vet appointment on 5 December.", "Dentist appointment on 6 December."
    assert marked(plans_[0], moved) == {plans_[0]: moved}
    assert marked(*plans_, moved) == {}
