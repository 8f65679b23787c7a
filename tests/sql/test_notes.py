"""Notes and links by hand: what is written is found, keeps its history, and hangs together."""

from __future__ import annotations

import asyncio
import math
from typing import Any
from uuid import UUID, uuid4

import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import (
    FactUnknownError,
    InvalidRequestError,
    InvalidTextError,
    MemsvcError,
    NodeUnknownError,
    PassageUnknownError,
    TextTooLongError,
)
from memsvc.graph import read
from memsvc.graph.history import merge, undo, unmerge, write
from memsvc.graph.links import (
    TYPES,
    Link,
    Relation,
    create_link,
    get_linked_notes,
    unlink,
)
from memsvc.graph.notes import create_note, note, notes, update_note
from memsvc.graph.operations import Edge, Evidence, Node
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append

ME = "tests"
NASTY = "'; DROP TABLE memsvc.nodes; -- <script>alert(1)</script> %s :q \\ {} [[x]]"


async def write_notes(db: Database, owner: Owner, *titles: str) -> list[UUID]:
    return [(await create_note(db, owner, title)).note_id for title in titles]


async def person(db: Database, owner: Owner, label: str) -> UUID:
    change = await write(db, owner, [Node(type="Person", label=label)], asserted_by=ME)
    found = change.results[0].node_id
    assert found is not None
    return found


async def titles(db: Database, owner: Owner, **wanted: Any) -> list[str]:
    return [found.title for found in (await notes(db, owner, **wanted))[0]]


async def linked(db: Database, owner: Owner, start: UUID, **wanted: Any) -> list[tuple[str, int, float]]:
    found = await get_linked_notes(db, owner, start, **wanted)
    return [(n.title, n.distance, round(n.strength, 6)) for n in found]


# Notes --------------------------------------------------------------------------------------------------------------


async def test_a_note_is_a_node_with_subjects_and_evidence(db: Database, owner: Owner, settings: Settings) -> None:
    ines = await person(db, owner, "Ines")
    [stored] = await append(db, owner, [MessageIn(conversation="a", text="Ines hates beech.")], settings)
    assert stored.passage_id is not None
    made = await create_note(
        db, owner, "  Oak for   the worktop ", "Beech swells.", kind="decision", tags=["#kitchen", "wood", "kitchen"],
        about=[ines, ines], evidence=[Evidence(passage_id=stored.passage_id, span=(0, 4))], importance=7,
    )  # fmt: skip
    assert (made.title, made.text, made.kind, made.tags) == (
        "Oak for the worktop", "Beech swells.", "decision", ["kitchen", "wood"],
    )  # fmt: skip
    assert (made.importance, made.about, made.asserted_by) == (7, [ines], "user")
    assert await note(db, owner, made.note_id) == made
    [state] = await read.node_states(db, owner, [made.note_id])
    assert (state.type, state.label, state.version_id) == ("Note", made.title, made.version_id)
    [about] = await read.facts(db, owner, [ines])
    assert (about.type, about.fact) == ("ABOUT", "Oak for the worktop is about Ines.")
    for kind, version in (("node", made.version_id), ("edge", about.version_id)):
        sources = await read.evidence(db, owner, kind, [version])  # type: ignore[arg-type]
        assert [source.span for source in sources] == [(0, 4)]


async def test_a_change_corrects_what_is_named_and_keeps_the_rest_and_the_past(db: Database, owner: Owner) -> None:
    made = await create_note(db, owner, "One", "text", kind="question", tags=["a"])
    after = await update_note(db, owner, made.note_id, title="Two", tags=[])
    assert (after.title, after.text, after.kind, after.tags) == ("Two", "text", "question", [])
    assert (await update_note(db, owner, made.note_id, kind="insight", text="")).kind == "insight"
    before = await read.node_states(db, owner, [made.note_id], known_at=made.recorded_from)
    assert [(s.label, s.data["tags"]) for s in before] == [("One", ["a"])]
    events = await read.history(db, owner, made.note_id)
    assert [e.content["label"] for e in events if e.event == "written"] == ["Two", "Two", "One"]
    last = events[0].change_id
    assert last is not None
    await undo(db, owner, last, asserted_by=ME)
    assert ((await note(db, owner, made.note_id)).kind, (await note(db, owner, made.note_id)).text) == (
        "question", "text",
    )  # fmt: skip
    with pytest.raises(InvalidRequestError, match="Nothing is to change"):
        await update_note(db, owner, made.note_id)


