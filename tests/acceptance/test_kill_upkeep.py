"""``backup``, ``restore`` and ``db reindex`` are killed: nothing counts that is not whole, and said again they work."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from memsvc.server.backup import DRAFT
from tests.acceptance.killpoints import Part, Rig, refused, wait_until

pytestmark = pytest.mark.acceptance
LINE = '{"conversation": "talk", "id": "m%d", "text": "The heron number %d stood in the pond."}\n'
AT_WORK = "SELECT true FROM pg_stat_activity WHERE application_name = %s"
WAITS = "SELECT true FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
SESSIONS = "SELECT true FROM pg_stat_activity WHERE datname = 'elsewhere'"
MARK = "SELECT to_regclass('memsvc.unfinished_restore')::oid"
BROKEN = "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"


@pytest.fixture(scope="module")
def told(rig: Rig) -> Iterator[Rig]:
    """Ada has said three things; the database runs."""
    talk = rig.cwd / "talk.jsonl"
    talk.write_text("".join(LINE % (number, number) for number in range(3)))
    rig.environment["MEMSVC_EMBEDDING_MODEL"] = ""
    with rig.admin():
        rig.ok("user", "add", "--name", "Ada")
        rig.ok("ingest", str(talk))
        yield rig


@pytest.fixture
def admin(told: Rig) -> Iterator[psycopg.Connection]:
    with told.admin() as connection:
        yield connection


def killed_at(rig: Rig, part: Part, admin: psycopg.Connection, program: str) -> bool:
    """Kill a part as soon as a program that it starts is at work in the database; False: it was done before."""
    wait_until(lambda: admin.execute(AT_WORK, [program]).fetchone() or not part.running, pause=0.001)
    if not part.running:
        part.finish()
        return False
    rig.kill(part)
    return True


def test_what_a_killed_backup_left_is_no_backup_and_goes_with_the_next_one(
    told: Rig, admin: psycopg.Connection, tmp_path: Path
) -> None:
    place = tmp_path / "backups"
    for _ in range(5):  # three rows are dumped soon: this process may be too late
        if killed_at(told, told.start("backup", str(place / "monday")), admin, "pg_dump"):
            break
        shutil.rmtree(place)
    [left] = place.iterdir()
    assert left.name.startswith(DRAFT)
    refused(told, 2, "no backup", "restore", str(left), database_url=told.admin_url())
    alive = place / f"{DRAFT}of-somebody-else"
    alive.mkdir()
    holder = os.open(alive, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    assert "passages 3" in told.ok("backup", str(place / "tuesday"))
    assert {path.name for path in place.iterdir()} == {"tuesday", alive.name}
    os.close(holder)  # as if it had been killed
    told.ok("backup", str(place / "monday"))
    assert {path.name for path in place.iterdir()} == {"monday", "tuesday"}


@pytest.fixture
def elsewhere(told: Rig, admin: psycopg.Connection) -> Iterator[str]:
    """An empty database of the same server, and so with the same roles."""
    admin.execute("CREATE DATABASE elsewhere TEMPLATE template0")
    yield make_url(told.admin_url()).set(database="elsewhere").render_as_string(hide_password=False)
    admin.execute("DROP DATABASE elsewhere WITH (FORCE)")


def test_a_killed_restore_lets_nobody_in_and_begins_anew(
    told: Rig, admin: psycopg.Connection, elsewhere: str, tmp_path: Path
) -> None:
    folder, never = tmp_path / "monday", tmp_path / "never"
    told.ok("backup", str(folder))

    def assert_closed() -> None:
        wait_until(lambda: not admin.execute(SESSIONS).fetchone())
        for command in (("recall", "heron"), ("key", "create"), ("backup", str(never))):
            refused(told, 69, "(ay|un) 'memsvc restore' again", *command, database_url=elsewhere)
        assert not never.exists()

    assert killed_at(told, told.start("restore", str(folder), database_url=elsewhere), admin, "pg_restore")
    assert_closed()
    with psycopg.connect(elsewhere, autocommit=True) as holder:
        old = holder.execute(MARK).fetchone()
        assert old != (None,)
        last = told.start("restore", str(folder), database_url=elsewhere)
        wait_until(lambda: holder.execute(MARK).fetchone() not in {old, (None,)} or not last.running)
        holder.execute("BEGIN")
        holder.execute("LOCK TABLE memsvc.unfinished_restore IN ACCESS SHARE MODE")  # what the last statement drops
        wait_until(lambda: admin.execute(WAITS, [holder.info.backend_pid]).fetchone() or not last.running)
        assert last.running, last.finish()
        told.kill(last)
    assert_closed()
    assert "users 1, passages 3" in told.ok("restore", str(folder), database_url=elsewhere)
    found = json.loads(told.ok("recall", "heron in the pond", "--json", database_url=elsewhere))["memories"]
    assert {memory["message_id"] for memory in found} == {"m0", "m1", "m2"}


def test_what_a_killed_rebuilding_left_is_dropped_by_the_next_one(told: Rig) -> None:
    with told.admin() as holder, told.admin() as watcher:
        holder.execute("BEGIN")
        holder.execute("LOCK TABLE memsvc.aliases IN ROW EXCLUSIVE MODE")  # the second copy is there and waits for us
        part = told.start("db", "reindex", "aliases_names")
        wait_until(lambda: watcher.execute(WAITS, [holder.info.backend_pid]).fetchone() or not part.running)
        assert part.running, part.finish()
        told.kill(part)
        told.kill_database()  # else the server would go on with it
    with told.admin() as admin:
        left = admin.execute(BROKEN).fetchall()
        assert left == [("memsvc.aliases_names_ccnew",)]
        assert "aliases_names_ccnew: left half-built" in told.run("db", "health").stdout
        again = told.run("db", "reindex", "aliases_names")
        assert (again.returncode, "leftover aliases_names_ccnew is dropped" in again.stderr) == (0, True)
        assert admin.execute(BROKEN).fetchall() == []
        assert "aliases_names" in again.stdout
