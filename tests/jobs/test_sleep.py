"""Sleep mode: what stands in the graph twice is found, pages are done once, and nobody becomes another by the way."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from uuid import UUID

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import DatabaseUnavailableError, InvalidRequestError, SleepBusyError
from memsvc.graph.history import retract, unmerge, write
from memsvc.graph.operations import MAX_OPERATIONS, Merge, Node, Thread, new_id
from memsvc.identity.candidates import Suspicion, note
from memsvc.identity.cards import Card, Verdict
from memsvc.identity.review import pairs
from memsvc.queue.execution import run_due
from memsvc.queue.schedule import run_now
from memsvc.settings import Settings
from memsvc.sleep import duplicates, runner
from memsvc.sleep.blocking import Blocks, keys_of
from memsvc.sleep.runner import ask, dry_run, sleep
from memsvc.sleep.runs import Budget, Run, list_runs
from memsvc.sleep.tasks import Scope
from tests.sql.world import value

HOME = {"street": "tullaroop street 6", "postcode": "4011", "phone": "555 0142"}
TWICE = [
    ("Zephyrine Oakthorpe", HOME),
    ("Zephyrine Oakthorp", HOME),
    ("Lachlan Berrigan", {"street": "giblin street 69", "postcode": "4814", "phone": "555 0117"}),
    ("Berrigan, Lachlan", {"street": "giblin street 69", "postcode": "4814", "phone": "555 0117"}),
    ("Ana Silva", {"street": "rua nova 1", "postcode": "1100", "phone": "555 0101"}),
    ("Ana Silva", {"street": "high street 20", "postcode": "9020", "phone": "555 0199"}),
]


async def people(db: Database, owner: Owner, given: list[tuple[str, dict[str, str]]]) -> list[UUID]:
    """Nodes of these names and properties."""
    made = await write(
        db, owner, [Node(type="Person", label=name, data=data) for name, data in given], asserted_by="tests"
    )
    return [result.node_id for result in made.results if result.node_id]


def merged(admin: psycopg.Connection, owner: Owner) -> set[frozenset[UUID]]:
    """Pairs that are merged now."""
    rows = admin.execute(
        "SELECT node_id, canonical_id FROM memsvc.merges WHERE user_id = %s AND recorded_to = 'infinity'",
        [owner.user_id],
    )
    return {frozenset(row) for row in rows.fetchall()}


async def own_runs(db: Database, owner: Owner) -> list[Run]:
    """Runs of the task duplicates, the newest first; nights run other tasks, too."""
    return [run for run in await list_runs(db, owner.user_id) if run.task == "duplicates"]


async def test_what_stands_twice_becomes_one_and_namesakes_do_not(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    nodes = await people(db, owner, TWICE)
    shown = [item async for _task, page in dry_run(db, owner) for item in page.proposals]
    assert merged(admin, owner) == set()
    assert await list_runs(db, owner.user_id) == []
    assert {frozenset(item.nodes) for item in shown if item.action == "merge"} == {
        frozenset(nodes[0:2]), frozenset(nodes[2:4])
    }  # fmt: skip

    [run] = await sleep(db, owner)
    assert (run.state, run.applied, run.within_budget) == ("done", 2, True)
    assert merged(admin, owner) == {frozenset(nodes[0:2]), frozenset(nodes[2:4])}
    [again] = await sleep(db, owner)
    assert (again.applied, again.proposed) == (0, 0)


async def test_a_run_goes_on_where_it_died_and_does_nothing_twice(
    db: Database, owner: Owner, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await people(db, owner, TWICE)
    monkeypatch.setattr(duplicates, "COMPARED", 1)
    noting, seen = duplicates.Duplicates.apply, []

    async def dying(self: duplicates.Duplicates, *arguments: object) -> object:
        seen.append(arguments)
        if len(seen) == 2:
            raise DatabaseUnavailableError
        return await noting(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(duplicates.Duplicates, "apply", dying)
    with pytest.raises(DatabaseUnavailableError):
        await sleep(db, owner)
    [open_run] = await list_runs(db, owner.user_id)
    assert open_run.state == "open"
    assert open_run.examined > 0

    [run] = await sleep(db, owner)
    assert run.run_id == open_run.run_id
    assert run.state == "done"
    assert run.applied == 2
    assert value(admin, "SELECT count(*) FROM memsvc.sleep_runs WHERE user_id = %s", [owner.user_id]) == 1
    assert len(merged(admin, owner)) == 2


async def test_a_rejected_pair_never_comes_back(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    nodes = await people(db, owner, TWICE[:2])
    low, high = sorted(nodes)
    admin.execute(
        "INSERT INTO memsvc.duplicate_candidates (user_id, node_a, node_b, score, found_by, state, decided_at, "
        "decided_by) VALUES (%s, %s, %s, 0.9, 'tests', 'rejected', now(), 'user')",
        [owner.user_id, low, high],
    )
    [run] = await sleep(db, owner)
    assert (run.applied, run.proposed) == (0, 0)
    assert run.examined == 1


def test_nobody_becomes_another_through_a_third() -> None:
    one, two, three = sorted(new_id() for _ in range(3))
    cards = {node: Card(node_id=node, type="Person", names=("Ana",)) for node in (one, two, three)}
    same = Verdict(decision="same", score=0.99, evidence={"name": 9.0})
    judged = {(one, two): same, (two, three): same, (one, three): Verdict(decision="different", score=0, evidence={})}
    groups = duplicates._Groups(cards, {}, judged, set())
    groups.join(one, two)
    groups.join(two, three)
    assert [item.nodes for item in groups.merges()] == [(two, one)]
    assert not groups.together(one, three)

    refused = duplicates._Groups(cards, {}, {**judged, (one, three): same}, {(one, three)})
    refused.join(one, two)
    refused.join(two, three)
    assert len(list(refused.merges())) == 1


async def test_at_night_only_what_is_new_is_looked_at(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await people(db, owner, TWICE)
    steps = {"sleep": all_steps(settings, None)["sleep"]}
    await run_now(db, owner.user_id, "sleep")
    await run_due(db, steps)
    [first] = await own_runs(db, owner)
    assert (first.state, first.since, first.applied) == ("done", None, 2)

    [late] = await people(db, owner, [("Zephyrine Oakthorpe", HOME)])
    await run_now(db, owner.user_id, "sleep")
    await run_due(db, steps)
    second = (await own_runs(db, owner))[0]
    assert second.since == first.started_at
    assert second.applied == 1
    assert second.examined < first.examined
    assert any(late in pair for pair in merged(admin, owner))

    await run_now(db, owner.user_id, "sleep")
    await run_due(db, steps)
    assert len(await own_runs(db, owner)) == 2, "nothing was new but what the task did itself"


async def test_a_merge_that_was_taken_back_is_only_proposed(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    one, other = await people(db, owner, TWICE[:2])
    async with db.transaction(owner.user_id) as connection:
        await note(connection, owner, [Suspicion(node=one, other=other, score=0.5)], found_by="tests")
    await sleep(db, owner)
    assert (await pairs(db, owner)).items == [], "it was merged, so nobody is asked"
    [(gone,)] = admin.execute("SELECT node_id FROM memsvc.merges WHERE user_id = %s", [owner.user_id]).fetchall()
    await unmerge(db, owner, gone, asserted_by="user")
    [run] = await sleep(db, owner)
    assert run.applied == 0
    assert [pair.state for pair in (await pairs(db, owner)).items] == ["open"]
    assert merged(admin, owner) == set()


async def test_a_run_of_the_day_leaves_no_gap_for_the_night(db: Database, owner: Owner, settings: Settings) -> None:
    steps = {"sleep": all_steps(settings, None)["sleep"]}
    await people(db, owner, [("Bo", {})])
    await run_now(db, owner.user_id, "sleep")
    await run_due(db, steps)
    [first] = await own_runs(db, owner)
    await people(db, owner, TWICE[:2])
    [day] = await sleep(db, owner, scope=Scope(since=datetime.now(UTC)))
    assert day.applied == 0

    await run_now(db, owner.user_id, "sleep")
    await run_due(db, steps)
    night = (await own_runs(db, owner))[0]
    assert (night.since, night.applied) == (first.started_at, 1)


async def test_old_runs_go_but_for_the_last_two(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    for _ in range(3):
        await sleep(db, owner)
    admin.execute(
        "UPDATE memsvc.sleep_runs SET finished_at = now() - interval '1 year' WHERE user_id = %s", [owner.user_id]
    )
    await run_now(db, owner.user_id, "sleep")
    await run_due(db, {"sleep": all_steps(settings, None)["sleep"]})
    assert len(await own_runs(db, owner)) == 2


async def test_nodes_of_which_nothing_is_known_hide_none_behind_them(
    db: Database, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = await people(db, owner, [("Nobody Anymore", {}), ("Nothing Anymore", {}), *TWICE[:2]])
    await retract(db, owner, [Thread(node=node) for node in nodes[:2]], asserted_by="user")
    monkeypatch.setattr(duplicates, "READ", 1)
    [run] = await sleep(db, owner)
    assert run.applied == 1


async def test_whom_somebody_was_merged_into_is_looked_at_again(db: Database, owner: Owner) -> None:
    one, other, third = await people(db, owner, [("Ana Silva", {}), ("Ana S", {}), ("Bo", {})])
    change = await write(db, owner, [Merge(node=other, canonical=one)], asserted_by="user")
    values = {"user_id": owner.user_id, "after": None, "since": change.recorded_at, "limit": 100}
    async with db.transaction(owner.user_id) as connection:
        touched = {row.node_id: row.touched for row in await connection.execute(query("named_nodes"), values)}
    assert (touched[one], touched[third]) == (True, False)


async def test_two_who_ask_at_once_get_one_run(db: Database, owner: Owner) -> None:
    async with db.transaction(owner.user_id) as connection:
        values = {
            "user_id": owner.user_id, "task": "duplicates", "from_node": None, "since": None, "budget_s": None,
            "budget_tokens": None, "nightly": False, "cause": "asked",
        }  # fmt: skip
        mine = (await connection.execute(query("open_sleep_run"), values)).one()
        asking = asyncio.create_task(ask(db, owner, []))
        await asyncio.sleep(0.2)  # it waits for us now
    _job, [run] = await asking
    assert run.run_id == mine.run_id


def test_a_page_of_merges_fits_one_change() -> None:
    assert duplicates.COMPARED <= MAX_OPERATIONS


async def test_who_was_merged_meanwhile_is_left_alone(
    db: Database, owner: Owner, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = await people(db, owner, TWICE[:2])
    [stranger] = await people(db, owner, [("Somebody Else", {})])
    noting = duplicates.Duplicates.apply

    async def late(self: duplicates.Duplicates, *arguments: object) -> object:
        for node in nodes:
            await write(db, owner, [Merge(node=node, canonical=stranger)], asserted_by="user")
        monkeypatch.setattr(duplicates.Duplicates, "apply", noting)
        raise DatabaseUnavailableError  # what follows sees the merges, and the old proposals are made again

    monkeypatch.setattr(duplicates.Duplicates, "apply", late)
    with pytest.raises(DatabaseUnavailableError):
        await sleep(db, owner)
    [run] = await sleep(db, owner)
    assert run.state == "done"
    assert run.applied == 0
    assert merged(admin, owner) == {frozenset({node, stranger}) for node in nodes}


async def test_one_process_at_a_time_and_only_tasks_that_there_are(db: Database, owner: Owner) -> None:
    with pytest.raises(InvalidRequestError):
        await sleep(db, owner, ["dreams"])
    async with db.holding(runner.lock_of(owner.user_id)):
        with pytest.raises(SleepBusyError):
            await sleep(db, owner)


async def test_a_budget_ends_a_run_and_from_looks_at_one_node(
    db: Database, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = await people(db, owner, TWICE)
    monkeypatch.setattr(duplicates, "COMPARED", 1)
    [one] = await sleep(db, owner, scope=Scope(from_node=nodes[2]))
    assert (one.state, one.applied, one.from_node) == ("done", 1, nodes[2])
    [run] = await sleep(db, owner, budget=Budget(1e-6))
    assert (run.state, run.within_budget, run.examined) == ("done", False, 1)


def test_blocks_are_bounded_and_find_typos_swaps_and_moves() -> None:
    blocks = Blocks()
    for number in range(3_000):  # all have one first name; each has a family name and a street of its own
        blocks.add(keys_of([f"ana w{number}x{number % 7}"], {"street": f"{number} lane"}))
    typo = blocks.add(keys_of(["ann w77x0"], {"street": "77 lane"}))
    swapped = blocks.add(keys_of(["w123x4 ana"], {}))
    pairs = set(blocks.pairs())
    assert {(77, typo), (123, swapped)} <= pairs
    assert len(pairs) < 3_000
