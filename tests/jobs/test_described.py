"""Sleep proposes what is described alike, though it is called differently: never merged, each pair once, by vectors."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from uuid import UUID

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.erasing.memories import erase
from memsvc.graph.history import write
from memsvc.graph.operations import Merge, Node
from memsvc.identity.candidates import Suspicion, note
from memsvc.identity.cards import Card
from memsvc.identity.review import pairs, reject
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.queue.execution import run_due
from memsvc.queue.schedule import run_now
from memsvc.settings import Settings
from memsvc.sleep import described, duplicates
from memsvc.sleep.runner import dry_run, sleep
from memsvc.sleep.runs import Budget, Run
from memsvc.sleep.tasks import Scope
from memsvc.sources.embedding import embedding_steps
from tests.fakes.embedders import Alone, resident
from tests.jobs.test_sleep import own_runs

REAL = "onnx:all-MiniLM-L6-v2"
PHONE = ("Smartphone", "The user's Android phone, with a cracked screen.")
MOBILE = ("Mobile phone", "Phone with a broken screen that the user carries everywhere.")
APART = [
    ("iPhone 12", "The user's phone from Apple."), ("iPhone 13", "Phone from Apple that the user has."),
    ("Winter tyres", "Tyres of the user's car for the cold months."),
    ("Summer tyres", "Tyres of the user's car for the warm months."),
]  # fmt: skip


@pytest.fixture
def models(minilm: OnnxMiniLM, settings: Settings) -> Alone:
    return resident(minilm, REAL, settings)


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


async def test_rejected_pairs_take_nobody_s_place(
    db: Database, owner: Owner, models: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(described, "NEAREST", 1)
    nodes = await things(db, owner, PHONE, MOBILE, ("Cell", "A phone whose screen is broken; the user has it along."))
    await embed(db, models)
    scope = Scope(from_node=nodes[0])
    await sleep(db, owner, scope=scope)
    [nearest] = (await pairs(db, owner)).items
    await reject(db, owner, nearest.a.node_id, nearest.b.node_id)
    await sleep(db, owner, scope=scope)
    [farther] = (await pairs(db, owner)).items
    assert {nearest.a.node_id, nearest.b.node_id, farther.a.node_id, farther.b.node_id} == set(nodes)


async def test_a_pair_rejected_before_a_merge_takes_nobody_s_place(
    db: Database, owner: Owner, models: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(described, "NEAREST", 1)
    [phone, twin] = await things(db, owner, PHONE, PHONE)
    [other] = await things(db, owner, MOBILE)
    [cell] = await things(db, owner, ("Cell", "A phone whose screen is broken; the user has it along."))
    async with db.transaction(owner.user_id) as connection:
        await note(connection, owner, [Suspicion(node=phone, other=other, score=0.5)], found_by="tests")
    await reject(db, owner, phone, other)
    await write(db, owner, [Merge(node=phone, canonical=twin)], asserted_by="user")
    await embed(db, models)
    pages = [page async for page in described.described_alike(db, owner, Scope(from_node=twin), None, ())]
    assert [set(item.nodes) for page in pages for item in page.proposals] == [{twin, cell}]


async def night(db: Database, owner: Owner, settings: Settings) -> Run:
    """Run what a night does; its newest run of duplicates."""
    await run_now(db, owner.user_id, "sleep")
    await run_due(db, {"sleep": all_steps(settings, None)["sleep"]})
    return next(run for run in await own_runs(db, owner) if run.task == "duplicates")


def age(admin: psycopg.Connection, owner: Owner, minutes: int, *nodes: UUID) -> None:
    """Make vectors of all cards, or of some nodes', older."""
    admin.execute(
        "UPDATE memsvc.embeddings AS e SET created_at = e.created_at - make_interval(mins => %s) "
        "FROM memsvc.node_versions AS v WHERE e.user_id = %s AND v.user_id = e.user_id "
        "AND v.version_id = e.passage_id AND (%s OR v.node_id = ANY (%s))",
        [minutes, owner.user_id, not nodes, list(nodes)],
    )


