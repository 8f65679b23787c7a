"""Which other facts a fact is compared with, and that the timeline judges by the same rule."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from memsvc.extract.comparing import compared, opposite, turned
from memsvc.extract.timeline import KnownFact, NewFact, Timeline
from memsvc.graph.operations import Close, Edge, Evidence, new_id

ADA, BO = new_id(), new_id()
THEN, NOW = datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("type_", "others"),
    [
        ("KNOWS", [(BO, "KNOWS", ADA)]),
        ("FAMILY_OF", [(BO, "FAMILY_OF", ADA)]),
        ("LIKES", [(ADA, "DISLIKES", BO)]),
        ("DISLIKES", [(ADA, "LIKES", BO)]),
        ("LIVES_IN", []),
    ],
)
def test_a_fact_is_compared_with_itself_turned_round_and_denied(
    type_: str, others: list[tuple[object, str, object]]
) -> None:
    assert list(compared(ADA, type_, BO)) == [(ADA, type_, BO), *others]
    found = [other for other in (turned(ADA, type_, BO), opposite(ADA, type_, BO)) if other is not None]
    assert found == others


def known(relation: tuple[UUID, str, UUID]) -> KnownFact:
    start, type_, end = relation
    return KnownFact(
        version_id=new_id(), edge_id=new_id(), from_node=start, type=type_, to_node=end, stored_from=start,
        stored_to=end, key="", fact="known", data={}, weight=1, confidence=1, asserted_by="test", valid_from=None,
        valid_to=None, said=[THEN], supported=True, here=None,
    )  # fmt: skip


def new(type_: str) -> NewFact:
    said = Evidence(passage_id=new_id())
    return NewFact(place=0, from_node=ADA, type=type_, to_node=BO, sentence="new", said_at=NOW, evidence=said)


@pytest.mark.parametrize("type_", ["KNOWS", "FAMILY_OF", "LIKES", "DISLIKES"])
def test_the_timeline_minds_all_that_is_compared_and_nothing_else(type_: str) -> None:
    for relation in compared(ADA, type_, BO):
        timeline = Timeline([known(relation)])
        timeline.add(new(type_))
        kinds = [type(operation) for operation, _ in timeline.operations()]
        assert kinds == ([Close, Edge] if relation[1] != type_ else [Edge]), relation
        assert timeline.fates == {0: "changes" if relation[1] != type_ else "known"}, relation
    timeline = Timeline([known((BO, "LIKES", ADA)), known((ADA, "OWNS", BO))])
    timeline.add(new(type_))
    assert timeline.fates == {0: "new"}
