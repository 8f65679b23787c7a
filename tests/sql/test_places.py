"""Places: where nodes are at two times, and what is near, by whichever extension the server has."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from uuid import UUID

import psycopg
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, make_url, text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import (
    CapabilityMissingError,
    InvalidIntervalError,
    InvalidPlaceError,
    InvalidRequestError,
    NodeUnknownError,
    TypeUnknownError,
)
from memsvc.graph.history import merge, undo, write
from memsvc.graph.operations import Close, Correct, Edge, Evidence, Location, Node, Retract, Thread, latitude, longitude
from memsvc.graph.places import Area, area, locations, metres_between, nearby
from memsvc.graph.read import ALWAYS, evidence, history
from memsvc.recall.options import Filters, Near
from memsvc.recall.search import recall
from memsvc.server.place_index import EXPRESSIONS, NAMES, By, index_places
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.cluster import Cluster

pytestmark = pytest.mark.server
ME = "tests"
BERLIN, POTSDAM, SUVA = (52.52, 13.405), (52.3906, 13.0645), (-18.1416, 178.4419)


def day(number: int) -> datetime:
    """A day in March 2026."""
    return datetime(2026, 3, number, tzinfo=UTC)


async def place(db: Database, owner: Owner, label: str, at: tuple[float, float], kind: str = "Place") -> UUID:
    """A node with a location."""
    made = await write(
        db, owner, [Node(type=kind, label=label), Location(node=0, latitude=at[0], longitude=at[1])], asserted_by=ME
    )
    node = made.results[0].node_id
    assert node is not None
    return node


async def labels(db: Database, owner: Owner, where: Area, **how: object) -> list[str | None]:
    """What is near, by its label."""
    return [item.label for item in (await nearby(db, owner, where, **how)).items]  # type: ignore[arg-type]


Each = Callable[[], Iterator[By]]


@pytest.fixture
def each(cluster: Cluster, database_name: str) -> Iterator[Each]:
    """Makes places be searched by one extension after the other that the server has; in the end by the best again."""
    engine = create_engine(make_url(cluster.admin_url(database_name)).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        there = set(connection.execute(text("SELECT name FROM pg_available_extensions")).scalars())
        for name in there & NAMES.keys():
            connection.execute(text(f"CREATE EXTENSION IF NOT EXISTS {name} WITH SCHEMA public"))
        connection.commit()

        def extensions() -> Iterator[By]:
            for name in NAMES:
                if name in there:
                    index_places(connection, lambda _line: None, name)
                    yield name

        assert there & NAMES.keys()
        yield extensions
        index_places(connection, lambda _line: None)
    engine.dispose()


# Where something is -------------------------------------------------------------------------------------------------


async def test_a_node_is_at_one_place_at_a_time_and_its_past_stays(db: Database, owner: Owner) -> None:
    node = await place(db, owner, "Ines", BERLIN, "Person")
    moved = await write(
        db, owner,
        [Location(node=node, latitude=POTSDAM[0], longitude=POTSDAM[1], radius_m=50, valid_from=day(5))],
        asserted_by=ME,
    )  # fmt: skip
    found = await locations(db, owner, node, as_of=ALWAYS)
    assert [(one.latitude, one.radius_m, one.valid_from, one.valid_to) for one in found] == [
        (POTSDAM[0], 50, day(5), None),
        (BERLIN[0], 0, None, day(5)),
    ]
    assert [one.latitude for one in await locations(db, owner, node, as_of=day(4))] == [BERLIN[0]]
    before = (await locations(db, owner, node, as_of=day(6)))[0].recorded_from
    assert [
        one.latitude for one in await locations(db, owner, node, as_of=day(6), known_at=before - day(2).resolution)
    ] == [BERLIN[0]]
    said = [
        (event.event, event.content["latitude"]) for event in await history(db, owner, node) if event.kind == "place"
    ]
    assert said[0] == ("closed", BERLIN[0])
    assert sorted(said[1:3]) == [("written", POTSDAM[0]), ("written", BERLIN[0])]
    assert said[3:] == [("written", BERLIN[0])]

    await undo(db, owner, moved.change_id, asserted_by=ME)
    assert {one.latitude for one in await locations(db, owner, node, as_of=ALWAYS)} == {BERLIN[0]}


async def test_a_location_is_closed_corrected_and_taken_back(db: Database, owner: Owner) -> None:
    node = await place(db, owner, "Ferry", BERLIN)
    [known] = await locations(db, owner, node)
    again = await write(db, owner, [Location(node=node, latitude=52.52, longitude=13.405)], asserted_by=ME)
    assert [one.outcome for one in again.results] == ["known"]
    corrected = await write(db, owner, [Correct(version=known.location_id, content={"latitude": 1.5})], asserted_by=ME)
    assert [one.outcome for one in corrected.results] == ["written"]
    thread = Thread(node=node, place=True)
    await write(db, owner, [Close(thread=thread, at=day(9))], asserted_by=ME)
    assert await locations(db, owner, node, as_of=day(9)) == []
    assert [(one.latitude, one.valid_to) for one in await locations(db, owner, node, as_of=day(8))] == [(1.5, day(9))]
    await write(db, owner, [Retract(thread=thread)], asserted_by=ME)
    assert await locations(db, owner, node, as_of=ALWAYS) == []
    with pytest.raises(NodeUnknownError):
        await locations(db, owner, UUID(int=7))


async def test_evidence_carries_a_location_and_takes_it_along(db: Database, owner: Owner, settings: Settings) -> None:
    stored = await append(
        db, owner, [MessageIn(conversation="c", text="The mill stands at the ford.", role="user")], settings
    )
    passage = stored[0].passage_id
    assert passage is not None
    node = await place(db, owner, "Mill", BERLIN)
    shown = [Evidence(passage_id=passage, span=(4, 8))]
    await write(db, owner, [Location(node=node, latitude=52.0, longitude=13.0, evidence=shown)], asserted_by=ME)
    [there] = await locations(db, owner, node)
    [source] = await evidence(db, owner, "place", [there.location_id])
    assert (source.passage_id, source.span, source.stance) == (passage, (4, 8), "supports")
    async with db.transaction(owner.user_id) as connection:
        erased = text("SELECT counts FROM memsvc.erase(:u, 'message', :p, 'user', 10)")
        counts = (await connection.execute(erased, {"u": owner.user_id, "p": passage})).scalar_one()
    assert counts["locations"] == 1
    assert await locations(db, owner, node, as_of=ALWAYS) == []


@pytest.mark.parametrize(
    ("lat", "lon"), [(90.1, 0), (-91, 0), (math.nan, 0), (0, 180.5), (0, -181), (0, math.inf), (math.inf, 0)]
)
def test_what_is_nowhere_is_refused(lat: float, lon: float) -> None:
    with pytest.raises(InvalidPlaceError):
        _ = latitude(lat), longitude(lon)


@pytest.mark.parametrize(
    "given_area",
    [
        {"lat": 1.0}, {"radius_m": 5.0}, {"lat": 1.0, "lon": 1.0, "radius_m": -1.0}, {"box": (0, 1, 2)},
        {"lat": 1.0, "lon": 1.0, "radius_m": 3e7}, {"box": (0, 5, 1, 4)}, {"box": (0, 0, 1, 91)},
        {"lat": 91.0, "lon": 0.0},
    ],
)  # fmt: skip
def test_what_is_no_area_is_refused(given_area: dict[str, object]) -> None:
    with pytest.raises(InvalidPlaceError):
        area(**given_area)  # type: ignore[arg-type]


def test_an_area_is_a_point_or_a_box() -> None:
    with pytest.raises(InvalidRequestError):
        area()


# What is near -------------------------------------------------------------------------------------------------------


async def test_the_nearest_come_first_by_radius_number_and_type(db: Database, owner: Owner, each: Each) -> None:
    await place(db, owner, "Tower", BERLIN)
    await place(db, owner, "Palace", POTSDAM)
    await place(db, owner, "Ines", (52.5201, 13.4051), "Person")
    await place(db, owner, "Suva", SUVA)
    here = area(*BERLIN)
    for by in each():
        assert await labels(db, owner, here) == ["Tower", "Ines", "Palace", "Suva"], by
        assert await labels(db, owner, here, limit=2) == ["Tower", "Ines"]
        assert (await nearby(db, owner, here, limit=2)).truncated
        assert not (await nearby(db, owner, here, limit=4)).truncated
        assert await labels(db, owner, area(*BERLIN, 30_000)) == ["Tower", "Ines", "Palace"]
        assert await labels(db, owner, area(*BERLIN, 0)) == ["Tower"]
        assert await labels(db, owner, area(*BERLIN, 20_015_115)) == ["Tower", "Ines", "Palace", "Suva"]
        assert await labels(db, owner, here, types=["Person"]) == ["Ines"]
    with pytest.raises(TypeUnknownError):
        await nearby(db, owner, here, types=["Plaice"])


async def test_near_is_at_a_time_and_as_known(db: Database, owner: Owner, each: Each) -> None:
    node = await place(db, owner, "Ines", BERLIN, "Person")
    [first] = await locations(db, owner, node)
    moved = Location(node=node, latitude=SUVA[0], longitude=SUVA[1], valid_from=day(5), valid_to=day(9))
    await write(db, owner, [moved], asserted_by=ME)
    here, there = area(*BERLIN, 1000), area(*SUVA, 1000)
    for by in each():
        assert await labels(db, owner, here, as_of=day(4)) == ["Ines"], by
        assert await labels(db, owner, here, as_of=day(5)) == []
        assert await labels(db, owner, there, as_of=day(5)) == ["Ines"]
        assert await labels(db, owner, there, as_of=day(9)) == []
        assert await labels(db, owner, there, during=(None, day(5))) == []
        assert await labels(db, owner, there, during=(day(4), day(6))) == ["Ines"]
        assert await labels(db, owner, here, as_of=ALWAYS) == ["Ines", "Ines"]
        assert await labels(db, owner, here, as_of=day(6), known_at=first.recorded_from) == ["Ines"]
        assert await labels(db, owner, here, as_of=day(6), types=["Person"], known_at=first.recorded_from) == ["Ines"]
    with pytest.raises(InvalidIntervalError):
        await nearby(db, owner, here, during=(day(5), day(5)))


async def test_merged_nodes_are_shown_as_the_one_that_stands_for_them(db: Database, owner: Owner, each: Each) -> None:
    shop = await place(db, owner, "The shop", BERLIN)
    joinery = (await write(db, owner, [Node(type="Organization", label="Kern Joinery")], asserted_by=ME)).results[0]
    assert joinery.node_id is not None
    await merge(db, owner, shop, joinery.node_id, asserted_by=ME)
    for by in each():
        found = (await nearby(db, owner, area(*BERLIN, 10), types=["Organization"])).items
        assert [(one.node_id, one.stored_id, one.label) for one in found] == [
            (joinery.node_id, shop, "Kern Joinery")
        ], by
        assert await labels(db, owner, area(*BERLIN, 10), types=["Place"]) == []
    assert [one.canonical_id for one in await locations(db, owner, joinery.node_id)] == [joinery.node_id]


async def test_a_box_may_cross_the_antimeridian_and_hold_a_pole(db: Database, owner: Owner, each: Each) -> None:
    for label, at in {
        "Suva": SUVA, "Apia": (-13.8333, -171.7667), "Line": (-16.0, 180.0), "Pole": (-90.0, 42.0), "Zero": (0.0, 0.0),
    }.items():  # fmt: skip
        await place(db, owner, label, at)
    for by in each():
        for box, wanted in {
            (175, -20, -170, -10): {"Apia", "Line", "Suva"},
            (175, -20, 180, -10): {"Line", "Suva"},
            (-180, -20, -170, -10): {"Apia", "Line"},
            (180, -20, -170, -10): {"Apia", "Line"},
            (180, -20, 180, -10): {"Line"},
            (180, -20, -180, -10): {"Line"},
            (-180, -20, -180, -10): {"Line"},
            (-10, -90, 10, -80): {"Pole"},
            (-180, -90, 180, 90): {"Suva", "Apia", "Line", "Pole", "Zero"},
        }.items():
            assert set(await labels(db, owner, area(box=box))) == wanted, (by, box)
        assert await labels(db, owner, area(0.0, 1.0, box=(-10, -10, 10, 10))) == ["Zero"]
        # The shortest way to Apia leads over the antimeridian.
        assert (await labels(db, owner, area(-14.0, 179.9)))[:3] == ["Line", "Suva", "Apia"]


async def test_the_same_is_near_as_by_haversine_over_all_points(db: Database, owner: Owner, each: Each) -> None:
    """At a city's scale, across the antimeridian, at the poles: the same places, and metres equal to a millimetre."""
    chance = random.Random(8)
    centres = [BERLIN, (0.01, -180.0), (89.99, 10.0), (-90.0, 0.0), SUVA]
    points: list[tuple[float, float]] = []
    for lat, lon in centres:
        for _ in range(40):
            north = max(-90.0, min(90.0, lat + chance.uniform(-0.1, 0.1)))
            spread = 0.1 / max(0.001, math.cos(math.radians(lat)))
            points.append((north, (lon + chance.uniform(-spread, spread) + 180) % 360 - 180))
    nodes = [Node(type="Place", label=str(n)) for n in range(len(points))]
    where = [Location(node=n, latitude=lat, longitude=lon) for n, (lat, lon) in enumerate(points)]
    await write(db, owner, [*nodes, *where], asserted_by=ME)
    for by in each():
        for lat, lon in centres:
            truth = {str(n): metres_between(lat, lon, *point) for n, point in enumerate(points)}
            for reach in (3_000.0, 9_000.0, None):
                found = (await nearby(db, owner, area(lat, lon, reach), limit=1000)).items
                wanted = {n for n, metres in truth.items() if reach is None or metres <= reach}
                assert {one.label for one in found} == wanted, (by, lat, lon, reach)
                assert all(abs(one.metres - truth[str(one.label)]) < 0.001 for one in found)
                assert [one.metres for one in found] == sorted(one.metres for one in found)