async def test_nights_take_up_what_is_old_the_oldest_first(
    db: Database, owner: Owner, models: Alone, settings: Settings, admin: psycopg.Connection
) -> None:
    [phone, mobile] = await things(db, owner, PHONE, MOBILE)
    await things(db, owner, *APART)
    await embed(db, models)
    age(admin, owner, 100)
    age(admin, owner, 100, phone, mobile)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(described, "LEAST_COSINE", {})
        first = await night(db, owner, settings)
    assert (first.state, first.since, await waiting(db, owner)) == ("done", None, set()), "nights before the upgrade"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(described, "NIGHTLY", 2)
        second = await night(db, owner, settings)
        assert (second.since, second.examined) == (first.started_at, 2)
        assert await waiting(db, owner) == {frozenset(("Smartphone", "Mobile phone"))}
        later = [await night(db, owner, settings) for _ in range(3)]
        assert [run.examined for run in later[:2]] == [2, 2]
        assert later[2].run_id == later[1].run_id, "a night without work begins no run"


async def test_of_an_erased_card_nothing_is_left_in_the_mark(
    db: Database, owner: Owner, models: Alone, settings: Settings, admin: psycopg.Connection
) -> None:
    nodes = await things(db, owner, PHONE, MOBILE)
    await embed(db, models)
    age(admin, owner, 100)
    await night(db, owner, settings)
    assert admin.execute("SELECT FROM memsvc.cards_compared WHERE user_id = %s", [owner.user_id]).rowcount == 1
    for node in nodes:  # the mark names one of their cards
        assert (await erase(db, owner, "node", node, requested_by="user")).verified
    assert (await night(db, owner, settings)).state == "done"


async def test_a_vector_that_is_seen_late_is_compared(
    db: Database, owner: Owner, models: Alone, settings: Settings, admin: psycopg.Connection
) -> None:
    await things(db, owner, APART[0])
    await embed(db, models)
    await night(db, owner, settings)
    await things(db, owner, PHONE, MOBILE)
    await embed(db, models)
    age(admin, owner, 5)  # as if it was made before that night's run, and committed after it
    await night(db, owner, settings)
    assert await waiting(db, owner) == {frozenset(("Smartphone", "Mobile phone"))}


async def test_another_model_s_nights_begin_with_the_oldest(
    db: Database, owner: Owner, models: Alone, settings: Settings, admin: psycopg.Connection
) -> None:
    await things(db, owner, PHONE, MOBILE)
    await embed(db, models)
    age(admin, owner, 100)
    admin.execute(
        "INSERT INTO memsvc.cards_compared SELECT %s, m.model_id + 1, now(), uuidv7() "
        "FROM memsvc.embedding_models AS m WHERE m.state = 'active'", [owner.user_id],
    )  # fmt: skip
    await night(db, owner, settings)
    assert len(await waiting(db, owner)) == 1


async def test_a_run_that_a_switch_of_models_cuts_begins_anew(db: Database, owner: Owner, models: Alone) -> None:
    await things(db, owner, PHONE, MOBILE)
    await embed(db, models)
    for place in ({"card": described.FIRST}, {"model": -1, "made": "infinity", "card": described.FIRST, "cards": 9}):
        pages = [page async for page in described.described_alike(db, owner, Scope(), place, ())]
        assert sum(page.examined for page in pages) == 2


