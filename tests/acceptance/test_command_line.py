"""The command line as a person and a script meet it: real processes, their output, and their exit codes."""

from __future__ import annotations

import gzip
import json
import re
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memsvc.cli.app import app
from memsvc.db.files import folder
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import MEMSVC, Rig, counted, free_port, refused, wait_until
from tests.chats import telegram_chat, telegram_message, write

pytestmark = pytest.mark.acceptance
PASSWORD = "pass-word-that-nobody-may-see"
MOST_S = 0.5
WORDS = {"embedding_model": ""}
"""Where vectors say nothing about it, no model is loaded for each command."""
QUESTION = "Outside which station was the lock of Rosinante cut?"


@pytest.fixture(scope="module")
def rig(prepared: Path) -> Iterator[Rig]:
    """A private memsvc of this module, whose server runs all the time, so that commands need not start it.

    It has no model: most commands here are not about vectors, and loading it takes longer than all else.
    """
    with private_folder(prepared) as data, Rig(data, embedding_model="") as made, made.admin():
        yield made


@pytest.fixture
def whole(rig: Rig) -> Rig:
    """The same with the default model."""
    return Rig(rig.data)


# Help


def test_help_appears_at_once_and_imports_nothing_heavy(rig: Rig) -> None:
    used = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert rig.run_anew("--help").returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if used[-1] < MOST_S:
            break
    assert min(used) < MOST_S, "seconds of a processor; how many seconds of a clock is up to who else works"
    imports = subprocess.run(
        [sys.executable, "-X", "importtime", str(MEMSVC), "--help"], capture_output=True, text=True, check=True
    ).stderr
    loaded = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in imports.splitlines() if "|" in line}
    assert "typer" in loaded
    assert not loaded & {"litestar", "sqlalchemy", "granian", "psycopg", "alembic", "pydantic", "msgspec", "structlog"}


def test_the_version_is_printed(rig: Rig) -> None:
    assert re.fullmatch(r"memsvc \d+\.\d+\.\d+\n", rig.ok("--version"))
    asked = CliRunner().invoke(app, ["ingest", "--help"])  # which breaks lines two characters later
    assert rig.ok("ingest", "--help").split() == asked.stdout.split()
    assert rig.ok("-h") == rig.ok("--help")


# The main job


def _modes_and_answers(rig: Rig) -> None:
    for mode, around in (("eager", False), ("deliberate", True)):
        packing = ("context", "--app", "sample", "--json", "--budget", "6000")  # neighbours get the room that is left
        packed = json.loads(rig.ok(*packing, QUESTION, "--mode", mode, **WORDS))
        kinds = {item["kind"] for section in packed["sections"] for item in section["items"]}
        assert ("neighbour" in kinds) is around
    _answers_are_quoted(rig)


def _answers_are_quoted(rig: Rig) -> None:
    told = json.loads(rig.ok("ask", "--app", "sample", QUESTION, "--json", **WORDS))
    assert (told["found"], told["by"]) == (True, "quotes")
    assert any("Altona station" in claim["text"] for claim in told["claims"])
    assert {name for claim in told["claims"] for name in claim["sources"]} == {one["id"] for one in told["sources"]}
    assert rig.ok("ask", "--app", "sample", "Which frogs live in Borneo?") == "Not in memory.\n"