@given(
    st.floats(-90, 90), st.floats(-180, 180), st.floats(-90, 90), st.floats(-180, 180)
)  # fmt: skip
@hypothesis_settings(max_examples=200, deadline=None)
def test_distances_are_those_of_a_sphere(lat: float, lon: float, other_lat: float, other_lon: float) -> None:
    """Against the angle between two vectors, by its tangent (Vincenty's formula for a sphere), right at every angle."""
    a, b, turn = math.radians(lat), math.radians(other_lat), math.radians(other_lon - lon)
    across = math.hypot(
        math.cos(b) * math.sin(turn), math.cos(a) * math.sin(b) - math.sin(a) * math.cos(b) * math.cos(turn)
    )
    along = math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(turn)
    arc = 6_371_008.7714 * math.atan2(across, along)
    assert abs(metres_between(lat, lon, other_lat, other_lon) - arc) < 0.2  # asin is flat at half way around


async def test_the_databases_distance_is_the_same(db: Database) -> None:
    chance = random.Random(9)
    pairs = [[chance.uniform(-90, 90), chance.uniform(-180, 180)] * 2 for _ in range(50)]
    pairs += [[chance.uniform(-90, 90), chance.uniform(-180, 180), 90.0, chance.uniform(-180, 180)] for _ in range(50)]
    pairs += [[0.0, 0.0, 0.0, 180.0], [90.0, 0.0, -90.0, 0.0], [0.0, 179.5, 0.0, -179.5]]
    async with db.transaction() as connection:
        for pair in pairs:
            metres = text("SELECT memsvc.metres_between(:a, :b, :c, :d)")
            found = (await connection.execute(metres, dict(zip("abcd", pair, strict=True)))).scalar_one()
            assert found == pytest.approx(metres_between(*pair), abs=0.001)


