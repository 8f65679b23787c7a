"""``memsvc sql`` and ``memsvc psql`` as a person meets them: one user's memories, nothing written, no secret shown."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from memsvc.db.files import folder
from memsvc.errors import EmbeddedMissingError, PsqlMissingError
from memsvc.server import embedded
from memsvc.server.reader import find_psql, psql_session
from memsvc.settings import Settings
from tests.acceptance.killpoints import MEMSVC, Rig, refused, wait_until

pytestmark = pytest.mark.acceptance
EVIL = "red \x1b[31mherring\r\nand a second line"
# Says what it was given, and that it is as new as anything.
FAKE = """#!/bin/sh
if [ "$1" = --version ]; then echo "psql (PostgreSQL) 99.1"; exit 0; fi
{ printf '%s\\n' "$@"; echo ---; env; } > "$SPY"
exit 7
"""


@pytest.fixture(scope="module", autouse=True)
def users(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Ada and Bob with a message each; the server runs all the time."""
    with rig.admin():
        for name, text in (("Ada", "a heron"), ("Bob", EVIL)):
            rig.ok("user", "add", "--name", name, "--zone", "Asia/Tokyo")
            chat = tmp_path_factory.mktemp("chats") / "chat.jsonl"
            line = {"conversation": "pond", "id": "1", "text": text, "said_at": "2026-03-01T12:00:00Z"}
            chat.write_text(json.dumps(line))
            rig.ok("ingest", "--user", name, str(chat))
        yield


def asked(rig: Rig, *arguments: str, user: str = "Ada") -> str:
    return rig.ok("sql", "--user", user, *arguments)


def test_a_statement_sees_one_user_and_the_users_clock(rig: Rig) -> None:
    assert asked(rig, "SELECT text, said_at FROM messages") == ("text     said_at\na heron  2026-03-01 21:00:00+09\n")
    assert "heron" not in asked(rig, "SELECT * FROM timeline", user="Bob")


def test_cypher_without_age_says_what_brings_it(rig: Rig) -> None:
    said = refused(rig, 78, "needs Apache AGE", "cypher", "--user", "Ada", "MATCH (n) RETURN n", cypher="off")
    assert "pip install 'memsvc[cypher]'" in said


def test_columns_are_named_where_there_are_no_rows(rig: Rig) -> None:
    statement = 'SELECT text, said_at AS "wann gesagt" FROM messages WHERE false'
    assert asked(rig, statement) == "text  wann gesagt\n"
    assert asked(rig, "--csv", statement).splitlines() == ["text,wann gesagt"]
    assert json.loads(asked(rig, "--json", statement)) == []


def test_a_statement_may_begin_with_a_comment(rig: Rig) -> None:
    statement = "-- Who spoke = said something, --limit 5\nSELECT count(*) AS n FROM messages"
    assert asked(rig, statement) == asked(rig, "--", statement) == "n\n1\n"
    assert asked(rig, "--json\nSELECT 1 AS one") == "one\n1\n"
    said = refused(rig, 2, "No such option", "sql", "--user", "Ada", "--limitt", "5", "SELECT 1")
    assert "--limit" in said


@pytest.mark.parametrize("path", sorted((folder("sql") / "analytics").glob("*.sql")), ids=lambda path: path.stem)
def test_each_ready_made_statement_runs_as_text_and_as_a_file(rig: Rig, path: Path) -> None:
    who = ["--analyst"] if path.stem.startswith("service_") else ["--user", "Ada"]
    table = rig.ok("sql", *who, "--file", str(path))
    assert table
    assert rig.ok("sql", *who, path.read_text()) == table


def test_one_statement_is_wanted_and_a_file_is_text(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "bytes.sql").write_bytes(b"SELECT '\xff'")
    (tmp_path / "marked.sql").write_text("\ufeffSELECT 'ä' AS a")
    assert asked(rig, "-f", str(tmp_path / "marked.sql")) == "a\nä\n"
    refused(rig, 2, "Give one statement", "sql", "--user", "Ada")
    refused(rig, 2, "Give one statement", "sql", "--user", "Ada", "SELECT 1", "-f", str(tmp_path / "marked.sql"))
    refused(rig, 2, "not a text file", "sql", "--user", "Ada", "-f", str(tmp_path / "bytes.sql"))
    refused(rig, 2, "does not exist", "sql", "--user", "Ada", "-f", str(tmp_path / "none.sql"))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM messages",
        "UPDATE people SET name = ''",
        "INSERT INTO facts_current (fact) VALUES ('a')",
        "WITH gone AS (DELETE FROM messages RETURNING 1) SELECT 1",
        "DROP TABLE messages",
    ],
)
def test_a_statement_that_writes_is_told_what_writes(rig: Rig, statement: str) -> None:
    said = refused(rig, 2, "for reading", "sql", "--user", "Ada", statement)
    assert "memsvc forget" in said
    assert "INSTEAD" not in said