def test_the_sample_files_go_in_and_come_out(whole: Rig, tmp_path: Path) -> None:
    whole.ok("user", "add", "--name", "Marcel", "--alias", "MW", "--app", "sample", "--zone", "Europe/Berlin")
    sample, export = (str(folder("examples") / name) for name in ("conversation.jsonl", "export-openai.json"))
    ingest = ("ingest", "--app", "sample", "--json")
    assert counted(whole.ok(*ingest, sample, export)) == {"created": 222, "existing": 0, "erased": 0, "paused": 0}
    packed = tmp_path / "conversation.jsonl.gz"
    packed.write_bytes(gzip.compress(Path(sample).read_bytes()))
    assert "0 new messages, 222 already stored." in whole.ok("ingest", "--app", "sample", str(packed), export)

    recall = ("recall", "--app", "sample", "--json")
    found = json.loads(whole.ok(*recall, QUESTION))["memories"]
    assert (found[0]["message_id"], found[0]["speaker"], found[0]["role"]) == ("S5:1", "Marcel", "user")
    assert found[0]["said_at"] == "2025-11-01T16:20:00+01:00"
    assert len(found) == 5
    shown = whole.ok("recall", "--app", "sample", QUESTION, "-k", "2", **WORDS)
    assert (shown.count("    why: "), "Altona station" in shown) == (2, True)

    def memories(*arguments: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads(whole.ok(*recall, *arguments, **WORDS))["memories"]
        return found

    only = memories("Rui", "--conversation", "Bike tour Porto to Santiago", "--traces")
    assert {memory["conversation"] for memory in only} == {"Bike tour Porto to Santiago"}
    early, late = memories("wedding", "--to", "2025-12-01"), memories("wedding", "--from", "2025-12-01")
    assert early
    assert late
    assert max(memory["said_at"] for memory in early) < "2025-12-01" <= min(memory["said_at"] for memory in late)
    for question, answered in ((QUESTION, True), ("Which frogs live in Borneo?", False)):
        told = json.loads(whole.ok(*recall, question, "-k", "9"))
        assert told["relevant"] is answered, (question, told["confidence"])
        assert len(told["memories"]) == (9 if answered else 5)
    assert "system" in {memory["role"] for memory in memories("travel-planning assistant", "--traces")}
    assert "system" not in {memory["role"] for memory in memories("travel-planning assistant")}
    packing = ("context", "--app", "sample")
    context = json.loads(whole.ok(*packing, "--json", QUESTION, "--budget", "400"))
    assert context["tokens"] <= 400
    assert "Altona station" in context["text"]
    best = next(item for item in context["sections"][0]["items"] if "Altona station" in item["text"])
    assert re.search(r"> 2025-11-01 16:20 .*\n .*Altona station", whole.ok("show", "--app", "sample", best["id"]))
    _modes_and_answers(whole)
    last = ("--conversation", "Bike tour Porto to Santiago", "--recent-turns", "2", "--format", "messages")
    assert json.loads(whole.ok(*packing, "Rui", *last, **WORDS))[0]["role"] == "system"
    refused(whole, 3, "no conversation 'nowhere'", *recall, "Rui", "--conversation", "nowhere", **WORDS)
    refused(whole, 2, "'yesterday' is not a time", *recall, "Rui", "--from", "yesterday", **WORDS)
    refused(whole, 2, "greater than or equal to 50", *packing, "Rui", "--budget", "3", **WORDS)
    refused(whole, 3, "no memory 'm:0'", "show", "--app", "sample", "m:0")

    top = json.loads(whole.ok("top-of-mind", "--app", "sample", "--json", "-k", "3"))
    assert [memory["why"][:14] for memory in top] == ["salient: said "] * 3
    assert "why: salient: said" in whole.ok("top-of-mind", "--app", "sample", "--as-of", "2025-12-01")
    given = ("feedback", top[0]["memory_id"], "--used", top[0]["memory_id"])
    refused(whole, 3, "There is no recall", *given, "--app", "sample")
    refused(whole, 3, "There is no memory 'that'", *given, "--irrelevant", "that", "--app", "sample")
    answer = json.loads(whole.ok(*recall, QUESTION, **WORDS))
    used = ("--used", answer["memories"][0]["memory_id"], "--app", "sample", "--json")
    assert json.loads(whole.ok("feedback", answer["recall_id"], *used))["changed"] == 1


def test_recall_goes_to_other_times_in_pages_and_explains_itself(rig: Rig, tmp_path: Path) -> None:
    rig.ok("user", "add", "--name", "Ada", "--app", "pages", "--zone", "Europe/Berlin")
    lines = (
        json.dumps({"id": str(n), "text": f"A heron \u001b[31m[b]stood[/b] {'here ' * n}", "said_at": f"2026-03-0{n}"})
        for n in range(1, 6)
    )
    (tmp_path / "herons.jsonl").write_text("\n".join(lines))
    rig.ok("ingest", str(tmp_path / "herons.jsonl"), "--app", "pages")
    recall = ("recall", "--app", "pages", "heron")

    def told(*arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(rig.ok(*recall, "--json", *arguments))
        return found

    assert {memory["message_id"] for memory in told("--as-of", "2026-03-02T00:00")["memories"]} == {"1", "2"}
    assert told("--known-at", "2020-01-01", "--no-facts", "--mode", "eager", "--diversity", "0.5")["memories"] == []
    seen: list[str] = []
    page = told("--mode", "deliberate", "-k", "3")
    while True:
        seen += [memory["message_id"] for memory in page["memories"]]
        if page["next_cursor"] is None:
            break
        page = told("--mode", "deliberate", "-k", "3", "--cursor", page["next_cursor"])
    assert sorted(seen) == ["1", "2", "3", "4", "5"]

    table = rig.ok(*recall, "--explain", "-k", "2", "--mode", "deliberate")
    for told_first in ("? heron", "words it knows", "why: ", "from: herons", "Left out", "behind the limit"):
        assert told_first in table
    assert re.search(r"^Weights \(order [-\d]+\): own words 0\.\d+ · ", table, re.MULTILINE)
    assert "[b]stood[/b]" in table
    assert "\x1b" not in table
    assert max(map(len, table.splitlines())) <= 120, "as wide as COLUMNS says"
    others = told("--explain", "--mode", "deliberate", "-k", "2", "--traces")
    assert others["explanation"]["words"] == ["heron"]
    refused(rig, 2, "another question", *recall, "--mode", "deliberate", "--cursor", others["next_cursor"])
    refused(rig, 2, "No reranker is configured(.|\n)*MEMSVC_RERANKER", *recall, "--rerank")
    gone = {"reranker": "http:x", "reranker_url": f"http://127.0.0.1:{free_port()}"}
    done = rig.run(*recall, "--rerank", **gone)
    assert (done.returncode, "Searched without: reranker" in done.stderr) == (0, True)
    assert "heron" in done.stdout


def test_the_agenda_of_the_next_days_is_listed(rig: Rig, tmp_path: Path) -> None:
    rig.ok("user", "add", "--name", "Ada", "--app", "due", "--zone", "Europe/Berlin")
    file = tmp_path / "due.jsonl"
    file.write_text(
        '{"conversation": "c", "id": "m1", "text": "Dentist tomorrow at 9.", "said_at": "2026-11-20T10:00:00+01:00"}\n'
        '{"conversation": "c", "id": "m2", "text": "Rent is due on 5 December.", "said_at": "2026-11-20T10:00:00Z"}\n'
    )
    rig.ok("ingest", str(file), "--app", "due")
    asked = ("agenda", "--app", "due", "--asked-at", "2026-11-20T20:00:00Z")
    found = json.loads(rig.ok(*asked, "--json"))
    assert [item["what"] for item in found["items"]] == ["Dentist tomorrow at 9."], "seven days"
    assert (found["truncated"], found["next_cursor"]) == (False, None)
    [dentist, rent] = rig.ok(*asked, "--days", "20").splitlines()
    assert re.fullmatch(r"\[m:\w+\] Saturday, 21 November 2026, 09:00, message: Dentist tomorrow at 9\.", dentist)
    assert "Saturday, 5 December 2026, message: Rent" in rent
    assert rig.ok(*asked, "--days", "20", "--limit", "1").splitlines() == [dentist]
    assert rig.ok(*asked, "--from", "2026-11-22", "--to", "2026-11-23") == "Nothing falls into it.\n"
    moved = tmp_path / "moved.jsonl"
    moved.write_text(
        '{"conversation": "c", "id": "m3", "text": "The dentist moved it to 4 December.",'
        ' "said_at": "2026-11-20T13:00:00+01:00"}\n'
    )
    rig.ok("ingest", str(moved), "--app", "due")
    assert re.search(r"at 9\. \(may be out of date: see m:\w+\)\n", rig.ok(*asked))
    refused(rig, 2, "'soon' is not a time", *asked, "--from", "soon")
    refused(rig, 2, "from must lie before to", *asked, "--from", "2026-11-22", "--to", "2026-11-22")


def test_any_question_has_an_answer(whole: Rig) -> None:
    whole.ok("user", "add", "--name", "Anybody", "--app", "questions")
    for query in ("the and of", "'; DROP TABLE a & | ! <-> :* 日本語 🚲", "word " * 10_000):
        assert json.loads(whole.ok("recall", "--app", "questions", "--json", "--", query))["memories"] == []


# Users and keys


def test_a_user_is_added_with_its_names(rig: Rig) -> None:
    made = json.loads(rig.ok("user", "add", "--name", "Marcel", "--alias", "MW", "--app", "names", "--json"))
    assert made["user"]["name"] == made["user"]["external_id"] == "Marcel"
    assert {"Marcel", "MW", "I", "me"} <= set(made["node"]["aliases"])
    assert "known as" in rig.ok("user", "add", "--name", "Ines", "--external-id", "u2", "--app", "names")
    refused(rig, 3, "already has a user 'Marcel'", "user", "add", "--name", "Marcel", "--app", "names")
    refused(rig, 2, "time zone", "user", "add", "--name", "X", "--zone", "Mars/Olympus", "--app", "names")
    listed = json.loads(rig.ok("user", "list", "--app", "names", "--json"))
    assert [user["external_id"] for user in listed] == ["Marcel", "u2"]
    after = json.loads(rig.ok("user", "list", "--app", "names", "--json", "--after", listed[0]["user_id"]))
    assert [user["external_id"] for user in after] == ["u2"]
    refused(rig, 3, "not a valid user id", "user", "list", "--after", "nonsense", "--app", "names")


def test_who_is_meant_must_be_clear(rig: Rig) -> None:
    refused(rig, 3, "no app 'nobody'(.|\n)*memsvc user add", "recall", "anything", "--app", "nobody")
    for name in ("One", "Two"):
        rig.ok("user", "add", "--name", name, "--app", "several")
    refused(rig, 4, "several users(.|\n)*--user", "recall", "anything", "--app", "several")
    assert rig.ok("recall", "anything", app="several", user="Two") == "No memory matches.\n"


def test_a_key_is_made_listed_and_revoked(rig: Rig) -> None:
    rig.ok("user", "add", "--name", "Ada", "--app", "keys")
    key = rig.ok(
        "key", "create", "--app", "keys", "--user", "Ada", "--scope", "read", "--label", "test", "--days", "3"
    ).strip()
    assert re.fullmatch(r"mk_[0-9a-f]{16}\.[\w-]{20,}", key)
    other = json.loads(rig.ok("key", "create", "--app", "keys", "--json"))["key"]
    listing = rig.ok("key", "list", "--app", "keys", "--json")
    listed = {entry["key_id"]: entry for entry in json.loads(listing)}
    assert set(listed) == {key.split(".")[0], other.split(".")[0]}
    assert key.split(".")[1] not in listing
    assert (listed[key.split(".")[0]]["scopes"], listed[key.split(".")[0]]["label"]) == (["read"], "test")
    assert "is revoked" in rig.ok("key", "revoke", "--app", "keys", key)
    [revoked] = [e for e in json.loads(rig.ok("key", "list", "--app", "keys", "--json")) if e["revoked_at"]]
    assert revoked["key_id"] == key.split(".")[0]
    refused(rig, 3, "no such working key", "key", "revoke", "--app", "keys", key)
    refused(rig, 2, "read, write, forget, enroll and admin", "key", "create", "--app", "keys", "--scope", "everything")
    refused(rig, 2, "--days", "key", "create", "--app", "keys", "--days", "99999999")


# Files that cannot be read


BAD_FILES = {  # tests/unit/test_files.py has more of them
    "late.jsonl": (b'{"text": "kept back"}\n' * 600 + b"oops\n", "late.jsonl, line 601: "),
    "blank.jsonl": (b'{"text": "kept back"}\n\n{"text": " "}\n', "blank.jsonl, line 3: The text is empty"),
    "time.jsonl": (b'{"text": "kept back"}\n{"text": "x", "said_at": "now"}\n', "line 2: 'now' is not a time"),
    "empty.jsonl": (b"", "empty.jsonl is empty"),
    "binary": (b"\x7fELF\x02\x01\x00\xff\xfe", "binary looks like a program"),
    "day.json": (
        b'[{"type": "message", "user": "U7", "ts": "1767348000.000100", "text": "kept back"}]',
        "day.json looks like a part of an export of Slack",
    ),
    "later.jsonl": (
        b'{"text": "kept back"}\n' * 600 + b'{"text": "x", "ts": 1}\n',
        "line 601 has unknown fields: 'ts'",
    ),
    "tree.json": (
        b'[{"title": "x", "mapping": {"n": {"message": {"content": {"parts": ["kept back"]}}}}}]',
        "tree.json, conversation 0: Object missing required field",
    ),
    "long.jsonl": (
        b'{"text": "kept back"}\n{"text": "%s"}\n' % (b"x" * 2_000_001),
        "long.jsonl, line 2: text has 2,000,001 characters; at most 2,000,000 are allowed",
    ),
    "cut.jsonl.gz": (gzip.compress(b'{"text": "x"}\n' * 99, mtime=0)[:-12], "cut.jsonl.gz cannot be read"),
}


def test_a_bad_file_is_named_with_its_line_and_nothing_of_it_is_stored(rig: Rig, tmp_path: Path) -> None:
    rig.ok("user", "add", "--name", "Ada", "--app", "bad")
    for name, (content, says) in BAD_FILES.items():
        (tmp_path / name).write_bytes(content)
        refused(rig, 2, says, "ingest", str(tmp_path / name), "--app", "bad")
    refused(rig, 2, "missing.jsonl cannot be read: No such file", "ingest", "missing.jsonl", "--app", "bad")
    assert rig.ok("recall", "kept back", "--app", "bad") == "No memory matches.\n"


def test_an_export_is_shown_asked_about_and_stored(rig: Rig, tmp_path: Path) -> None:
    rig.ok("user", "add", "--name", "Ada", "--app", "exports", "--zone", "Europe/Berlin")
    group = telegram_chat(
        telegram_message(1, "Mila/user7", "The key is under the mat."), telegram_message(2, "Jo/user9", "Thanks!"),
        {"id": 3, "type": "service"}, type="private_group", id=77,
    )  # fmt: skip
    path, bad = write(tmp_path / "result.json", group), write(tmp_path / "tree.json", '{"type": "tree", "leaves": []}')
    ingest = ("ingest", "--app", "exports", str(path))
    shown = rig.ok(*ingest, "--dry-run")
    assert "result.json: telegram, recognised by the field from_id" in shown
    assert "speakers  Mila 1 other, Jo 1 other" in shown
    assert "you are   not known: add --me NAME, or --not-me" in shown
    assert "left out  1 service messages" in shown
    refused(rig, 2, r"several people speak, and none has your name: Mila \(1\), Jo \(1\)\.", *ingest)
    done = rig.run(*ingest, str(bad), "--me", "Jo")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2, "tree.json is JSON, but has no messages.",
    )  # fmt: skip
    assert "2 new messages, 0 already stored.\nLeft out: 1 service messages." in done.stdout
    told = json.loads(rig.run(*ingest, str(bad), "--me", "Jo", "--json").stdout)
    assert [(file["outcome"], file["code"]) for file in told["files"]] == [
        ("stored", None), ("refused", "source_unknown"),
    ]  # fmt: skip
    assert (told["created"], told["existing"]) == (0, 2)


def test_other_words_under_a_stored_identity_are_refused(rig: Rig, tmp_path: Path) -> None:
    rig.ok("user", "add", "--name", "Ada", "--app", "conflict")
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text('{"conversation": "c", "id": "m1", "text": "The first words."}\n')
    second.write_text(
        '{"conversation": "c", "id": "m0", "text": "Fresh words."}\n'
        '{"conversation": "c", "id": "m1", "text": "Others."}\n'
    )
    rig.ok("ingest", str(first), "--app", "conflict")
    refused(rig, 3, "second.jsonl, line 2: m1 in conversation 'c'", "ingest", str(second), "--app", "conflict")
    known = json.loads(rig.ok("recall", "fresh others", "--app", "conflict", "--json"))
    assert {memory["text"] for memory in known["memories"]} <= {"The first words."}


def test_ctrl_c_ends_an_ingest_cleanly_and_it_can_go_on(rig: Rig, tmp_path: Path) -> None:
    rig.ok("user", "add", "--name", "Ada", "--app", "stopped")
    file = tmp_path / "long.jsonl"
    file.write_text("".join(f'{{"id": "{i}", "text": "Word number{i} of a long talk."}}\n' for i in range(1_000)))
    with rig.admin() as admin:
        ingest = rig.start("ingest", str(file), "--app", "stopped", "--json", max_batch="10")
        wait_until(lambda: rig.stored(admin, "long") >= 10, pause=0.001)
        ingest.process.send_signal(signal.SIGINT)
        code, output, message = ingest.finish()
        assert (code, output) == (130, "")
        assert "interrupted" in message
        assert "Traceback" not in message
        stored = rig.stored(admin, "long")
        assert stored < 1_000
    counts = counted(rig.ok("ingest", str(file), "--app", "stopped", "--json"))
    assert counts == {"created": 1_000 - stored, "existing": stored, "erased": 0, "paused": 0}


# Settings, server, ports


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "99999"), ("port", "http"), ("pool_size", "0"), ("log_level", "loud"), ("jwt_ttl_s", "-1"),
        ("identity_secret", "short-secret-nobody-sees"), ("database_url", f"mysql://me:{PASSWORD}@localhost/db"),
        ("database_url", f"postgresql://me:{PASSWORD}@localhost:port/db"),
        ("database_url", f"postgresql://me:{PASSWORD}@[broken/db"),
        ("database_url", f"postgresql://me:{PASSWORD}@localhost/db?color=red"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named_and_never_shown(rig: Rig, name: str, value: str) -> None:
    said = refused(rig, 78, f"MEMSVC_{name.upper()}", "user", "list", **{name: value})
    assert PASSWORD not in said
    assert "short-secret" not in said


def test_a_server_that_is_down_is_a_clear_error_everywhere(rig: Rig) -> None:
    gone = f"postgresql://me:{PASSWORD}@127.0.0.1:{free_port()}/db"
    for command in (("recall", "x"), ("db", "upgrade"), ("ingest", "x.jsonl")):
        assert PASSWORD not in refused(rig, 69, "database cannot be reached", *command, database_url=gone)
    nowhere = "postgresql://me@no-such-host.invalid/db"
    refused(rig, 69, "database cannot be reached", "db", "upgrade", database_url=nowhere)


def test_a_port_in_use_is_a_clear_error(rig: Rig) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for command in ("up", "api"):
            refused(rig, 69, rf"127\.0\.0\.1:{port}: Address already in use(.|\n)*--port", command, "--port", str(port))
    refused(rig, 69, "Cannot listen on 192.0.2.1:", "api", "--host", "192.0.2.1")


def test_the_doctor_says_what_is_there(whole: Rig) -> None:
    report = json.loads(whole.ok("doctor", "--json"))
    assert report["ok"] is True
    states = {check["name"]: check["state"] for check in report["checks"]}
    wanted = "embedded PostgreSQL, server, extension vector, time zones, schema, login memsvc_app, identity secret"
    for name in wanted.split(", "):
        assert states[name] == "ok"
    assert "memsvc can work." in whole.ok("doctor")


def test_the_doctor_says_what_is_wrong(rig: Rig, tmp_path: Path) -> None:
    gone = f"postgresql://me:{PASSWORD}@127.0.0.1:{free_port()}/db"
    done = rig.run("doctor", database_url=gone)
    assert (done.returncode, PASSWORD in done.stdout + done.stderr, "Traceback" in done.stderr) == (1, False, False)
    assert re.search(r"missing +server +cannot be reached", done.stdout)
    assert "memsvc cannot work like this." in done.stdout
    done = rig.run("doctor", "--json", database_url=gone)
    assert (done.returncode, json.loads(done.stdout)["ok"]) == (1, False)
    done = rig.run("doctor", "--json", identity_secret="another secret of more than 32 characters")
    assert [c["name"] for c in json.loads(done.stdout)["checks"] if c["state"] == "missing"] == ["identity secret"]
    assert done.returncode == 1


def test_an_upgrade_of_what_is_current_changes_nothing(rig: Rig) -> None:
    done = json.loads(rig.ok("db", "upgrade", "--json"))
    assert done["from_revision"] == done["to_revision"]
    assert done["applied"] == []
    assert "sql/ unchanged" in rig.ok("db", "upgrade")


def test_a_database_of_others_that_was_never_upgraded_says_so(rig: Rig) -> None:
    with rig.admin() as admin:
        admin.execute("CREATE DATABASE untouched")
        url = rig.admin_url().replace("/memsvc?", "/untouched?")
        refused(rig, 69, "memsvc db upgrade", "user", "list", database_url=url)
        done = rig.run("doctor", database_url=url)
        assert done.returncode == 1
        assert "run 'memsvc db upgrade'" in done.stdout
        admin.execute("DROP DATABASE untouched WITH (FORCE)")


@pytest.mark.parametrize(
    "arguments",
    [("bogus",), ("recall",), ("ingest",), ("user", "add"), ("up", "--port", "0"), ("recall", "x", "--limit", "0")],
    ids=" ".join,
)
def test_a_wrong_call_shows_the_usage(rig: Rig, arguments: tuple[str, ...]) -> None:
    assert "Try 'memsvc" in refused(rig, 2, "^Usage: memsvc", *arguments)
