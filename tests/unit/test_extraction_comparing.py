"""Which other facts a fact is compared with, and that the timeline judges by the same rule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest

from memsvc.extract.compared_facts import KnownFact, NewFact
from memsvc.extract.comparing import compared, opposite, turned
from memsvc.extract.timeline import Timeline
from memsvc.graph.operations import BESIDE, Close, Correct, Edge, Evidence, new_id
from memsvc.times.untold import TIMES

ADA, BO = new_id(), new_id()
THEN, NOW = datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)

YEAR = timedelta(365)


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


def settled(home: UUID, begin: datetime | None, end: datetime | None = None) -> KnownFact:
    return msgspec.structs.replace(known((ADA, "LIVES_IN", home)), valid_from=begin, valid_to=end)


def lived(home: UUID, **more: Any) -> NewFact:
    return msgspec.structs.replace(new("LIVES_IN"), to_node=home, functional=True, **more)


def spans(known_facts: list[KnownFact], *facts: NewFact) -> list[tuple[UUID | int, datetime | None, datetime | None]]:
    """The homes that a window asserts, with their times."""
    timeline = Timeline(known_facts)
    for fact in facts:
        timeline.add(fact)
    edges = [operation for operation, _ in timeline.operations() if isinstance(operation, Edge)]
    return [(edge.to_node, edge.valid_from, edge.valid_to) for edge in edges]


CORK, GRAZ, ULM = new_id(), new_id(), new_id()


@pytest.mark.parametrize(
    ("known_facts", "said", "expected"),
    [
        # began in a past that was not understood
        ([], {"earlier": True}, [(None, None)]),
        ([settled(GRAZ, THEN)], {"earlier": True}, []),
        ([settled(GRAZ, None)], {"earlier": True}, []),
        ([settled(GRAZ, None, THEN)], {"earlier": True}, [(THEN, None)]),
        ([settled(GRAZ, NOW + YEAR)], {"earlier": True}, [(None, NOW + YEAR)]),
        # and goes on
        ([settled(GRAZ, THEN)], {"earlier": True, "lasts": True}, [(NOW, None)]),
        ([settled(GRAZ, None)], {"earlier": True, "lasts": True}, [(NOW, None)]),
        ([], {"earlier": True, "lasts": True}, [(None, None)]),
        # just said
        ([settled(GRAZ, THEN)], {}, [(NOW, None)]),
        # over, and nobody said since when
        ([], {"change": "ended"}, [(None, NOW)]),
        ([settled(GRAZ, THEN)], {"change": "ended"}, [(None, THEN)]),
        ([settled(GRAZ, None)], {"change": "ended"}, [(None, NOW)]),
        ([settled(GRAZ, THEN), settled(ULM, None, THEN - YEAR)], {"change": "ended"}, [(THEN - YEAR, THEN)]),
        ([settled(GRAZ, THEN)], {"change": "ended", "since": THEN - YEAR}, [(THEN - YEAR, THEN)]),
        ([settled(GRAZ, THEN)], {"change": "ended", "until": THEN - YEAR}, [(None, THEN - YEAR)]),
    ],
)
def test_what_has_no_time_of_its_own_takes_none_from_another_home(
    known_facts: list[KnownFact], said: dict[str, Any], expected: list[tuple[datetime | None, datetime | None]]
) -> None:
    assert spans(known_facts, lived(CORK, **said)) == [(CORK, *span) for span in expected]


def test_what_began_long_ago_does_not_replace_what_the_same_window_says_of_now() -> None:
    told = [lived(GRAZ, place=0), lived(CORK, earlier=True, place=1)]
    assert spans([], *told) == [(GRAZ, NOW, None)]


def second(home: UUID, begin: datetime | None) -> KnownFact:
    return msgspec.structs.replace(settled(home, begin), key=BESIDE)


def closed(known_facts: list[KnownFact], *facts: NewFact) -> list[UUID]:
    """The homes that a window ends by an operation of its own."""
    timeline = Timeline(known_facts)
    for fact in facts:
        timeline.add(fact)
    edges = {known.edge_id: known.to_node for known in known_facts}
    return [edges[op.thread.edge] for op, _ in timeline.operations() if isinstance(op, Close) and op.thread.edge]


def test_a_home_of_before_ends_nothing_where_the_other_began_who_knows_when() -> None:
    timeline = Timeline([settled(GRAZ, None)])
    timeline.add(lived(CORK, change="ended"))
    assert [edge.key for edge, _ in timeline.operations() if isinstance(edge, Edge)] == [BESIDE]


def test_a_home_that_was_only_said_to_be_beside_another_ends_when_somebody_moves() -> None:
    assert closed([second(GRAZ, THEN)], lived(CORK, moved=True)) == [GRAZ]
    assert closed([second(GRAZ, THEN), settled(ULM, None, THEN)], lived(CORK, moved=True)) == [GRAZ]
    assert closed([second(GRAZ, THEN)], lived(CORK)) == []
    late = lived(CORK, moved=True, since=THEN - YEAR)
    later = msgspec.structs.replace(second(GRAZ, THEN), said=[NOW + YEAR])
    assert spans([later], late) == [(CORK, THEN - YEAR, None)]
    assert closed([second(GRAZ, THEN), settled(ULM, THEN)], lived(CORK, moved=True)) == []


def test_who_moves_to_the_second_home_has_it_as_the_home() -> None:
    homes = [settled(ULM, THEN), second(GRAZ, THEN)]
    assert spans(homes, lived(GRAZ, moved=True)) == [(GRAZ, NOW, None)]
    assert closed(homes, lived(GRAZ, moved=True)) == [GRAZ]
    timeline = Timeline(homes)
    timeline.add(lived(GRAZ))
    assert [edge.key for edge, _ in timeline.operations() if isinstance(edge, Edge)] == [BESIDE]


def test_an_end_that_nobody_told_is_marked() -> None:
    timeline = Timeline([])
    timeline.add(lived(CORK, change="ended"))
    timeline.add(lived(GRAZ, change="ended", until=THEN, since=THEN - YEAR))
    data = {operation.to_node: operation.data for operation, _ in timeline.operations() if isinstance(operation, Edge)}
    assert data == {CORK: {TIMES: {"until": "by 2025-01-01"}}, GRAZ: {}}


def test_a_begin_that_nobody_told_is_marked_until_somebody_tells_it() -> None:
    def data_of(*facts: NewFact) -> dict[UUID | int, tuple[datetime | None, Any]]:
        timeline = Timeline([settled(ULM, THEN)])
        for fact in facts:
            timeline.add(fact)
        edges = [operation for operation, _ in timeline.operations() if isinstance(operation, Edge)]
        return {edge.to_node: (edge.valid_from, edge.data) for edge in edges}

    assert data_of(lived(CORK)) == {CORK: (NOW, {TIMES: {"since": "by 2025-01-01"}})}
    assert data_of(lived(CORK, since=NOW)) == {CORK: (NOW, {})}
    told = lived(CORK, since=NOW - YEAR / 2, place=1, data={TIMES: {"since": "about 2024"}})
    assert data_of(lived(CORK), told) == {CORK: (NOW - YEAR / 2, {TIMES: {"since": "about 2024"}})}
    plain = lived(CORK, since=NOW - YEAR / 2, place=1)
    assert data_of(lived(CORK), plain) == {CORK: (NOW - YEAR / 2, {})}


def test_a_begin_that_is_told_later_is_the_begin_of_what_was_only_known_since() -> None:
    marked = msgspec.structs.replace(settled(CORK, NOW), data={TIMES: {"since": "by 2025-01-01"}, "told": "here"})
    moved = lived(CORK, said_at=NOW + YEAR, since=THEN, data={TIMES: {"since": "about 2024"}})
    timeline = Timeline([settled(ULM, THEN - YEAR, NOW), marked])
    timeline.add(moved)
    [(correct, _)] = timeline.operations()
    assert isinstance(correct, Correct)
    assert (correct.version, correct.begins, correct.refines) == (marked.version_id, THEN, True)
    assert correct.content == {"data": {TIMES: {"since": "about 2024"}, "told": "here"}}
    timeline.add(lived(CORK, said_at=NOW + YEAR, since=THEN, place=1))
    assert timeline.fates == {0: "changes", 1: "known"}

    told = settled(CORK, NOW)  # somebody told that it began then, so it was so twice, or the talk is of two things
    assert spans([told], moved) == [(CORK, THEN, NOW)]
    by_hand = msgspec.structs.replace(marked, supported=False)
    assert spans([by_hand], moved) == [(CORK, THEN, NOW)]


def test_an_end_is_marked_where_a_value_is_said_to_be_over_or_another_is_said_again() -> None:
    home = settled(CORK, THEN)
    timeline = Timeline([home])
    timeline.add(lived(CORK, change="ended"))
    (correct, _), (close, _) = timeline.operations()
    assert isinstance(correct, Correct)
    assert (correct.version, correct.content) == (home.version_id, {"data": {TIMES: {"until": "by 2025-01-01"}}})
    assert isinstance(close, Close)
    assert (correct.evidence, len(close.evidence)) == ((), 1)
    timeline = Timeline([home])
    timeline.add(lived(CORK, change="ended", until=NOW - YEAR / 2))
    assert [type(operation) for operation, _ in timeline.operations()] == [Close]

    again = msgspec.structs.replace(settled(CORK, THEN - YEAR), said=[THEN - YEAR, NOW + YEAR])
    timeline = Timeline([again])
    timeline.add(lived(GRAZ))
    [(edge, _)] = timeline.operations()
    assert isinstance(edge, Edge)
    assert (edge.valid_from, edge.valid_to) == (NOW, NOW + YEAR)
    assert edge.data == {TIMES: {"since": "by 2025-01-01", "until": "by 2026-01-01"}}
