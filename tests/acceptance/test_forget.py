"""``memsvc forget`` as a person and a script meet it, and killed in the middle."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from tests.acceptance.killpoints import MEMSVC, Rig, wait_until

pytestmark = pytest.mark.acceptance
LINES = '{"conversation": "talk", "id": "m%d", "text": "The heron number %d stood in the pond."}\n'


@pytest.fixture(scope="module", autouse=True)
def running(rig: Rig) -> Iterator[None]:
    """The server runs all the time, so that commands need not start it each time."""
    with rig.admin():
        yield


def user_with(rig: Rig, app: str, tmp_path: Path, messages: int = 3, name: str = "Ada") -> str:
    """A user of a fresh app with some messages; its id."""
    made = json.loads(rig.ok("user", "add", "--name", name, "--app", app, "--json"))
    file = tmp_path / f"{app}-{name}.jsonl"
    file.write_text("".join(LINES % (place, place) for place in range(messages)))
    rig.ok("ingest", str(file), "--app", app, "--user", name)
    found: str = made["user"]["user_id"]
    return found


def refused(rig: Rig, code: int, says: str, *arguments: str) -> None:
    """A command that must fail with this exit code and message, without a traceback."""
    done = rig.run("forget", *arguments)
    assert done.returncode == code, done
    assert re.search(says, done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def rows_left(admin: psycopg.Connection, user_id: str) -> int:
    """Rows of a user in all tables."""
    return sum(
        admin.execute(f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s", [user_id]).fetchall()[0][0]
        for (table,) in admin.execute("SELECT name FROM memsvc.user_tables()").fetchall()
    )


def test_a_message_and_a_conversation_are_forgotten(rig: Rig, tmp_path: Path) -> None:
    user_with(rig, "some", tmp_path)
    mine = ("--app", "some")
    [found] = json.loads(rig.ok("recall", "heron number 1", *mine, "-k", "1", "--json"))["memories"]
    would = json.loads(rig.ok("forget", "--message", found["passage_id"], "--preview", "--json", *mine))
    assert would["passages"] == 1
    assert "rows to erase" in rig.ok("forget", "--message", found["passage_id"], "--preview", *mine)
    receipt = json.loads(rig.ok("forget", "--message", found["passage_id"], "--yes", "--json", *mine))
    assert (receipt["kind"], receipt["state"], receipt["verified"]) == ("message", "done", True)
    assert receipt["requested_by"] == "cli"
    refused(rig, 3, "no passage", "--message", found["passage_id"], "--yes", *mine)

    said = rig.ok("forget", "--source", "talk", "--yes", *mine)
    assert re.search(r"^passages +2$", said, re.MULTILINE)
    assert re.search(r"^source [0-9a-f-]{36}: done, receipt [0-9a-f-]{36}\.$", said, re.MULTILINE)
    assert "nothing is left" in said
    refused(rig, 3, "no conversation 'talk'", "--source", "talk", "--yes", *mine)
    assert rig.ok("recall", "heron", *mine) == "No memory matches.\n"
    rig.ok("ingest", str(tmp_path / "some-Ada.jsonl"), *mine)
    assert rig.ok("recall", "heron", *mine) == "No memory matches.\n"


def test_a_node_is_forgotten_by_its_name(rig: Rig, tmp_path: Path) -> None:
    user_id = user_with(rig, "names", tmp_path)
    with rig.admin() as admin:
        for _ in range(2):
            admin.execute(
                "WITH n AS (INSERT INTO memsvc.nodes (user_id) VALUES (%(u)s) RETURNING node_id), v AS ("
                "INSERT INTO memsvc.node_versions (user_id, node_id, type, label) "
                "SELECT %(u)s, node_id, 'Person', 'Ines' FROM n) INSERT INTO memsvc.aliases "
                "(user_id, node_id, alias, normal_form, asserted_by) "
                "SELECT %(u)s, node_id, 'Ines', 'ines', 'user' FROM n",
                {"u": user_id},
            )
    refused(
        rig, 3, r"'Ines' can be 2 nodes: Ines \(Person, [0-9a-f-]{36}\), ", "--node", "Ines", "--yes", "--app", "names"
    )
    refused(rig, 3, "No node is called 'Nobody'", "--node", "Nobody", "--yes", "--app", "names")
    done = rig.run("forget", "--node", "Ines", "--yes", "--app", "names")
    first = re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", done.stderr)[0]
    rig.ok("forget", "--node", first, "--yes", "--app", "names")
    receipt = json.loads(rig.ok("forget", "--node", "ines", "--yes", "--json", "--app", "names"))
    assert (receipt["kind"], receipt["counts"]["nodes"]) == ("node", 1)
    refused(rig, 3, "No node is called", "--node", "Ines", "--yes", "--app", "names")


def test_a_wrong_call_is_explained_and_erases_nothing(rig: Rig, tmp_path: Path) -> None:
    user_id = user_with(rig, "wrong", tmp_path)
    mine = ("--app", "wrong")
    with rig.admin() as admin:
        before = rows_left(admin, user_id)
        refused(rig, 2, "exactly one thing to forget", *mine)
        refused(rig, 2, "exactly one thing to forget", "--message", "x", "--everything", "--user", "Ada", *mine)
        refused(rig, 4, "--user", "--everything", "--yes", *mine)
        refused(rig, 2, "--yes", "--everything", "--user", "Ada", *mine)
        refused(rig, 2, "--yes", "--source", "talk", *mine)
        refused(rig, 3, "not a valid passage id", "--passage", "nonsense", "--yes", *mine)
        refused(rig, 3, "not a valid fact id", "--fact", "'; DROP TABLE", "--yes", *mine)
        refused(rig, 4, "no user 'Eve'", "--everything", "--user", "Eve", "--yes", *mine)
        refused(rig, 4, "no user 'Eve'", "--everything", "--user", "Eve", "--preview", *mine)
        refused(rig, 3, "no app 'nowhere'", "--everything", "--user", "Ada", "--yes", "--app", "nowhere")
        assert rows_left(admin, user_id) == before


@pytest.mark.parametrize(("says", "code"), [("n", 1), ("y", 0)])
def test_it_shows_what_would_go_and_asks(rig: Rig, tmp_path: Path, says: str, code: int) -> None:
    user_id = user_with(rig, f"asked-{says}", tmp_path)
    ours, theirs = pty.openpty()
    try:
        command = [str(MEMSVC), "forget", "--everything", "--user", "Ada", "--app", f"asked-{says}", "--json"]
        process = subprocess.Popen(
            command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=rig.environment, text=True,
            cwd=rig.cwd,
        )  # fmt: skip
        os.write(ours, f"{says}\n".encode())
        output, message = process.communicate(timeout=60)
    finally:
        for end in (ours, theirs):
            with suppress(OSError):
                os.close(end)
    assert process.returncode == code, message
    assert "'Ada' with all data" in message
    assert re.search(r"passages +3", message)
    with rig.admin() as admin:
        assert (rows_left(admin, user_id) == 0) == (code == 0)
    assert (json.loads(output)["verified"] is True) if code == 0 else ("Nothing was erased." in message)


def test_a_whole_user_is_forgotten_and_the_neighbour_is_not(rig: Rig, tmp_path: Path) -> None:
    user_id = user_with(rig, "whole", tmp_path)
    neighbour = user_with(rig, "whole", tmp_path, name="Bob")
    key = rig.ok("key", "create", "--app", "whole", "--user", "Ada").strip()
    with rig.admin() as admin:
        kept = rows_left(admin, neighbour)
        said = rig.ok("forget", "--everything", "--user", "Ada", "--app", "whole", "--yes")
        assert re.search(r"^users +1$", said, re.MULTILINE)
        assert re.search(rf"^user {user_id}: done", said, re.MULTILINE)
        assert (rows_left(admin, user_id), rows_left(admin, neighbour)) == (0, kept)
        assert key.split(".")[0] not in rig.ok("key", "list", "--app", "whole")
    refused(rig, 4, "no user 'Ada'", "--everything", "--user", "Ada", "--app", "whole", "--yes")
    assert "Ada" in rig.ok("user", "add", "--name", "Ada", "--app", "whole")


@pytest.mark.parametrize("finisher", ["command", "worker"])
def test_a_killed_one_is_finished(rig: Rig, tmp_path: Path, finisher: str) -> None:
    app = f"killed-{finisher}"
    user_id = user_with(rig, app, tmp_path, messages=40)
    forget = ("forget", "--everything", "--user", "Ada", "--app", app, "--yes", "--json")
    with rig.admin() as admin:
        before = rows_left(admin, user_id)
        with rig.held("sources") as in_the_middle:
            part = rig.start(*forget)
            wait_until(in_the_middle)
            rig.kill(part)
        rig.wait_for_backends(admin)
        assert rows_left(admin, user_id) == before, "half a batch stayed"
        done = rig.run("recall", "heron", "--app", app, "--user", "Ada")
        assert (done.returncode, "no user 'Ada'" in done.stderr) == (4, True)
        if finisher == "command":
            assert json.loads(rig.ok(*forget))["verified"] is True
        else:
            worker = rig.start_worker()
            wait_until(lambda: rows_left(admin, user_id) == 0)
            rig.kill(worker)
        assert rows_left(admin, user_id) == 0
