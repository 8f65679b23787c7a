"""The graph that Cypher sees is what the tables say, whatever was written, merged, undone or erased."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis

from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database
from memsvc.db.identity import Signer
from memsvc.erasing.users import erase_user
from memsvc.graph.history import assert_facts
from memsvc.graph.ontology import NodeTypeIn, propose
from memsvc.graph.operations import Edge, Node
from memsvc.server import projection
from memsvc.server.upgrade import is_current
from memsvc.settings import Settings
from tests.cluster import Cluster
from tests.cypher.conftest import upgraded
from tests.sql.erasing import Eraser
from tests.sql.exports import Travel
from tests.sql.histories import MAKE_TYPE, Player, Raw, make_user
from tests.sql.test_history import HISTORY
from tests.sql.world import APP, Logins, login_url

HISTORIES = int(os.environ.get("MEMSVC_TEST_PROJECTIONS", "6"))
"""250 are the 10,000 operations of the whole proof."""
_numbers = count()
Row = tuple[str, ...]


@pytest.fixture(scope="session")
def players(
    cypher_logins: Logins, cypher_settings: Settings
) -> Iterator[tuple[psycopg.Connection, psycopg.Connection]]:
    """Two connections of the application's login; the type that histories use came too late to have a label."""
    with psycopg.connect(cypher_logins.admin_url, autocommit=True) as admin:
        admin.execute(MAKE_TYPE.encode())
    url = login_url(cypher_logins.admin_url, APP, cypher_settings)
    with psycopg.connect(url, autocommit=True) as first, psycopg.connect(url, autocommit=True) as second:
        yield first, second


def differences(admin: psycopg.Connection, settings: Settings, user_id: UUID) -> list[projection.Difference]:
    """What is wrong, and that there is something to be wrong."""
    found = list(projection.compare(admin, settings, user_id))
    assert [line.kind for line in found] == ["node", "edge", "passage", "order", "document", "turn"]
    return [line for line in found if line.wrong]