def test_json_and_csv_hold_values_in_full_and_a_table_is_safe_to_look_at(rig: Rig) -> None:
    statement = (
        "SELECT text, repeat('x', 300) AS long, NULL AS none, true AS yes, 1.5 AS number, ARRAY[1, 2] AS list, "
        "'infinity'::timestamptz AS open FROM messages"
    )
    [row] = json.loads(asked(rig, "--json", statement, user="Bob"))
    assert row == {
        "text": EVIL, "long": "x" * 300, "none": None, "yes": True, "number": 1.5, "list": [1, 2], "open": "infinity",
    }  # fmt: skip
    with io.StringIO(asked(rig, "--csv", statement, user="Bob"), newline="") as file:
        assert list(csv.reader(file))[1][:2] == [EVIL.replace("\r\n", "\n"), "x" * 300]
    table = asked(rig, statement, user="Bob")
    assert len(table.splitlines()) == 2
    assert "\x1b" not in table
    assert f"{'x' * 99}…" in table


def test_more_rows_than_were_asked_for_never_leave_the_server(rig: Rig) -> None:
    began = time.monotonic()
    done = rig.run("sql", "--user", "Ada", "-k", "3", "SELECT generate_series(1, 1000000000) AS g")
    assert done.stdout == "g\n1\n2\n3\n"
    assert "more than these 3 rows" in done.stderr
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("SELEC 1", 'syntax error at or near "SELEC" \\(at character 1\\)'),
        ("SELECT 1; SELECT 2", "multiple commands"),
        ("SELECT * FROM nothing", 'relation "nothing" does not exist'),
        ("SELECT * FROM api_keys", "permission denied"),
        ("INSERT INTO nodes (user_id) VALUES (uuidv7())", "read-only transaction"),
        ("SET memsvc.identity = ''", "gives no rows"),
        ("COPY (SELECT 1) TO STDOUT", "gives no rows"),
        ("", "gives no rows"),
        ("SELECT '\udc80'", "gives no rows"),
    ],
)
def test_a_refused_statement_is_told_in_postgresqls_words(rig: Rig, statement: str, says: str) -> None:
    done = rig.run("sql", "--user", "Ada", statement)
    assert done.returncode == 2
    assert re.search(says, done.stderr), done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 2, done.stderr


def test_psql_passes_arguments_and_exit_codes_through(rig: Rig) -> None:
    assert rig.ok("psql", "--user", "Ada", "--", "-Atc", "SELECT text, said_at FROM messages") == (
        "a heron|2026-03-01 21:00:00+09\n"
    )
    assert rig.ok("psql", "--user", "Bob", "-Atc", "SELECT count(*), current_user FROM people") == "1|memsvc_reader\n"
    failed = rig.run("psql", "--user", "Ada", "--", "-c", "SELEC")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "syntax error" in failed.stderr
    refused = rig.run("psql", "--user", "Ada", "--", "-c", "CREATE TABLE x ()")
    assert "read-only transaction" in refused.stderr
    unknown = rig.run("psql", "--user", "Eve")
    assert (unknown.returncode, "no user 'Eve'" in unknown.stderr) == (4, True)


def test_an_analyst_sees_functions_and_no_memories(rig: Rig) -> None:
    asked_for = "SELECT current_user, (SELECT count(*) FROM all_users_sizes())"
    assert json.loads(rig.ok("sql", "--analyst", "--json", asked_for)) == [
        {"current_user": "memsvc_analyst", "count": 0}
    ]
    assert "permission denied" in rig.run("sql", "--analyst", "SELECT * FROM messages").stderr
    assert rig.ok("psql", "--analyst", "--", "-Atc", "SELECT current_user, memsvc.least_group()") == (
        "memsvc_analyst|5\n"
    )
    both = rig.run("sql", "--analyst", "--user", "Ada", "SELECT 1")
    assert (both.returncode, "leave out --user" in both.stderr) == (2, True)


