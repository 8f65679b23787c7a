"""Databases of their own for tests that break or fill one, and the world that probes look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.sql.desk import Desk
from tests.sql.exports import Travel
from tests.sql.world import Logins, World, make_world

if TYPE_CHECKING:
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.settings import Settings
    from tests.cluster import Cluster

Scratch = Callable[[str], str]


@pytest.fixture(scope="session")
def scratch(cluster: Cluster, template: str, worker_id: str) -> Iterator[Scratch]:
    """Makes a clone of the template at head and gives its administrator's URL; all are dropped in the end."""
    made: list[str] = []

    def make(purpose: str) -> str:
        name = f"memsvc_test_{purpose}_{worker_id}"
        made.append(name)
        return cluster.clone(name, template)

    yield make
    for name in made:
        cluster.drop(name)


@pytest.fixture(scope="session")
def logins(cluster: Cluster, database_name: str, settings: Settings) -> Logins:
    """The real logins of this worker's database."""
    return Logins(cluster.admin_url(database_name), settings)


@pytest.fixture
def travel(db: Database, app: UUID, settings: Settings, tmp_path: Path) -> Travel:
    """What an export and an import need, with a folder of their own."""
    return Travel(db, app, settings, tmp_path)


@pytest.fixture(scope="session")
def world(cluster: Cluster, database_name: str, settings: Settings) -> World:
    """Two users with the same words and a third of another app, in this worker's database."""
    url = cluster.admin_url(database_name)
    made = make_world(url, settings, "the worker's world")
    with psycopg.connect(url, autocommit=True) as admin:  # nothing answers as that cell, and other tests add users here
        admin.execute("DELETE FROM memsvc.moves")
        admin.execute("DELETE FROM memsvc.cells WHERE cell_id > 0")
    return made


@pytest.fixture
def desk(db: Database, settings: Settings, owner: Owner, admin: psycopg.Connection) -> Desk:
    return Desk(db, settings, owner, admin)