async def test_a_page_passes_over_what_is_no_card(
    db: Database, owner: Owner, models: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(described, "READ", 1)
    await write(db, owner, [Node(type="Note", label=f"Note {n}", description=f"A note, {n}.") for n in range(25)],
                asserted_by="tests")  # fmt: skip
    await embed(db, models)
    await things(db, owner, PHONE, MOBILE)
    await embed(db, models)
    pages = [page async for page in described.described_alike(db, owner, Scope(), None, ())]
    assert [page.examined for page in pages] == [0, 0, 1, 1]
    assert [page.left for page in pages] == [2, 2, 1, 0]


async def test_progress_counts_all_of_a_run(
    db: Database, owner: Owner, models: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(described, "READ", 2)
    monkeypatch.setattr(duplicates, "COMPARED", 1)
    await things(db, owner, ("Red bicycle", "A bicycle."), ("Red bicycles", "A bike."), PHONE, MOBILE)
    await embed(db, models)
    shown: list[tuple[int, int]] = []
    await sleep(db, owner, budget=Budget(1e-9), progress=lambda run, total: shown.append((run.examined, total)))
    assert shown == [(1, 5)]
    await sleep(db, owner, progress=lambda run, total: shown.append((run.examined, total)))
    assert [total for _, total in shown] == [5, 5, 5, 5]
    assert shown[-1] == (5, 5)


async def test_judging_leaves_the_loop_to_others(
    db: Database, owner: Owner, models: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    await things(db, owner, PHONE, MOBILE)
    await embed(db, models)
    threads: set[int] = set()

    def judged(_a: Card, _b: Card) -> float:
        threads.add(threading.get_ident())
        return 0.5

    monkeypatch.setattr(described, "may_be_same", judged)
    await sleep(db, owner)
    assert threads
    assert threading.get_ident() not in threads


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
    pages = [page async for page in described.described_alike(db, owner, Scope(), None, ())]
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
    tables = ("corpora", "term_deltas")
    for cards, by_index in ((3_000, False), (4_000, True), (1_000_000, True)):
        with admin.transaction(force_rollback=True):  # as if there were as many
            for table in tables:
                admin.execute(
                    f"UPDATE memsvc.{table} SET passages = %s WHERE user_id = %s AND kind = 'card'",
                    [cards, owner.user_id],
                )
            assert admin.execute(near, [owner.user_id, model, nodes]).fetchall() == exact
            assert (admin.execute("SHOW hnsw.iterative_scan").fetchone() == ("relaxed_order",)) == by_index


async def test_no_page_reads_more_than_some_cards(
    db: Database, owner: Owner, models: Alone, admin: psycopg.Connection
) -> None:
    nodes = await things(db, owner, PHONE, MOBILE)
    await embed(db, models)
    near = "SELECT node_id, other_id FROM memsvc.near_cards(%s, %s, %s, 8, 0.65)"
    [model] = admin.execute("SELECT model_id FROM memsvc.embedding_models WHERE state = 'active'").fetchone() or (0,)
    for cards, by_index in ((19_000, False), (21_000, True)):
        with admin.transaction(force_rollback=True):  # as if others had a million vectors beside them
            admin.execute("UPDATE pg_class SET reltuples = 1e6 WHERE relname ~ '^embeddings_[0-9]+$'")
            for table in ("corpora", "term_deltas"):
                admin.execute(
                    f"UPDATE memsvc.{table} SET passages = %s WHERE user_id = %s AND kind = 'card'",
                    [cards, owner.user_id],
                )
            admin.execute(near, [owner.user_id, model, nodes])
            assert (admin.execute("SHOW hnsw.iterative_scan").fetchone() == ("relaxed_order",)) == by_index


async def test_another_user_s_cards_are_not_compared(
    db: Database, owner: Owner, other: Owner, models: Alone, admin: psycopg.Connection
) -> None:
    nodes = await things(db, other, PHONE, MOBILE)
    await things(db, owner, PHONE)
    await embed(db, models)
    [model] = admin.execute("SELECT model_id FROM memsvc.embedding_models WHERE state = 'active'").fetchone() or (0,)
    values: dict[str, object] = {"user_id": other.user_id, "model": model, "nodes": nodes, "nearest": 8, "least": 0.65}
    page = {"user_id": other.user_id, "model": model, "made": "-infinity", "card": described.FIRST, "limit": 10}
    for reader, found, listed in ((other, 1, 3), (owner, 0, 0)):  # listed: two cards, and where the page ends
        async with db.transaction(reader.user_id) as connection:
            assert len((await connection.execute(query("near_cards"), values)).all()) == found
            assert len((await connection.execute(query("cards_made"), page)).all()) == listed
    await sleep(db, owner)
    assert await waiting(db, owner) == set()