async def test_two_who_change_a_note_at_once_both_do(db: Database, owner: Owner) -> None:
    made = await create_note(db, owner, "One")
    await asyncio.gather(
        update_note(db, owner, made.note_id, title="Two"), update_note(db, owner, made.note_id, tags=["x"])
    )
    after = await note(db, owner, made.note_id)
    assert (after.title, after.tags) == ("Two", ["x"])


async def test_what_others_put_into_a_note_stays(db: Database, owner: Owner) -> None:
    change = await write(
        db, owner, [Node(type="Note", label="Bare", data={"source": "x", "tags": "no list"})], asserted_by="extractor"
    )
    bare = change.results[0].node_id
    assert bare is not None
    found = await note(db, owner, bare)
    assert (found.kind, found.tags, found.asserted_by) == ("fact", [], "extractor")
    assert await titles(db, owner, kind="fact") == ["Bare"]
    await update_note(db, owner, bare, tags=["t"])
    assert (await read.node_states(db, owner, [bare]))[0].data == {"source": "x", "tags": ["t"]}


async def test_notes_are_listed_newest_first_in_pages_and_filtered(db: Database, owner: Owner, other: Owner) -> None:
    for number in range(5):
        await create_note(
            db, owner, f"Note {number}", f"100% {number}_{number}", tags=[f"t{number % 2}"],
            kind="insight" if number == 3 else "fact",
        )  # fmt: skip
    await create_note(db, other, "Not mine")
    assert await titles(db, owner) == [f"Note {number}" for number in (4, 3, 2, 1, 0)]
    seen, cursor = [], None
    for _ in range(3):
        page, cursor = await notes(db, owner, cursor=cursor, limit=2)
        seen += [found.title for found in page]
    assert (seen, cursor) == ([f"Note {number}" for number in (4, 3, 2, 1, 0)], None)
    assert await titles(db, owner, kind="insight") == ["Note 3"]
    assert await titles(db, owner, tag="t1") == await titles(db, owner, tag="#t1") == ["Note 3", "Note 1"]
    assert await titles(db, owner, tag="t") == []
    assert await titles(db, owner, q="NOTE 4") == await titles(db, owner, q="% 4_4") == ["Note 4"]
    assert await titles(db, owner, q="4%") == []


async def test_merged_notes_are_one(db: Database, owner: Owner) -> None:
    first, second = await write_notes(db, owner, "First", "Second")
    ines = await person(db, owner, "Ines")
    await write(db, owner, [Edge(from_node=second, type="ABOUT", to_node=ines, fact="x")], asserted_by=ME)
    await merge(db, owner, second, first, asserted_by=ME)
    assert await titles(db, owner) == ["First"]
    assert (await note(db, owner, second)).note_id == first
    assert (await note(db, owner, second)).about == [ines]
    await unmerge(db, owner, second, asserted_by=ME)
    assert await titles(db, owner) == ["Second", "First"]


async def test_notes_of_others_are_not_there(db: Database, owner: Owner, other: Owner) -> None:
    [mine] = await write_notes(db, owner, "Mine")
    [foreign] = await write_notes(db, other, "Foreign")
    for step in (
        lambda: note(db, owner, foreign),
        lambda: update_note(db, owner, foreign, title="x"),
        lambda: create_note(db, owner, "x", about=[foreign]),
        lambda: create_link(db, owner, mine, foreign, "supports"),
        lambda: get_linked_notes(db, owner, foreign),
    ):
        with pytest.raises(NodeUnknownError):
            await step()