# Recall ---------------------------------------------------------------------------------------------------------------


async def test_recall_speaks_of_what_is_near_alone(db: Database, owner: Owner, settings: Settings, each: Each) -> None:
    texts = ["The bakery at the tower sells rye bread.", "The bakery in Suva sells sweet bread.", "I like any bread."]
    stored = await append(db, owner, [MessageIn(conversation="c", text=text, role="user") for text in texts], settings)
    tower, suva = [await place(db, owner, label, at) for label, at in (("Tower", BERLIN), ("Suva", SUVA))]
    facts = [
        Edge(
            from_node=node, type="RELATED_TO", to_node=node, fact=f"Bread is sold at the {label}.",
            evidence=[Evidence(passage_id=passage)] if (passage := one.passage_id) is not None else [],
        )
        for node, label, one in zip((tower, suva), ("tower", "beach"), stored, strict=False)
    ]  # fmt: skip
    await write(db, owner, facts, asserted_by=ME)

    async def recalled(**how: object) -> set[str]:
        filters = Filters(**how)  # type: ignore[arg-type]
        return {memory.text for memory in (await recall(db, owner, "bread", settings, filters=filters)).memories}

    sold = {"Bread is sold at the tower.", "Bread is sold at the beach."}
    assert await recalled() == {*texts, *sold}
    for by in each():
        here = Near(latitude=BERLIN[0], longitude=BERLIN[1], radius_m=5_000)
        assert await recalled(near=here) == {texts[0], "Bread is sold at the tower."}, by
        assert await recalled(near=here, facts=False) == {texts[0]}
        assert await recalled(near=here, conversations=["c"]) == {texts[0], "Bread is sold at the tower."}
        assert await recalled(near=Near(latitude=0, longitude=0, radius_m=10)) == set()
        assert await recalled(near=Near(latitude=-18, longitude=-179, radius_m=500_000)) == {
            texts[1], "Bread is sold at the beach.",
        }  # fmt: skip
    with pytest.raises(InvalidPlaceError):
        await recalled(near=Near(latitude=91, longitude=0, radius_m=10))


