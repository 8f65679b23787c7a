"""Two databases of one server: the directory, and the cell ``north``; each test gets its own users in them."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import psycopg
import pytest

from memsvc.api.app import create_app
from memsvc.cells.managing import add_cell
from memsvc.db.engine import Database, role_url
from memsvc.settings import Settings
from tests.api.conftest import running
from tests.cells.pair import Deployment, without_login
from tests.cells.served import Served
from tests.cluster import Cluster
from tests.sql.world import MODEL, UNUSED_MODEL, World, make_world

_numbers = itertools.count()
NODE_TYPE = """
INSERT INTO memsvc.node_types (user_id, name, category, description, parent, status, proposed_by, proposed_at)
VALUES (%s, 'Pet', 'entity', 'An animal that lives with people.', 'Person', 'approved', 'user', '2026-01-02')
"""
EDGE_TYPE = """
INSERT INTO memsvc.edge_types (user_id, name, category, from_types, to_types, functional, description, status,
  proposed_by, proposed_at)
VALUES (%s, 'FEEDS', 'general', '{Person}', '{Pet}', false, 'A feeds B.', 'proposed', 'user', '2026-01-02')
"""


@pytest.fixture(scope="session")
def deployment(cluster: Cluster, template: str, worker_id: str, settings: Settings) -> Iterator[Deployment]:
    """Both cells know the same embedding models, under other numbers."""
    names = [f"memsvc_test_cells_{name}_{worker_id}" for name in ("home", "north")]
    urls = [cluster.clone(name, template) for name in names]
    with psycopg.connect(urls[0], autocommit=True) as home:
        home.execute("INSERT INTO memsvc.cells (cell_id, name, url) VALUES (1, 'north', %s)", [without_login(urls[1])])
        home.execute("SELECT memsvc.ensure_model(%s, 3)", [UNUSED_MODEL])
        home.execute("SELECT memsvc.build_model(%s, 3)", [MODEL])
    with psycopg.connect(urls[1], autocommit=True) as north:
        north.execute("SELECT setval(pg_get_serial_sequence('memsvc.embedding_models', 'model_id'), 40)")
        north.execute("SELECT memsvc.ensure_model(%s, 3)", [UNUSED_MODEL])
        north.execute("SELECT memsvc.build_model(%s, 3)", [MODEL])
    yield Deployment(urls[0], urls[1], settings)
    for name in names:
        cluster.drop(name)


@pytest.fixture
def world(deployment: Deployment) -> World:
    """Users with a row in every table, in the home."""
    made = make_world(deployment.home, deployment.settings, f"world {next(_numbers)}")
    deployment.run("home", "DELETE FROM memsvc.moves")
    deployment.run("home", "DELETE FROM memsvc.cells WHERE cell_id > 1")
    for types in (NODE_TYPE, EDGE_TYPE):
        deployment.run("home", types, made.ada.user_id)
    return made


@pytest.fixture
def app_name(world: World, deployment: Deployment) -> str:
    """The name of Ada's and Bob's app."""
    [(name,)] = deployment.rows("home", "SELECT name FROM memsvc.apps WHERE app_id = %s", world.ada.app_id)
    return str(name)


@pytest.fixture(scope="module")
def urls(cluster: Cluster, template: str, worker_id: str) -> Iterator[tuple[str, str]]:
    names = [f"memsvc_test_requests_{name}_{worker_id}" for name in ("home", "east")]
    yield (cluster.clone(names[0], template), cluster.clone(names[1], template))
    for name in names:
        cluster.drop(name)


@pytest.fixture
async def cells(urls: tuple[str, str], settings: Settings) -> AsyncIterator[Served]:
    own = settings.model_copy(update={"allowed_hosts": "memsvc.test", "move_patience_s": 2.0, "connect_timeout_s": 2})
    add_cell(urls[0], own, "east", without_login(urls[1]))
    db = Database(role_url(urls[0], "memsvc_app", settings.secret("app_password")), own)
    async with running(create_app(own, db)) as api, AsyncExitStack() as stack:
        await api.state["service"].cells.read()
        yield Served(urls, own, db, api, stack)
    await db.close()
