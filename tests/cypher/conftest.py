"""A database with a graph for Cypher, on whichever server the tests run; without Apache AGE, these tests are skipped."""

from __future__ import annotations

import fcntl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from memsvc.access.users import app_id
from memsvc.db import projection
from memsvc.db.engine import Database, role_url
from memsvc.db.upgrade import upgrade
from memsvc.settings import Settings
from tests.conftest import Cluster
from tests.sql.world import Logins


@pytest.fixture(scope="session")
def cypher_url(cluster: Cluster, template: str, worker_id: str, folder: Path) -> Iterator[str]:
    """The administrator's URL of a database whose graph Cypher can ask."""
    name = f"memsvc_test_cypher_{worker_id}"
    with psycopg.connect(cluster.base_url, autocommit=True) as admin:
        lacks = projection.state(admin).lacks
    if lacks:
        pytest.skip(f"no Cypher here: {lacks}")
    with (folder / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster.recreate(name, template)
    yield cluster.admin_url(name)
    cluster.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def cypher_settings(cypher_url: str, folder: Path) -> Settings:
    """Settings with Cypher on, for the database that they name; it is brought up by them."""
    chosen = Settings.model_validate(
        {"data_dir": folder, "database_url": cypher_url, "extractor": "none", "cypher": "on", "cypher_timeout_ms": 1_500}
    )
    upgrade(cypher_url, chosen)
    return chosen


@pytest.fixture(scope="session")
def cypher_logins(cypher_url: str, cypher_settings: Settings) -> Logins:
    """The real logins of that database."""
    return Logins(cypher_url, cypher_settings)


@pytest.fixture(scope="session")
async def cypher_db(cypher_url: str, cypher_settings: Settings) -> AsyncIterator[Database]:
    """That database as the application sees it."""
    url = role_url(cypher_url, "memsvc_app", cypher_settings.secret("app_password"))
    database = Database(url, cypher_settings)
    await app_id(database, "tests")
    yield database
    await database.close()


@pytest.fixture
def cypher_admin(cypher_url: str, cypher_settings: Settings) -> Iterator[psycopg.Connection]:
    """The administrator in that database, in autocommit: sees everything."""
    with psycopg.connect(cypher_url, autocommit=True) as connection:
        yield connection
