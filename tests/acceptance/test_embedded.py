"""What the embedded server promises: shared, private, and back after every kind of kill."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from memsvc.errors import EmbeddedMissingError, EmbeddedServerError, EmbeddedVersionError, StorageFullError
from memsvc.server import embedded
from tests.acceptance.killpoints import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.acceptance
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another user to run the server")
in_proc = pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc")

FAST = {"fsync": "off"}  # a killed process loses nothing by that, only a power cut does
REPOSITORY = Path(__file__).parents[2]
USER = """
import sys
from pathlib import Path
from memsvc.server import embedded
with embedded.running(Path(sys.argv[1]), options={"fsync": "off"}) as server:
    print(server.conninfo(), flush=True)
    sys.stdin.readline()
"""


@contextmanager
def folder_for_all() -> Iterator[Path]:
    """A folder that the server's user can reach; pytest's own is closed to it under root."""
    base = Path(tempfile.mkdtemp(prefix="memsvc-test-", dir="/tmp"))
    base.chmod(0o755)
    try:
        yield base
    finally:
        for pid_file in base.glob("**/postmaster.pid"):
            with suppress(EmbeddedServerError):
                embedded.stop(pid_file.parents[1])
        shutil.rmtree(base)


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    with folder_for_all() as base:
        yield base / "data"


@pytest.fixture
def data(shared: Path) -> Iterator[Path]:
    """A data folder that was used before; each test finds it and leaves it at rest."""
    yield shared
    embedded.stop(shared)


@pytest.fixture
def fresh() -> Iterator[Path]:
    with folder_for_all() as base:
        yield base / "data"


@contextmanager
def other_process(data: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that uses the server, until it is killed or reads a line."""
    command = [sys.executable, "-c", USER, str(data)]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("postgresql://")
            yield process
        finally:
            process.kill()


def leave(process: subprocess.Popen[str]) -> None:
    process.communicate("\n", timeout=30)
    assert process.returncode == 0


def postmaster(data: Path) -> int:
    return int((data / "pg" / "postmaster.pid").read_text().split()[0])


def ask(server: embedded.Server, query: str, **login: str) -> object:
    with psycopg.connect(server.conninfo(**login), autocommit=True) as connection:
        row = connection.execute(query).fetchone()
    return row[0] if row else None


def modes(path: Path) -> dict[Path, tuple[int, int, int]]:
    return {above: (found.st_mode, found.st_uid, found.st_gid) for above in path.parents for found in [above.stat()]}


# Start and stop


def test_a_fresh_folder_serves_and_stops_with_its_user(fresh: Path) -> None:
    before = modes(fresh)
    assert not embedded.server_running(fresh)
    with embedded.running(fresh) as server:
        assert server.version == embedded.installed_version() == ask(server, "SHOW server_version")
        assert embedded.server_running(fresh)
    assert not embedded.server_running(fresh)
    assert not list(fresh.glob(".new-*"))
    assert modes(fresh) == before


def test_a_fresh_folder_serves_within_seconds(fresh: Path) -> None:
    """The best of three tries: whoever else works on the machine can only make a try slower."""

    def seconds(data: Path) -> float:
        start = time.monotonic()
        with embedded.running(data):
            return time.monotonic() - start

    assert any(seconds(fresh / str(number)) < 10 for number in range(3))


def test_it_keeps_its_data_and_its_settings(data: Path) -> None:
    with embedded.running(data) as server:
        with psycopg.connect(server.conninfo()) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        settings = [ask(server, f"SHOW {name}") for name in ("fsync", "listen_addresses", "jit", "log_timezone")]
        assert settings == ["on", "", "off", "UTC"]
        assert ask(server, "SHOW data_checksums") == "on"
    with embedded.running(data, options={"fsync": "off", "application_name": 'it\'s "$HOME" `x`'}) as server:
        assert ask(server, "SELECT answer FROM kept") == 42
        assert ask(server, "SHOW fsync") == "off"
        assert ask(server, "SHOW application_name") == 'it\'s "$HOME" `x`'


def test_stop_ends_it_whoever_uses_it(data: Path) -> None:
    with other_process(data) as user:
        assert embedded.stop(data)
        assert not embedded.server_running(data)
        assert not embedded.stop(data)
        leave(user)
    assert not embedded.stop(data / "nowhere")


def test_the_programs_are_there_before_the_first_start(fresh: Path) -> None:
    for program in (embedded.binary(fresh, "psql"), embedded.binary(fresh, "pg_dump")):
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        assert answer.split()[-1] == embedded.installed_version()


