"""Forgetting by disuse: what nobody recalls is archived, nothing is lost, and all of it can be taken back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import DatabaseUnavailableError
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Node
from memsvc.queue.execution import run_due
from memsvc.recall.options import Filters
from memsvc.recall.salient import top_of_mind
from memsvc.recall.search import recall
from memsvc.recall.signals import mark_memory, record_recall
from memsvc.settings import Settings
from memsvc.sleep import forgetting
from memsvc.sleep.archive import archive_of, restore, switch_forgetting
from memsvc.sleep.runner import sleep
from memsvc.sleep.runs import Run
from memsvc.sleep.undoing import undo_run
from memsvc.sources.messages import MessageIn, append
from tests.conftest import remembered

TELLING = (
    "My sister Annika bought the blue narrowboat Kittiwake in Braunston for 41,000 pounds last Tuesday, and the "
    "surveyor Mr Pemberton found rust beneath the galley, behind the paraffin stove that her godfather had welded."
)
AGED = """
UPDATE memsvc.passages SET recorded_at = recorded_at - %(by)s, restored_at = restored_at - %(by)s
WHERE user_id = %(user)s;
UPDATE memsvc.sources SET created_at = created_at - %(by)s, last_ingested_at = last_ingested_at - %(by)s
WHERE user_id = %(user)s;
UPDATE memsvc.memory_signals SET last_recalled_at = last_recalled_at - %(by)s WHERE user_id = %(user)s;
UPDATE memsvc.recall_events SET at = at - %(by)s WHERE user_id = %(user)s;
"""


def pass_days(admin: psycopg.Connection, owner: Owner, days: int) -> None:
    """Let so many days pass for the user's memories."""
    cursor = psycopg.ClientCursor(admin)
    cursor.execute(AGED, {"by": timedelta(days=days), "user": owner.user_id})


async def night(db: Database, owner: Owner, settings: Settings) -> Run:
    [run] = await sleep(db, owner, ["forgetting"], settings=settings)
    return run


async def said(db: Database, owner: Owner, settings: Settings, *texts: str, conversation: str = "talk") -> None:
    messages = [MessageIn(conversation=conversation, text=text, speaker="Ada") for text in texts]
    await append(db, owner, messages, settings)
    await run_due(db)


async def texts(db: Database, owner: Owner, settings: Settings, query: str, **filters: Any) -> set[str]:
    found = await remembered(db, owner, query, settings, filters=Filters(**filters), limit=20)
    return {memory.text for memory in found}


def state(admin: psycopg.Connection, owner: Owner) -> list[Any]:
    """All that forgetting writes."""
    return admin.execute(
        "SELECT passage_id, archived_at, archived_by, restored_at FROM memsvc.passages WHERE user_id = %s "
        "ORDER BY passage_id",
        [owner.user_id],
    ).fetchall()


@pytest.fixture
def forgets(settings: Settings) -> Settings:
    return settings.model_copy(update={"forgetting": True})


async def test_what_says_little_and_is_not_recalled_leaves_recall_and_comes_back(
    db: Database, owner: Owner, forgets: Settings, admin: psycopg.Connection
) -> None:
    await said(db, owner, forgets, "Thanks, kestrel!", TELLING, "Kestrel, great!")
    assert (await night(db, owner, forgets)).applied == 0, "nothing is old enough"
    pass_days(admin, owner, 13)
    assert (await night(db, owner, forgets)).applied == 0
    pass_days(admin, owner, 2)
    run = await night(db, owner, forgets)
    assert run.applied == 2
    before = state(admin, owner)
    assert (await night(db, owner, forgets)).applied == 0
    assert state(admin, owner) == before, "a second night without news writes nothing"

    assert await texts(db, owner, forgets, "kestrel") == set()
    assert await texts(db, owner, forgets, "narrowboat") == {TELLING}
    assert {memory.text for memory in await top_of_mind(db, owner)} == {TELLING}
    deep = await recall(db, owner, "kestrel thanks", forgets, filters=Filters(include_archived=True))
    assert {memory.text for memory in deep.memories} == {"Thanks, kestrel!", "Kestrel, great!"}
    assert (await archive_of(db, owner, forgets)).messages == 2, "to look is not yet to recall"

    thanks = next(memory for memory in deep.memories if memory.text.startswith("Thanks"))
    deep.memories[:] = [thanks]
    await record_recall(db, owner, deep, door="tests", mode="balanced")
    assert await texts(db, owner, forgets, "kestrel") == {"Thanks, kestrel!"}
    assert (await night(db, owner, forgets)).applied == 0, "what was recalled is not idle"

    assert (await undo_run(db, owner, run.run_id, forgets)).other == 1
    assert await texts(db, owner, forgets, "kestrel") == {"Thanks, kestrel!", "Kestrel, great!"}
    assert (await undo_run(db, owner, run.run_id, forgets)).other == 0
    assert (await night(db, owner, forgets)).applied == 0, "what was restored counts as used"
    pass_days(admin, owner, 40)
    assert (await night(db, owner, forgets)).applied == 1, "recalls that wait to be added up keep a memory"