@hypothesis(
    max_examples=HISTORIES,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(steps=HISTORY)
def test_every_history_is_projected(
    steps: list[list[Raw]],
    players: tuple[psycopg.Connection, psycopg.Connection],
    cypher_admin: psycopg.Connection,
    cypher_settings: Settings,
    worker_id: str,
) -> None:
    user_id = make_user(players[0], f"projected {worker_id} {next(_numbers)}")
    token = Signer(cypher_settings.secret("identity_secret").encode(), 36_000).token(user_id)
    for connection in players:
        connection.execute("SELECT set_config('memsvc.identity', %s, false)", [token])
    player = Eraser(*players, user_id) if next(_numbers) % 2 else Player(*players, user_id)
    player.begin()
    for place, step in enumerate(steps):
        player.step(step)
        if place % 8 == 7:
            assert differences(cypher_admin, cypher_settings, user_id) == []
    assert differences(cypher_admin, cypher_settings, user_id) == []


@pytest.fixture
async def ines(cypher_db: Database) -> Owner:
    """A fresh user."""
    app = await app_id(cypher_db, "tests")
    return (await add_user(cypher_db, app, name="Ines", external_id=f"projected-{next(_numbers)}")).owner


def labels(admin: psycopg.Connection, owner: Owner) -> list[Row]:
    """Names of vertices with their labels and types."""
    return admin.execute(
        "SELECT (v.properties::text)::jsonb ->> 'name', c.relname, (v.properties::text)::jsonb ->> 'type' "
        "FROM memory._ag_label_vertex AS v JOIN pg_class AS c ON c.oid = v.tableoid WHERE v.user_id = %s ORDER BY 1",
        [owner.user_id],
    ).fetchall()


async def test_a_type_change_takes_the_edges_along(
    cypher_db: Database, cypher_admin: psycopg.Connection, cypher_settings: Settings, ines: Owner
) -> None:
    made = await assert_facts(
        cypher_db,
        ines,
        [
            Node(type="Place", label="Hub"),
            *(Node(type="Person", label=f"P{n}") for n in range(3)),
            *(Edge(from_node=n, type="RELATED_TO", to_node=0, fact=f"{n}") for n in (1, 2, 3)),
        ],
        asserted_by="tests",
    )
    hub = made.results[0].node_id
    assert hub is not None
    await assert_facts(cypher_db, ines, [Node(node=hub, type="Organization", label="Hub")], asserted_by="tests")
    assert ("Hub", "Organization", "Organization") in labels(cypher_admin, ines)
    row = cypher_admin.execute(
        "SELECT count(*) FROM memory._ag_label_edge AS e JOIN memory._ag_label_vertex AS v "
        "ON v.id OPERATOR(ag_catalog.=) e.end_id WHERE v.node_id = %s",
        [hub],
    ).fetchone()
    assert row == (3,)
    assert differences(cypher_admin, cypher_settings, ines.user_id) == []


async def test_many_versions_of_a_relation_are_as_many_edges(
    cypher_db: Database, cypher_admin: psycopg.Connection, cypher_settings: Settings, ines: Owner
) -> None:
    facts: list[Node | Edge] = [
        Node(type="Person", label="A"),
        Node(type="Place", label="B"),
        *(
            Edge(
                from_node=0, type="LIVES_IN", to_node=1, fact=f"A lives in B in {year}.",
                valid_from=datetime(year, 1, 1, tzinfo=UTC), valid_to=datetime(year, 7, 1, tzinfo=UTC),
            )
            for year in range(1500, 1800)
        ),
    ]  # fmt: skip
    await assert_facts(cypher_db, ines, facts, asserted_by="tests")
    numbers = 'SELECT count(*), count(DISTINCT id::text) FROM memory."LIVES_IN" WHERE user_id = %s'
    assert cypher_admin.execute(numbers, [ines.user_id]).fetchone() == (300, 300)
    assert differences(cypher_admin, cypher_settings, ines.user_id) == []
    with pytest.raises(psycopg.errors.UniqueViolation):
        cypher_admin.execute(
            'UPDATE memory."LIVES_IN" SET id = (SELECT min(id::text)::ag_catalog.graphid FROM memory."LIVES_IN" '
            "WHERE user_id = %(user)s AND properties::text LIKE '%%in 1500.%%') "
            "WHERE user_id = %(user)s AND properties::text LIKE '%%in 1701.%%'",
            {"user": ines.user_id},
        )


async def test_own_types_are_no_labels(
    cypher_db: Database, cypher_admin: psycopg.Connection, cypher_settings: Settings, ines: Owner
) -> None:
    for name, parent in (("Recipe", "Document"), ("Spell", None)):
        own = NodeTypeIn(name=name, description="A type of Ines.", parent=parent)
        await propose(cypher_db, ines, own, by="tests", approve=True)
    nodes = [Node(type="Recipe", label="Soup"), Node(type="Spell", label="Zap")]
    await assert_facts(cypher_db, ines, nodes, asserted_by="tests")
    assert labels(cypher_admin, ines) == [
        ("Ines", "Person", "Person"), ("Soup", "Document", "Recipe"), ("Zap", "Thing", "Spell"),
    ]  # fmt: skip
    found = cypher_admin.execute("SELECT FROM pg_class WHERE relname IN ('Recipe', 'Spell')").fetchall()
    assert found == []
    assert differences(cypher_admin, cypher_settings, ines.user_id) == []


@pytest.mark.parametrize(
    "data", [{"n": 10**30}, {"n": 1e-320}, {"n": -(2**63) - 1}, {"deep": [{"n": 2**63}]}, {"long": "x" * 5_000},
             {"n": [1.5, -0.0, 2**62], "s": '\\u0001 " ::vertex', "": None}],
)  # fmt: skip
async def test_no_write_fails_because_age_cannot_hold_it(
    cypher_db: Database, cypher_admin: psycopg.Connection, cypher_settings: Settings, ines: Owner, data: dict[str, Any]
) -> None:
    await assert_facts(cypher_db, ines, [Node(type="Concept", label="odd", data=data)], asserted_by="tests")
    assert ("odd", "Concept", "Concept") in labels(cypher_admin, ines)
    assert differences(cypher_admin, cypher_settings, ines.user_id) == []


async def test_a_user_who_goes_leaves_nothing(
    cypher_db: Database, cypher_admin: psycopg.Connection, ines: Owner
) -> None:
    facts: list[Node | Edge] = [
        Node(type="Person", label="A"),
        Edge(from_node=0, type="KNOWS", to_node=0, fact="A knows A."),
    ]
    await assert_facts(cypher_db, ines, facts, asserted_by="tests")
    await erase_user(cypher_db, await app_id(cypher_db, "tests"), str(ines.user_id), requested_by="tests")
    for table in ("_ag_label_vertex", "_ag_label_edge"):
        left = cypher_admin.execute(f"SELECT FROM memory.{table} WHERE user_id = %s".encode(), [ines.user_id])
        assert left.fetchall() == []


async def test_verify_finds_damage_and_rebuild_mends_it(
    cypher_db: Database, cypher_admin: psycopg.Connection, cypher_settings: Settings, ines: Owner
) -> None:
    nodes = [Node(type="Person", label=name) for name in "AB"]
    fact = Edge(from_node=0, type="KNOWS", to_node=1, fact="A knows B.")
    await assert_facts(cypher_db, ines, [*nodes, fact], asserted_by="tests")
    cypher_admin.execute("DELETE FROM memory._ag_label_edge WHERE user_id = %s", [ines.user_id])
    cypher_admin.execute(
        "UPDATE memory._ag_label_vertex SET properties = ag_catalog.agtype_in('{}') WHERE user_id = %s "
        "AND properties::text LIKE '%%\"A\"%%'", [ines.user_id],
    )  # fmt: skip
    cypher_admin.execute(
        'UPDATE memory."Person" SET node_id = uuidv7() WHERE user_id = %s AND properties::text LIKE \'%%"B"%%\'',
        [ines.user_id],
    )
    found = [(line.kind, line.missing, line.surplus, line.different) for line in differences(
        cypher_admin, cypher_settings, ines.user_id
    )]  # fmt: skip
    assert found == [("node", 1, 1, 1), ("edge", 1, 0, 0)]
    projection.rebuild(cypher_admin, cypher_settings, ines.user_id)
    assert differences(cypher_admin, cypher_settings, ines.user_id) == []


async def test_an_import_is_projected(
    cypher_db: Database, cypher_admin: psycopg.Connection, cypher_settings: Settings, ines: Owner, tmp_path: Path
) -> None:
    facts: list[Node | Edge] = [
        Node(type="Person", label="A"),
        Edge(from_node=0, type="KNOWS", to_node=0, fact="A knows A."),
    ]
    await assert_facts(cypher_db, ines, facts, asserted_by="tests")
    app = await app_id(cypher_db, "tests")
    travel = Travel(cypher_db, app, cypher_settings, tmp_path)
    await travel.out(ines.user_id, "export")
    there = (await travel.into(f"projected-{next(_numbers)}", "export")).user.owner
    assert [row[0] for row in labels(cypher_admin, there)] == ["A", "Ines"]
    assert differences(cypher_admin, cypher_settings, there.user_id) == []


def test_switched_off_the_graph_goes_and_comes_back(
    cluster: Cluster, cypher_url: str, cypher_settings: Settings
) -> None:
    off = cypher_settings.model_copy(update={"cypher": "off"})
    assert is_current(cypher_url, cypher_settings)
    assert not is_current(cypher_url, off)
    upgraded(cluster, cypher_url, off)
    with psycopg.connect(cypher_url, autocommit=True) as admin:
        state = projection.state(admin)
        assert (state.there, state.kept) == (False, False)
        upgraded(cluster, cypher_url, cypher_settings)
        assert is_current(cypher_url, cypher_settings)
        assert [line for line in projection.compare(admin, cypher_settings) if line.wrong] == []


def test_a_graph_that_nobody_keeps_is_emptied_and_closed_and_made_anew(
    cluster: Cluster, cypher_url: str, cypher_settings: Settings, cypher_logins: Logins
) -> None:
    """As where AGE is not loaded any more, or the administrator is no superuser."""
    with psycopg.connect(cypher_url, autocommit=True) as admin:
        counted = "SELECT (SELECT count(*) FROM memory._ag_label_vertex), (SELECT count(*) FROM memory._ag_label_edge)"
        before = admin.execute(counted).fetchone()
        assert before is not None
        assert min(before) > 0
        projection.remove(admin, drop=False)
        assert admin.execute(counted).fetchone() == (0, 0)
        assert not is_current(cypher_url, cypher_settings)
        with cypher_logins.enter("memsvc_cypher") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM memory._ag_label_vertex")
        upgraded(cluster, cypher_url, cypher_settings)
        assert is_current(cypher_url, cypher_settings)
        assert [line for line in projection.compare(admin, cypher_settings) if line.wrong] == []


def test_an_update_of_age_grants_nothing(cluster: Cluster, cypher_url: str, cypher_settings: Settings) -> None:
    with psycopg.connect(cypher_url, autocommit=True) as admin:
        opened = (
            "SELECT proname FROM pg_proc WHERE pronamespace = 'ag_catalog'::regnamespace AND has_function_privilege("
        )
        opened += "'memsvc_cypher', oid, 'EXECUTE') ORDER BY 1"
        before = admin.execute(opened.encode()).fetchall()
        admin.execute("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ag_catalog TO PUBLIC")
        assert len(admin.execute(opened.encode()).fetchall()) > len(before)
        upgraded(cluster, cypher_url, cypher_settings)
        assert admin.execute(opened.encode()).fetchall() == before


def test_the_planner_keeps_no_samples_of_what_may_be_erased(cypher_url: str) -> None:
    with psycopg.connect(cypher_url, autocommit=True) as admin:
        admin.execute('ANALYZE memory._ag_label_vertex, memory."Person"')
        kept = "SELECT count(*) FROM pg_stats WHERE schemaname = 'memory' AND attname = 'properties'"
        assert admin.execute(kept).fetchone() == (0,)
