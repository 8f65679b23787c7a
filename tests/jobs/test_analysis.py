"""Analyses: what stands in a small history is found, stored, shown, bounded, and forgotten with what it names."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID, uuid4

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.analysis import runs
from memsvc.analysis.findings import Finding, Found
from memsvc.analysis.runs import AnalysisResult, AnalysisRun, analyse, ask, get_run, list_runs, results
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase, preview
from memsvc.errors import InvalidRequestError, NodeUnknownError, NotFoundError
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Evidence, Merge, Node, Operation
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.sql.world import value

FIRST = date(2025, 1, 6)  # a Monday


async def nodes(db: Database, owner: Owner, *named: Node) -> list[UUID]:
    made = await write(db, owner, list(named), asserted_by="tests")
    return [result.node_id for result in made.results if result.node_id]


async def people(db: Database, owner: Owner, count: int) -> list[UUID]:
    return await nodes(db, owner, *(Node(type="Person", label=f"Person {number}") for number in range(count)))


async def facts(db: Database, owner: Owner, *told: tuple[UUID, str, UUID]) -> None:
    operations = [Edge(from_node=a, type=type_, to_node=b, fact=f"{type_}.") for a, type_, b in told]
    await write(db, owner, operations, asserted_by="tests")


async def said(db: Database, owner: Owner, settings: Settings, days: Sequence[date]) -> list[UUID]:
    """A message at noon of each of these days."""
    stored = await append(
        db, owner,
        [MessageIn(conversation="diary", text=f"Of {day}.", said_at=f"{day}T12:00:00+00:00") for day in days],
        settings,
    )  # fmt: skip
    return [one.passage_id for one in stored if one.passage_id]


async def found(db: Database, owner: Owner, kind: str, *seeds: UUID) -> tuple[AnalysisRun, list[AnalysisResult]]:
    """A run that is done, and all it found."""
    run = await analyse(db, owner, kind, seeds)
    assert run.state == "done"
    return run, (await results(db, owner.user_id, run.run_id, limit=1_000)).items


async def test_hubs_communities_orphans_and_what_is_near(db: Database, owner: Owner) -> None:
    folk = await people(db, owner, 13)
    for group in (folk[:6], folk[6:12]):
        await facts(db, owner, *((a, "KNOWS", b) for a in group for b in group if a < b))
    await facts(db, owner, (folk[5], "KNOWS", folk[6]))

    run, [first, second, third, *_] = await found(db, owner, "hubs")
    assert run.found == 12
    assert {first.nodes[0].node_id, second.nodes[0].node_id} == {folk[5], folk[6]}
    assert (first.figures, third.figures["neighbours"]) == ({"facts": 6, "neighbours": 6}, 5)
    assert first.nodes[0].label in {"Person 5", "Person 6"}

    run, groups = await found(db, owner, "communities")
    assert {frozenset(node.node_id for node in group.nodes) for group in groups} == {
        frozenset(folk[:6]), frozenset(folk[6:12])
    }  # fmt: skip
    assert run.figures["facts"] == 31
    assert 0.4 < run.figures["modularity"] < 0.5

    _, alone = await found(db, owner, "orphans")
    assert [one.nodes[0].node_id for one in alone] == [folk[12]]

    _, near = await found(db, owner, "pagerank", folk[0])
    assert {one.nodes[0].node_id for one in near[:5]} == set(folk[1:6])
    _, nothing = await found(db, owner, "pagerank", folk[12])
    assert nothing == []


async def test_what_excludes_each_other_is_found_and_what_follows_each_other_is_not(db: Database, owner: Owner) -> None:
    ana, twin, bo, cy, tea, jazz, lisbon, porto, a, b = await nodes(
        db, owner, *(Node(type="Person", label=name) for name in ("Ana", "Ana S", "Bo", "Cy")),
        *(Node(type="Concept", label=name) for name in ("tea", "jazz")),
        *(Node(type="Place", label=name) for name in ("Lisbon", "Porto")),
        *(Node(type="Project", label=name) for name in ("A", "B")),
    )  # fmt: skip
    then = datetime(2024, 1, 1, tzinfo=UTC)
    family = {"relation": "mother"}
    await write(
        db, owner,
        [
            Edge(from_node=bo, type="LIKES", to_node=tea, fact="Bo likes tea."),
            Edge(from_node=bo, type="DISLIKES", to_node=tea, fact="Bo dislikes tea.", confidence=0.5),
            Edge(from_node=bo, type="LIKES", to_node=jazz, fact="Bo liked jazz.", valid_to=then),
            Edge(from_node=bo, type="DISLIKES", to_node=jazz, fact="Bo dislikes jazz.", valid_from=then),
            Edge(from_node=ana, type="LIVES_IN", to_node=lisbon, fact="Ana lives in Lisbon."),
            Edge(from_node=twin, type="LIVES_IN", to_node=porto, fact="Ana lives in Porto."),
            Edge(from_node=a, type="PART_OF", to_node=b, fact="A is part of B."),
            Edge(from_node=b, type="PART_OF", to_node=a, fact="B is part of A."),
            Edge(from_node=bo, type="FAMILY_OF", to_node=cy, fact="Cy is Bo's mother.", data=family),
            Edge(from_node=cy, type="FAMILY_OF", to_node=bo, fact="Bo is Cy's mother.", data=family),
            Edge(from_node=ana, type="KNOWS", to_node=bo, fact="Ana knows Bo."),
            Edge(from_node=bo, type="KNOWS", to_node=ana, fact="Bo knows Ana."),
            Edge(from_node=ana, type="KNOWS", to_node=twin, fact="Ana knows Ana S."),
        ],
        asserted_by="tests",
    )  # fmt: skip
    await write(db, owner, [Merge(node=twin, canonical=ana)], asserted_by="tests")
    _, odd = await found(db, owner, "anomalies")
    assert [one.what for one in odd] == ["both_ways", "both_ways", "of_itself", "opposites", "two_values"]
    assert {frozenset(node.node_id for node in one.nodes) for one in odd} == {
        frozenset(about) for about in ({a, b}, {bo, cy}, {ana}, {bo, tea}, {ana, lisbon, porto})
    }
    assert odd[3].sentences == ["Bo likes tea.", "Bo dislikes tea."]
    assert odd[3].score == 0.5


async def test_dates_that_cannot_be_right(db: Database, owner: Owner, settings: Settings) -> None:
    def told(year: int, who: UUID, where: UUID, type_: str = "LIVES_IN") -> Operation:
        since = datetime(year, 1, 1, tzinfo=UTC)
        return Edge(from_node=who, type=type_, to_node=where, fact="So it was.", valid_from=since)

    born, bach, forebear, typo, place = await nodes(
        db, owner, Node(type="Person", label="Ana", data={"born": "1990-05"}),
        Node(type="Person", label="Bach", data={"born": "1685", "died": "1750"}),
        Node(type="Person", label="Forebear"), Node(type="Person", label="Typo", data={"born": "2023-02-31"}),
        Node(type="Place", label="Here"),
    )  # fmt: skip
    now = datetime.now(UTC)
    await write(
        db, owner,
        [
            told(1985, born, place), told(1760, bach, place), told(1202, forebear, place), told(2199, typo, place),
            told(2020, born, bach, "LIKES"), told(1720, bach, place, "CREATED"),
        ],
        asserted_by="tests",
    )  # fmt: skip
    ahead, zero, _fine = await said(
        db, owner, settings, [now.date() + timedelta(days=3), date(1970, 1, 1), date(1999, 1, 1)]
    )
    _, odd = await found(db, owner, "anomalies")
    assert {one.what: one.nodes[0].node_id for one in odd if one.nodes} == {
        "before_birth": born, "after_death": bach, "long_ago": forebear, "far_ahead": typo
    }  # fmt: skip
    assert {one.what: one.passages for one in odd if one.passages} == {"said_ahead": [ahead], "said_at_zero": [zero]}
    assert len(odd) == 6


async def test_habits_and_sudden_volume_in_a_diary(db: Database, owner: Owner, settings: Settings) -> None:
    ana, bo, cy, yoga = await nodes(
        db, owner, *(Node(type="Person", label=name) for name in ("Ana", "Bo", "Cy")), Node(type="Event", label="yoga")
    )
    days = [FIRST + timedelta(days=number) for number in range(140)]
    passages = dict(zip(days, await said(db, owner, settings, days), strict=True))
    loud = days[70]
    await said(db, owner, settings, [loud] * 40)

    def told(type_: str, who: UUID, what: UUID, when: Sequence[date]) -> Operation:
        evidence = [Evidence(passage_id=passages[day]) for day in when]
        return Edge(from_node=who, type=type_, to_node=what, fact=f"{type_}.", evidence=evidence)

    tuesdays = [day for day in days if day.isoweekday() == 2 and day != days[15]]
    strays = [days[number] for number in (3, 33, 66)]
    both = days[5::9]
    await write(
        db, owner,
        [
            told("PARTICIPATED_IN", ana, yoga, [*tuesdays, *strays]), told("USES", ana, yoga, days[::4]),
            told("KNOWS", bo, cy, both), told("LIKES", bo, yoga, days[2::20]), told("LIKES", cy, yoga, days[7::21]),
        ],
        asserted_by="tests",
    )  # fmt: skip
    _, [*kept] = await found(db, owner, "habits")
    assert {(one.what, frozenset(node.node_id for node in one.nodes)) for one in kept} == {
        ("weekly", frozenset({ana, yoga})), ("together", frozenset({bo, cy}))
    }  # fmt: skip
    [weekly] = [one for one in kept if one.what == "weekly"]
    assert (weekly.figures["type"], weekly.figures["weekdays"]) == ("PARTICIPATED_IN", [2])

    _, [sudden] = await found(db, owner, "anomalies")
    assert (sudden.what, sudden.figures["day"], sudden.figures["messages"]) == ("busy_day", str(loud), 41)
    assert sudden.figures["around"] == [1] * 7 + [41] + [1] * 7


async def test_what_is_erased_is_in_no_result(
    db: Database, owner: Owner, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three, four = await people(db, owner, 4)
    await facts(db, owner, (one, "KNOWS", two), (three, "KNOWS", four))
    hubs, _ = await found(db, owner, "hubs")
    begun, _ = await found(db, owner, "pagerank", one)
    assert begun.found == 1
    foreseen = await preview(db, owner, "node", one)
    receipt = await erase(db, owner, "node", one, requested_by="tests")
    assert foreseen["analysis_results"] == receipt.counts["analysis_results"] == 2
    assert (receipt.verified, receipt.leftovers) == (True, {})
    assert {item.nodes[0].node_id for item in (await results(db, owner.user_id, hubs.run_id)).items} == {
        two, three, four
    }  # fmt: skip
    with pytest.raises(NotFoundError):
        await get_run(db, owner.user_id, begun.run_id)

    async def late(*_given: object) -> Found:
        await erase(db, owner, "node", three, requested_by="tests")  # after it was read, before it is stored
        return Found(findings=[Finding(what="hub", score=1, nodes=[node]) for node in (three, four)], total=2)

    monkeypatch.setitem(runs.ANALYSES, "orphans", late)
    _, kept = await found(db, owner, "orphans")
    assert [item.nodes[0].node_id for item in kept] == [four]
    mine = "SELECT count(*) FROM memsvc.analysis_results WHERE user_id = %s AND nodes && %s::uuid[]"
    assert value(admin, mine, [owner.user_id, [one, three]]) == 0


async def test_runs_are_asked_for_once_done_in_turn_and_trimmed(
    db: Database, owner: Owner, other: Owner, settings: Settings
) -> None:
    [seed] = await people(db, owner, 1)
    asked = await asyncio.gather(*(ask(db, owner, "hubs") for _ in range(3)), ask(db, owner, "habits"))
    assert len({job for job, _ in asked}) == 1
    assert len({run.run_id for _, run in asked}) == 2
    steps = {"analyse": all_steps(settings, None)["analyse"]}
    await run_due(db, steps)
    await run_due(db, steps)
    assert {run.state for run in (await list_runs(db, owner.user_id)).items} == {"done"}

    for _ in range(runs.KEPT + 2):
        last = await analyse(db, owner, "hubs")
    page = await list_runs(db, owner.user_id, kind="hubs", limit=2)
    assert page.items[0].run_id == last.run_id
    rest = await list_runs(db, owner.user_id, kind="hubs", cursor=page.next_cursor, limit=2)
    assert len([*page.items, *rest.items]) == runs.KEPT
    assert rest.next_cursor is None

    assert (await list_runs(db, other.user_id)).items == []
    with pytest.raises(NotFoundError):
        await results(db, other.user_id, last.run_id)
    for kind, seeds in (("dreams", []), ("hubs", [seed]), ("pagerank", [uuid4() for _ in range(21)])):
        with pytest.raises(InvalidRequestError):
            await analyse(db, owner, kind, seeds)
    with pytest.raises(NodeUnknownError):
        await analyse(db, other, "pagerank", [seed])


async def test_a_run_that_breaks_in_an_unforeseen_way_bars_no_other(
    db: Database, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_given: object) -> Found:
        raise ZeroDivisionError

    monkeypatch.setitem(runs.ANALYSES, "hubs", broken)
    asked = [(await ask(db, owner, kind))[1] for kind in ("hubs", "orphans")]
    for _ in asked:
        await run_due(db, {"analyse": all_steps(settings, None)["analyse"]})
    first, second = [await get_run(db, owner.user_id, run.run_id) for run in asked]
    assert (first.state, first.error_code, second.state) == ("failed", "job_failed", "done")


async def test_a_run_that_fails_says_why_and_bars_no_other(
    db: Database, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(*_given: object) -> Found:
        await asyncio.sleep(10)
        raise AssertionError

    monkeypatch.setitem(runs.ANALYSES, "hubs", slow)
    monkeypatch.setattr(runs, "LIMIT_S", 0.01)
    _, run = await ask(db, owner, "hubs")
    await run_due(db, {"analyse": all_steps(settings, None)["analyse"]})
    done = await get_run(db, owner.user_id, run.run_id)
    assert (done.state, done.error_code) == ("failed", "job_timeout")