async def test_a_message_that_says_where_something_is_speaks_of_it(
    db: Database, owner: Owner, settings: Settings, each: Each
) -> None:
    """Evidence for a place alone reaches recall by the name of what is there, and by what is near."""
    texts = ["She moved in by the canal.", "She went to the islands.", "Bread was never mentioned."]
    stored = await append(db, owner, [MessageIn(conversation="c", text=text, role="user") for text in texts], settings)
    made = await write(db, owner, [Node(type="Person", label="Odile")], asserted_by=ME)
    odile = made.results[0].node_id
    assert odile is not None
    moves = [
        Location(
            node=odile, latitude=at[0], longitude=at[1], valid_from=begin, valid_to=end,
            evidence=[Evidence(passage_id=passage)] if (passage := one.passage_id) is not None else [],
        )
        for at, begin, end, one in ((BERLIN, day(1), day(9), stored[0]), (SUVA, day(9), None, stored[1]))
    ]  # fmt: skip
    await write(db, owner, moves, asserted_by=ME)

    async def recalled(query: str, **how: object) -> list[str]:
        filters = Filters(**how)  # type: ignore[arg-type]
        return [memory.text for memory in (await recall(db, owner, query, settings, filters=filters)).memories]

    assert set(await recalled("Odile")) == set(texts[:2])
    async with db.transaction(owner.user_id) as connection:
        spoken = await connection.execute(
            text("SELECT passage_id FROM memsvc.mentions(:user) WHERE node_id = :node"),
            {"user": owner.user_id, "node": odile},
        )
        assert set(spoken.scalars()) == {one.passage_id for one in stored[:2]}
    for by in each():
        there = Near(latitude=SUVA[0], longitude=SUVA[1], radius_m=5_000)
        assert await recalled("holiday", near=there) == [texts[1]], by  # where it is now, not where it was
        assert await recalled("holiday", near=Near(latitude=BERLIN[0], longitude=BERLIN[1], radius_m=5_000)) == []


