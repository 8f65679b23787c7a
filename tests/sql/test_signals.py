"""What is known about a memory besides its text: arithmetic, recalls, feedback, folding, erasing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from structlog.testing import capture_logs

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase, preview
from memsvc.errors import InvalidRequestError, NotRecalledError, RecallUnknownError
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Evidence, Node
from memsvc.recall.results import Memory
from memsvc.recall.search import recall
from memsvc.recall.signals import feedback, new_recall_id, record_recall
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from memsvc.sources.tidy import tidy_steps
from tests.sql.world import value

Signals = tuple[int, int, int]
"""recalls, used, irrelevant."""


@dataclass
class Given:
    """An answer of a door."""

    memories: list[Memory]
    recall_id: UUID | None = field(default_factory=new_recall_id)


async def told(db: Database, owner: Owner, settings: Settings, *texts: str) -> list[UUID]:
    """Messages; their ids."""
    stored = await append(db, owner, [MessageIn(conversation="pond", text=text) for text in texts], settings)
    return [one.passage_id for one in stored if one.passage_id is not None]


async def recalled(db: Database, owner: Owner, settings: Settings, question: str, *, times: int = 1) -> UUID:
    """Recall and record it; the last recall's id."""
    found = await recall(db, owner, question, settings)
    assert found.memories
    ids = [await record_recall(db, owner, Given(found.memories), door="recall", mode="balanced") for _ in range(times)]
    return ids[-1]


async def called(db: Database, user_id: UUID, function: str, *more: object) -> Any:
    """What one of memsvc's functions says to the application."""
    async with db.transaction(user_id) as connection:
        places = ", ".join(["%s"] * (len(more) + 1))
        return (await connection.exec_driver_sql(f"SELECT memsvc.{function}({places})", (user_id, *more))).scalar_one()


def signals(admin: psycopg.Connection, owner: Owner) -> dict[UUID, Signals]:
    """What is known about each memory."""
    found = admin.execute(
        "SELECT memory_id, recalls, used, irrelevant FROM memsvc.memory_signals WHERE user_id = %s", [owner.user_id]
    )
    return {row[0]: row[1:] for row in found}


def numbers(admin: psycopg.Connection, *terms: str) -> list[float]:
    row = admin.execute(f"SELECT {', '.join(f'({term})::float8' for term in terms)}".encode()).fetchone()
    assert row is not None
    return list(row)


# Arithmetic ---------------------------------------------------------------------------------------------------------


def test_what_is_new_counts_fully_and_half_after_each_half_life(admin: psycopg.Connection) -> None:
    week = "interval '7 days'"
    assert numbers(
        admin,
        f"memsvc.recency('0', {week})", f"memsvc.recency({week}, {week})", f"memsvc.recency(3 * {week}, {week})",
        f"memsvc.recency('-1 day', {week})", "memsvc.recency('1 second', '0')",
    ) == pytest.approx([1, 0.5, 0.125, 1, 0.5])  # fmt: skip
    nothing = numbers(
        admin, f"memsvc.recency('9999 years', {week})", f"memsvc.recency('infinity', {week})",
        f"memsvc.recall_strength(1, 'infinity', {week})", "memsvc.recall_strength(1, '9999 years', '0')",
    )  # fmt: skip
    assert nothing == pytest.approx([0, 0, 0, 0])


def test_each_recall_makes_a_memory_fade_more_slowly(admin: psycopg.Connection) -> None:
    week = "interval '7 days'"
    never, nothing, once, thrice, soon, much = numbers(
        admin,
        f"memsvc.recall_strength(0, '0', {week})", f"memsvc.recall_strength(NULL, NULL, {week})",
        f"memsvc.recall_strength(1, 2 * {week}, {week})", f"memsvc.recall_strength(3, 2 * {week}, {week})",
        f"memsvc.recall_strength(1, '-1 hour', {week})",
        "memsvc.recall_strength(2147483647, '100 years', interval '100 years')",
    )  # fmt: skip
    assert (never, nothing, soon) == (0, 0, 1)
    assert once == pytest.approx(0.5)  # a half-life of two weeks
    assert thrice == pytest.approx(2**-0.5)
    assert much == pytest.approx(1)


