"""What the full server promises: everything that memsvc can use is there; private, shared, and back after any kill."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from memsvc.server.capabilities import OPTIONAL, REQUIRED, check_server
from memsvc.settings import Settings
from ops.postgres import image, server
from tests.acceptance.killpoints import wait_until
from tests.cluster import Cluster

FAST = {"fsync": "off"}
USER = """
import sys
from pathlib import Path
from ops.postgres import server
with server.running(Path(sys.argv[1]), options={"fsync": "off"}) as found:
    print(found.url(), flush=True)
    sys.stdin.readline()
"""
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder; each test finds it and leaves it at rest."""
    folder = tmp_path_factory.mktemp("data")
    yield folder
    server.stop(folder)


def ask(url: str, query: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
    return row and row[0]


def other_user(folder: Path) -> subprocess.Popen[str]:
    """Another process that uses the folder's server until it is killed or reads a line; it has it when this returns."""
    process = subprocess.Popen(
        [sys.executable, "-c", USER, str(folder)], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline().startswith("postgresql://")
    return process


def mounts() -> list[str]:
    """What this process, and with it the machine, has mounted."""
    return Path("/proc/self/mounts").read_text().splitlines()


# What it has --------------------------------------------------------------------------------------------------------


def test_the_doctor_finds_every_extension(cluster: Cluster, settings: Settings, database_name: str) -> None:
    found = {check.name: check.state for check in check_server(cluster.admin_url(database_name), settings)}
    for name in (*REQUIRED, *OPTIONAL):
        assert found[f"extension {name}"] == "ok"
        assert cluster.has(name)
    assert found["time zones"] == "ok"
    assert cluster.has("earthdistance")
    assert not cluster.has("no_such_extension")


def test_graphs_and_geography_answer(cluster: Cluster, worker_id: str) -> None:
    name = f"memsvc_test_full_{worker_id}"
    cluster.recreate(name)
    with psycopg.connect(cluster.admin_url(name), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION age")
        connection.execute("CREATE EXTENSION postgis")
        connection.execute("SET search_path = public, ag_catalog")
        connection.execute("SELECT create_graph('pets')")
        connection.execute("SELECT * FROM cypher('pets', $$ CREATE (:Cat {name: 'Miau'}) $$) AS (made agtype)")
        cats = "SELECT name::text FROM cypher('pets', $$ MATCH (c:Cat) RETURN c.name $$) AS (name agtype)"
        assert connection.execute(cats.encode()).fetchall() == [("Miau",)]
        degree = "SELECT st_distance('POINT(0 0)'::geography, 'POINT(1 0)'::geography)"
        assert connection.execute(degree.encode()).fetchone() == (pytest.approx(111_319.49, abs=0.01),)
    cluster.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


# What it keeps to itself --------------------------------------------------------------------------------------------


def test_it_is_private_and_runs_without_roots_rights(data: Path) -> None:
    with server.running(data, options=FAST) as found:
        assert ask(found.url(), "SHOW listen_addresses") == ""
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            ask(server.Server(data, "wrong").url(), "SELECT 1")
        assert found.password not in repr(found)
        seen = 0
        for pid in server._processes(data):
            try:
                status = Path(f"/proc/{pid}/status").read_text()
            except FileNotFoundError:  # a connection's, which has just ended
                continue
            assert f"\nUid:\t{image.USER_ID}\t{image.USER_ID}\t{image.USER_ID}\t{image.USER_ID}\n" in status
            assert "\nCapEff:\t0000000000000000\n" in status
            assert "\nGroups:\t \n" in status
            seen += 1
        assert seen >= 3
        assert not [line for line in mounts() if str(data) in line or "/cache/memsvc" in line]
    for private in (data / "superuser.secret", data / "home", data / "home" / "server.log"):
        assert stat.S_IMODE(private.stat().st_mode) & 0o077 == 0, private
    assert not server._processes(data)


def test_others_than_root_are_told_another_way(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(image.FullServerError, match=r"Only root.*docs/install\.md.*MEMSVC_TEST_DATABASE_URL"):
        server.start(data)


def test_a_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(image.FullServerError, match="too long"):
        server.start(tmp_path / ("x" * 100))


# Starts, ends, kills ------------------------------------------------------------------------------------------------


def test_processes_share_it_and_the_last_one_stops_it(data: Path) -> None:
    with server.running(data, options=FAST), server.running(data):
        other = other_user(data)
    assert server._processes(data), "the other process still uses it"
    other.communicate("\n", timeout=60)
    assert not server._processes(data)
    assert not server.stop(data)


def test_two_servers_run_side_by_side(cluster: Cluster, data: Path) -> None:
    with server.running(data, options=FAST) as found:
        assert ask(found.url(), "SHOW data_directory") == ask(cluster.base_url, "SHOW data_directory") == "/srv/pg"
        assert ask(found.url(), "SELECT system_identifier FROM pg_control_system()") != ask(
            cluster.base_url, "SELECT system_identifier FROM pg_control_system()"
        )


def test_after_a_crash_it_is_back_with_what_was_committed(data: Path) -> None:
    with server.running(data, options=FAST) as found:
        with psycopg.connect(found.url(), autocommit=True) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        victims = server._processes(data)
        for pid in victims:
            with suppress(ProcessLookupError):  # it saw that the others ended
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not server._processes(data))
        stale = (data / "home" / "pg" / "postmaster.pid").read_text().splitlines()
        # As if the machine had given the dead server's number to a process that lives.
        (data / "home" / "pg" / "postmaster.pid").write_text("\n".join([str(os.getpid()), *stale[1:], ""]))
        (data / "home" / f"{server.SOCKET}.lock").write_text(f"{os.getpid()}\n")
        assert server._postmaster(data) is None
        again = server.start(data, options=FAST)
        assert ask(again.url(), "SELECT answer FROM kept") == 42


def test_a_user_that_is_killed_leaves_a_server_for_the_next(data: Path) -> None:
    other = other_user(data)
    other.kill()
    other.communicate(timeout=60)
    before = server._processes(data)
    assert before
    with server.running(data) as found:
        assert ask(found.url(), "SELECT 1") == 1
        assert before & server._processes(data)
    assert not server._processes(data)


def test_data_half_made_are_made_anew(tmp_path: Path) -> None:
    (tmp_path / "home" / "new").mkdir(parents=True)
    (tmp_path / "home" / "new" / "PG_VERSION").write_text("18\n")
    (tmp_path / "superuser.secret").write_text("of a try that was killed")
    with server.running(tmp_path, options=FAST) as found:
        assert found.password != "of a try that was killed"
        assert ask(found.url(), "SELECT 1") == 1


def test_what_prevents_a_start_is_told(data: Path) -> None:
    with pytest.raises(image.FullServerError, match="did not start"):
        server.start(data, options={"max_connections": "many"})
