"""The place arm of recall: what lies near a place that the question names, at any two times, by either extension."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.history import merge, undo, write
from memsvc.graph.operations import Edge, Evidence, Location, Node
from memsvc.graph.places import metres_between
from memsvc.recall.options import LINEAR, Filters, Mode
from memsvc.recall.results import Memory, Recalled
from memsvc.recall.search import recall
from memsvc.server.place_index import NAMES
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.sql.test_places import BERLIN, ME, SUVA, Each, day, each, place

pytestmark = pytest.mark.server
__all__ = ["each"]
NEAR_IT = "What did we eat near the Old Mill?"
DUMPLINGS, OYSTERS = "Plum dumplings again, with Bea.", "A dozen oysters with Bea."
STEP = 0.0018
"""Degrees of latitude: 200 m."""
BESIDE = text("SELECT * FROM memsvc.nodes_beside(:user, :nodes, :radius, :limit, :as_of, :known)")


@pytest.fixture
async def eaten(db: Database, owner: Owner, settings: Settings) -> dict[str, UUID]:
    """A mill; a café 400 m away, where dumplings were eaten; a bar by the sea with oysters; and other talk."""
    said = [DUMPLINGS, OYSTERS, *(f"The herons stood in the reeds, {n} of them." for n in range(12))]
    messages = [MessageIn(conversation="c", text=one, role="user") for one in said]
    stored = await append(db, owner, messages, settings)
    nodes = {
        "mill": await place(db, owner, "Old Mill", BERLIN),
        "café": await place(db, owner, "Café Lund", (BERLIN[0] + 2 * STEP, BERLIN[1])),
        "bar": await place(db, owner, "Reef Bar", SUVA),
    }
    bea = (await write(db, owner, [Node(type="Person", label="Bea")], asserted_by=ME)).results[0].node_id
    assert bea is not None
    facts = [
        Edge(from_node=bea, to_node=nodes[at], type="LIKES", fact=fact, evidence=[Evidence(passage_id=id_)])
        for at, fact, one in (("café", "Bea likes it there.", stored[0]), ("bar", "Bea likes the view.", stored[1]))
        if (id_ := one.passage_id) is not None
    ]
    await write(db, owner, facts, asserted_by=ME)
    return nodes


def of(answer: Recalled) -> dict[str, Memory]:
    return {memory.text: memory for memory in answer.memories}


async def test_what_lies_near_the_named_place_is_found_and_says_so(
    db: Database, owner: Owner, settings: Settings, each: Each, eaten: dict[str, UUID]
) -> None:
    for by in each():
        answer = await recall(db, owner, NEAR_IT, settings, explain=True)
        found = of(answer)
        assert set(found) == {DUMPLINGS, "Bea likes it there."}, by
        for memory in found.values():
            assert memory.path == ["Old Mill", "NEAR 400 m", "Café Lund"]
            assert "Café Lund is 400 m from Old Mill" in memory.why
            assert memory.arms["place"] == {"metres": 400}
            assert memory.factors["place"] == pytest.approx(LINEAR["place"] * memory.arms["names"]["score"], abs=0.001)
            assert memory.factors["distance"] == 0
            assert memory.score == pytest.approx(sum(memory.factors.values()))
        assert answer.explanation is not None
        assert answer.explanation.found["place"] == 2


@pytest.mark.parametrize("query", ["What about the Old Mill?", "What did we eat near the sea?", "Old Mill"])
async def test_who_asks_for_something_else_gets_something_else(
    db: Database, owner: Owner, settings: Settings, eaten: dict[str, UUID], query: str
) -> None:
    assert not of(await recall(db, owner, query, settings)).keys() & {DUMPLINGS, OYSTERS}


@pytest.mark.parametrize("query", [
    "Was gab es bei Old Mill?", "Qu'est-ce qu'on mangeait près de Old Mill ?", "Old Mill附近吃了什么?",
    "Which neighbours has Old Mill?", "What lies within walking distance of the OLD MILL?",
])  # fmt: skip
async def test_nearness_has_words_in_other_languages(
    db: Database, owner: Owner, settings: Settings, eaten: dict[str, UUID], query: str
) -> None:
    assert DUMPLINGS in of(await recall(db, owner, query, settings))


@pytest.mark.parametrize(("mode", "weight", "finds"), [
    ("deliberate", 2.0, True), ("eager", 2.0, False), ("balanced", 0.0, False),
])  # fmt: skip
async def test_no_walk_and_no_weight_is_no_arm(  # noqa: PLR0917 - fixtures and cases
    db: Database, owner: Owner, settings: Settings, eaten: dict[str, UUID], mode: Mode, weight: float, finds: bool
) -> None:
    weights = {"place": weight}
    assert (DUMPLINGS in of(await recall(db, owner, NEAR_IT, settings, mode=mode, weights=weights))) == finds


async def test_without_locations_the_arm_changes_nothing(
    db: Database, owner: Owner, settings: Settings, eaten: dict[str, UUID], admin: psycopg.Connection
) -> None:
    admin.execute("DELETE FROM memsvc.source_links WHERE user_id = %s AND location_id IS NOT NULL", [owner.user_id])
    admin.execute("DELETE FROM memsvc.locations WHERE user_id = %s", [owner.user_id])
    weights = [{"place": place_weight, "staleness": 0.0} for place_weight in (2.0, 0.0)]  # ages move on
    with_it, without = [await recall(db, owner, NEAR_IT + " Bea?", settings, weights=one) for one in weights]
    assert with_it.memories == without.memories
    assert with_it.memories


async def test_it_counts_where_things_were_then_and_what_was_known_then(
    db: Database, owner: Owner, settings: Settings, eaten: dict[str, UUID], admin: psycopg.Connection
) -> None:
    """The café was in Suva up to 5 March, and the bar came to the mill on 9 March."""
    row = admin.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    moved = [
        Location(node=eaten["café"], latitude=SUVA[0], longitude=SUVA[1], valid_to=day(5)),
        Location(node=eaten["bar"], latitude=BERLIN[0], longitude=BERLIN[1], valid_from=day(9)),
    ]
    await write(db, owner, moved, asserted_by=ME)

    async def beside(**times: datetime) -> list[list[str]]:
        async with db.transaction(owner.user_id) as connection:
            asked = {"user": owner.user_id, "nodes": [eaten["mill"]], "radius": 1_000.0, "limit": 9}
            found = await connection.execute(BESIDE, {"as_of": None, "known": None, **asked, **times})
            return [row.path[1:] for row in found]

    assert await beside() == [["NEAR 0 m", "Reef Bar"], ["NEAR 400 m", "Café Lund"]]
    assert await beside(as_of=day(6)) == [["NEAR 400 m", "Café Lund"]]
    assert await beside(as_of=day(4)) == []
    assert await beside(as_of=day(4), known=row[0]) == [["NEAR 400 m", "Café Lund"]]
    assert OYSTERS in of(await recall(db, owner, NEAR_IT, settings))
    assert OYSTERS not in of(await recall(db, owner, NEAR_IT, settings, filters=Filters(known_at=row[0])))


async def test_a_town_is_no_spot_and_a_crowd_is_cut(db: Database, owner: Owner) -> None:
    mill = await place(db, owner, "Mill", BERLIN)
    town = await write(
        db, owner,
        [Node(type="Place", label="Town"), Location(node=0, latitude=BERLIN[0], longitude=BERLIN[1], radius_m=9_000)],
        asserted_by=ME,
    )  # fmt: skip
    for n in range(12):
        await place(db, owner, f"Stall {n:02}", (BERLIN[0] + n * STEP / 10, BERLIN[1]), "Person")

    async def beside(*nodes: UUID | None) -> list[str]:
        async with db.transaction(owner.user_id) as connection:
            asked = {"user": owner.user_id, "nodes": list(nodes), "radius": 1_000.0, "limit": 10}
            rows = (await connection.execute(BESIDE, asked | {"as_of": None, "known": None})).all()
            assert [row.reach for row in rows] == sorted((row.reach for row in rows), reverse=True)
            assert {row.distance for row in rows} <= {1}
            return [row.path[2] for row in rows]

    assert await beside(mill) == [f"Stall {n:02}" for n in range(10)]
    assert await beside(town.results[0].node_id) == []


async def test_others_and_a_server_without_an_extension_find_nothing(  # noqa: PLR0917 - fixtures
    db: Database, owner: Owner, other: Owner, settings: Settings, each: Each, eaten: dict[str, UUID],
    admin: psycopg.Connection,
) -> None:  # fmt: skip
    await place(db, other, "Old Mill", BERLIN)
    assert of(await recall(db, other, NEAR_IT, settings)) == {}
    async with db.transaction(other.user_id) as connection:
        asked = {"nodes": [eaten["mill"]], "radius": 1_000.0, "limit": 9, "as_of": None, "known": None}
        assert (await connection.execute(BESIDE, asked | {"user": other.user_id})).all() == []
        assert (await connection.execute(BESIDE, asked | {"user": owner.user_id})).all() == []
    for _by in each():
        pass
    for name in NAMES.values():
        admin.execute(f"DROP INDEX IF EXISTS memsvc.{name}".encode())
    assert not of(await recall(db, owner, NEAR_IT, settings)).keys() & {DUMPLINGS, OYSTERS}


# Beside a plain model ------------------------------------------------------------------------------------------------


HELD = """
SELECT l.node_id, l.latitude, l.longitude, l.radius_m FROM memsvc.locations AS l
WHERE l.user_id = %(user)s AND l.valid_from <= %(as_of)s AND l.valid_to > %(as_of)s AND l.recorded_from <= %(known)s
  AND l.recorded_to > %(known)s
