"""A backup has no graph for Cypher; what it is restored into makes its own, or goes without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from memsvc.access.users import add_user, app_id
from memsvc.db.engine import Database
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Node
from memsvc.server import projection
from memsvc.server.backup import backup
from memsvc.server.restore import open_backup, restore
from memsvc.settings import Settings
from tests.cluster import Cluster


@pytest.fixture
def target(cluster: Cluster, worker_id: str) -> Iterator[str]:
    """An empty database; nobody else brings one up meanwhile."""
    name = f"memsvc_test_graph_restored_{worker_id}"
    with cluster.alone():
        cluster.recreate(name)
        yield cluster.admin_url(name)
        cluster.drop(name)


async def test_a_restored_graph_is_what_the_tables_say(
    cypher_db: Database, cypher_settings: Settings, target: str, cluster: Cluster, tmp_path: Path
) -> None:
    app = await app_id(cypher_db, "backups")
    owner = (await add_user(cypher_db, app, name="Ada")).owner
    people = (Node(type="Person", label="Ida"), Node(type="Person", label="Bea"))
    await write(cypher_db, owner, [*people, Edge(from_node=0, type="KNOWS", to_node=1, fact="…")], asserted_by="tests")
    assert cypher_settings.database_url is not None
    backup(cypher_settings.database_url.get_secret_value(), cypher_settings, tmp_path / "backup")
    found = open_backup(cypher_settings, tmp_path / "backup")

    restore(target, cypher_settings, found)
    with psycopg.connect(target, autocommit=True) as connection:
        lines = {line.kind: line for line in projection.compare(connection, cypher_settings, owner.user_id)}
    assert {kind: (line.stored, line.wrong) for kind, line in lines.items()} == {
            "node": (3, 0), "edge": (1, 0), "passage": (0, 0), "order": (0, 0), "document": (0, 0), "turn": (0, 0),
        }  # fmt: skip

    cluster.recreate(make_url(target).database or "")
    restore(target, cypher_settings.model_copy(update={"cypher": "off"}), found)
    with psycopg.connect(target, autocommit=True) as connection:
        state = projection.state(connection)
    assert (state.there, state.kept) == (False, False)
