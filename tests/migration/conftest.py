"""Empty databases, and upgrades of them one at a time: roles belong to the whole server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest

from memsvc.server.upgrade import Upgrade, upgrade

if TYPE_CHECKING:
    from memsvc.settings import Settings
    from tests.cluster import Cluster

Upgrader = Callable[..., Upgrade]


@pytest.fixture
def empty(cluster: Cluster, worker_id: str) -> Iterator[str]:
    """The administrator's URL of an empty database."""
    name = f"memsvc_test_migration_{worker_id}"
    cluster.recreate(name)
    yield cluster.admin_url(name)
    cluster.drop(name)


@pytest.fixture(scope="session")
def stairs(cluster: Cluster, worker_id: str, settings: Settings) -> Iterator[Stairs]:
    """A database that climbs from revision to revision, and is cloned at each."""
    made = Stairs(cluster, f"memsvc_test_stairs_{worker_id}", partial(upgraded_alone, settings, cluster))
    yield made
    made.drop()


@pytest.fixture
def at_revision(cluster: Cluster, worker_id: str, stairs: Stairs) -> Iterator[Callable[[str], str]]:
    """Makes a database of a revision, without rows, and gives its administrator's URL."""
    name = f"memsvc_test_revision_{worker_id}"

    def make(revision: str) -> str:
        cluster.recreate(name, stairs.climb(revision))
        return cluster.admin_url(name)

    yield make
    cluster.drop(name)


@pytest.fixture
def at_head(cluster: Cluster, template: str, worker_id: str) -> Iterator[str]:
    """The administrator's URL of a database at head."""
    name = f"memsvc_test_head_{worker_id}"
    yield cluster.clone(name, template)
    cluster.drop(name)


@pytest.fixture
def run_upgrade(settings: Settings, cluster: Cluster) -> Upgrader:
    """``upgrade`` with this run's settings, never two at a time."""
    return partial(upgraded_alone, settings, cluster)


def upgraded_alone(
    settings: Settings, cluster: Cluster, url: str, revision: str = "head", with_settings: Settings | None = None
) -> Upgrade:
    """Upgrade a database while no other worker does, and none clones the template."""
    with cluster.alone():
        return upgrade(url, with_settings or settings, revision=revision)


class Stairs:
    """A database of the newest revision that was asked for; going up one step is quicker than going up all of them."""

    def __init__(self, cluster: Cluster, name: str, run: Upgrader) -> None:
        self._cluster, self._name, self._run = cluster, name, run
        self._revision: str | None = None

    def climb(self, revision: str) -> str:
        """Go up to a revision, from the bottom where it lies below; the database's name."""
        if self._revision is None or revision < self._revision:
            self._cluster.recreate(self._name)
        self._revision = self._run(self._cluster.admin_url(self._name), revision).to_revision
        return self._name

    def drop(self) -> None:
        """Remove the database."""
        self._cluster.drop(self._name)
