"""Reflections: what several memories say together, told once, undone as one, and gone with their evidence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.errors import LlmError
from memsvc.graph.history import write
from memsvc.graph.operations import Annotate, Edge, Evidence, Node, Operation
from memsvc.lessons.reflections import Reflection, list_reflections
from memsvc.recall.options import Filters
from memsvc.recall.search import recall
from memsvc.settings import Settings
from memsvc.sleep.reflection import Reflecting
from memsvc.sleep.runner import sleep
from memsvc.sleep.undoing import undo_run
from memsvc.sources.messages import MessageIn, append
from tests.fakes.chat_server import ByRequest, ChatServer, Dies, Say, serving

pytestmark = pytest.mark.slow
_models = (f"reflecting-{number}" for number in count())
MONDAY = datetime(2026, 3, 2, 18, tzinfo=UTC)
TABLES = ("nodes", "node_versions", "edges", "edge_versions", "source_links", "passages", "changes", "jobs")
CHOIR, LYON, PORTO = "Ines sings in the choir.", "Ines lives in Lyon.", "Ines lives in Porto."
PROMISE = "I'll send the signed lease to Bettina tomorrow."


async def _said(db: Database, owner: Owner, settings: Settings, text: str, day: int) -> UUID:
    message = MessageIn(
        conversation="a", text=text, role="user", speaker="Ines", said_at=str(MONDAY + timedelta(days=day))
    )
    [stored] = await append(db, owner, [message], settings)
    assert stored.passage_id is not None
    return stored.passage_id


async def _told(db: Database, owner: Owner, settings: Settings) -> dict[str, UUID]:
    """A memory with something of each kind to say; the passages by what they are about."""
    for day in range(60):  # other talk, so that a weekday is no chance
        if day % 7:
            await _said(db, owner, settings, f"The weather on day {day} was fine.", day)
    choir = [await _said(db, owner, settings, "Choir again tonight.", 7 * week) for week in range(6)]
    lyon = await _said(db, owner, settings, "I live in Lyon.", 1)
    porto = await _said(db, owner, settings, "I moved to Porto.", 30)
    doubt = await _said(db, owner, settings, "I am not sure that I like rye bread.", 31)
    promise = await _said(db, owner, settings, PROMISE, 40)
    people: list[Operation] = [
        Node(type="Person", label="Ines"), Node(type="Organization", label="the choir"),
        Node(type="Place", label="Lyon"), Node(type="Place", label="Porto"), Node(type="Object", label="rye bread"),
    ]  # fmt: skip
    nodes = [one.node_id for one in (await write(db, owner, people, asserted_by="tests")).results]
    ines, club, first, second, bread = (node for node in nodes if node is not None)
    sings = [Evidence(passage_id=one) for one in choir]
    facts: list[Operation] = [
        Edge(from_node=ines, type="RELATED_TO", to_node=club, fact=CHOIR, evidence=sings),
        Edge(from_node=ines, type="LIVES_IN", to_node=first, fact=LYON, evidence=[Evidence(passage_id=lyon)]),
        Edge(
            from_node=ines, type="LIVES_IN", to_node=second, fact=PORTO, valid_from=MONDAY + timedelta(days=30),
            evidence=[Evidence(passage_id=porto)],
        ),
        Edge(
            from_node=ines, type="LIKES", to_node=bread, fact="Ines likes rye bread.",
            evidence=[Evidence(passage_id=doubt)],
        ),
    ]  # fmt: skip
    change = await write(db, owner, facts, asserted_by="tests")
    marked = Annotate(version=change.results[3].versions[0], stance="disputed", evidence=[Evidence(passage_id=doubt)])
    await write(db, owner, [marked], asserted_by="user")
    return {"choir": choir[0], "lyon": lyon, "porto": porto, "doubt": doubt, "promise": promise}


async def _slept(db: Database, owner: Owner, settings: Settings, **more: Any) -> Any:
    [run] = await sleep(db, owner, ["reflection"], settings=settings.model_copy(update=more))
    return run


async def _all(db: Database, owner: Owner) -> dict[str, Reflection]:
    return {one.kind: one for one in (await list_reflections(db, owner)).items}


def _rows(admin: psycopg.Connection, owner: Owner) -> dict[str, Any]:
    def number(table: str) -> Any:
        return admin.execute(f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s", [owner.user_id]).fetchone()

    return {table: number(table) for table in (*TABLES, "model_calls")}


async def test_each_kind_is_a_sentence_with_its_evidence_that_recall_finds_and_erasing_takes(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    said = await _told(db, owner, settings)
    task = Reflecting(settings)
    assert await task.has_work(db, owner)
    run = await _slept(db, owner, settings)
    found = await _all(db, owner)
    assert (run.counts, run.error_code, run.model_calls) == ({"reflected": 4}, None, 0)
    assert {kind: one.text for kind, one in found.items()} == {
        "habit": f"On Mondays, 6 times from 2 March 2026 to 6 April 2026: {CHOIR}",
        "changed_mind": f"This changed: “{LYON}” No longer so since 1 April 2026: “{PORTO}”",
        "contradiction": "This does not agree with what else is known: “Ines likes rye bread.”",
        "open_loop": "Ines said on 11 April 2026: “I'll send the signed lease to Bettina tomorrow (12 April).” "
        "Nothing since says that it was done.",
    }
    assert set(found["changed_mind"].sources) == {said["lyon"], said["porto"]}
    assert found["open_loop"].sources == [said["promise"]]
    [first, *_] = (
        await recall(db, owner, "choir on Mondays", settings, filters=Filters(kinds=["reflection"]))
    ).memories
    assert (first.kind, first.node_id) == ("reflection", found["habit"].node_id)
    recalled = (await recall(db, owner, "lease for Bettina", settings)).memories
    assert recalled[0].memory_id == said["promise"]  # the message itself, and not once more as an open loop
    assert found["open_loop"].node_id not in {one.node_id for one in recalled}
    edges = admin.execute(
        "SELECT count(*) FROM memsvc.edge_versions WHERE user_id = %s AND type = 'REFLECTS_ON'", [owner.user_id]
    ).fetchone()
    assert edges == (6,)

    before = _rows(admin, owner)
    assert not await task.has_work(db, owner)
    assert (await _slept(db, owner, settings)).examined == 0
    assert _rows(admin, owner) == before
    assert before["model_calls"] == (0,)

    await erase(db, owner, "message", said["lyon"], requested_by="user")
    assert set(await _all(db, owner)) == {"habit", "contradiction", "open_loop"}
    await erase(db, owner, "message", said["choir"], requested_by="user")
    assert "habit" not in await _all(db, owner)
    left = admin.execute(
        "SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND (text LIKE '%%Lyon%%' OR kind = 'reflection')",
        [owner.user_id],
    ).fetchone()
    assert left == (1,)  # the contradiction

    await _said(db, owner, settings, "I sent the signed lease to Bettina.", 50)
    await _slept(db, owner, settings)
    assert set(await _all(db, owner)) == {"habit", "contradiction"}  # told anew of five weeks; the loop is closed


async def test_a_night_is_undone_as_one_and_not_done_again(db: Database, owner: Owner, settings: Settings) -> None:
    await _told(db, owner, settings)
    run = await _slept(db, owner, settings)
    assert len(await _all(db, owner)) == 4
    await undo_run(db, owner, run.run_id, settings)
    assert await _all(db, owner) == {}
    assert not await Reflecting(settings).has_work(db, owner)
    assert (await _slept(db, owner, settings)).applied == 0


def _answers(insights: Sequence[dict[str, Any]]) -> Any:
    def answer(request: dict[str, Any]) -> Say:
        asked = request["messages"][1]["content"]
        if "The question:" not in asked:
            return Say(json.dumps({"questions": ["How does Ines feel about Bettina's lease?", "Where did Ines live?"]}))
        return Say(json.dumps({"insights": insights}))

    return answer


@pytest.mark.parametrize(
    ("insights", "kept"),
    [
        ([{"text": "Ines talks of the lease often.", "sources": [0, 1]}], 1),
        ([{"text": "Ines owes Waldemar 300 euros.", "sources": [0, 1]}], 0),
        ([{"text": "Ines talks of the lease often.", "sources": [0]}], 0),
        ([{"text": "Ines talks of the lease often.", "sources": [0, 99]}], 0),
        ([], 0),
    ],
)
async def test_an_insight_follows_from_memories_and_has_no_name_that_they_lack(
    db: Database, owner: Owner, settings: Settings, insights: list[dict[str, Any]], kept: int
) -> None:
    for day, text in enumerate(("The lease for Bettina is ready.", "Bettina asked for the lease.", "I live in Lyon.")):
        await _said(db, owner, settings, text, day)
    with serving(ChatServer(otherwise=ByRequest(_answers(insights)))) as server:
        model = {"reflection": "model", "llm_url": server.url, "llm_model": next(_models)}
        run = await _slept(db, owner, settings, **model)
        found = [one for one in (await list_reflections(db, owner)).items if one.kind == "insight"]
        assert len(found) == kept
        assert all(len(one.sources) >= 2 and one.by == model["llm_model"] for one in found)
        assert 1 <= run.model_calls <= 2 * 4
        assert run.tokens_in > 0
        assert not await Reflecting(settings.model_copy(update=model)).has_work(db, owner)  # nobody said anything since


async def test_a_model_that_dies_loses_nothing_that_needs_none(
    db: Database, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsvc.llm.chat.PAUSE_S", (0.0, 0.01))
    await _told(db, owner, settings)
    with serving(ChatServer(otherwise=Dies())) as server, pytest.raises(LlmError):
        await _slept(db, owner, settings, reflection="model", llm_url=server.url, llm_model=next(_models))
    assert set(await _all(db, owner)) == {"habit", "changed_mind", "contradiction", "open_loop"}
