"""Rules of the graph's history that a person would ask for, through the Python API."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import msgspec
import psycopg
import pytest

from memsvc.access.users import Owner, own_names
from memsvc.db.engine import Database
from memsvc.errors import (
    AlreadyMergedError,
    BatchTooLargeError,
    ChangeBuiltUponError,
    ChangeUnknownError,
    EndpointForbiddenError,
    FactUnknownError,
    InvalidAliasError,
    InvalidIntervalError,
    InvalidRequestError,
    InvalidSpanError,
    InvalidTimeError,
    MemsvcError,
    MergeCycleError,
    NodeUnknownError,
    PassageUnknownError,
    TypeUnknownError,
    VersionSupersededError,
)
from memsvc.graph import history, read
from memsvc.graph.history import Change, write, write_in
from memsvc.graph.operations import (
    MAX_OPERATIONS,
    Alias,
    Close,
    Correct,
    Edge,
    Evidence,
    Merge,
    Node,
    Operation,
    Retract,
    Thread,
    Unmerge,
    new_id,
)
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append

ME = "tests"


def day(number: int) -> datetime:
    return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=number)


def node(change: Change, place: int) -> UUID:
    """The node of an operation."""
    found = change.results[place].node_id
    assert found is not None
    return found


async def make(db: Database, owner: Owner, *types: str) -> list[UUID]:
    """Nodes of these types."""
    change = await write(db, owner, [Node(type=t, label=f"{t} {n}") for n, t in enumerate(types)], asserted_by=ME)
    return [node(change, place) for place in range(len(types))]


async def said(db: Database, owner: Owner, settings: Settings, *texts: str) -> list[UUID]:
    """Passages."""
    messages = [MessageIn(conversation="pond", text=text) for text in texts]
    return [stored.passage_id for stored in await append(db, owner, messages, settings) if stored.passage_id]


def lives(person: UUID, place: UUID, **more: Any) -> Edge:
    return Edge(from_node=person, type="LIVES_IN", to_node=place, **{"fact": "lives there", **more})


async def known(db: Database, owner: Owner, about: UUID, **more: Any) -> list[tuple[UUID, Any, Any]]:
    """Ends of facts with their valid times, newest first."""
    found = await read.facts(db, owner, [about], **{"as_of": read.ALWAYS, **more})
    return [(fact.to_node, fact.valid_from, fact.valid_to) for fact in found]


# What is known ------------------------------------------------------------------------------------------------------


async def test_a_new_home_closes_the_old_one_and_both_stay(db: Database, owner: Owner) -> None:
    ada, berlin, paris = await make(db, owner, "Person", "Place", "Place")
    first = await write(db, owner, [lives(ada, berlin, valid_from=day(0))], asserted_by=ME)
    second = await write(db, owner, [lives(ada, paris, valid_from=day(9))], asserted_by=ME)
    assert await known(db, owner, ada) == [(paris, day(9), None), (berlin, day(0), day(9))]
    assert await known(db, owner, ada, as_of=day(3)) == [(berlin, day(0), day(9))]
    assert await known(db, owner, ada, known_at=first.recorded_at) == [(berlin, day(0), None)]
    assert await known(db, owner, ada, known_at=second.recorded_at - timedelta(microseconds=1)) == [
        (berlin, day(0), None)
    ]
    assert await known(db, owner, berlin, side="from") == []
    assert await known(db, owner, berlin, types=["KNOWS"]) == []


async def test_a_late_correction_goes_between(db: Database, owner: Owner) -> None:
    ada, berlin, paris = await make(db, owner, "Person", "Place", "Place")
    await write(db, owner, [lives(ada, berlin)], asserted_by=ME)
    await write(db, owner, [lives(ada, paris, valid_from=day(2), valid_to=day(5))], asserted_by=ME)
    assert await known(db, owner, ada) == [(berlin, day(5), None), (paris, day(2), day(5)), (berlin, None, day(2))]


async def test_what_is_so_already_gets_evidence_and_no_version(db: Database, owner: Owner, settings: Settings) -> None:
    one, two = await said(db, owner, settings, "I live in Berlin.", "Berlin is my home.")
    ada, berlin = await make(db, owner, "Person", "Place")
    first = await write(
        db, owner, [lives(ada, berlin, evidence=[Evidence(passage_id=one, span=(2, 6))])], asserted_by=ME
    )
    again = lives(ada, berlin, valid_from=day(3), evidence=[Evidence(passage_id=two, confidence=0.5)])
    for _ in range(2):
        second = await write(db, owner, [again], asserted_by="somebody else")
        assert [result.outcome for result in second.results] == ["known"]
        assert second.results[0].versions == first.results[0].versions
    sources = await read.evidence(db, owner, "edge", first.results[0].versions)
    assert [(s.passage_id, s.span, s.confidence, s.asserted_by) for s in sources] == [
        (one, (2, 6), 1, ME),
        (two, None, 0.5, "somebody else"),
    ]


async def test_a_remainder_keeps_its_evidence_and_its_author(db: Database, owner: Owner, settings: Settings) -> None:
    one, two = await said(db, owner, settings, "I live in Berlin.", "I moved to Paris on the fifth.")
    ada, berlin, paris = await make(db, owner, "Person", "Place", "Place")
    await write(db, owner, [lives(ada, berlin, evidence=[Evidence(passage_id=one)])], asserted_by="first")
    moved = lives(ada, paris, valid_from=day(5), evidence=[Evidence(passage_id=two)])
    await write(db, owner, [moved], asserted_by="second")
    new, old = await read.facts(db, owner, [ada], as_of=read.ALWAYS)
    assert (old.asserted_by, new.asserted_by) == ("first", "second")
    for fact, passage in ((old, one), (new, two)):
        assert [s.passage_id for s in await read.evidence(db, owner, "edge", [fact.version_id])] == [passage]


async def test_what_times_are_called_goes_where_they_change(db: Database, owner: Owner) -> None:
    ada, berlin, paris = await make(db, owner, "Person", "Place", "Place")
    marks = {"since": "by " + f"{day(1):%Y-%m-%d}", "until": "by " + f"{day(9):%Y-%m-%d}"}
    hour = timedelta(hours=1)

    async def after(*operations: Operation) -> list[Any]:
        """What is called what, the first first, when these are written after that; then all is taken back."""
        home = lives(ada, berlin, valid_from=day(1), valid_to=day(9), data={"times": marks, "floor": 2})
        made = await write(db, owner, [home], asserted_by=ME)
        edge = made.results[0].edge_id
        assert edge is not None
        thread = Thread(edge=edge)
        placed = [
            msgspec.structs.replace(one, thread=thread) if isinstance(one, Close | Retract) else one
            for one in operations
        ]
        if placed:
            await write(db, owner, placed, asserted_by="user")
        found = await read.facts(db, owner, [ada], as_of=read.ALWAYS)
        await write(db, owner, [Retract(thread=Thread(edge=one.edge_id)) for one in found], asserted_by=ME)
        assert all(one.data.get("floor") == 2 for one in found if one.to_node == berlin)
        return [one.data.get("times") for one in reversed(found) if one.to_node == berlin]

    any_thread = Thread(edge=new_id())
    assert await after() == [marks]
    assert await after(Retract(thread=any_thread, valid_to=day(1) + hour)) == [{"until": marks["until"]}]
    assert await after(Close(thread=any_thread, at=day(9) - hour)) == [{"since": marks["since"]}]
    inner = Retract(thread=any_thread, valid_from=day(1) + hour, valid_to=day(9) - hour)
    assert await after(inner) == [{"since": marks["since"]}, {"until": marks["until"]}]
    both = lives(ada, paris, valid_from=day(3), valid_to=day(5))
    assert await after(both) == [{"since": marks["since"]}, {"until": marks["until"]}]
    by = f"by {day(5):%Y-%m-%d}"
    untold = msgspec.structs.replace(both, data={"times": {"until": by}})
    assert await after(untold) == [{"since": marks["since"]}, {"since": by, "until": marks["until"]}]


async def test_a_correction_may_say_that_it_began_earlier(db: Database, owner: Owner, settings: Settings) -> None:
    one, two = await said(db, owner, settings, "I live in Paris.", "I have lived here since the third.")
    ada, berlin, paris = await make(db, owner, "Person", "Place", "Place")
    await write(db, owner, [lives(ada, berlin, valid_from=day(1))], asserted_by=ME)
    moved = lives(ada, paris, valid_from=day(5), data={"known": True}, evidence=[Evidence(passage_id=one)])
    version = (await write(db, owner, [moved], asserted_by=ME)).results[0].versions[0]
    for begins, begin in ((day(3), day(3)), (day(4), day(3))):
        correct = Correct(
            version=version, content={"data": {"began": str(begins)}}, refines=True, begins=begins,
            evidence=[Evidence(passage_id=two)],
        )  # fmt: skip
        version = (await write(db, owner, [correct], asserted_by=ME)).results[0].versions[0]
        assert await known(db, owner, ada, as_of=read.ALWAYS) == [(paris, begin, None), (berlin, day(1), begin)]
        evidence = await read.evidence(db, owner, "edge", [version])
        assert {link.passage_id for link in evidence} == {one, two}


async def test_the_reason_for_an_end_stays_with_what_ended(db: Database, owner: Owner, settings: Settings) -> None:
    (left,) = await said(db, owner, settings, "I do not live there any more.")
    ada, berlin = await make(db, owner, "Person", "Place")
    first = await write(db, owner, [lives(ada, berlin)], asserted_by=ME)
    edge = first.results[0].edge_id
    closed = await history.close(
        db, owner, [Thread(edge=edge)], day(4), asserted_by=ME, evidence=[Evidence(passage_id=left)]
    )
    assert closed.results[0].versions == first.results[0].versions
    sources = await read.evidence(db, owner, "edge", first.results[0].versions)
    assert [(s.passage_id, s.stance) for s in sources] == [(left, "ends")]
    assert await known(db, owner, ada) == [(berlin, None, day(4))]
    again = await history.close(db, owner, [Thread(edge=edge)], day(4), asserted_by=ME)
    assert again.results[0].outcome == "unchanged"


async def test_several_relations_of_a_kind_have_keys(db: Database, owner: Owner) -> None:
    ada, club = await make(db, owner, "Person", "Organization")
    change = await write(
        db,
        owner,
        [Edge(from_node=ada, type="RELATED_TO", to_node=club, key=key, fact=key) for key in ("member", "donor")],
        asserted_by=ME,
    )
    assert len({result.edge_id for result in change.results}) == 2
    assert len(await known(db, owner, ada)) == 2


async def test_what_a_batch_supersedes_itself_is_kept_too(db: Database, owner: Owner, settings: Settings) -> None:
    (passage,) = await said(db, owner, settings, "Berlin, no, Paris.")
    ada, berlin, paris = await make(db, owner, "Person", "Place", "Place")
    proof = [Evidence(passage_id=passage)]
    change = await write(db, owner, [lives(ada, berlin, evidence=proof), lives(ada, paris)], asserted_by=ME)
    assert [result.outcome for result in change.results] == ["superseded", "written"]
    assert await known(db, owner, ada) == [(paris, None, None)]
    assert await known(db, owner, ada, known_at=change.recorded_at) == [(paris, None, None)]
    assert [s.passage_id for s in await read.evidence(db, owner, "edge", change.results[0].versions)] == [passage]


async def test_correcting_says_something_else_over_the_same_time(db: Database, owner: Owner) -> None:
    ada, berlin = await make(db, owner, "Person", "Place")
    edge = lives(ada, berlin, valid_from=day(1), valid_to=day(3), data={"street": "x"}, confidence=0.25)
    first = await write(db, owner, [edge], asserted_by=ME)
    version = first.results[0].versions[0]
    await history.correct(db, owner, version, {"fact": "lived there"}, asserted_by=ME)
    (fact,) = await read.facts(db, owner, [ada], as_of=read.ALWAYS)
    assert (fact.fact, fact.data, fact.confidence) == ("lived there", {"street": "x"}, 0.25)
    assert (fact.valid_from, fact.valid_to) == (day(1), day(3))
    with pytest.raises(VersionSupersededError):
        await history.correct(db, owner, version, {"fact": "lived here"}, asserted_by=ME)


async def test_names_come_and_go(db: Database, owner: Owner) -> None:
    (ada,) = await make(db, owner, "Person")
    await history.alias(db, owner, ada, ["Ada  King", "Countess"], asserted_by=ME)
    await history.unalias(db, owner, ada, ["COUNTESS"], asserted_by=ME, since=day(3))
    assert [found.canonical_id for found in await read.called(db, owner, ["countess"], as_of=day(2))] == [ada]
    assert await read.called(db, owner, ["countess"]) == []
    await history.unalias(db, owner, ada, ["ada king"], asserted_by=ME)
    assert [name.alias for name in await read.names(db, owner, [ada], as_of=read.ALWAYS)] == ["Countess"]


@pytest.mark.slow
async def test_ten_thousand_names_of_one_node(db: Database, owner: Owner) -> None:
    (ada,) = await make(db, owner, "Person")
    for start in range(0, 10_000, MAX_OPERATIONS):
        await history.alias(db, owner, ada, [f"n{start + n}" for n in range(MAX_OPERATIONS)], asserted_by=ME)
    assert len(await read.names(db, owner, [ada])) == 10_000
    assert [found.node_id for found in await read.called(db, owner, ["N7777"])] == [ada]


async def test_the_users_own_node_has_a_history_too(db: Database, owner: Owner) -> None:
    me = (await own_names(db, owner)).node_id
    (state,) = await read.node_states(db, owner, [me])
    await history.correct(db, owner, state.version_id, {"label": "Ada King"}, asserted_by=ME)
    assert (await own_names(db, owner)).label == "Ada King"
    await history.unalias(db, owner, me, ["AL"], asserted_by=ME)
    assert "AL" not in (await own_names(db, owner)).aliases
    (state,) = await read.node_states(db, owner, [me])
    renamed = Node(node=me, type="Person", label="A. King", data=state.data, valid_from=datetime.now(UTC))
    await write(db, owner, [renamed], asserted_by=ME)
    await history.unalias(db, owner, me, ["myself"], asserted_by=ME, since=day(9))
    now = await own_names(db, owner)
    assert now.label == "A. King"
    assert "myself" not in now.aliases
    events = await read.history(db, owner, me)
    assert {(event.event, event.kind) for event in events} == {("written", "node"), ("written", "alias"),
                                                               ("closed", "node"), ("closed", "alias")}  # fmt: skip


# Merges -------------------------------------------------------------------------------------------------------------


async def test_merged_nodes_are_read_as_one_and_disagreement_shows(db: Database, owner: Owner) -> None:
    ada, countess, berlin, paris = await make(db, owner, "Person", "Person", "Place", "Place")
    await write(db, owner, [lives(ada, berlin, valid_from=day(1)), lives(countess, paris)], asserted_by=ME)
    before = datetime.now(UTC)
    change = await history.merge(db, owner, countess, ada, asserted_by=ME, reason="the same letter")
    for asked in (ada, countess):
        found = await read.facts(db, owner, [asked])
        assert [(f.from_node, f.to_node, f.contested) for f in found] == [(ada, berlin, True), (ada, paris, True)]
    (there,) = await read.facts(db, owner, [paris])
    assert there.contested
    assert not (await read.facts(db, owner, [paris], known_at=before))[0].contested
    assert not (await read.facts(db, owner, [paris], as_of=day(0)))[0].contested
    assert await read.resolve(db, owner, [countess]) == {countess: ada}
    assert await read.resolve(db, owner, [countess], known_at=before) == {countess: countess}
    await history.merge(db, owner, paris, berlin, asserted_by=ME)
    assert [f.contested for f in await read.facts(db, owner, [ada])] == [False, False]
    await history.unmerge(db, owner, countess, asserted_by=ME)
    assert await known(db, owner, ada) == [(berlin, day(1), None)]
    assert change.results[0].outcome == "written"


async def test_merges_form_chains_and_never_circles(db: Database, owner: Owner) -> None:
    a, b, c = await make(db, owner, "Person", "Person", "Person")
    await write(db, owner, [Merge(node=a, canonical=b), Merge(node=b, canonical=c)], asserted_by=ME)
    assert await read.resolve(db, owner, [a, b, c]) == {a: c, b: c, c: c}
    for canonical in (a, b):
        with pytest.raises(MergeCycleError):
            await history.merge(db, owner, c, canonical, asserted_by=ME)
    with pytest.raises(MergeCycleError):
        await history.merge(db, owner, c, c, asserted_by=ME)
    with pytest.raises(AlreadyMergedError):
        await history.merge(db, owner, a, c, asserted_by=ME)
    again = await history.merge(db, owner, a, b, asserted_by=ME)
    assert again.results[0].outcome == "known"
    await history.unmerge(db, owner, b, asserted_by=ME)
    assert await read.resolve(db, owner, [a, c]) == {a: b, c: c}
    assert (await history.unmerge(db, owner, b, asserted_by=ME)).results[0].outcome == "unchanged"


async def test_merges_at_the_same_time_form_no_circle(db: Database, owner: Owner) -> None:
    nodes = await make(db, owner, *["Person"] * 8)
    ring = [history.merge(db, owner, a, b, asserted_by=ME) for a, b in zip(nodes, nodes[1:] + nodes[:1], strict=True)]
    done = await asyncio.gather(*ring, return_exceptions=True)
    assert [type(one) for one in done if not isinstance(one, Change)] == [MergeCycleError]
    assert len(set((await read.resolve(db, owner, nodes)).values())) == 1


async def test_merges_that_lock_nothing_in_common_form_no_circle_either(db: Database, owner: Owner) -> None:
    a, b, c, d = await make(db, owner, *["Person"] * 4)
    await write(db, owner, [Merge(node=a, canonical=b), Merge(node=c, canonical=d)], asserted_by=ME)
    async with db.transaction(owner.user_id) as connection:
        await write_in(connection, owner, [Merge(node=b, canonical=c)], asserted_by=ME)
        other = asyncio.create_task(history.merge(db, owner, d, a, asserted_by=ME))
        await asyncio.sleep(0.2)
        assert not other.done()
    with pytest.raises(MergeCycleError):
        await other


# Undo ---------------------------------------------------------------------------------------------------------------


async def test_undoing_puts_back_what_a_change_altered(db: Database, owner: Owner, settings: Settings) -> None:
    (passage,) = await said(db, owner, settings, "I live in Berlin.")
    ada, berlin, paris = await make(db, owner, "Person", "Place", "Place")
    proof = [Evidence(passage_id=passage)]
    await write(db, owner, [lives(ada, berlin, evidence=proof)], asserted_by="first")
    wrong = await write(db, owner, [lives(ada, paris), Merge(node=paris, canonical=berlin)], asserted_by=ME)
    undone = await history.undo(db, owner, wrong.change_id, asserted_by=ME)
    (fact,) = await read.facts(db, owner, [ada])
    assert (fact.to_node, fact.contested, fact.asserted_by) == (berlin, False, "first")
    assert [s.passage_id for s in await read.evidence(db, owner, "edge", [fact.version_id])] == [passage]
    assert await read.resolve(db, owner, [paris]) == {paris: paris}
    await history.undo(db, owner, undone.change_id, asserted_by=ME)
    assert (await read.facts(db, owner, [ada]))[0].stored_to == paris
    assert await read.resolve(db, owner, [paris]) == {paris: berlin}


async def test_what_others_built_upon_is_not_undone(db: Database, owner: Owner) -> None:
    ada, berlin, paris = await make(db, owner, "Person", "Place", "Place")
    first = await write(db, owner, [lives(ada, berlin)], asserted_by=ME)
    await write(db, owner, [lives(ada, paris)], asserted_by=ME)
    with pytest.raises(ChangeBuiltUponError):
        await history.undo(db, owner, first.change_id, asserted_by=ME)
    merged = await history.merge(db, owner, paris, berlin, asserted_by=ME)
    unmerged = await history.unmerge(db, owner, paris, asserted_by=ME)
    with pytest.raises(ChangeBuiltUponError):
        await history.undo(db, owner, merged.change_id, asserted_by=ME)
    await history.merge(db, owner, berlin, paris, asserted_by=ME)
    with pytest.raises(MergeCycleError):
        await history.undo(db, owner, unmerged.change_id, asserted_by=ME)
    with pytest.raises(ChangeUnknownError):
        await history.undo(db, owner, uuid4(), asserted_by=ME)


async def test_a_home_that_was_taken_since_is_not_given_back(db: Database, owner: Owner) -> None:
    ada, berlin, paris = await make(db, owner, "Person", "Place", "Place")
    change = await write(db, owner, [lives(ada, berlin)], asserted_by=ME)
    gone = await history.retract(db, owner, [Thread(edge=change.results[0].edge_id)], asserted_by=ME)
    await write(db, owner, [lives(ada, paris, valid_from=day(3))], asserted_by=ME)
    with pytest.raises(ChangeBuiltUponError):
        await history.undo(db, owner, gone.change_id, asserted_by=ME)
    assert await known(db, owner, ada) == [(paris, day(3), None)]


# Bad input ----------------------------------------------------------------------------------------------------------


async def test_what_cannot_be_is_refused_with_its_place(db: Database, owner: Owner, other: Owner) -> None:
    ada, berlin = await make(db, owner, "Person", "Place")
    foreign, _ = await make(db, other, "Person", "Place")
    good = Alias(node=ada, alias="Ay")
    nothing = Thread()
    cases: Sequence[tuple[Operation, type[MemsvcError]]] = (
        (lives(ada, berlin, valid_from=day(2), valid_to=day(2)), InvalidIntervalError),
        (lives(ada, berlin, valid_from=day(2), valid_to=day(1)), InvalidIntervalError),
        (lives(ada, berlin, valid_from=datetime(2020, 1, 1)), InvalidTimeError),  # noqa: DTZ001
        (lives(ada, berlin, confidence=math.nan), InvalidRequestError),
        (lives(ada, berlin, confidence=0), InvalidRequestError),
        (lives(ada, berlin, weight=math.inf), InvalidRequestError),
        (lives(ada, berlin, fact="  "), InvalidRequestError),
        (lives(ada, berlin, fact="\0"), InvalidRequestError),
        (lives(berlin, ada), EndpointForbiddenError),
        (lives(ada, uuid4()), NodeUnknownError),
        (lives(foreign, berlin), NodeUnknownError),
        (lives(ada, foreign), NodeUnknownError),
        (Edge(from_node=7, type="KNOWS", to_node=ada, fact="x"), NodeUnknownError),
        (Edge(from_node=ada, type="EATS", to_node=ada, fact="x"), TypeUnknownError),
        (Node(type="Dragon", label="x"), TypeUnknownError),
        (Node(type="Person", label="x", node=uuid4()), NodeUnknownError),
        (Node(type="Person", label="x", importance=11), InvalidRequestError),
        (Alias(node=ada, alias="  "), InvalidAliasError),
        (Alias(node=ada, alias="\u0301"), InvalidAliasError),
        (Alias(node=ada, alias="x" * 201), InvalidAliasError),
        (Alias(node=ada, alias="x", evidence=[Evidence(passage_id=uuid4())]), PassageUnknownError),
        (Alias(node=ada, alias="x", evidence=[Evidence(passage_id=uuid4(), span=(3, 3))]), InvalidSpanError),
        (Retract(thread=nothing), InvalidRequestError),
        (Retract(thread=Thread(edge=uuid4())), FactUnknownError),
        (Correct(version=uuid4(), content={"fact": "x"}), FactUnknownError),
        (Correct(version=uuid4(), content={"valid_to": "x"}), InvalidRequestError),
        (Close(thread=Thread(node=uuid4()), at=day(1)), NodeUnknownError),
        (Merge(node=ada, canonical=ada), MergeCycleError),
        (Merge(node=ada, canonical=foreign), NodeUnknownError),
        (Unmerge(node=uuid4()), NodeUnknownError),
    )  # fmt: skip
    for operation, error in cases:
        with pytest.raises(error) as caught:
            await write(db, owner, [good, operation], asserted_by=ME)
        assert caught.value.details["row"] == 1, operation
    assert await read.names(db, owner, [ada]) == []
    for operations in ([], [good] * (MAX_OPERATIONS + 1)):
        with pytest.raises((InvalidRequestError, BatchTooLargeError)):
            await write(db, owner, operations, asserted_by=ME)
    with pytest.raises(InvalidRequestError):
        await write(db, owner, [good], asserted_by=" ")


async def test_nothing_ends_before_it_began(db: Database, owner: Owner) -> None:
    ada, berlin = await make(db, owner, "Person", "Place")
    change = await write(db, owner, [lives(ada, berlin, valid_from=day(5))], asserted_by=ME)
    thread = Thread(edge=change.results[0].edge_id)
    for at in (day(4), day(5)):
        with pytest.raises(InvalidIntervalError):
            await history.close(db, owner, [thread], at, asserted_by=ME)


async def test_a_span_must_lie_in_its_passage(db: Database, owner: Owner, settings: Settings) -> None:
    (passage,) = await said(db, owner, settings, "Hello.")
    (ada,) = await make(db, owner, "Person")
    for span, fits in (((0, 6), True), ((5, 6), True), ((0, 7), False), ((6, 9), False)):
        proof = [Evidence(passage_id=passage, span=span)]
        if fits:
            await write(db, owner, [Alias(node=ada, alias="x", evidence=proof)], asserted_by=ME)
        else:
            with pytest.raises(InvalidSpanError):
                await write(db, owner, [Alias(node=ada, alias="x", evidence=proof)], asserted_by=ME)


async def test_extreme_times_are_kept(db: Database, owner: Owner) -> None:
    ada, berlin = await make(db, owner, "Person", "Place")
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    await write(db, owner, [lives(ada, berlin, valid_from=first, valid_to=last)], asserted_by=ME)
    assert await known(db, owner, ada) == [(berlin, first, last)]


# Writers at once, and the database itself ---------------------------------------------------------------------------


async def test_writers_of_the_same_nodes_take_turns(db: Database, owner: Owner) -> None:
    ada, bob, *places = await make(db, owner, "Person", "Person", *["Place"] * 6)

    async def move(number: int) -> None:
        people = (ada, bob) if number % 2 else (bob, ada)
        for turn in range(5):
            place = places[(number + turn) % 6]
            await write(db, owner, [lives(p, place, valid_from=day(turn)) for p in people], asserted_by=ME)

    await asyncio.gather(*(move(number) for number in range(6)))
    for person in (ada, bob):
        found = sorted(await read.facts(db, owner, [person], as_of=read.ALWAYS), key=lambda fact: str(fact.valid_from))
        assert all(a.valid_to == b.valid_from for a, b in pairwise(found))
        assert found[-1].valid_to is None


async def test_a_clock_that_goes_back_harms_nothing(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    ada, berlin, paris = await make(db, owner, "Person", "Place", "Place")
    await write(db, owner, [lives(ada, berlin)], asserted_by=ME)
    ahead = datetime.now(UTC) + timedelta(hours=1)
    admin.execute(
        "INSERT INTO memsvc.changes (user_id, recorded_at, asserted_by, operations) VALUES (%s, %s, 'x', '{}')",
        [owner.user_id, ahead],
    )
    change = await write(db, owner, [lives(ada, paris)], asserted_by=ME)
    assert change.recorded_at == ahead + timedelta(microseconds=1)


def test_ids_made_here_are_of_version_7_and_sort_by_time() -> None:
    made = [new_id() for _ in range(50)]
    assert all(one.version == 7 and one.variant == uuid4().variant for one in made)
    assert len(set(made)) == 50
    assert abs((made[0].int >> 80) / 1000 - datetime.now(UTC).timestamp()) < 60
