"""Which questions ask for an overview, of what time, and about which topic."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from memsvc.access.users import Owner
from memsvc.recall.overview import wanted_overview
from memsvc.summaries.abstractive import strange

OWNER = Owner(user_id=UUID(int=1), name="Ada", time_zone="UTC", language="english")
NOW = datetime(2026, 3, 9, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "days", "topic"),
    [
        ("What did we talk about last week?", (2, 9), set()),
        ("What have we talked about so far?", None, set()),
        ("What have I told you about the wedding so far?", None, {"wedd"}),
        ("Can you summarize what we discussed about Biscuit?", None, {"bisc"}),
        ("Worüber haben wir gestern gesprochen?", (8, 9), set()),
    ],
)
def test_overviews_are_asked_for_by_time_and_topic(
    question: str, days: tuple[int, int] | None, topic: set[str]
) -> None:
    wanted = wanted_overview(question, NOW, OWNER)
    assert wanted is not None
    assert [(begin.day, end.day) for begin, end in wanted.spans] == ([days] if days else [])
    assert {word[:4] for word in wanted.topic} == topic


@pytest.mark.parametrize("question", ["When is the wedding?", "Who baked the cake?", "Remind me to call Ben tomorrow."])
def test_other_questions_get_none(question: str) -> None:
    assert wanted_overview(question, NOW, OWNER) is None


def test_names_and_numbers_of_a_model_must_stand_in_its_sources() -> None:
    said = ["Ines: The caterer asks 6,375 pounds, says Jonas."]
    assert strange("Ines and Jonas pay 6,375 pounds.", said) == set()
    assert strange("Petra pays 6,376 pounds.", said) == {"petra", "6,376"}