def test_familiarity_saturates_and_feedback_is_smoothed(admin: psycopg.Connection) -> None:
    assert numbers(
        admin, "memsvc.familiarity(NULL)", "memsvc.familiarity(0)", "memsvc.familiarity(5)",
        "memsvc.familiarity(2147483647)",
    ) == pytest.approx([0, 0, 0.5, 1])  # fmt: skip
    assert numbers(
        admin, "memsvc.usefulness(NULL, NULL)", "memsvc.usefulness(1, 0)", "memsvc.usefulness(0, 1)",
        "memsvc.usefulness(8, 0)", "memsvc.usefulness(3, 3)", "memsvc.usefulness(2147483647, 2147483647)",
    ) == pytest.approx([0, 1 / 3, -1 / 3, 0.8, 0, 0])  # fmt: skip


def test_an_ended_fact_is_stale_and_an_old_one_a_little(admin: psycopg.Connection) -> None:
    now = "timestamptz '2026-01-01Z'"
    assert numbers(
        admin,
        f"memsvc.staleness('2025-12-31Z', {now}, {now})", f"memsvc.staleness(NULL, {now}, {now})",
        f"memsvc.staleness('infinity', {now} - interval '730 days', {now})",
        f"memsvc.staleness('2026-02-01Z', '0001-01-01Z', {now})", f"memsvc.staleness('infinity', '-infinity', {now})",
        f"memsvc.staleness(NULL, '2027-01-01Z', {now})",
    ) == pytest.approx([1, 0, 0.25, 0.5, 0.5, 0], abs=1e-6)  # fmt: skip


@pytest.mark.server
def test_the_planner_puts_the_arithmetic_into_the_statement(admin: psycopg.Connection) -> None:
    plan = "\n".join(row[0] for row in admin.execute(
        "EXPLAIN (VERBOSE, COSTS off) SELECT memsvc.recency(now() - s.last_recalled_at, '1 day'), "
        "memsvc.recall_strength(s.recalls, now() - s.last_recalled_at, '1 day'), memsvc.familiarity(s.recalls), "
        "memsvc.usefulness(s.used, s.irrelevant), memsvc.staleness(s.last_recalled_at, s.last_recalled_at, now()) "
        "FROM memsvc.memory_signals AS s"
    ))  # fmt: skip
    for name in ("recency", "recall_strength", "familiarity", "usefulness", "staleness"):
        assert f"{name}(" not in plan, plan


# Recalls ------------------------------------------------------------------------------------------------------------