async def test_what_is_no_note_is_not_read_as_one(db: Database, owner: Owner) -> None:
    ines = await person(db, owner, "Ines")
    for wanted in (ines, uuid4()):
        with pytest.raises(NodeUnknownError):
            await note(db, owner, wanted)


BAD_NOTES: tuple[tuple[dict[str, Any], type[MemsvcError]], ...] = (
    ({"title": " \n "}, InvalidRequestError),
    ({"title": "x" * 201}, InvalidRequestError),
    ({"title": "x\0"}, InvalidTextError),
    ({"text": "x" * 8_001}, TextTooLongError),
    ({"text": "\ud800"}, InvalidTextError),
    ({"kind": "thought"}, InvalidRequestError),
    ({"tags": [""]}, InvalidRequestError),
    ({"tags": ["#"]}, InvalidRequestError),
    ({"tags": ["x" * 101]}, InvalidRequestError),
    ({"tags": [str(n) for n in range(51)]}, InvalidRequestError),
    ({"tags": ["\0"]}, InvalidTextError),
    ({"importance": 11}, InvalidRequestError),
    ({"importance": math.nan}, InvalidRequestError),
    ({"evidence": [Evidence(passage_id=uuid4())]}, PassageUnknownError),
)


@pytest.mark.parametrize(("fields", "error"), BAD_NOTES)
async def test_notes_that_cannot_be_are_refused(
    db: Database, owner: Owner, fields: dict[str, Any], error: type[MemsvcError]
) -> None:
    kept = await create_note(db, owner, "Kept")
    with pytest.raises(error):
        await create_note(db, owner, **{"title": "x", **fields})
    with pytest.raises(error):
        await update_note(db, owner, kept.note_id, **{"importance": 4, **fields})
    assert await note(db, owner, kept.note_id) == kept
    assert await titles(db, owner) == ["Kept"]


async def test_too_many_subjects_and_unknown_ones_are_refused(db: Database, owner: Owner) -> None:
    with pytest.raises(InvalidRequestError):
        await create_note(db, owner, "x", about=[uuid4() for _ in range(51)])
    with pytest.raises(NodeUnknownError):
        await create_note(db, owner, "x", about=[uuid4()])
    assert await titles(db, owner) == []


async def test_words_that_look_like_code_are_words(db: Database, owner: Owner) -> None:
    made = await create_note(db, owner, NASTY, NASTY, tags=[NASTY[:100]])
    assert (made.title, made.text, made.tags) == (NASTY, NASTY, [NASTY[:100]])
    assert await titles(db, owner, q=NASTY) == await titles(db, owner, tag=NASTY[:100]) == [NASTY]
    other = await create_note(db, owner, "{} {0}")
    link = await create_link(db, owner, made.note_id, other.note_id, "extends")
    assert link.fact == f"{NASTY} extends {{}} {{0}}."
    assert (await create_link(db, owner, made.note_id, other.note_id, "extends", reason=NASTY)).fact == NASTY


# Links --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("relation", "type_"), TYPES.items())
async def test_each_relation_is_an_edge_with_a_sentence(
    db: Database, owner: Owner, relation: Relation, type_: str
) -> None:
    first, second = await write_notes(db, owner, "Oak", "Wood")
    link = await create_link(db, owner, first, second, relation, strength=0.5)
    [fact] = await read.facts(db, owner, [first])
    assert (fact.type, fact.weight, fact.fact, fact.edge_id) == (type_, 0.5, link.fact, link.link_id)
    assert link.fact.startswith("Oak ")
    assert link.fact.endswith(" Wood.")
    [near] = await get_linked_notes(db, owner, second)
    assert (near.note_id, near.relations, near.path) == (first, [relation], [first])


