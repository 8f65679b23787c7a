"""Nodes and notes are found by what is said about them, too: by words and by meaning, behind what is called so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from numpy.typing import NDArray

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import BadCursorError, TypeUnknownError
from memsvc.graph import operations as ops
from memsvc.graph.history import merge, write
from memsvc.graph.notes import create_note, update_note
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.queue.execution import run_due
from memsvc.recall.find import MOST_RANKED, find_nodes, find_notes
from memsvc.recall.search import QueryEmbedder
from memsvc.settings import Settings
from memsvc.sources.embedding import embedding_steps
from tests.fakes.embedders import Alone, SlowEmbedder, WordsEmbedder, resident

ME = "tests"
REAL = "onnx:all-MiniLM-L6-v2"
DOCTOR = "A cardiologist; she treats Marcel since the bypass."


class Topics(WordsEmbedder):
    """Knows two topics by some of their words, and nothing else."""

    WORDS = ({"heart", "doctor", "cardiologist", "bypass"}, {"wood", "oak", "timber", "beech"})

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The direction of its topic for each text."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            said = {word.strip(".,:;?!") for word in text.lower().split()}
            vectors[row, next((nth for nth, words in enumerate(self.WORDS) if words & said), 2 + len(text) % 300)] = 1
        return vectors


@pytest.fixture(scope="session")
def settings(settings: Settings) -> Settings:
    """Patient ones: on a busy machine a query's vector takes longer than a user would wait."""
    return settings.model_copy(update={"query_embedding_ms": 5_000})


@pytest.fixture
def topics(settings: Settings) -> Alone:
    """The fake under the default model's name, whose threshold is known."""
    return resident(Topics(384), REAL, settings)


async def made(db: Database, owner: Owner, *nodes: ops.Node) -> list[UUID]:
    change = await write(db, owner, nodes, asserted_by=ME)
    return [result.node_id for result in change.results if result.node_id is not None]


async def embed(db: Database, models: Alone) -> None:
    await run_due(db, embedding_steps(models))


async def found(
    db: Database, owner: Owner, settings: Settings, wanted: str, embedder: QueryEmbedder | None, **asked: Any
) -> list[tuple[str | None, str]]:
    page = await find_nodes(db, owner, wanted, settings, embedder=embedder, **asked)
    return [(node.label, node.matched) for node in page.items]


async def test_the_heart_doctor_is_the_cardiologist(
    db: Database, owner: Owner, settings: Settings, minilm: OnnxMiniLM
) -> None:
    models = resident(minilm, REAL, settings)
    await made(
        db, owner,
        ops.Node(type="Person", label="Dr. Meyer", description="Cardiologist who treats Marcel since the bypass."),
        ops.Node(type="Object", label="Smartphone", description="Marcel's Android device, with a cracked screen."),
        ops.Node(type="Place", label="Allotment", description="Rented garden behind the station."),
        ops.Node(type="Concept", label="Heart doctoring"),
    )  # fmt: skip
    await embed(db, models)
    assert await found(db, owner, settings, "heart doctor", models) == [
        ("Heart doctoring", "name"), ("Dr. Meyer", "meaning"),
    ]  # fmt: skip
    assert await found(db, owner, settings, "telephone", models) == [("Smartphone", "meaning")]
    assert await found(db, owner, settings, "volcano eruption", models) == []