async def test_recalls_count_once_however_often_and_by_whomever_they_are_folded(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    heron, otter = await told(db, owner, settings, "a heron and a mill", "an otter")
    await told(db, other, settings, "another heron")
    await recalled(db, other, settings, "heron")
    await recalled(db, owner, settings, "heron", times=20)
    await recalled(db, owner, settings, "the heron or the otter?")
    assert signals(admin, owner) == {}
    async with db.transaction(owner.user_id) as connection:  # killed: all of it is still to do
        folded = await connection.exec_driver_sql("SELECT memsvc.fold_recalls(%s, 7)", (owner.user_id,))
        assert folded.scalar_one() == 7
        await connection.rollback()
    assert sum(await asyncio.gather(*(called(db, owner.user_id, "fold_recalls", 7) for _ in range(8)))) == 21
    assert await called(db, owner.user_id, "fold_recalls", 7) == 0
    assert signals(admin, owner) == {heron: (21, 0, 0), otter: (1, 0, 0)}
    assert signals(admin, other) == {}
    last = "SELECT max(last_recalled_at) = (SELECT max(at) FROM memsvc.recall_events WHERE user_id = %(u)s) "
    assert value(admin, last + "FROM memsvc.memory_signals WHERE user_id = %(u)s", {"u": owner.user_id})


async def test_recording_never_fails_and_is_counted(db: Database, owner: Owner, settings: Settings) -> None:
    await told(db, owner, settings, "a heron in secret")
    found = (await recall(db, owner, "heron", settings)).memories

    def count(outcome: str) -> float:
        return observe.REGISTRY.get_sample_value("memsvc_recalls_recorded_total", {"outcome": outcome}) or 0

    stored, failed = count("stored"), count("failed")
    answer = Given([*found, *found])
    for _ in range(2):
        assert await record_recall(db, owner, answer, door="recall", mode="eager") == answer.recall_id
    nobody = Owner(user_id=uuid4(), name="", time_zone="UTC", language="english")
    with capture_logs() as logs:
        assert isinstance(await record_recall(db, nobody, Given(found, None), door="recall", mode="eager"), UUID)
        assert isinstance(await record_recall(db, owner, Given(found), door="NO DOOR", mode="eager"), UUID)
    assert (count("stored") - stored, count("failed") - failed) == (2, 2)
    assert [line["code"] for line in logs] == ["user_unknown", "internal"]
    assert "secret" not in str(logs)
    assert answer.recall_id is not None
    receipt = await feedback(db, owner, answer.recall_id, used=[found[0].memory_id], irrelevant=[])
    assert receipt.changed == 1, "recorded twice"


async def test_a_night_folds_recalls_and_deletes_old_ones(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    [heron] = await told(db, owner, settings, "a heron")
    ages = [timedelta(days=days) for days in (40, 31, 29, 0)]
    for age in ages:
        admin.execute(
            "INSERT INTO memsvc.recall_events (user_id, recall_id, at, door, mode, memories) "
            "VALUES (%s, uuidv7(-%s::interval), now() - %s::interval, 'recall', 'eager', %s)",
            [owner.user_id, age, age, [heron]],
        )
    assert await called(db, owner.user_id, "delete_recalls", timedelta(0), 10) == 0, "deleted before it was folded"
    [tidy] = tidy_steps(settings, vectors=False)["tidy"]
    for _ in range(2):
        assert await tidy(db, owner.user_id, owner.user_id) is False
    assert signals(admin, owner) == {heron: (4, 0, 0)}
    left = "SELECT count(*) FROM memsvc.recall_events WHERE user_id = %s"
    assert value(admin, left, [owner.user_id]) == 2
    assert await called(db, owner.user_id, "delete_recalls", timedelta(days=-9), 10) == 1, "younger than a day"


# Feedback -----------------------------------------------------------------------------------------------------------


async def test_feedback_counts_once_and_a_changed_verdict_replaces_the_first(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    heron, otter = await told(db, owner, settings, "a heron on the water", "an otter in the water")
    first, second = [await recalled(db, owner, settings, "water") for _ in range(2)]
    for changed in (2, 0):
        receipt = await feedback(db, owner, first, used=[heron, heron], irrelevant=[otter])
        assert (receipt.used, receipt.irrelevant, receipt.changed) == ([heron], [otter], changed)
    assert signals(admin, owner) == {heron: (0, 1, 0), otter: (0, 0, 1)}
    await asyncio.gather(*(feedback(db, owner, first, used=[otter], irrelevant=[heron]) for _ in range(5)))
    await feedback(db, owner, second, used=[otter], irrelevant=[])
    assert signals(admin, owner) == {heron: (0, 0, 1), otter: (0, 2, 0)}
    await called(db, owner.user_id, "fold_recalls", 10)
    assert signals(admin, owner) == {heron: (2, 0, 1), otter: (2, 2, 0)}
    assert (await feedback(db, owner, first, used=[], irrelevant=[])).changed == 0


async def test_feedback_that_cannot_be_is_refused_as_a_whole(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    heron, otter = await told(db, owner, settings, "a heron", "an otter")
    [foreign] = await told(db, other, settings, "a heron of others")
    known = await recalled(db, owner, settings, "heron")
    for person, recall_id in ((owner, uuid4()), (other, known)):
        with pytest.raises(RecallUnknownError):
            await feedback(db, person, recall_id, used=[heron], irrelevant=[])
    for stranger in (otter, foreign, uuid4()):
        with pytest.raises(NotRecalledError, match=str(stranger)) as refused:
            await feedback(db, owner, known, used=[heron], irrelevant=[stranger])
        assert refused.value.details == {"memory_ids": [str(stranger)]}
    with pytest.raises(InvalidRequestError, match="at once"):
        await feedback(db, owner, known, used=[heron], irrelevant=[heron])
    with pytest.raises(InvalidRequestError, match="1,001"):
        await feedback(db, owner, known, used=[uuid4() for _ in range(1_001)], irrelevant=[])
    assert signals(admin, owner) == {}


# Erasing ------------------------------------------------------------------------------------------------------------


async def learnt(db: Database, owner: Owner, evidence: UUID) -> tuple[UUID, UUID]:
    """A fact that a message alone supports; its edge and version."""
    written = await write(
        db, owner,
        [
            Node(type="Person", label="Ines"), Node(type="Place", label="Porto"),
            Edge(from_node=0, type="LIVES_IN", to_node=1, fact="Ines lives in Porto.",
                 evidence=[Evidence(passage_id=evidence)]),
        ],
        asserted_by="tests",
    )  # fmt: skip
    edge = written.results[2].edge_id
    assert edge is not None
    async with db.transaction(owner.user_id) as connection:
        version = await connection.exec_driver_sql(
            "SELECT version_id FROM memsvc.edge_versions WHERE edge_id = %s", (edge,)
        )
        return edge, version.scalar_one()


@pytest.mark.parametrize("folded", [True, False])
async def test_an_erased_memory_leaves_neither_recalls_nor_signals(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, folded: bool
) -> None:
    heron, otter = await told(db, owner, settings, "a heron on the water", "an otter in the water")
    _, version = await learnt(db, owner, heron)
    answer = (await recall(db, owner, "water", settings)).memories
    answer = [answer[0], Memory(**{**_fields(answer[0]), "kind": "fact", "memory_id": version}), answer[1]]
    given = Given(answer)
    await record_recall(db, owner, given, door="recall", mode="deliberate")
    assert given.recall_id is not None
    await feedback(db, owner, given.recall_id, used=[version, otter], irrelevant=[])
    if folded:
        await called(db, owner.user_id, "fold_recalls", 10)
        assert signals(admin, owner) == {heron: (1, 0, 0), version: (1, 1, 0), otter: (1, 1, 0)}
    expected = await preview(db, owner, "message", heron)
    receipt = await erase(db, owner, "message", heron, requested_by="tests", whole=True)
    assert receipt.counts == expected
    assert receipt.counts["memory_signals"] == (2 if folded else 1)
    assert receipt.leftovers == {}
    held = "SELECT array_remove(memories, NULL) FROM memsvc.recall_events WHERE user_id = %s"
    assert value(admin, held, [owner.user_id]) == [otter]
    assert set(signals(admin, owner)) == {otter}

    said = await feedback(db, owner, given.recall_id, used=[heron], irrelevant=[version, otter])
    assert (said.used, said.irrelevant, set(said.erased)) == ([], [otter], {heron, version})
    with pytest.raises(NotRecalledError):
        await feedback(db, owner, given.recall_id, used=(await told(db, owner, settings, "new")), irrelevant=[])
    await record_recall(db, owner, Given(answer), door="recall", mode="eager")  # the answer was on its way meanwhile
    await called(db, owner.user_id, "fold_recalls", 10)
    assert signals(admin, owner) == {otter: (2, 0, 1)}
    counted = "SELECT count(*) FROM memsvc.recall_events WHERE user_id = %s AND memories && %s"
    assert value(admin, counted, [owner.user_id, [heron, version]]) == 0


def _fields(memory: Memory) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in memory.__struct_fields__}


async def test_an_erased_fact_takes_its_signals_along_and_the_message_keeps_its_own(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    [heron] = await told(db, owner, settings, "a heron")
    edge, version = await learnt(db, owner, heron)
    [memory] = (await recall(db, owner, "heron", settings)).memories
    fact = Memory(**{**_fields(memory), "kind": "fact", "memory_id": version})
    for _ in range(2):
        await record_recall(db, owner, Given([fact, memory]), door="recall", mode="eager")
        await called(db, owner.user_id, "fold_recalls", 10)
    await erase(db, owner, "fact", edge, requested_by="tests", whole=True)
    assert signals(admin, owner) == {heron: (2, 0, 0)}
    held = admin.execute("SELECT memories FROM memsvc.recall_events WHERE user_id = %s", [owner.user_id]).fetchall()
    assert held == [([None, heron],), ([None, heron],)], "ranks moved"