def test_a_dashboards_token_is_one_that_psql_shows(rig: Rig) -> None:
    token = rig.ok("psql", "--user", "Ada", "--minutes", "480", "--", "-Atc", "SHOW memsvc.identity").strip()
    user, expiry, _key, _mac = token.split(".")
    assert user == json.loads(asked(rig, "--json", "SELECT user_id FROM users"))[0]["user_id"]
    assert 7.9 * 3600 < int(expiry) - time.time() <= 8 * 3600
    assert rig.run("psql", "--user", "Ada", "--minutes", "481").returncode == 2


def test_neither_token_nor_password_is_among_the_arguments(rig: Rig, tmp_path: Path) -> None:
    fake, spy = tmp_path / "psql", tmp_path / "spy"
    fake.write_text(FAKE)
    fake.chmod(0o755)
    environment = {**rig.environment, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SPY": str(spy)}
    leader, follower = pty.openpty()  # a person at a terminal is welcomed
    command = [str(MEMSVC), "psql", "--user", "Ada", "--minutes", "5"]
    done = subprocess.run(
        command, cwd=rig.cwd, env=environment, stdin=follower, capture_output=True, text=True, timeout=60, check=False
    )
    os.close(leader)
    os.close(follower)
    assert done.returncode == 7, done
    assert re.search(r"Ada's memories.*facts_current.*\nUntil \d\d:\d\d \(Asia/Tokyo\)", done.stderr)
    given, _, inherited = spy.read_text().partition("---\n")
    variables = dict(line.split("=", 1) for line in inherited.splitlines() if "=" in line)
    token = re.search(r"memsvc\.identity=(\S+)", variables["PGOPTIONS"])
    assert token is not None
    for secret in (token[1], variables["PGPASSWORD"]):
        assert len(secret) > 20
        assert secret not in given
        assert secret not in done.stderr
    assert "user=memsvc_reader" in given
    assert "memsvc_admin" not in given


def test_ctrl_c_ends_psqls_statement_and_nothing_else(rig: Rig) -> None:
    command = [str(MEMSVC), "psql", "--user", "Ada", "--", "-c", "SELECT pg_sleep(25)", "-c", "SELECT 'still here'"]
    with subprocess.Popen(
        command, cwd=rig.cwd, env=rig.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(25)%'"
        with rig.admin() as admin:
            wait_until(lambda: (admin.execute(running).fetchone() or (0,))[0] == 1)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 1, (out, err)
    assert "canceling statement due to user request" in err
    assert "Traceback" not in err


def test_the_newer_psql_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.model_validate({"data_dir": tmp_path})
    ours, old, new = (tmp_path / name for name in ("ours", "old", "new"))
    for path, version in ((ours, 18), (old, 15), (new, 19)):
        path.write_text(f'#!/bin/sh\necho "psql (PostgreSQL) {version}.2 (Debian)"\n')
        path.chmod(0o755)

    def without(*_arguments: object) -> Path:
        raise EmbeddedMissingError

    monkeypatch.setattr(embedded, "binary", lambda *_arguments: ours)
    assert find_psql(settings, lambda _name: str(new)) == new
    assert find_psql(settings, lambda _name: str(old)) == ours
    assert find_psql(settings, lambda _name: None) == ours
    monkeypatch.setattr(embedded, "binary", without)
    assert find_psql(settings, lambda _name: str(old)) == old
    with pytest.raises(PsqlMissingError, match="psql is not installed"):
        find_psql(settings, lambda _name: None)


def test_a_url_of_a_server_keeps_its_parameters_but_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.model_validate({"data_dir": tmp_path})
    monkeypatch.setattr("memsvc.server.reader.find_psql", lambda _settings: Path("psql"))
    url = "postgresql://boss:hush%20hush@db.example:6432/mem?sslmode=verify-full&options=-c%20work_mem%3D64MB"
    session = psql_session(url, settings, uuid4(), ["-A"], minutes=2, time_zone="Etc/GMT+3")
    assert session.command[0] == "psql"
    assert session.command[-1] == "-A"
    where = session.command[1]
    for part in ("host=db.example", "port=6432", "dbname=mem", "sslmode=verify-full", "user=memsvc_reader"):
        assert part in where
    assert not re.search("boss|hush|work_mem|identity", " ".join(session.command))
    assert session.environment["PGOPTIONS"].startswith("-c work_mem=64MB -c memsvc.identity=")
    assert "search_path=memsvc,\\ public" in session.environment["PGOPTIONS"]
    assert abs(session.ends_at - time.time() - 120) < 5