async def test_words_are_found_without_vectors_and_the_answer_says_so(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await made(
        db, owner, ops.Node(type="Person", label="Dr. Meyer", description=DOCTOR), ops.Node(type="Person", label="Ina")
    )
    quick = settings.model_copy(update={"query_embedding_ms": 1})
    for wanted, expected in (("bypass", [("Dr. Meyer", "words")]), ("treating", [("Dr. Meyer", "words")])):
        page = await find_nodes(db, owner, wanted, quick, embedder=resident(SlowEmbedder(1), REAL, quick))
        assert [(node.label, node.matched) for node in page.items] == expected
        assert (page.degraded, page.items[0].match, page.items[0].name) == (["vector"], None, "Dr. Meyer")
    none = await find_nodes(db, owner, "bypass of nine rivers", settings, embedder=None)
    assert (none.items, none.degraded) == ([], []), "one of three words is too little"


async def test_filters_hold_for_what_is_found_by_meaning(
    db: Database, owner: Owner, settings: Settings, topics: Alone
) -> None:
    before = datetime.now(UTC)
    [doctor] = await made(db, owner, ops.Node(type="Person", label="Dr. Meyer", description=DOCTOR))
    since = datetime.now(UTC)
    ended = ops.Node(
        type="Organization", label="Old clinic", description="Where a cardiologist was.",
        valid_from=since - timedelta(days=900), valid_to=since - timedelta(days=400),
    )  # fmt: skip
    await made(db, owner, ended, ops.Node(type="Object", label="Chair", description="Of brown leather."))
    await embed(db, topics)
    everybody = {"Dr. Meyer", "Old clinic"}

    async def labels(**asked: Any) -> set[str | None]:
        hits = await found(db, owner, settings, "heart doctor", topics, **asked)
        assert {by for _, by in hits} <= {"meaning"}
        return {label for label, _ in hits}

    assert await labels() == {"Dr. Meyer"}
    assert await labels(as_of="always") == everybody
    assert await labels(as_of="always", node_type="Organization") == {"Old clinic"}
    assert await labels(as_of=since - timedelta(days=500)) == everybody, "nobody said since when she is a doctor"
    assert await labels(known_at=before) == set()
    assert await labels(node_type="Object") == set()
    with pytest.raises(TypeUnknownError):
        await labels(node_type="Ghost")
    [twin] = await made(
        db, owner, ops.Node(type="Person", label="Doctor Meyer of Graz", description="Operates hearts.")
    )
    await merge(db, owner, doctor, twin, asserted_by=ME)
    assert await found(db, owner, settings, "heart surgery doctor", topics) == [("Doctor Meyer of Graz", "meaning")]
    await embed(db, topics)
    assert await found(db, owner, settings, "heart surgery doctor", topics) == [("Doctor Meyer of Graz", "words")]


async def test_nothing_is_given_twice_or_passed_over_whatever_the_page(
    db: Database, owner: Owner, settings: Settings, topics: Alone
) -> None:
    nodes = [ops.Node(type="Concept", label=f"Topic {n}", description=f"Timber of kind {n}.") for n in range(7)]
    await made(
        db,
        owner,
        *nodes,
        ops.Node(type="Concept", label="Wood"),
        ops.Node(type="Concept", label="Woodwork"),
        ops.Node(type="Concept", label="Elm"),
    )
    await embed(db, topics)
    whole = await found(db, owner, settings, "wood", topics)
    assert whole[:2] == [("Wood", "name"), ("Woodwork", "name")]
    assert {label for label, by in whole if by == "meaning"} == {f"Topic {n}" for n in range(7)}
    for size in (1, 2, 4, 9):
        seen: list[tuple[str | None, str]] = []
        cursor: str | None = None
        while True:
            page = await find_nodes(db, owner, "wood", settings, embedder=topics, cursor=cursor, limit=size)
            seen += [(node.label, node.matched) for node in page.items]
            if cursor is None:  # what is nearer from now on does not move what was given
                await made(db, owner, ops.Node(type="Concept", label=f"New {size}", description="A chair."))
            cursor = page.next_cursor
            if cursor is None:
                break
        assert seen == whole, size


async def test_cursors_are_checked(db: Database, owner: Owner, settings: Settings, topics: Alone) -> None:
    for bad in ("r.", "r.WzQsMV0", "r." + "A" * 5_000, f"r.{'x' * 22}"):
        for find in (find_nodes(db, owner, "a", settings, embedder=topics, cursor=bad),
                     find_notes(db, owner, settings, embedder=topics, q="a", cursor=bad)):  # fmt: skip
            with pytest.raises(BadCursorError):
                await find


async def test_the_ranking_ends(db: Database, owner: Owner, settings: Settings, topics: Alone) -> None:
    nodes = [ops.Node(type="Concept", label=f"Topic {n}", description="Timber.") for n in range(MOST_RANKED + 20)]
    await made(db, owner, *nodes)
    await embed(db, topics)
    page = await find_nodes(db, owner, "wood", settings, embedder=topics, limit=60)
    assert (len(page.items), page.next_cursor is None) == (60, False)
    last = await find_nodes(db, owner, "wood", settings, embedder=topics, limit=60, cursor=page.next_cursor)
    assert (len(last.items), last.next_cursor) == (MOST_RANKED - 60, None)
    assert not {node.node_id for node in page.items} & {node.node_id for node in last.items}


async def test_notes_that_say_it_come_before_those_that_are_about_it(
    db: Database, owner: Owner, settings: Settings, topics: Alone
) -> None:
    beech = await create_note(db, owner, "Beech swells", "Next to a sink.", kind="insight", tags=["kitchen"])
    told = await create_note(db, owner, "Worktop", "The wood costs 80 more.", kind="decision", tags=["kitchen"])
    title = await create_note(db, owner, "Woodwork", "Lasts.", tags=["shop"])
    await create_note(db, owner, "Opening hours", "Nine to five.", tags=["kitchen"])
    plain = (await made(db, owner, ops.Node(type="Note", label="Timber", description="Without a kind.")))[0]
    await embed(db, topics)

    async def listed(**asked: Any) -> list[tuple[UUID, str | None]]:
        page = await find_notes(db, owner, settings, embedder=topics, **asked)
        assert page.degraded == []
        return [(one.note_id, one.matched) for one in page.items]

    literal = [(title.note_id, "name"), (told.note_id, "text")]
    whole = await listed(q="wood")
    assert whole[:2] == literal
    assert set(whole[2:]) == {(beech.note_id, "meaning"), (plain, "meaning")}
    assert await listed(q="wood", tag="kitchen") == [(told.note_id, "text"), (beech.note_id, "meaning")]
    assert await listed(q="wood", kind="insight") == [(beech.note_id, "meaning")]
    assert await listed(q="wood", kind="fact") == [(title.note_id, "name"), (plain, "meaning")], "a fact by default"
    assert {by for _, by in await listed()} == {None}
    pages: list[tuple[UUID, str | None]] = []
    cursor: str | None = None
    while cursor is not None or not pages:
        page = await find_notes(db, owner, settings, embedder=topics, q="wood", cursor=cursor, limit=1)
        pages += [(one.note_id, one.matched) for one in page.items]
        cursor = page.next_cursor
    assert pages == whole
    await update_note(db, owner, beech.note_id, title="Stone", text="Never swells.")
    await embed(db, topics)
    assert beech.note_id not in {note for note, _ in await listed(q="wood")}


@pytest.mark.parametrize("measured", [True, False])
async def test_notes_that_are_left_out_take_no_place_in_the_ranking(
    db: Database, owner: Owner, settings: Settings, topics: Alone, monkeypatch: pytest.MonkeyPatch, *, measured: bool
) -> None:
    """Neither those with the text nor those of another kind; nor one of the nearest five, where these count."""
    if not measured:
        monkeypatch.setattr("memsvc.recall.find.LEAST_COSINE", {})
    told = ops.Node(type="Note", label="Offer", description="Oak wood oak.", data={"kind": "fact"})
    other = ops.Node(type="Note", label="Why", description="Oak or timber oak?", data={"kind": "question"})
    await made(db, owner, *[told] * (MOST_RANKED + 10))
    await made(db, owner, *[other] * (MOST_RANKED + 10))
    fact = ops.Node(type="Note", label="Beech", description="Swells; so much for the beech that I bought.")
    [beech] = await made(db, owner, fact)
    await embed(db, topics)
    ranked: list[tuple[UUID, str | None]] = []
    cursor: str | None = None
    while cursor is not None or not ranked:
        page = await find_notes(
            db, owner, settings, embedder=topics, q="oak wood", kind="fact", cursor=cursor, limit=500
        )
        ranked += [(one.note_id, one.matched) for one in page.items]
        cursor = page.next_cursor
    assert {by for _, by in ranked[: MOST_RANKED + 10]} == {"text"}
    assert ranked[MOST_RANKED + 10 :] == [(beech, "meaning")]


async def test_another_user_s_nodes_are_not_found(
    db: Database, owner: Owner, other: Owner, settings: Settings, topics: Alone
) -> None:
    await made(db, other, ops.Node(type="Person", label="Dr. Meyer", description=DOCTOR))
    await embed(db, topics)
    assert await found(db, other, settings, "heart doctor", topics) == [("Dr. Meyer", "meaning")]
    assert await found(db, owner, settings, "heart doctor", topics) == []