"""
SAME = """
SELECT m.node_id, m.canonical_id FROM memsvc.merges AS m
WHERE m.user_id = %(user)s AND m.recorded_from <= %(known)s AND m.recorded_to > %(known)s
"""


def plainly(admin: psycopg.Connection, named: list[UUID], radius: float, asked: dict[str, Any]) -> dict[UUID, float]:
    """Metres to each node beside some nodes: every location that holds then is looked at, one by one."""
    above: dict[UUID, UUID] = dict(admin.execute(SAME, asked).fetchall())

    def stands(node: UUID) -> UUID:
        return stands(above[node]) if node in above else node

    held = [row for row in admin.execute(HELD, asked).fetchall() if row[3] <= radius]
    starts = {stands(node) for node in named}
    found: dict[UUID, float] = {}
    for start in (row for row in held if stands(row[0]) in starts):
        for row in held:
            metres = metres_between(*start[1:3], *row[1:3])
            if metres <= radius and stands(row[0]) not in starts:
                found[stands(row[0])] = min(metres, found.get(stands(row[0]), metres))
    return found


async def wander(db: Database, owner: Owner, lot: random.Random) -> list[UUID]:
    """Twelve nodes that move about a square kilometre, are corrected, leave and turn out to be the same."""
    nodes = [await place(db, owner, f"Node {n}", BERLIN) for n in range(12)]
    for _ in range(30):
        node, since = lot.choice(nodes), day(lot.randint(1, 28))
        north, east = (degrees + lot.uniform(-4, 4) * STEP for degrees in BERLIN)
        radius = lot.choice([0, 50, 5_000])
        where = Location(node=node, latitude=north, longitude=east, radius_m=radius, valid_from=since)
        changed = await write(db, owner, [where], asserted_by=ME)
        if lot.random() < 0.2:
            await undo(db, owner, changed.change_id, asserted_by=ME)
    await merge(db, owner, nodes[1], nodes[0], asserted_by=ME)
    again = await merge(db, owner, nodes[2], nodes[1], asserted_by=ME)
    await undo(db, owner, again.change_id, asserted_by=ME)
    await merge(db, owner, nodes[4], nodes[3], asserted_by=ME)
    return nodes


async def test_what_is_beside_at_any_two_times_is_what_a_plain_look_finds(
    db: Database, owner: Owner, admin: psycopg.Connection, each: Each
) -> None:
    seed = random.randrange(2**32)
    lot = random.Random(seed)
    nodes = await wander(db, owner, lot)
    known = [
        row[0]
        for row in admin.execute(
            "SELECT recorded_at FROM memsvc.changes WHERE user_id = %s", [owner.user_id]
        ).fetchall()
    ]
    met = 0
    for by in each():
        for _ in range(40):
            # Never more than the three locations that count: the first five may be merged with one another.
            named = lot.choice([[lot.choice(nodes[:5])], lot.sample(nodes[5:], 2)])
            asked = {"user": owner.user_id, "as_of": day(lot.randint(1, 28)), "known": lot.choice(known)}
            radius = lot.choice([150.0, 600.0, 1_000.0])
            async with db.transaction(owner.user_id) as connection:
                rows = await connection.execute(BESIDE, asked | {"nodes": named, "radius": radius, "limit": 50})
                found = {row.node_id: row.metres for row in rows}
            expected = plainly(admin, named, radius, asked)
            assert found == pytest.approx(expected, abs=0.001), (seed, by, named, asked)
            met += len(found)
    assert met > 0, seed
