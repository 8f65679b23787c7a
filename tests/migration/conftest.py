"""Empty databases, and upgrades of them one at a time: roles belong to the whole server."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psycopg import sql

from memsvc.db.upgrade import Upgrade, upgrade

if TYPE_CHECKING:
    from memsvc.settings import Settings
    from tests.conftest import Cluster

Upgrader = Callable[..., Upgrade]


@pytest.fixture
def empty(cluster: Cluster, worker_id: str) -> Iterator[str]:
    """The administrator's URL of an empty database."""
    name = f"memsvc_test_migration_{worker_id}"
    cluster.recreate(name)
    yield cluster.admin_url(name)
    cluster.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def at_head(cluster: Cluster, template: str, worker_id: str, folder: Path) -> Iterator[str]:
    """The administrator's URL of a database at head."""
    name = f"memsvc_test_head_{worker_id}"
    with (folder / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster.recreate(name, template)
    yield cluster.admin_url(name)
    cluster.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def run_upgrade(settings: Settings, folder: Path) -> Upgrader:
    """``upgrade`` with this run's settings, never two at a time."""

    def run(url: str, revision: str = "head", with_settings: Settings | None = None) -> Upgrade:
        with (folder / "template.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return upgrade(url, with_settings or settings, revision=revision)

    return run