async def test_pinned_recalled_and_judged_memories_stay_and_a_user_may_refuse(
    db: Database, owner: Owner, forgets: Settings, admin: psycopg.Connection
) -> None:
    await said(db, owner, forgets, "Pinned osprey.", "Judged osprey.", "Recalled osprey.", "Plain osprey.")
    ids = {m.text.split()[0]: m for m in await remembered(db, owner, "osprey", forgets, limit=20)}
    await mark_memory(db, owner, str(ids["Pinned"].memory_id), pinned=True)
    await mark_memory(db, owner, str(ids["Judged"].memory_id), importance=6)
    pass_days(admin, owner, 20)
    found = await recall(db, owner, "recalled", forgets)
    await record_recall(db, owner, found, door="tests", mode="balanced")  # not yet added to its signals
    await switch_forgetting(db, owner, forgets, on=False)
    assert (await night(db, owner, forgets)).applied == 0
    await switch_forgetting(db, owner, forgets, on=None)
    assert (await night(db, owner, forgets)).applied == 1
    assert await texts(db, owner, forgets, "osprey") == {"Pinned osprey.", "Judged osprey.", "Recalled osprey."}


async def test_a_clock_that_jumps_archives_little_and_one_that_went_back_nothing(
    db: Database, owner: Owner, forgets: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await said(db, owner, forgets, *(f"Thanks {number}!" for number in range(30)))
    pass_days(admin, owner, 4_000)
    admin.execute(
        "INSERT INTO memsvc.recall_events (user_id, recall_id, at, door, mode, memories) "
        "VALUES (%s, uuidv7(), clock_timestamp() + interval '2 days', 'tests', 'eager', '{}')",
        [owner.user_id],
    )
    assert (await night(db, owner, forgets)).applied == 0
    admin.execute("DELETE FROM memsvc.recall_events WHERE user_id = %s", [owner.user_id])

    monkeypatch.setattr(forgetting, "READ", 8)
    archiving, seen = forgetting.Forgetting.apply, []

    async def dying(self: forgetting.Forgetting, *arguments: Any) -> Any:
        seen.append(arguments)
        if len(seen) == 2:
            raise DatabaseUnavailableError
        return await archiving(self, *arguments)

    monkeypatch.setattr(forgetting.Forgetting, "apply", dying)
    with pytest.raises(DatabaseUnavailableError):
        await night(db, owner, forgets)
    run = await night(db, owner, forgets)
    assert run.applied == forgetting.AT_LEAST, "a run that died goes on, within the same bound"
    assert (await night(db, owner, forgets)).applied == 10


async def test_a_silent_conversation_goes_as_a_whole_and_its_text_stays(
    db: Database, owner: Owner, forgets: Settings, admin: psycopg.Connection
) -> None:
    await said(db, owner, forgets, TELLING, conversation="silent")
    await said(db, owner, forgets, TELLING.replace("narrowboat", "houseboat"), conversation="asked")
    [asked] = (await recall(db, owner, "houseboat", forgets)).memories
    chosen = forgets.model_copy(update={"forgetting_lambda": 0.0, "forgetting_half_life_days": 36_000.0})
    pass_days(admin, owner, 1_000)
    await record_recall(db, owner, await recall(db, owner, "houseboat", forgets, limit=1), door="tests", mode="eager")
    pass_days(admin, owner, 100)
    assert (await night(db, owner, chosen)).applied == 1
    assert await texts(db, owner, forgets, "Kittiwake") == {asked.text}
    assert await texts(db, owner, forgets, "Kittiwake", known_at=None, include_archived=True) == {TELLING, asked.text}
    kept = admin.execute("SELECT count(*) FROM memsvc.passages WHERE user_id = %s", [owner.user_id]).fetchone()
    assert kept == (2,)


@examples(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    importance=st.just(0.0) | st.floats(0.001, 1), recalls=st.integers(0, 50), days=st.floats(0, 20_000),
    half_life=st.floats(1, 20_000), rate=st.floats(0, 1),
)  # fmt: skip
def test_retention_is_the_formula_of_the_docs(
    *, admin: psycopg.Connection, importance: float, recalls: int, days: float, half_life: float, rate: float
) -> None:
    asked = "SELECT memsvc.retention(%s, %s, make_interval(secs => 86400 * %s), make_interval(secs => 86400 * %s), %s)"
    [told] = admin.execute(asked, [importance, recalls, days, half_life, rate]).fetchone() or [None]
    strength = 2 ** -min(days / (half_life * (1 + recalls)), 1000)
    assert told == pytest.approx(importance * strength / (1 + rate * days), rel=1e-6, abs=1e-12)


async def test_facts_and_descriptions_go_after_longer_and_are_restored_by_their_ids(
    db: Database, owner: Owner, forgets: Settings, admin: psycopg.Connection
) -> None:
    made = await write(
        db, owner,
        [
            Node(type="Person", label="Annika", description="A surveyor of narrowboats."),
            Node(type="Place", label="Braunston"),
            Edge(from_node=0, type="LIVES_IN", to_node=1, fact="Annika lives in Braunston.", confidence=0.1),
            Node(type="Instruction", label="Never say narrowboat."),
        ],
        asserted_by="tests",
    )  # fmt: skip
    await run_due(db)
    for days, archived in ((170, 0), (20, 1), (4_000, 1)):
        pass_days(admin, owner, days)
        assert (await night(db, owner, forgets)).applied == archived
    assert await texts(db, owner, forgets, "narrowboat Annika Braunston") == {"Never say narrowboat."}
    [version, node] = [made.results[2].versions[0], made.results[0].node_id]
    assert (await restore(db, owner, [str(version), str(node)])).restored == 2
    assert await texts(db, owner, forgets, "narrowboat Annika Braunston") == {
        "Never say narrowboat.", "A surveyor of narrowboats.", "Annika lives in Braunston.",
    }  # fmt: skip
