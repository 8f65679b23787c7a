"""The graph that Cypher sees is what the tables say, whatever was written, merged, undone or erased."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis

from memsvc.access.erase_users import erase_user
from memsvc.access.users import Owner, add_user, app_id
from memsvc.db import projection
from memsvc.db.engine import Database
from memsvc.db.identity import Signer
from memsvc.graph import history
from memsvc.graph.operations import Close, Edge, Merge, Node, Operation, Retract, Thread, Unmerge
from memsvc.settings import Settings
from tests.sql.erasing import Eraser
from tests.sql.histories import MAKE_TYPE, Player, Raw, make_user
from tests.sql.test_history import HISTORY
from tests.sql.world import APP, Logins, login_url

HISTORIES = int(os.environ.get("MEMSVC_TEST_PROJECTIONS", "12"))
"""250 are the 10,000 operations of the whole proof."""
_numbers = count()
Row = tuple[str, ...]


@pytest.fixture(scope="session")
def players(cypher_logins: Logins, cypher_settings: Settings) -> Iterator[tuple[psycopg.Connection, psycopg.Connection]]:
    """Two connections of the application's login; the type that histories use came too late to have a label."""
    with psycopg.connect(cypher_logins.admin_url, autocommit=True) as admin:
        admin.execute(MAKE_TYPE.encode())
    url = login_url(cypher_logins.admin_url, APP, cypher_settings)
    with psycopg.connect(url, autocommit=True) as first, psycopg.connect(url, autocommit=True) as second:
        yield first, second


def differences(admin: psycopg.Connection, settings: Settings, user_id: UUID) -> list[projection.Difference]:
    """What is wrong, and that there is something to be wrong."""
    found = list(projection.compare(admin, settings, user_id))
    assert [line.kind for line in found] == ["node", "edge"]
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
    return (await add_user(cypher_db, app, name="Ines", external_id=f"ines-{next(_numbers)}")).owner


async def wrote(db: Database, owner: Owner, *operations: Operation) -> list[history.Outcome]:
    return (await history.write(db, owner, operations, actor="tests")).outcomes


def edges(admin: psycopg.Connection, owner: Owner) -> set[Row]:
    """Edges as (start's name, label, end's name), by their ids."""
    return set(
        admin.execute(
            "SELECT ag_catalog.agtype_access_operator(a.properties, '\"name\"')::text, c.relname, "
            "ag_catalog.agtype_access_operator(b.properties, '\"name\"')::text "
            "FROM memory._ag_label_edge AS e JOIN pg_class AS c ON c.oid = e.tableoid "
            "JOIN memory._ag_label_vertex AS a ON a.id OPERATOR(ag_catalog.=) e.start_id "
            "JOIN memory._ag_label_vertex AS b ON b.id OPERATOR(ag_catalog.=) e.end_id WHERE e.user_id = %s",
            [owner.user_id],
        )
    )