# Who sees it, and what it costs -------------------------------------------------------------------------------------


async def test_nobody_is_near_to_others(db: Database, owner: Owner, other: Owner, each: Each) -> None:
    node = await place(db, owner, "Tower", BERLIN)
    for by in each():
        assert await labels(db, other, area(*BERLIN)) == [], by
    with pytest.raises(NodeUnknownError):
        await locations(db, other, node)
    with pytest.raises(NodeUnknownError):
        await write(db, other, [Location(node=node, latitude=0, longitude=0)], asserted_by=ME)


async def test_an_index_walks_outwards_and_stops(each: Each, admin: psycopg.Connection) -> None:
    """The order of the function's statement comes from the index: no sort, and no scan of all that a user has."""
    admin.execute("SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off")
    for by in each():
        here = EXPRESSIONS[by].replace("longitude", "13.4").replace("latitude", "52.5")
        statement = (
            "EXPLAIN SELECT location_id FROM memsvc.locations WHERE user_id = gen_random_uuid() "
            f"ORDER BY {EXPRESSIONS[by]} OPERATOR(public.<->) {here} LIMIT 5"
        )
        plan = "\n".join(row[0] for row in admin.execute(statement.encode()).fetchall())
        assert f"Index Scan using {NAMES[by]}" in plan
        assert "Order By" in plan
        assert "Sort" not in plan


async def test_without_an_extension_places_are_kept_and_not_searched(
    db: Database, owner: Owner, each: Each, admin: psycopg.Connection
) -> None:
    for _by in each():
        pass
    for name in NAMES.values():
        admin.execute(f"DROP INDEX IF EXISTS memsvc.{name}".encode())
    node = await place(db, owner, "Tower", BERLIN)
    assert len(await locations(db, owner, node)) == 1
    with pytest.raises(CapabilityMissingError) as caught:
        await nearby(db, owner, area(*BERLIN))
    assert caught.value.details["capability"] == "places"


async def test_two_writers_of_one_place_take_turns(db: Database, owner: Owner) -> None:
    node = await place(db, owner, "Ferry", BERLIN)
    await asyncio.gather(
        *(
            write(db, owner, [Location(node=node, latitude=float(n), longitude=0, valid_from=day(n))], asserted_by=ME)
            for n in range(2, 8)
        )
    )
    spans = sorted(
        (one.valid_from or datetime.min.replace(tzinfo=UTC), one.valid_to)
        for one in await locations(db, owner, node, as_of=ALWAYS)
    )
    assert all(end is None or end <= begin for (_, end), (begin, _) in pairwise(spans))