async def test_linking_again_is_the_same_link_with_another_strength(db: Database, owner: Owner) -> None:
    first, second = await write_notes(db, owner, "One", "Two")
    link = await create_link(db, owner, first, second, "supports", strength=0.5)
    assert await create_link(db, owner, first, second, "supports", strength=0.5) == link
    stronger = await create_link(db, owner, first, second, "supports", strength=0.9, reason="Because.")
    assert (stronger.link_id, stronger.fact) == (link.link_id, "Because.")
    assert stronger.strength == pytest.approx(0.9)
    assert stronger.version_id != link.version_id
    edges = [e.content["weight"] for e in await read.history(db, owner, first) if e.kind == "edge"]
    assert edges == [0.5, pytest.approx(0.9), 0.5]
    assert len(await read.facts(db, owner, [first], as_of=read.ALWAYS)) == 1
    back = await create_link(db, owner, second, first, "supports")
    assert back.link_id != link.link_id


async def test_a_link_ends_and_begins_again_and_the_time_between_stays(db: Database, owner: Owner) -> None:
    first, second = await write_notes(db, owner, "One", "Two")
    link = await create_link(db, owner, first, second, "relates_to")
    assert await unlink(db, owner, link.link_id) is True
    assert await unlink(db, owner, link.link_id) is False
    assert await linked(db, owner, first) == []
    again = await create_link(db, owner, first, second, "relates_to")
    assert again.link_id == link.link_id
    assert await linked(db, owner, first) == [("Two", 1, 1.0)]
    spans = [(f.valid_from, f.valid_to) for f in await read.facts(db, owner, [first], as_of=read.ALWAYS)]
    assert spans[0][1] is None
    assert spans[1][0] is None
    began, ended = spans[0][0], spans[1][1]
    assert began is not None
    assert ended is not None
    assert began > ended


async def test_links_of_merged_notes_are_those_of_the_one_that_stands_for_them(db: Database, owner: Owner) -> None:
    first, second, third = await write_notes(db, owner, "One", "Two", "Three")
    link = await create_link(db, owner, second, third, "extends", strength=0.5)
    await merge(db, owner, second, first, asserted_by=ME)
    assert await linked(db, owner, first) == await linked(db, owner, second) == [("Three", 1, 0.5)]
    assert (await create_link(db, owner, first, third, "extends", strength=0.6)).link_id == link.link_id
    with pytest.raises(InvalidRequestError, match="linked with itself"):
        await create_link(db, owner, first, second, "extends")
    await unmerge(db, owner, second, asserted_by=ME)
    assert await linked(db, owner, first) == []
    assert await linked(db, owner, second) == [("Three", 1, 0.6)]


async def test_linked_notes_are_sorted_by_distance_then_strength(db: Database, owner: Owner) -> None:
    a, b, c, d, e = await write_notes(db, owner, "A", "B", "C", "D", "E")
    ines = await person(db, owner, "Ines")
    for start, end, relation, strength in (
        (a, b, "supports", 0.5), (c, a, "extends", 0.8), (b, d, "supports", 0.5), (c, d, "answers", 0.25),
        (d, e, "part_of", 1.0), (a, ines, "relates_to", 1.0),
    ):  # fmt: skip
        await create_link(db, owner, start, end, relation, strength=strength)  # type: ignore[arg-type]
    assert await linked(db, owner, a, radius=1) == [("C", 1, 0.8), ("B", 1, 0.5)]
    assert await linked(db, owner, a) == [("C", 1, 0.8), ("B", 1, 0.5), ("D", 2, 0.25)]
    found = await get_linked_notes(db, owner, a, radius=4)
    assert [(n.title, n.distance) for n in found] == [("C", 1), ("B", 1), ("D", 2), ("E", 3)]
    far = found[-1]
    assert far.path[-2:] == [d, e]
    assert (len(far.path), len(far.relations), far.relations[-1]) == (3, 3, "part_of")
    assert far.strength == pytest.approx(found[2].strength)
    assert found[2].strength == pytest.approx(0.25)  # B's link to D is the stronger one
    assert await linked(db, owner, a, radius=4, relations=["supports"]) == [("B", 1, 0.5), ("D", 2, 0.25)]
    assert await linked(db, owner, a, radius=2, min_strength=0.6) == [("C", 1, 0.8)]
    assert await linked(db, owner, a, radius=4, limit=1) == [("C", 1, 0.8)]
    assert await linked(db, owner, ines, radius=1) == [("A", 1, 1.0)]


