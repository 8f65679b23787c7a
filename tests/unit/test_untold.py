"""Marks of begins and ends that nobody told: in words, and gone where somebody sends or edits a begin or an end."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from memsvc.access.users import Owner
from memsvc.api.operations import FactFields
from memsvc.extract.proposals import End, Proposal
from memsvc.extract.review import Edit, edited
from memsvc.times.untold import TIMES, marked, span_in_words, unmarked

OWNER = Owner(user_id=uuid4(), name="Ada", time_zone="UTC", language="en")
DAY = datetime(2026, 11, 20, tzinfo=UTC)
BOTH = {"since": "by 2026-11-20", "until": "by 2026-11-25"}


@pytest.mark.parametrize(
    ("begin", "end", "untold", "says"),
    [
        (None, None, (False, False), ""),
        ("2024", None, (False, False), "since 2024"),
        ("2024", None, (True, False), "known since 2024"),
        ("2024", "2025", (False, False), "2024 to 2025"),
        ("2024", "2025", (True, False), "known since 2024, until 2025"),
        ("2024", "2025", (False, True), "since 2024, ended by 2025, day unknown"),
        (None, "2025", (False, True), "ended by 2025, day unknown"),
    ],
)
def test_times_in_words(begin: str | None, end: str | None, untold: tuple[bool, bool], says: str) -> None:
    assert span_in_words(begin, end, begin_untold=untold[0], end_untold=untold[1]) == says


def test_marks_are_set_and_removed_beside_other_data() -> None:
    data = marked(marked({"floor": 2}, "since", DAY), "until", datetime(2026, 11, 25, 23, tzinfo=UTC))
    assert data == {"floor": 2, TIMES: BOTH}
    assert unmarked(data, "since") == {"floor": 2, TIMES: {"until": BOTH["until"]}}
    assert unmarked(data, "since", "until") == {"floor": 2}
    assert unmarked({TIMES: "odd"}, "since") == {TIMES: "odd"}


@pytest.mark.parametrize(
    ("sent", "left"),
    [
        ({"valid_from": "2026-11-20T08:00:00Z"}, {"until": BOTH["until"]}),
        ({"valid_from": "2026-11-20", "valid_to": "2026-11-25"}, None),
        ({"valid_from": "2026-11-19"}, BOTH),
    ],
)
def test_a_begin_or_end_that_is_sent_is_told(sent: dict[str, Any], left: dict[str, str] | None) -> None:
    given = FactFields(type="LIVES_IN", fact="Ada lives in Lyon.", data={TIMES: BOTH, "floor": 2}, **sent)
    edge = given.edge(OWNER, uuid4(), uuid4())
    assert edge.data == {"floor": 2, **({TIMES: left} if left else {})}


def test_a_begin_that_a_person_edits_is_not_called_what_the_extractor_called_it() -> None:
    told = Proposal(
        subject=End(name="Ada", type="Person"), type="LIVES_IN", object=End(name="Lyon", type="Place"),
        sentence="Ada lives in Lyon.", quote="in Lyon", since=DAY, data={TIMES: {"since": "about 2004"}, "floor": 2},
    )  # fmt: skip
    assert edited(told, Edit(since=datetime(2005, 3, 1, tzinfo=UTC))).data == {"floor": 2}
    assert edited(told, Edit(since=DAY, data={"floor": 3})).data == {"floor": 3}
    assert edited(told, Edit(sentence="Ada is in Lyon.")).data == told.data