def test_psql_and_pg_dump_take_the_conninfo(data: Path) -> None:
    with embedded.running(data, options=FAST) as server:
        command = [str(embedded.binary(data, "psql")), server.conninfo(), "-Atc", "SELECT current_user"]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "memsvc_admin"
        dump = [str(embedded.binary(data, "pg_dump")), "--schema-only", server.conninfo()]
        assert "dump complete" in subprocess.run(dump, capture_output=True, text=True, check=True).stdout


def test_conninfo_quotes_everything() -> None:
    server = embedded.Server(Path("/d"), Path("/ä b&c=%/run"), 5432, "memsvc_admin", "own/p@ss", "18.6")
    other = server.conninfo(user="a/b:c", password="p@?&= ", database="d b/#")
    assert conninfo_to_dict(other) == {
        "user": "a/b:c", "password": "p@?&= ", "dbname": "d b/#", "host": "/ä b&c=%/run", "port": "5432",
    }  # fmt: skip
    assert conninfo_to_dict(server.conninfo())["password"] == "own/p@ss"
    assert "password" not in conninfo_to_dict(server.conninfo(user="app"))
    assert "own/p@ss" not in repr(server)


# Several users


def test_two_processes_share_and_the_last_one_stops_it(data: Path) -> None:
    with other_process(data) as first:
        serving = postmaster(data)
        with other_process(data) as second:
            assert postmaster(data) == serving
            leave(first)
            assert embedded.server_running(data)
            leave(second)
    assert not embedded.server_running(data)


def test_ten_processes_at_once_get_one_server(fresh: Path) -> None:
    command = [sys.executable, "-c", USER, str(fresh)]
    crowd = [
        subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(10)
    ]
    answers = {process.communicate("\n", timeout=60)[0] for process in crowd}
    assert len(answers) == 1, "one password, one socket"
    assert [process.returncode for process in crowd] == [0] * 10
    assert not embedded.server_running(fresh)


def test_two_handles_in_one_process_share_it(data: Path) -> None:
    with embedded.running(data, options=FAST) as outer:
        with embedded.running(data) as inner:
            assert inner == outer
        assert ask(outer, "SELECT 1") == 1
    assert not embedded.server_running(data)


@in_proc
def test_the_server_neither_hears_ctrl_c_nor_holds_our_locks(data: Path) -> None:
    with other_process(data) as user:
        serving = postmaster(data)
        assert os.getsid(serving) != os.getsid(user.pid)
        held = {handle.readlink() for handle in Path(f"/proc/{serving}/fd").iterdir()}
        assert held.isdisjoint({data / "lock", data / "users.lock"})
        os.killpg(user.pid, signal.SIGINT)
        user.wait(timeout=30)
    assert not embedded.server_running(data), "the user left in order"


# Kills


def test_a_server_whose_user_was_killed_is_adopted(data: Path) -> None:
    with other_process(data) as user:
        serving = postmaster(data)
        user.kill()
        user.wait()
    assert embedded.server_running(data)
    with embedded.running(data):
        assert postmaster(data) == serving
    assert not embedded.server_running(data)


def test_a_killed_server_comes_back_with_all_that_was_committed(data: Path) -> None:
    with embedded.running(data, options=FAST) as server:
        killed = postmaster(data)
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            connection.execute("CREATE TABLE committed AS SELECT 7 AS answer")
            os.kill(killed, signal.SIGKILL)
        with embedded.running(data) as again:
            assert ask(again, "SELECT answer FROM committed") == 7
            assert postmaster(data) != killed
        assert ask(again, "SELECT 1") == 1, "the outer user is still there"
    assert not embedded.server_running(data)


@in_proc
def test_a_busy_orphan_of_a_killed_server_does_not_block_the_next(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "ORPHAN_SECONDS", 0.5)
    with embedded.running(data, options=FAST) as server:
        busy = psycopg.connect(server.conninfo())
        busy.pgconn.send_query(b"DO 'BEGIN LOOP END LOOP; END'")
        orphan = busy.info.backend_pid
        time.sleep(0.2)
        os.kill(postmaster(data), signal.SIGKILL)
        time.sleep(0.2)
        assert Path(f"/proc/{orphan}").exists(), "it would be no test otherwise"
        try:
            with embedded.running(data) as again:
                assert ask(again, "SELECT 1") == 1
        finally:
            with suppress(ProcessLookupError):
                os.kill(orphan, signal.SIGKILL)
            busy.close()


