"""A database with both users, with a graph for Cypher where the server has AGE; and the count that is printed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memsvc.settings import Settings
from tests.cluster import Cluster
from tests.conftest import SERVER
from tests.cypher.conftest import upgraded
from tests.leaks.scene import Scene, make_scene


@pytest.fixture(scope="session")
def scene(cluster: Cluster, template: str, worker_id: str, folder: Path, settings: Settings) -> Iterator[Scene]:
    """Both users in a database of their own."""
    del settings  # they put between what MEMSVC_TEST_THROUGH names
    name = f"memsvc_test_leaks_{worker_id}"
    url = cluster.clone(name, template)
    own = Settings.model_validate(
        {"data_dir": folder, "database_url": url, "cypher": "on" if SERVER == "full" else "off"}
    )
    upgraded(cluster, url, own)  # a clone does not inherit what may be done with the database itself
    yield make_scene(url, own, "leaks")
    cluster.drop(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much was tried: tests name it as properties."""
    tried: dict[str, int] = {}
    for report in terminalreporter.stats.get("passed", []):
        for what, times in getattr(report, "user_properties", []):
            tried[what] = tried.get(what, 0) + times
    for what, times in sorted(tried.items()):
        terminalreporter.write_line(f"{times} {what}")
