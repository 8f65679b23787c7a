"""Pairs that may be the same: noted, listed, accepted, rejected for ever, and parted again by their sources."""

from __future__ import annotations

from uuid import UUID

import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import NothingToSplitError, PairDecidedError, PairUnknownError
from memsvc.graph import read
from memsvc.graph.history import merge, undo, unmerge
from memsvc.graph.operations import Alias, Edge, Evidence, Node, new_id
from memsvc.graph.read import facts
from memsvc.identity.candidates import Suspicion, cards, note, refused
from memsvc.identity.review import accept, pairs, reject
from memsvc.identity.splitting import split
from memsvc.settings import Settings
from tests.sql.test_resolving import made, said


async def noted(db: Database, owner: Owner, *found: tuple[UUID, UUID, float]) -> int:
    """Note pairs; how many are new."""
    suspicions = [Suspicion(node=a, other=b, score=score, evidence={"name": 3.5}) for a, b, score in found]
    async with db.transaction(owner.user_id) as connection:
        return await note(connection, owner, suspicions, found_by="tests")


async def people(db: Database, owner: Owner, *labels: str) -> list[UUID]:
    return await made(db, owner, *(Node(type="Person", label=label) for label in labels))


async def test_pairs_are_noted_once_and_listed_with_both_cards_the_likeliest_first(
    db: Database, owner: Owner, other: Owner
) -> None:
    ana, anna, ann = await people(db, owner, "Ana", "Anna", "Ann")
    assert await noted(db, owner, (anna, ana, 0.4), (ana, anna, 0.3), (ana, ann, 0.6), (ana, ana, 1.0)) == 2
    assert await noted(db, owner, (ana, anna, 0.7)) == 0
    first = await pairs(db, owner, limit=1)
    assert first.next_cursor is not None
    second = await pairs(db, owner, limit=1, cursor=first.next_cursor)
    assert [(round(pair.score, 3), {*pair.a.names, *pair.b.names}) for pair in (*first.items, *second.items)] == [
        (0.7, {"Ana", "Anna"}),
        (0.6, {"Ana", "Ann"}),
    ]
    assert second.next_cursor is None
    assert (first.items[0].evidence, first.items[0].found_by, first.items[0].state) == ({"name": 3.5}, "tests", "open")
    assert (await pairs(db, other)).items == []
    assert await noted(db, owner, (ana, new_id(), 0.9)) == 0  # nobody: what was forgotten and would only come back


async def test_accepting_merges_and_undoing_the_change_parts_them(db: Database, owner: Owner) -> None:
    ana, anna = await people(db, owner, "Ana", "Anna")
    await noted(db, owner, (ana, anna, 0.4))
    decision = await accept(db, owner, anna, ana)
    assert (decision.state, decision.canonical_id) == ("merged", min(ana, anna))
    again = await accept(db, owner, ana, anna)
    assert (again.canonical_id, again.change_id) == (min(ana, anna), None)
    with pytest.raises(PairDecidedError):
        await reject(db, owner, ana, anna)
    assert (await pairs(db, owner)).items == []
    assert [pair.b.canonical_id for pair in (await pairs(db, owner, state="merged")).items] == [min(ana, anna)]
    assert decision.change_id is not None
    await undo(db, owner, decision.change_id, asserted_by="user")
    async with db.transaction(owner.user_id) as connection:
        assert {card.names for card in (await cards(connection, owner, [ana, anna])).values()} == {("Ana",), ("Anna",)}
    assert (await reject(db, owner, ana, anna)).state == "rejected"


async def test_a_node_with_a_name_stands_for_one_that_is_only_described(db: Database, owner: Owner) -> None:
    sister, ana = await made(
        db, owner, Node(type="Person", label="sister", data={"named": False}), Node(type="Person", label="Ana")
    )
    await noted(db, owner, (ana, sister, 0.4))
    assert (await accept(db, owner, sister, ana)).canonical_id == ana


async def test_rejected_is_rejected_for_ever_and_through_merges(db: Database, owner: Owner) -> None:
    ana, anna, annie = await people(db, owner, "Ana", "Anna", "Annie")
    await noted(db, owner, (ana, anna, 0.4))
    assert (await reject(db, owner, anna, ana)).state == "rejected"
    assert await noted(db, owner, (ana, anna, 0.9)) == 0
    with pytest.raises(PairDecidedError):
        await accept(db, owner, ana, anna)
    await merge(db, owner, anna, annie, asserted_by="tests")
    assert await noted(db, owner, (ana, annie, 0.9)) == 0
    async with db.transaction(owner.user_id) as connection:
        assert await refused(connection, owner, [(annie, ana), (anna, annie)]) == {(annie, ana)}
    await unmerge(db, owner, anna, asserted_by="tests")
    assert await noted(db, owner, (ana, annie, 0.9)) == 1


async def test_a_pair_that_nobody_noted_is_unknown(db: Database, owner: Owner, other: Owner) -> None:
    ana, anna = await people(db, owner, "Ana", "Anna")
    await noted(db, owner, (ana, anna, 0.4))
    for act in (accept, reject):
        with pytest.raises(PairUnknownError):
            await act(db, other, ana, anna)
        with pytest.raises(PairUnknownError):
            await act(db, owner, ana, ana)


