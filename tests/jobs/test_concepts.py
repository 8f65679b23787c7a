"""Concepts: siblings get one parent, what hangs together another; told once, undone as one, gone with what it names."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import combinations, count
from typing import Literal
from uuid import UUID

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.errors import SleepBusyError
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Evidence, Node, Operation, Retract, Thread
from memsvc.recall.options import Filters
from memsvc.recall.search import recall
from memsvc.settings import Settings
from memsvc.sleep.concepts import Concepts
from memsvc.sleep.runner import dry_run, lock_of, sleep
from memsvc.sleep.runs import Run
from memsvc.sleep.undoing import undo_run
from memsvc.sources.messages import MessageIn, append
from tests.fakes.chat_server import ChatServer, Dies, Say, serving

_models = (f"naming-{number}" for number in count())
SAID = {
    "Gruyère": ("Object", "For the fondue I need 400 g of Gruyère."),
    "Stilton": ("Object", "Uncle Bernard sends us a Stilton every December."),
    "iPhone 12": ("Object", "My iPhone 12 barely makes it to lunch."),
    "Pixel 6a": ("Object", "Dad wants my Pixel 6a when I get a new one."),
    "ciabatta": ("Object", "The ciabatta was gone before the soup was hot."),
    "naan": ("Object", "I bake naan every Saturday."),
    "Mara": ("Person", "Mara lives next door."),
}


async def said(db: Database, owner: Owner, settings: Settings, names: Sequence[str] = tuple(SAID)) -> dict[str, UUID]:
    """Store messages and the nodes that they mention; return both ids, of messages by their texts."""
    messages = [MessageIn(conversation="home", speaker="Ines", role="user", text=SAID[name][1]) for name in names]
    outcome = await append(db, owner, messages, settings)
    passages = [one.passage_id for one in outcome if one.passage_id is not None]
    operations = [
        Node(type=SAID[name][0], label=name, evidence=[Evidence(passage_id=passage)])
        for name, passage in zip(names, passages, strict=True)
    ]
    change = await write(db, owner, operations, asserted_by="tests")
    nodes = [one.node_id for one in change.results]
    found = {name: node for name, node in zip(names, nodes, strict=True) if node is not None}
    return found | {SAID[name][1]: passage for name, passage in zip(names, passages, strict=True)}


async def slept(db: Database, owner: Owner, settings: Settings) -> Run:
    """The run of a night."""
    [run] = await sleep(db, owner, ["concepts"], settings=settings)
    return run


def parents(admin: psycopg.Connection, owner: Owner) -> dict[str, set[str]]:
    """What stands: labels of groups, with the labels of what they hold."""
    rows = admin.execute(
        "SELECT p.label, array_agg(c.label) FILTER (WHERE c.label IS NOT NULL) FROM memsvc.node_versions AS p "
        "LEFT JOIN memsvc.edge_versions AS e ON e.user_id = p.user_id AND e.to_node = p.node_id "
        "AND e.recorded_to = 'infinity' LEFT JOIN memsvc.node_versions AS c ON c.user_id = p.user_id "
        "AND c.node_id = e.from_node AND c.recorded_to = 'infinity' "
        "WHERE p.user_id = %s AND p.type = 'ConceptGroup' AND p.recorded_to = 'infinity' GROUP BY p.label",
        [owner.user_id],
    ).fetchall()
    return {label: set(children or ()) for label, children in rows}


def ids(admin: psycopg.Connection, owner: Owner) -> dict[str, UUID]:
    """The nodes of groups that stand, by key."""
    return dict(
        admin.execute(
            "SELECT data ->> 'key', node_id FROM memsvc.node_versions WHERE user_id = %s AND type = 'ConceptGroup' "
            "AND recorded_to = 'infinity'", [owner.user_id],
        ).fetchall()
    )  # fmt: skip


def rows(admin: psycopg.Connection, owner: Owner) -> dict[str, int]:
    """How many rows a user has in the tables that the task writes."""
    return {
        table: admin.execute(f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s", [owner.user_id]).fetchone()[0]  # type: ignore[index]
        for table in ("nodes", "node_versions", "edges", "edge_versions", "source_links", "passages", "changes", "jobs")
    }


KINDS = {
    "Cheese": {"Gruyère", "Stilton"}, "Smartphone": {"iPhone 12", "Pixel 6a"}, "Bread": {"ciabatta", "naan"},
    "Food": {"Cheese", "Bread"},
}  # fmt: skip


async def test_siblings_get_one_parent_which_recall_finds_and_a_night_without_news_writes_nothing(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await said(db, owner, settings)
    task = Concepts(settings)
    assert await task.has_work(db, owner)
    shown = [page async for _, page in dry_run(db, owner, ["concepts"], settings=settings)]
    pairs = {one.labels for page in shown for one in page.proposals}
    assert pairs == {(child, parent) for parent, children in KINDS.items() for child in children}
    assert parents(admin, owner) == {}
    run = await slept(db, owner, settings)
    assert parents(admin, owner) == KINDS
    assert (run.counts, run.model_calls) == ({"grouped": 4, "linked": 8}, 0)
    found = await recall(db, owner, "cheese", settings, filters=Filters(kinds=["concept"]))
    assert found.memories[0].text == "Cheese: Gruyère and Stilton"
    before, groups = rows(admin, owner), ids(admin, owner)
    assert not await task.has_work(db, owner)
    assert (await slept(db, owner, settings)).examined == 0
    assert rows(admin, owner) == before
    SAID["feta"] = ("Object", "We ate feta with the tomatoes.")
    await said(db, owner, settings, ["feta"])
    assert (await slept(db, owner, settings)).counts == {"grouped": 1, "linked": 1}
    assert parents(admin, owner)["Cheese"] == {"Gruyère", "Stilton", "feta"}
    assert ids(admin, owner) == groups


async def test_a_run_is_undone_as_one_and_what_was_taken_back_stays_away(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    nodes = await said(db, owner, settings)
    run = await slept(db, owner, settings)
    undone = await undo_run(db, owner, run.run_id, settings)
    assert (undone.changes, undone.left) == (1, [])
    assert parents(admin, owner) == {}
    await slept(db, owner, settings)
    assert parents(admin, owner) == {}
    assert nodes


async def test_an_edge_that_somebody_took_back_stays_away_and_the_others_stand(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    nodes = await said(db, owner, settings)
    await slept(db, owner, settings)
    [edge] = admin.execute(
        "SELECT edge_id FROM memsvc.edges WHERE user_id = %s AND from_node = %s", [owner.user_id, nodes["naan"]]
    ).fetchone() or (None,)
    await write(db, owner, [Retract(thread=Thread(edge=edge))], asserted_by="user")
    await slept(db, owner, settings)
    assert parents(admin, owner)["Bread"] == {"ciabatta"}
    await slept(db, owner, settings)
    assert parents(admin, owner)["Bread"] == {"ciabatta"}


@pytest.mark.parametrize("kind", ["message", "node"])
async def test_a_parent_is_erased_with_any_child_that_it_names_and_comes_back_under_its_id(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, kind: Literal["message", "node"]
) -> None:
    nodes = await said(db, owner, settings, ["Gruyère", "Stilton", "iPhone 12", "Pixel 6a"])
    SAID["brie"] = ("Object", "The brie ran off the plate.")
    await said(db, owner, settings, ["brie"])
    await slept(db, owner, settings)
    groups = ids(admin, owner)
    assert parents(admin, owner)["Cheese"] == {"Gruyère", "Stilton", "brie"}
    subject = nodes[SAID["Stilton"][1] if kind == "message" else "Stilton"]
    await erase(db, owner, kind, subject, requested_by="tests")
    texts = admin.execute(
        "SELECT description FROM memsvc.node_versions WHERE user_id = %s "
        "UNION ALL SELECT text FROM memsvc.passages WHERE user_id = %s AND kind <> 'message' "
        "UNION ALL SELECT fact FROM memsvc.edge_versions WHERE user_id = %s", [owner.user_id] * 3,
    ).fetchall()  # fmt: skip
    assert not [text for (text,) in texts if "Stilton" in text]
    await slept(db, owner, settings)
    assert parents(admin, owner) == {"Cheese": {"Gruyère", "brie"}, "Smartphone": {"iPhone 12", "Pixel 6a"}}
    assert ids(admin, owner) == groups


async def test_two_runs_at_once_a_user_with_three_nodes_and_words_in_a_circle_do_no_harm(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await said(db, owner, settings, ["Mara", "Gruyère", "naan"])
    async with db.holding(lock_of(owner.user_id)):
        with pytest.raises(SleepBusyError):
            await slept(db, owner, settings)
    run = await slept(db, owner, settings)
    assert (run.applied, run.error_code, parents(admin, owner)) == (0, None, {})
    around = {
        "Zib": "Zib is a frobber.", "Zab": "Zab is a frobber.", "frobber": "A frobber is a gnarper.",
        "Gib": "Gib is a gnarper.", "gnarper": "A gnarper is a frobber.",
    }  # fmt: skip
    SAID.update({name: ("Object", text) for name, text in around.items()})
    await said(db, owner, settings, list(around))
    await slept(db, owner, settings)
    assert parents(admin, owner) == {"Frobber": {"Zib", "Zab", "gnarper"}, "Gnarper": {"Gib", "frobber"}}


async def test_what_hangs_together_gets_a_parent_that_tells_its_facts_and_keeps_it(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    circles = [[f"{name} {number}" for number in "abcde"] for name in ("Rower", "Singer")]
    operations: list[Operation] = [Node(type="Person", label=name) for some in circles for name in some]
    for number, _ in enumerate(circles):
        for one, other in combinations(range(5 * number, 5 * number + 5), 2):
            fact = f"{circles[number][one % 5]} knows {circles[number][other % 5]}."
            operations.append(Edge(from_node=one, type="KNOWS", to_node=other, fact=fact))
    change = await write(db, owner, operations, asserted_by="tests")
    await slept(db, owner, settings)
    found, before = parents(admin, owner), ids(admin, owner)
    assert sorted(map(sorted, found.values())) == circles
    [text] = admin.execute(
        "SELECT description FROM memsvc.node_versions WHERE user_id = %s AND type = 'ConceptGroup' "
        "AND recorded_to = 'infinity' AND label LIKE 'Rower%%'", [owner.user_id],
    ).fetchone() or ("",)  # fmt: skip
    assert all(re.search(f"({name} knows|knows {name})", text) for name in circles[0])
    assert "Singer" not in text
    first = change.results[0].node_id
    assert first is not None
    more = [Node(type="Person", label="Rower f"), Edge(from_node=first, type="KNOWS", to_node=0, fact="They row.")]
    await write(db, owner, more, asserted_by="tests")
    await slept(db, owner, settings)
    assert ids(admin, owner) == before
    assert {*circles[0], "Rower f"} in parents(admin, owner).values()


async def test_a_model_gives_words_that_the_table_lacks_and_nothing_that_it_was_not_shown(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    unknown = {"Kallip": "The Kallip hums.", "Dorvan": "My Dorvan is blue.", "Mirsk": "I lost the Mirsk."}
    SAID.update({name: ("Object", text) for name, text in unknown.items()})
    await said(db, owner, settings, [*unknown, "Gruyère", "Stilton"])

    def answer(word: str, *members: int) -> Say:
        return Say(json.dumps({"groups": [{"word": word, "members": list(members)}]}))

    with serving(ChatServer(answer("thing", 0, 1), answer("theremin", 0, 1), otherwise=Dies())) as server:
        asking = settings.model_copy(
            update={"concepts": "model", "llm_url": server.url, "llm_model": next(_models), "llm_timeout_s": 5.0}
        )
        await slept(db, owner, asking)
        assert parents(admin, owner) == {"Cheese": {"Gruyère", "Stilton"}}
        SAID["Ofra"] = ("Person", "Ofra waved.")
        await said(db, owner, settings, ["Ofra"])
        run = await slept(db, owner, asking)
        assert (run.model_calls, run.counts) == (1, {"grouped": 1, "linked": 2})
    found = parents(admin, owner)
    assert (len(found["Theremin"]), found["Theremin"] < {*unknown}) == (2, True)
    await said(db, owner, settings, ["Mara"])
    await slept(db, owner, settings)
    assert parents(admin, owner) == found
