"""A move between two servers by the command, each with a login of its own: as operators do it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from memsvc.server import embedded
from memsvc.settings import Settings
from tests.acceptance.conftest import prepared, private_folder
from tests.acceptance.killpoints import Rig
from tests.cells.pair import Deployment, without_login

pytestmark = pytest.mark.acceptance
__all__ = ["prepared"]
SECRETS = "secrets.json"


@pytest.fixture
def servers(prepared: Path) -> Iterator[tuple[Rig, Deployment]]:
    """Two data folders with the same secrets, and the command on the first; both servers run."""
    with private_folder(prepared) as first, private_folder(prepared) as second:
        assert (first / SECRETS).read_text() == (second / SECRETS).read_text(), "a deployment has one identity secret"
        with Rig(first) as rig, embedded.running(first) as home, embedded.running(second) as north:
            urls = [server.conninfo(database="memsvc") for server in (home, north)]
            with psycopg.connect(urls[1], autocommit=True) as admin:
                admin.execute("ALTER ROLE CURRENT_USER PASSWORD 'another'")
            urls[1] = make_url(urls[1]).set(password="another").render_as_string(hide_password=False)
            made = Deployment(urls[0], urls[1], Settings.model_validate({"data_dir": first, "database_url": urls[0]}))
            made.run(
                "home",
                "INSERT INTO memsvc.cells (cell_id, name, url, weight) VALUES (1, 'north', %s, 0)",
                without_login(urls[1]),
            )
            yield rig, made


def test_the_command_moves_shows_and_refuses(servers: tuple[Rig, Deployment], tmp_path: Path) -> None:
    rig, deployment = servers
    rig.ok("user", "add", "--name", "Ada")
    talk = tmp_path / "talk.jsonl"
    lines = [{"conversation": "pond", "role": "user", "text": f"Heron {number} flew."} for number in range(40)]
    talk.write_text("".join(json.dumps(line) + "\n" for line in lines))
    rig.ok("ingest", str(talk), "--user", "Ada")
    [(user,)] = deployment.rows("home", "SELECT user_id FROM memsvc.users")
    before = deployment.content("home", user)
    move = ("user", "move", "Ada")
    assert rig.run(*move).returncode == 2
    assert "cannot be reached" in rig.run(*move, "--to", "north").stderr, "another password"
    login = {"cell_urls": f"north={deployment.north}"}
    shown = json.loads(rig.ok(*move, "--to", "north", "--dry-run", "--json", **login))
    assert shown["rows"]["passages"] == 40
    assert deployment.left("north", user) == {}
    told = rig.run(*move, "--to", "north", **login)
    assert told.returncode == 0, told.stderr
    assert "The user was stopped for" in told.stdout
    assert "round 1:" in told.stderr
    assert deployment.content("north", user) == before
    assert set(deployment.left("home", user)) == {"users"}
    back = json.loads(rig.ok(*move, "--to", "home", "--json", **login))
    assert back["pause"]["total"] > 0
    assert deployment.content("home", user) == before
    assert deployment.left("north", user) == {}
    with psycopg.connect(deployment.home) as home:
        moved = home.execute("SELECT door, count(*) FROM memsvc.audit_log WHERE action = 'user.moved' GROUP BY 1")
        assert moved.fetchall() == [("cli", 2)]