@in_proc
def test_a_reused_process_number_is_not_believed(data: Path) -> None:
    with embedded.running(data, options=FAST):
        number = postmaster(data)
        stale = (data / "pg" / "postmaster.pid").read_text()
        owner = (data / "pg").stat()
    with subprocess.Popen(["sleep", "60"], user=owner.st_uid if os.geteuid() == 0 else None) as stranger:
        try:
            pid_file = data / "pg" / "postmaster.pid"
            pid_file.write_text(stale.replace(str(number), str(stranger.pid), 1))
            os.chown(pid_file, owner.st_uid, owner.st_gid)
            assert not embedded.server_running(data)
            assert not embedded.stop(data)
            with embedded.running(data, options=FAST) as server:
                assert ask(server, "SELECT 1") == 1
            assert stranger.poll() is None, "it was left alone"
        finally:
            stranger.kill()


def test_a_copy_of_a_running_folder_has_a_server_of_its_own(data: Path) -> None:
    copy = data.with_name("copy")
    with embedded.running(data, options=FAST) as server:
        subprocess.run(["cp", "-a", data, copy], check=True)
        assert not embedded.server_running(copy)
        with embedded.running(copy, options=FAST) as other:
            assert other.socket_dir != server.socket_dir
            assert ask(other, "SHOW data_directory") == str(copy / "pg")
        assert ask(server, "SELECT 1") == 1


def test_a_kill_in_the_middle_of_initdb_leaves_nothing_broken(fresh: Path) -> None:
    command = [sys.executable, "-c", USER, str(fresh)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.DEVNULL) as process:
        wait_until(lambda: list(fresh.glob(".new-*/pg/*")))
        process.kill()
    assert not (fresh / "pg").exists()
    with embedded.running(fresh, options=FAST) as server:
        assert ask(server, "SELECT 1") == 1


# Privacy


@pytest.mark.parametrize(
    "login", [{"password": "wrong"}, {"user": "memsvc_admin", "password": ""}, {"user": "postgres"}]
)
def test_the_socket_lets_nobody_in_without_the_password(data: Path, login: dict[str, str]) -> None:
    with embedded.running(data, options=FAST) as server:
        assert ask(server, "SELECT current_user") == "memsvc_admin"
        with pytest.raises(psycopg.OperationalError, match="password"):
            ask(server, "SELECT 1", **login)


def test_only_the_servers_user_and_we_can_read_anything(data: Path) -> None:
    with embedded.running(data, options=FAST) as server:
        private = [data / "pg", server.socket_dir, data / "server.log", data / "superuser.secret"]
        assert [oct(stat.S_IMODE(path.stat().st_mode) & 0o077) for path in private] == ["0o0"] * 4
        assert (data / "superuser.secret").stat().st_uid == os.geteuid()
        with socket.socket() as tcp:
            assert tcp.connect_ex(("127.0.0.1", server.port)) == errno.ECONNREFUSED


@as_root
def test_a_closed_folder_above_is_named_and_stays_closed(fresh: Path) -> None:
    home = fresh.with_name("home")
    home.mkdir(mode=0o700)
    for wanted in (home / "memsvc" / "data", home):
        with pytest.raises(EmbeddedServerError, match=f"may not enter {home}") as refused, embedded.running(wanted):
            pass
        assert "/var/lib" in refused.value.advice
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert list(home.iterdir()) == []


@as_root
def test_root_trusts_no_folder_that_others_can_change(fresh: Path) -> None:
    fresh.mkdir(mode=0o755)
    fresh.chmod(0o777)
    with pytest.raises(EmbeddedServerError, match="Others than root"), embedded.running(fresh):
        pass
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o777


@as_root
def test_root_is_told_what_to_do_where_no_user_can_be_made(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "ACCOUNT", "in:valid")
    with pytest.raises(EmbeddedServerError, match="cannot be made:\nuseradd: ") as refused, embedded.running(fresh):
        pass
    assert "useradd --system" in refused.value.advice
    assert not fresh.exists()


@as_root
def test_an_ordinary_user_runs_it_as_himself(fresh: Path) -> None:
    nobody = 65534
    os.chown(fresh.parent, nobody, nobody)
    become = f"import os; os.setgroups([]); os.setgid({nobody}); os.setuid({nobody})\nwith embedded"
    done = subprocess.run(
        [sys.executable, "-c", USER.replace("with embedded", become), str(fresh)],
        cwd=REPOSITORY, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {path.stat().st_uid for path in [fresh, *fresh.iterdir()]} == {nobody}
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in [fresh, *fresh.iterdir()]} == {0}


# Paths


