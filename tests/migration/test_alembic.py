"""Alembic by hand: it upgrades as 'memsvc db upgrade' does, shows where a database is, and writes an upgrade down."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import psycopg
import pytest

from memsvc.db.files import head_revision
from memsvc.server.reader import find_psql
from memsvc.server.schema_dump import schema_of
from memsvc.server.upgrade import is_current
from memsvc.settings import Settings
from tests.cluster import Cluster
from tests.migration.conftest import Upgrader
from tests.migration.samples import all_rows, insert_samples, lost
from tests.sql.world import APP, login_url, make_world, recall_rows, value

TOP = Path(__file__).resolve().parents[2]
NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"
Alembic = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def alembic(settings: Settings, cluster: Cluster) -> Alembic:
    """Runs alembic in the checkout, for the database of a URL; where it upgrades one, while no other worker does."""

    def run(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        inherited = {name: text for name, text in os.environ.items() if not name.startswith("MEMSVC_")}
        given = {"MEMSVC_DATABASE_URL": url, "MEMSVC_DATA_DIR": str(settings.data_dir), "MEMSVC_CYPHER": "off"}
        changes = arguments[0] == "upgrade" and "--sql" not in arguments and url != NOWHERE
        with cluster.alone() if changes else nullcontext():
            return subprocess.run(
                [Path(sys.executable).with_name("alembic"), *arguments],
                cwd=TOP, env={**inherited, **given}, capture_output=True, text=True, check=False, timeout=300,
            )  # fmt: skip

    return run


def test_upgrade_does_all_that_memsvc_does(
    empty: str, at_head: str, alembic: Alembic, run_upgrade: Upgrader, settings: Settings
) -> None:
    """From a revision with data: roles, migrations, sql/, the identity secret; nothing is left to do."""
    run_upgrade(empty, "0004")
    with psycopg.connect(empty, autocommit=True) as admin:
        insert_samples(admin, "0004")
        before = all_rows(admin)
        before.pop("applied_sql")
        one_further = alembic(empty, "upgrade", "+1")
        assert one_further.returncode == 0, one_further.stderr
        assert value(admin, "SELECT version_num FROM memsvc.schema_version") == "0005"
        assert not is_current(empty)
        done = alembic(empty, "upgrade", "head")
        assert done.returncode == 0, done.stderr
        assert f"Revision 0005 -> {head_revision()}." in done.stdout
        assert is_current(empty)
        assert lost(before, all_rows(admin)) == []
    assert schema_of(empty) == schema_of(at_head)
    world = make_world(empty, settings, "alembic")
    with psycopg.connect(login_url(empty, APP, settings)) as app:
        app.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(world.ada)])
        assert [row[:2] for row in recall_rows(app, world.ada.user_id)] == world.found


def test_current_and_history_only_look(empty: str, at_head: str, alembic: Alembic) -> None:
    with psycopg.connect(empty) as admin:
        nothing = alembic(empty, "current")
        assert (nothing.returncode, nothing.stdout) == (0, ""), nothing.stderr
        assert value(admin, "SELECT to_regnamespace('memsvc')") is None
    assert f"{head_revision()} (head)" in alembic(at_head, "current").stdout
    history = alembic(at_head, "history", "--indicate-current").stdout
    assert f"-> {head_revision()} (head) (current)" in history
    assert "<base> -> 0001" in history


def test_the_script_builds_what_an_upgrade_builds(
    empty: str, at_head: str, alembic: Alembic, run_upgrade: Upgrader, settings: Settings
) -> None:
    """Run by psql it is the upgrade but for secrets; 'memsvc db upgrade' then finds no file to apply."""
    printed = alembic(NOWHERE, "upgrade", "head", "--sql")
    assert printed.returncode == 0, printed.stderr
    for secret in ("app_password", "identity_secret", "reader_password"):
        assert settings.secret(secret) not in printed.stdout
    done = subprocess.run(
        [find_psql(settings), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", empty],
        input=printed.stdout, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    assert schema_of(empty) == schema_of(at_head)
    finished = run_upgrade(empty)
    assert (finished.from_revision, finished.applied) == (head_revision(), ())
    assert is_current(empty)
    assert schema_of(empty) == schema_of(at_head)


def test_a_part_of_the_way_can_be_written_down(alembic: Alembic) -> None:
    part = alembic(NOWHERE, "upgrade", "0017:0019", "--sql")
    assert part.returncode == 0, part.stderr
    assert "UPDATE memsvc.schema_version SET version_num='0019'" in part.stdout
    assert "CREATE TABLE memsvc.token_vectors" in part.stdout
    assert "'memsvc db upgrade' goes by the rows that this gives" in part.stdout
    assert "CREATE TABLE memsvc.users" not in part.stdout
    assert "applied_sql (path" not in part.stdout, "sql/ belongs to head"


@pytest.mark.parametrize("arguments", [("downgrade", "-1"), ("stamp", "0001"), ("downgrade", "0035:0034", "--sql")])
def test_what_would_break_a_database_is_refused(at_head: str, alembic: Alembic, arguments: tuple[str, ...]) -> None:
    refused = alembic(at_head, *arguments)
    assert refused.returncode != 0
    assert "would leave a database that no version of memsvc has" in refused.stderr
    assert is_current(at_head)


def test_a_server_that_is_down_is_said_so(alembic: Alembic) -> None:
    for arguments in (("upgrade", "head"), ("current",)):
        down = alembic(NOWHERE, *arguments)
        assert down.returncode != 0
        assert "Traceback" not in down.stderr
        assert "cannot be reached" in down.stderr
