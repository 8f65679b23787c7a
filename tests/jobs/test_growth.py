"""Growth: what sleep rates and proposes, what a person makes of it, and that nights without news write nothing."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import InvalidRequestError, ProposalDecidedError, ProposalUnknownError
from memsvc.graph.history import merge, write
from memsvc.graph.operations import Edge, Evidence, Node
from memsvc.identity.called import NO_NAMES, Said, names_in
from memsvc.profiles.read import read_block
from memsvc.queue.execution import run_due
from memsvc.recall.salient import top_of_mind
from memsvc.settings import Settings
from memsvc.sleep.proposals import Proposed, accept, proposals, reject
from memsvc.sleep.recalled import nodes_first, sources_first
from memsvc.sleep.runner import dry_run, sleep
from memsvc.sleep.runs import Run
from memsvc.sleep.tasks import Scope
from memsvc.sleep.undoing import undo_run
from memsvc.sources.messages import MessageIn, append
from tests.jobs.test_sleep_tasks import night
from tests.sql.world import USER_TABLES

TASKS = ["salience", "promotion", "links", "aliases"]
PEOPLE = ("Robert Stone", "Mara Linden", "Bo Fisk", "Cy Young", "Dora Ek", "Jan Berg")
THINGS = ("Riverside Choir", "Chess Club", "Lisbon", "Porto", "Lima")
TALKS = {
    "boat": [
        "Robert Stone, aka Rusty, fixed the boat. He told me everything about the engine and the sails.",
        "Robert came by again, and Robert brought tea for Mara Linden.",
        "Then Robert left with the boat, and call me Captain from now on.",
        "Jan Berg moved to Porto and sings in the choir on Mondays.",
    ],
    "office": [
        "Jan Berg lives in Lima and plays chess.",
        "Jan Berg is back from the office in Lima.",
        "Jan plays again.",
    ],
}


class Scene:
    """A small graph with its conversations, in which each task finds something."""

    def __init__(self, nodes: dict[str, UUID], passages: dict[str, UUID], sources: dict[str, UUID]) -> None:
        self.nodes, self.passages, self.sources = nodes, passages, sources


@pytest.fixture
def linking(settings: Settings) -> Settings:
    """With links, which nights do not propose by themselves."""
    return settings.model_copy(update={"propose_links": True})


@pytest.fixture
async def scene(db: Database, owner: Owner, settings: Settings) -> Scene:
    passages, sources = dict[str, UUID](), dict[str, UUID]()
    begin = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for place, (conversation, texts) in enumerate(TALKS.items()):
        messages = [
            MessageIn(
                conversation=conversation, text=text, speaker="Ada", role="user",
                said_at=(begin + timedelta(days=7 * nth + place)).isoformat(),
            )
            for nth, text in enumerate(texts)
        ]  # fmt: skip
        for text, stored in zip(texts, await append(db, owner, messages, settings), strict=True):
            assert stored.passage_id is not None
            assert stored.conversation_id is not None
            passages[text], sources[conversation] = stored.passage_id, stored.conversation_id
    await run_due(db)
    made = await write(
        db, owner,
        [
            *(Node(type="Person", label=name, evidence=_evidence(passages, name)) for name in PEOPLE),
            *(
                Node(type="Organization" if " " in name else "Place", label=name, description=f"{name}.")
                for name in THINGS
            ),
        ],
        asserted_by="tests",
    )  # fmt: skip
    nodes = dict(zip([*PEOPLE, *THINGS], [one.node_id for one in made.results if one.node_id], strict=True))
    boat, office = TALKS["boat"], TALKS["office"]
    jan = [
        ("Jan Berg", "LIVES_IN", "Lima", [office[0]]), ("Jan Berg", "LIKES", "Chess Club", [office[0]]),
        ("Jan Berg", "LIVES_IN", "Porto", [boat[2], boat[3]]), ("Jan Berg", "LIKES", "Riverside Choir", [boat[3]]),
        ("Jan Berg", "LIVES_IN", "Lima", [office[2]]),
    ]  # fmt: skip
    known: list[tuple[str, str, str, list[str]]] = [
        (one, "KNOWS", other, [])
        for one in ("Robert Stone", "Mara Linden") for other in ("Bo Fisk", "Cy Young", "Dora Ek")
    ]  # fmt: skip
    for day, (one, type_, other, said) in enumerate(jan + known):
        edge = Edge(
            from_node=nodes[one], type=type_, to_node=nodes[other], fact=f"{one} {type_} {other}.",
            valid_from=begin + timedelta(days=day),
            evidence=[Evidence(passage_id=passages[text]) for text in said],
        )  # fmt: skip
        await write(db, owner, [edge], asserted_by="tests")
    return Scene(nodes, passages, sources)


def _evidence(passages: dict[str, UUID], name: str) -> list[Evidence]:
    return [Evidence(passage_id=passage) for text, passage in passages.items() if name in text]


def recalled(admin: psycopg.Connection, owner: Owner, passages: Sequence[UUID], times: int = 9) -> None:
    """Let passages have been recalled so often, the last time just now."""
    for passage in passages:
        admin.execute(
            "INSERT INTO memsvc.memory_signals (user_id, memory_id, kind, recalls, last_recalled_at) "
            "VALUES (%s, %s, 'passage', %s, clock_timestamp()) ON CONFLICT (user_id, memory_id) DO UPDATE "
            "SET recalls = excluded.recalls, last_recalled_at = excluded.last_recalled_at",
            [owner.user_id, passage, times],
        )


def stored(admin: psycopg.Connection, owner: Owner) -> dict[str, int]:
    """Versions of rows by table: what was written at all changes this, but for the book of jobs."""
    busy = {"jobs", "users", "outbox", "schedules"}
    return {
        name: admin.execute(
            f"SELECT coalesce(sum(hashtextextended(t::text, 0)), 0)::text FROM memsvc.{name} AS t WHERE user_id = %s",
            [owner.user_id],
        ).fetchone()  # type: ignore[misc]
        for name in USER_TABLES
        if name not in busy
    }


async def waiting(db: Database, owner: Owner) -> dict[str, list[Proposed]]:
    found = dict[str, list[Proposed]]()
    for one in (await proposals(db, owner)).items:
        found.setdefault(one.kind, []).append(one)
    return found


async def grow(db: Database, owner: Owner, settings: Settings, **scope: Any) -> list[Run]:
    return await sleep(db, owner, TASKS, Scope(**scope), settings=settings)


async def test_a_night_rates_and_proposes_and_one_without_news_writes_nothing(
    db: Database, owner: Owner, linking: Settings, admin: psycopg.Connection, scene: Scene
) -> None:
    boat, office = TALKS["boat"], TALKS["office"]
    recalled(admin, owner, [scene.passages[boat[0]], scene.passages[boat[3]]])
    dry = [one async for _task, page in dry_run(db, owner, TASKS[1:], settings=linking) for one in page.work or ()]
    assert (await proposals(db, owner)).items == []
    runs = {run.task: run for run in await night(db, owner, linking)}
    assert {runs[task].state for task in TASKS} == {"done"}
    found = await waiting(db, owner)
    assert Counter(one.kind for one in dry) == Counter({kind: len(some) for kind, some in found.items()})
    assert {(one.label, one.text) for one in found["alias"]} >= {("Robert Stone", "Rusty"), ("Robert Stone", "Robert")}
    assert "Captain" in {one.text for one in found["alias"]}, "the user, who said so"
    assert {frozenset((one.label, one.other_label)) for one in found["link"]} >= {
        frozenset(("Robert Stone", "Mara Linden"))
    }
    [two] = found["split"]
    assert two.label == "Jan Berg"
    assert two.sources in [[scene.sources[place]] for place in TALKS]
    assert {one.version_id is None for one in found["core"]} == {True, False}, "a message, and a fact of another one"
    assert runs["salience"].counts["rated"] > 0

    before = stored(admin, owner)
    await night(db, owner, linking)
    assert stored(admin, owner) == before
    assert [(run.applied, run.proposed) for run in await grow(db, owner, linking)] == [(0, 0)] * len(TASKS)
    recalled(admin, owner, [scene.passages[office[0]]], times=2)
    assert "salience" in {run.task for run in await night(db, owner, linking) if run.run_id > runs["aliases"].run_id}


async def test_what_is_accepted_is_done_and_what_is_rejected_or_withdrawn_never_comes_back(
    db: Database, owner: Owner, linking: Settings, admin: psycopg.Connection, scene: Scene
) -> None:
    recalled(admin, owner, [scene.passages[TALKS["boat"][0]]])
    runs = {run.task: run for run in await grow(db, owner, linking)}
    found = await waiting(db, owner)
    done = {kind: await accept(db, owner, some[0].proposal_id) for kind, some in found.items()}
    assert {kind for kind, one in done.items() if one.change_id is None} == {"core"}
    assert (await accept(db, owner, found["link"][0].proposal_id)).change_id is None, "once"
    with pytest.raises(ProposalDecidedError):
        await reject(db, owner, found["split"][0].proposal_id)
    block = await read_block(db, owner, "remembered")
    assert "Robert Stone" in block.text
    facts = admin.execute(
        "SELECT fact FROM memsvc.edge_versions WHERE user_id = %s AND type = 'RELATED_TO'", [owner.user_id]
    ).fetchall()
    assert len(facts) == 1
    assert {"Jan Berg"} == {
        label
        for label, number in admin.execute(
            "SELECT label, count(DISTINCT node_id) FROM memsvc.node_versions WHERE user_id = %s GROUP BY label",
            [owner.user_id],
        )
        if number > 1
    }
    rejected = found["alias"][1]
    await reject(db, owner, rejected.proposal_id)
    undone = await undo_run(db, owner, runs["aliases"].run_id, linking)
    assert undone.other == len(found["alias"]) - 2, "what was decided stays"
    with pytest.raises(ProposalDecidedError):
        await accept(db, owner, rejected.proposal_id)
    with pytest.raises(ProposalUnknownError):
        await accept(db, owner, UUID(int=7))
    await grow(db, owner, linking)
    assert "alias" not in await waiting(db, owner)


async def test_a_rejected_link_stays_rejected_when_its_node_is_merged(
    db: Database, owner: Owner, linking: Settings, scene: Scene
) -> None:
    await grow(db, owner, linking)
    for one in (await waiting(db, owner))["link"]:
        await reject(db, owner, one.proposal_id)
    made = await write(db, owner, [Node(type="Person", label="Rob Stone")], asserted_by="tests")
    [rob] = [one.node_id for one in made.results if one.node_id]
    await merge(db, owner, scene.nodes["Robert Stone"], rob, asserted_by="tests")
    await grow(db, owner, linking)
    assert "link" not in await waiting(db, owner)


async def test_salience_is_on_top_of_mind_and_undoing_its_run_takes_it_back(
    db: Database, owner: Owner, linking: Settings, admin: psycopg.Connection, scene: Scene
) -> None:
    recalled(admin, owner, [scene.passages[TALKS["office"][0]]])
    before = {one.memory_id: one.score for one in await top_of_mind(db, owner, limit=50)}
    [run] = await sleep(db, owner, ["salience"], settings=linking)
    rated = {one.memory_id: one for one in await top_of_mind(db, owner, limit=50)}
    gained = {rated[memory].text: rated[memory].score - score for memory, score in before.items()}
    told = max(gained, key=lambda text: gained[text])
    assert "Lima" in told or "Chess Club" in told, "what was recalled"
    assert rated.keys() - before.keys(), "descriptions of nodes"
    assert all("salience" in rated[memory].factors for memory in rated.keys() - before.keys())
    await undo_run(db, owner, run.run_id, linking)
    assert {one.memory_id: one.score for one in await top_of_mind(db, owner, limit=50)} == pytest.approx(
        before, abs=0.01
    )


async def test_what_is_recalled_most_comes_first_and_a_run_may_keep_to_a_node(
    db: Database, owner: Owner, linking: Settings, admin: psycopg.Connection, scene: Scene
) -> None:
    recalled(admin, owner, [scene.passages[TALKS["office"][0]]])
    assert await sources_first(db, owner, None) == [scene.sources["office"]]
    hot = {scene.nodes[name] for name in ("Jan Berg", "Lima", "Chess Club")}
    assert set(await nodes_first(db, owner, None)) == hot
    places = [
        page.place async for _, page in dry_run(db, owner, ["aliases"], settings=linking) if "first" in page.place
    ]
    assert places[0]["first"] == [str(scene.sources["office"])]
    with pytest.raises(InvalidRequestError, match="cannot keep to one node"):
        await sleep(db, owner, ["salience"], Scope(from_node=scene.nodes["Jan Berg"]), settings=linking)
    runs = await sleep(db, owner, [], Scope(from_node=scene.nodes["Robert Stone"]), settings=linking)
    assert {run.task for run in runs} == {"duplicates", "promotion", "links", "aliases"}
    robert = scene.nodes["Robert Stone"]
    found = await waiting(db, owner)
    assert {one.node_id for one in found["alias"]} == {robert}
    assert all(robert in {one.node_id, one.other_id} for one in found["link"])


letters = st.text(string.ascii_lowercase, min_size=3, max_size=8).map(str.capitalize)


@given(first=letters, last=letters, other=letters, rest=st.lists(letters, max_size=3))
def test_a_first_name_that_two_may_have_is_nobodys(first: str, last: str, other: str, rest: list[str]) -> None:
    one, two = UUID(int=1), UUID(int=2)
    texts = [f"Then {first} said it, and {first} left", *(f"we met {word} there" for word in rest), f"so {first} went"]
    said = [Said(passage_id=UUID(int=9 + nth), speaker=None, text=text) for nth, text in enumerate(texts)]
    alone = names_in(said, {one: [f"{first} {last}"], two: [f"{other}{first.lower()} {last}"]})
    for found in alone:
        source = next(one for one in said if one.passage_id == found.passage_id)
        assert source.text[slice(*found.span)] == found.name
    assert names_in(said, {one: [f"{first} {last}"], two: [f"{first} {other}"]}) == []
    assert (one, first) in {(found.node_id, found.name) for found in alone} or first.lower() in NO_NAMES | {"mon"}