def test_a_path_too_long_for_a_socket_works(fresh: Path) -> None:
    deep = fresh / ("d" * 60) / ("e, ü" * 20)
    with embedded.running(deep, options=FAST) as server:
        assert ask(server, "SELECT 1") == 1
        found = server.socket_dir.lstat()
        assert server.socket_dir.parent == Path(tempfile.gettempdir())
        assert (stat.S_IMODE(found.st_mode), found.st_uid) == (0o700, (deep / "pg").stat().st_uid)
        with embedded.running(deep) as again:
            assert again == server
    server.socket_dir.rmdir()
    server.socket_dir.mkdir()
    server.socket_dir.chmod(0o777)  # planted by somebody
    try:
        with pytest.raises(EmbeddedServerError, match="not private"), embedded.running(deep):
            pass
    finally:
        server.socket_dir.rmdir()


def test_a_path_that_a_shell_would_read_is_refused(fresh: Path) -> None:
    with pytest.raises(EmbeddedServerError, match="cannot take"), embedded.running(fresh / "$(id)"):
        pass


# Failures


def test_data_of_another_major_version_is_refused(fresh: Path) -> None:
    (fresh / "pg").mkdir(parents=True)
    (fresh / "pg" / "PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedVersionError, match=r"PostgreSQL 17 .* PostgreSQL 18"), embedded.running(fresh):
        pass


def test_data_without_its_password_is_refused(data: Path) -> None:
    with embedded.running(data, options=FAST):
        pass
    hidden = (data / "superuser.secret").rename(data / "hidden")
    try:
        with pytest.raises(EmbeddedServerError, match=r"not superuser\.secret"), embedded.running(data):
            pass
    finally:
        hidden.rename(data / "superuser.secret")


def test_a_failed_start_tells_what_the_log_says(data: Path) -> None:
    with (
        pytest.raises(EmbeddedServerError, match='invalid value for parameter "work_mem"') as failed,
        embedded.running(data, options={"work_mem": "plenty"}),
    ):
        pass
    assert len(failed.value.message.splitlines()) <= 16
    assert failed.value.advice == EmbeddedServerError.hint
    with embedded.running(data, options=FAST) as server:
        assert ask(server, "SELECT 1") == 1


def test_a_full_disk_is_called_so_and_leaves_no_half_copy(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target)

    with monkeypatch.context() as broken:
        broken.setattr(shutil, "copyfile", full)
        with pytest.raises(StorageFullError), embedded.running(fresh):
            pass
    assert not list(fresh.glob("server-*"))
    with embedded.running(fresh, options=FAST) as server:
        assert ask(server, "SELECT 1") == 1


def test_without_the_wheels_the_copy_still_serves(data: Path, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with embedded.running(data, options=FAST) as server:
        monkeypatch.setattr(embedded, "_wheel", lambda module: None)
        assert embedded.installed_version() is None
        with embedded.running(data) as again:
            assert again == server
    assert not embedded.server_running(data)
    with pytest.raises(EmbeddedMissingError), embedded.running(fresh):
        pass
    assert not fresh.exists()


def test_a_reader_cannot_end_the_server_by_a_statement(data: Path) -> None:
    """With Apache AGE 1.7 loaded, this one did."""
    with embedded.running(data, options=FAST) as server, psycopg.connect(server.conninfo()) as connection:
        assert connection.execute("SELECT t FROM CAST(%s AS text) AS t", ["heron"]).fetchall() == [("heron",)]
        assert connection.execute("SHOW shared_preload_libraries").fetchone() == ("",)


def test_the_required_extensions_can_be_made(data: Path) -> None:
    with embedded.running(data, options=FAST) as server, psycopg.connect(server.conninfo()) as connection:
        for name in ("vector", "pg_trgm", "btree_gin", "btree_gist", "unaccent", "cube", "earthdistance"):
            connection.execute(f"CREATE EXTENSION {name}".encode())
        assert connection.execute("SELECT '[1,2]'::vector <-> '[1,3]'").fetchone() == (1.0,)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("SELECT to_tsvector('german', 'Ärger über ÖL')", "'arg':1 'ol':3"),
        ("SELECT to_tsvector('german', '„Ärger“ — ÄRGERN…')", "'arg':1,2"),
        ("SELECT to_tsvector('simple', 'Привет, «МИР» naïve…')", "'naïve':3 'мир':2 'привет':1"),
        ("SELECT lower('ÄÖÜ ß É')", "äöü ß é"),
        ("SELECT 'ÄRGER' ILIKE 'ärger'", True),
    ],
)
def test_letters_beyond_ascii_are_letters_and_quotes_are_not(data: Path, query: str, answer: object) -> None:
    with embedded.running(data, options=FAST) as server:
        assert ask(server, query) == answer