async def test_one_node_that_is_two_is_parted_by_its_sources(db: Database, owner: Owner, settings: Settings) -> None:
    office, at_work = await said(db, owner, settings, "office", "Tom works at Acme. Tommy, they say.")
    boat, at_sea = await said(db, owner, settings, "boat", "Tom lives in Porto.")
    work, sea = [Evidence(passage_id=at_work)], [Evidence(passage_id=at_sea)]
    tom, acme, porto = await made(
        db, owner, Node(type="Person", label="Tom", evidence=work), Node(type="Organization", label="Acme"),
        Node(type="Place", label="Porto"), Alias(node=0, alias="Tommy", evidence=work),
        Edge(from_node=0, type="WORKS_AT", to_node=1, fact="Tom works at Acme.", evidence=work),
        Edge(from_node=0, type="LIVES_IN", to_node=2, fact="Tom lives in Porto.", evidence=sea),
    )  # fmt: skip
    parted = await split(db, owner, tom, [office])
    assert (parted.node_id, parted.unmerged, parted.facts, parted.names) == (tom, False, 1, 1)
    ends = {(fact.from_node, fact.to_node) for fact in await facts(db, owner, [tom])}
    assert ends == {(tom, porto)}
    moved = await facts(db, owner, [parted.other_id])
    assert [(fact.type, fact.to_node) for fact in moved] == [("WORKS_AT", acme)]
    async with db.transaction(owner.user_id) as connection:
        found = await cards(connection, owner, [tom, parted.other_id])
    assert found[parted.other_id].names == ("Tommy",)
    assert office in found[parted.other_id].sources
    assert found[tom].names == ("Tom",)
    assert await noted(db, owner, (tom, parted.other_id, 0.9)) == 0
    await undo(db, owner, parted.change_id, asserted_by="user")
    assert {fact.to_node for fact in await facts(db, owner, [tom])} == {acme, porto}
    with pytest.raises(NothingToSplitError):
        await split(db, owner, tom, [office, boat])
    with pytest.raises(NothingToSplitError):
        await split(db, owner, acme, [boat])


async def test_what_was_merged_is_parted_by_undoing_the_merge(db: Database, owner: Owner, settings: Settings) -> None:
    _, at_work = await said(db, owner, settings, "office", "Tom works at Acme.")
    boat, at_sea = await said(db, owner, settings, "boat", "Tom lives in Porto.")
    tom, other = await made(
        db, owner, Node(type="Person", label="Tom", evidence=[Evidence(passage_id=at_work)]),
        Node(type="Person", label="Tom", evidence=[Evidence(passage_id=at_sea)]),
    )  # fmt: skip
    await noted(db, owner, (tom, other, 0.5))
    await accept(db, owner, tom, other)
    parted = await split(db, owner, tom, [boat])
    assert (parted.node_id, parted.other_id, parted.unmerged) == (tom, other, True)
    assert await noted(db, owner, (tom, other, 0.9)) == 0
    assert [pair.state for pair in (await pairs(db, owner, state="split")).items] == ["split"]


@pytest.mark.parametrize(
    ("merges", "wanted"),
    [
        ([(0, 1), (1, 2)], {1}),
        ([(0, 1), (1, 2)], {2}),
        ([(0, 2), (1, 2)], {2}),
        ([(0, 2), (1, 2)], {0}),
        ([(0, 1), (1, 2), (2, 3)], {0, 2}),
        ([(0, 1), (1, 2), (2, 3)], {1, 3}),
    ],
)
async def test_those_that_nobody_parted_stay_one(
    db: Database, owner: Owner, settings: Settings, merges: list[tuple[int, int]], wanted: set[int]
) -> None:
    """Whatever merges they were one by: in a chain, or around the one that leaves."""
    heard = [await said(db, owner, settings, f"place {n}", f"Tom was at place {n}.") for n in range(4)]
    toms = await made(
        db, owner,
        *(Node(type="Person", label=f"Tom {n}", evidence=[Evidence(passage_id=heard[n][1])]) for n in range(4)),
    )  # fmt: skip
    for one, canonical in merges:
        await merge(db, owner, toms[one], toms[canonical], asserted_by="tests", reason=f"{one} is {canonical}")
    members = {place for pair in merges for place in pair}
    parted = await split(db, owner, toms[0], [heard[n][0] for n in wanted])
    stands = {place: (await read.resolve(db, owner, [toms[place]]))[toms[place]] for place in members}
    assert {stands[place] for place in wanted} == {parted.other_id}
    assert {stands[place] for place in members - wanted} == {parted.node_id}
    for one in wanted:
        for other in members - wanted:
            assert await noted(db, owner, (toms[one], toms[other], 0.9)) == 0
    await undo(db, owner, parted.change_id, asserted_by="user")
    assert {(await read.resolve(db, owner, [toms[place]]))[toms[place]] for place in members} == {toms[max(members)]}