async def test_facts_that_are_no_links_lead_nowhere(db: Database, owner: Owner) -> None:
    first, second = await write_notes(db, owner, "One", "Two")
    facts = [Edge(from_node=first, type=type_, to_node=second, fact="x") for type_ in ("ABOUT", "MENTIONS")]
    change = await write(db, owner, facts, asserted_by=ME)
    assert await linked(db, owner, first, radius=4) == []
    for unknown in (change.results[0].edge_id, uuid4()):
        assert unknown is not None
        with pytest.raises(FactUnknownError):
            await unlink(db, owner, unknown)


async def test_more_links_than_the_usual_fan_out_are_found_up_to_the_limit(db: Database, owner: Owner) -> None:
    [hub] = await write_notes(db, owner, "Hub")
    nodes = [Node(type="Note", label=f"N{n:02}") for n in range(60)]
    edges = [
        Edge(from_node=n, type="PART_OF", to_node=hub, fact="x", weight=(n + 1) / 100) for n in range(60)
    ]  # fmt: skip
    await write(db, owner, [*nodes, *edges], asserted_by=ME)
    assert [t for t, _, _ in await linked(db, owner, hub)] == [f"N{n:02}" for n in range(59, 9, -1)]
    assert len(await linked(db, owner, hub, limit=100)) == 60


async def test_two_who_link_at_once_make_one_link(db: Database, owner: Owner) -> None:
    first, second = await write_notes(db, owner, "One", "Two")
    made: list[Link] = await asyncio.gather(
        *(create_link(db, owner, first, second, "supports", strength=0.1 * n) for n in (1, 2, 3, 4))
    )
    assert len({link.link_id for link in made}) == 1
    assert len(await read.facts(db, owner, [first], as_of=read.ALWAYS)) == 1


BAD_LINKS: tuple[tuple[dict[str, Any], type[MemsvcError]], ...] = (
    ({"relation": "EXTENDS"}, InvalidRequestError),
    ({"relation": "loves"}, InvalidRequestError),
    ({"strength": 0}, InvalidRequestError),
    ({"strength": 1.01}, InvalidRequestError),
    ({"strength": math.nan}, InvalidRequestError),
    ({"reason": "x" * 8_001}, TextTooLongError),
    ({"reason": "\0"}, InvalidTextError),
    ({"to_node": uuid4()}, NodeUnknownError),
    ({"evidence": [Evidence(passage_id=uuid4())]}, PassageUnknownError),
)


@pytest.mark.parametrize(("fields", "error"), BAD_LINKS)
async def test_links_that_cannot_be_are_refused(
    db: Database, owner: Owner, fields: dict[str, Any], error: type[MemsvcError]
) -> None:
    first, second = await write_notes(db, owner, "One", "Two")
    with pytest.raises(error):
        await create_link(db, owner, **{"from_node": first, "to_node": second, "relation": "supports", **fields})
    assert await linked(db, owner, first) == []


@pytest.mark.parametrize(
    "bounds",
    [{"radius": 0}, {"radius": 5}, {"min_strength": -0.1}, {"min_strength": 2}, {"limit": 0}, {"limit": 1_001},
     {"relations": ["loves"]}],
)  # fmt: skip
async def test_bounds_that_cannot_be_are_refused(db: Database, owner: Owner, bounds: dict[str, Any]) -> None:
    [first] = await write_notes(db, owner, "One")
    with pytest.raises(InvalidRequestError):
        await get_linked_notes(db, owner, first, **bounds)
