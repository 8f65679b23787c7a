"""Sleep proposes what is described alike, though it is called differently: never merged, each pair once, by vectors."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.graph.history import write
from memsvc.graph.operations import Node
from memsvc.identity.review import pairs, reject
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sleep import described
from memsvc.sleep.runner import dry_run, sleep
from memsvc.sleep.tasks import Scope
from memsvc.sources.embedding import embedding_steps
from tests.fakes.embedders import Alone, resident

REAL = "onnx:all-MiniLM-L6-v2"
PHONE = ("Smartphone", "The user's Android phone, with a cracked screen.")
MOBILE = ("Mobile phone", "Phone with a broken screen that the user carries everywhere.")
APART = [
    ("iPhone 12", "The user's phone from Apple."), ("iPhone 13", "Phone from Apple that the user has."),
    ("Winter tyres", "Tyres of the user's car for the cold months."),
    ("Summer tyres", "Tyres of the user's car for the warm months."),
]  # fmt: skip


@pytest.fixture
def models(settings: Settings) -> Alone:
    return resident(OnnxMiniLM(), REAL, settings)


async def things(db: Database, owner: Owner, *given: tuple[str, str], kind: str = "Object") -> list[UUID]:
    nodes = [Node(type=kind, label=label, description=description) for label, description in given]
    made = await write(db, owner, nodes, asserted_by="tests")
    return [result.node_id for result in made.results if result.node_id]


async def waiting(db: Database, owner: Owner) -> set[frozenset[str]]:
    """Labels of the pairs that wait for a person."""
    page = await pairs(db, owner)
    return {frozenset(side.names[0] for side in (pair.a, pair.b)) for pair in page.items}


async def embed(db: Database, models: Alone) -> None:
    await run_due(db, embedding_steps(models))


async def test_other_words_for_a_thing_are_proposed_and_never_merged(
    db: Database, owner: Owner, models: Alone, admin: psycopg.Connection
) -> None:
    await things(db, owner, PHONE, MOBILE, *APART)
    await things(db, owner, ("Anna", "Colleague of the user in the design team."),
                 ("Anne Mayer", "Colleague of the user from the design team."), kind="Person")  # fmt: skip
    await sleep(db, owner)
    assert await waiting(db, owner) == set(), "without vectors"
    await embed(db, models)
    proposed = [item.labels for _, page in [one async for one in dry_run(db, owner)] for item in page.proposals]
    assert {frozenset(labels) for labels in proposed} == {frozenset(("Smartphone", "Mobile phone"))}
    [run] = await sleep(db, owner)
    assert (run.proposed, run.applied) == (1, 0)
    assert await waiting(db, owner) == {frozenset(("Smartphone", "Mobile phone"))}
    [again] = await sleep(db, owner)
    assert again.proposed == 0


async def test_a_rejected_pair_does_not_come_back(db: Database, owner: Owner, models: Alone) -> None:
    one, other = await things(db, owner, PHONE, MOBILE)
    await embed(db, models)
    await sleep(db, owner)
    await reject(db, owner, one, other)
    await sleep(db, owner)
    assert await waiting(db, owner) == set()


async def test_a_card_is_compared_as_soon_as_it_has_a_vector(db: Database, owner: Owner, models: Alone) -> None:
    await things(db, owner, PHONE, MOBILE)
    since = datetime.now(UTC)
    await sleep(db, owner, scope=Scope(since=since))
    await embed(db, models)
    await sleep(db, owner, scope=Scope(since=datetime.now(UTC)))
    assert await waiting(db, owner) == set(), "its vector is older than that"
    await sleep(db, owner, scope=Scope(since=since))
    assert await waiting(db, owner) == {frozenset(("Smartphone", "Mobile phone"))}


async def test_only_what_concerns_a_node(db: Database, owner: Owner, models: Alone) -> None:
    [tyres] = await things(db, owner, APART[2])
    [phone] = await things(db, owner, PHONE)
    await things(db, owner, MOBILE)
    await embed(db, models)
    await sleep(db, owner, scope=Scope(from_node=tyres))
    assert await waiting(db, owner) == set()
    await sleep(db, owner, scope=Scope(from_node=phone))
    assert len(await waiting(db, owner)) == 1


async def test_pages_and_pauses_find_the_same(
    db: Database, owner: Owner, models: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(described, "READ", 1)
    await things(db, owner, PHONE, MOBILE, *APART)
    await embed(db, models)
    pages = [page async for page in described.described_alike(db, owner, Scope(), {"card": None}, ())]
    assert sorted(len(page.proposals) for page in pages) == [0, 0, 0, 0, 1, 1], "both ends meet it"
    rest = [page async for page in described.described_alike(db, owner, Scope(), pages[1].place, ())]
    assert [page.place for page in rest] == [page.place for page in pages[2:]]


async def test_a_model_without_a_threshold_proposes_nothing(
    db: Database, owner: Owner, models: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(described, "LEAST_COSINE", {})
    await things(db, owner, PHONE, MOBILE)
    await embed(db, models)
    await sleep(db, owner)
    assert await waiting(db, owner) == set()


async def test_the_index_finds_the_same(db: Database, owner: Owner, models: Alone, admin: psycopg.Connection) -> None:
    nodes = await things(db, owner, PHONE, MOBILE, *APART)
    await embed(db, models)
    near = "SELECT node_id, other_id FROM memsvc.near_cards(%s, %s, %s, 8, 0.65) ORDER BY 1, 2"
    [model] = admin.execute("SELECT model_id FROM memsvc.embedding_models WHERE state = 'active'").fetchone() or (0,)
    exact = admin.execute(near, [owner.user_id, model, nodes]).fetchall()
    assert len(exact) == 6
    with admin.transaction(force_rollback=True):  # as if there were many cards
        admin.execute(
            "UPDATE memsvc.corpora SET passages = 1000000 WHERE user_id = %s AND kind = 'card'", [owner.user_id]
        )
        admin.execute(
            "UPDATE memsvc.term_deltas SET passages = 1000000 WHERE user_id = %s AND kind = 'card'", [owner.user_id]
        )
        assert admin.execute(near, [owner.user_id, model, nodes]).fetchall() == exact


async def test_another_user_s_cards_are_not_compared(
    db: Database, owner: Owner, other: Owner, models: Alone, admin: psycopg.Connection
) -> None:
    nodes = await things(db, other, PHONE, MOBILE)
    await things(db, owner, PHONE)
    await embed(db, models)
    [model] = admin.execute("SELECT model_id FROM memsvc.embedding_models WHERE state = 'active'").fetchone() or (0,)
    values: dict[str, object] = {"user_id": other.user_id, "model": model, "nodes": nodes, "nearest": 8, "least": 0.65}
    page = {"user_id": other.user_id, "model": model, "after": None, "since": None, "limit": 10}
    for reader, found, listed in ((other, 1, 2), (owner, 0, 0)):
        async with db.transaction(reader.user_id) as connection:
            assert len((await connection.execute(query("near_cards"), values)).all()) == found
            assert len((await connection.execute(query("nodes_with_cards"), page)).all()) == listed
    await sleep(db, owner)
    assert await waiting(db, owner) == set()
