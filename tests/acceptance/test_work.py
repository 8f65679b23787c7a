"""What an operator does at a real service: watch the work, deal with dead letters, retry, read a worker's metrics."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.acceptance.killpoints import MEMSVC, PATIENCE_S, Part, Rig, free_port, wait_until

pytestmark = pytest.mark.acceptance
WORDS_ONLY = {"embedding_model": ""}


@pytest.fixture(scope="module")
def user(rig: Rig) -> UUID:
    """Somebody for whom there is work."""
    made = json.loads(rig.ok("user", "add", "--name", "Ada", "--app", "operators", "--json"))
    return UUID(made["user"]["user_id"])


@pytest.fixture
def admin(rig: Rig) -> Iterator[psycopg.Connection]:
    """The administrator; what a test leaves behind is cancelled."""
    with rig.admin() as connection:
        yield connection
        connection.execute("UPDATE memsvc.jobs SET state = 'cancelled' WHERE state IN ('pending', 'failed')")
        connection.execute("TRUNCATE memsvc.dramatiq_queue")


def ask(admin: psycopg.Connection, user: UUID) -> UUID:
    """A job that has nothing to do."""
    row = admin.execute("SELECT memsvc.ask_job(%s, 'tidy', %s)", [user, uuid4()]).fetchone()
    assert row is not None
    return UUID(str(row[0]))


def state(admin: psycopg.Connection, job_id: UUID) -> str:
    row = admin.execute("SELECT state FROM memsvc.jobs WHERE job_id = %s", [job_id]).fetchone()
    assert row is not None
    return str(row[0])


def ended(part: Part, number: signal.Signals) -> tuple[int, str, str]:
    part.process.send_signal(number)
    return part.finish(15)


# Watching -----------------------------------------------------------------------------------------------------------


def test_the_work_of_all_is_watched_in_lines_until_ctrl_c(rig: Rig, user: UUID, admin: psycopg.Connection) -> None:
    job_id = ask(admin, user)
    watch = rig.start("jobs", "--watch", "--every", "0.2")
    wait_until(lambda: "upkeep/tidy: waiting 1" in watch.output.read_text())
    admin.execute(
        "UPDATE memsvc.jobs SET state = 'failed', finished_at = now(), error_code = 'odd' WHERE job_id = %s", [job_id]
    )
    wait_until(lambda: "error odd: retrying 0, failed/h 1" in watch.output.read_text())
    code, output, message = ended(watch, signal.SIGINT)
    assert (code, message) == (0, "")
    assert re.search(r"^\S+Z upkeep/tidy: waiting 0, .*failed 1, .*failed/h 1$", output, re.MULTILINE)
    assert re.search(r"^\S+Z all: .*, workers 0$", output.strip().splitlines()[-1])
    assert str(user) not in output


def test_the_watch_gives_one_document_a_line(rig: Rig, user: UUID, admin: psycopg.Connection) -> None:
    ask(admin, user)
    watch = rig.start("jobs", "--watch", "--json", "--every", "0.1")
    wait_until(lambda: watch.output.read_text().count("\n") > 2)
    code, output, message = ended(watch, signal.SIGTERM)
    assert (code, message) == (0, "")
    for line in output.splitlines():
        assert json.loads(line)["kinds"][0]["kind"] == "tidy"


def test_a_watch_outlives_the_database(rig: Rig) -> None:
    with rig.admin() as connection:
        connection.execute("SELECT 1")
        watch = rig.start("jobs", "--watch", "--every", "0.2")
        wait_until(watch.output.read_text)
        rig.kill_database()
        wait_until(lambda: "database" in watch.errors.read_text())
    rig.ok("jobs", "run", **WORDS_ONLY)
    seen = watch.output.read_text().count("\n")
    wait_until(lambda: watch.output.read_text().count("\n") > seen)
    code, _, message = ended(watch, signal.SIGINT)
    assert (code, "Traceback" in message) == (0, False)


def test_a_terminal_shows_a_live_picture(rig: Rig, user: UUID, admin: psycopg.Connection) -> None:
    ask(admin, user)
    master, slave = pty.openpty()
    watch = subprocess.Popen(
        [str(MEMSVC), "jobs", "--watch", "--every", "0.2"],
        stdin=slave, stdout=slave, stderr=subprocess.PIPE, cwd=rig.cwd, env={**rig.environment, "TERM": "xterm"},
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    shown = b""
    deadline = time.monotonic() + PATIENCE_S
    try:
        while shown.count(b"done/min") < 6 and time.monotonic() < deadline:
            if select.select([master], [], [], 0.1)[0]:
                shown += os.read(master, 65_536)
        watch.send_signal(signal.SIGINT)
        with suppress(OSError):  # the terminal's other side is closed
            while more := os.read(master, 65_536):
                shown += more
        assert watch.wait(15) == 0
    finally:
        watch.kill()
        watch.wait()
        assert watch.stderr is not None
        assert watch.stderr.read() == b""
        watch.stderr.close()
        os.close(master)
    assert b"tidy" in shown
    assert b"\x1b[" in shown


# Dead letters -------------------------------------------------------------------------------------------------------

ID = "{id}"
GOOD = {
    "queue_name": "upkeep", "actor_name": "tidy", "args": [ID, ID], "kwargs": {}, "options": {}, "message_id": ID,
    "message_timestamp": 1,
}  # fmt: skip
POISON: dict[str, object] = {
    "no object": ["poison"],
    "a number": 5,
    "nothing": None,
    "not of Dramatiq": {"hello": "world"},
    "an actor that nobody knows": {**GOOD, "actor_name": "dream"},
    "too many arguments": {**GOOD, "args": [ID, ID, ID]},
    "no ids": {**GOOD, "args": ["x", 5]},
    "no list of arguments": {**GOOD, "args": None},
    "named arguments": {**GOOD, "kwargs": {"user_id": ID}},
    "options of another version": {**GOOD, "options": {"retries": 3}},
    "options that are none": {**GOOD, "options": None},
    "another queue": {**GOOD, "queue_name": "elsewhere"},
    "another id": {**GOOD, "message_id": "x"},
    "an older version's shape": {"kind": "process", "user": ID, "job": ID},
}


def poison(admin: psycopg.Connection) -> dict[UUID, str]:
    """Each of them in the queue, before any job; their ids."""
    ids: dict[UUID, str] = {}
    for name, message in POISON.items():
        message_id = uuid4()
        text = json.dumps(message).replace(ID, str(message_id))
        admin.execute(
            "INSERT INTO memsvc.dramatiq_queue (message_id, queue_name, message) VALUES (%s, 'upkeep', %s)",
            [message_id, Jsonb(json.loads(text))],
        )
        ids[message_id] = name
    return ids


def dead(rig: Rig) -> dict[UUID, dict[str, str]]:
    return {UUID(letter["message_id"]): letter for letter in json.loads(rig.ok("jobs", "dead", "--json"))}


def test_what_no_worker_understands_stops_nobody_and_is_listed_retried_and_dropped(
    rig: Rig, user: UUID, admin: psycopg.Connection
) -> None:
    poisons = poison(admin)
    jobs = [ask(admin, user) for _ in range(20)]
    worker = rig.start_worker(**WORDS_ONLY)
    wait_until(lambda: all(state(admin, job_id) == "done" for job_id in jobs))
    wait_until(lambda: dead(rig).keys() >= poisons.keys())
    listed = dead(rig)
    assert listed.keys() == poisons.keys()
    [unknown] = [letter for letter in listed.values() if letter["actor"] == "dream"]
    assert unknown["error"] == "No worker knows the job 'dream'."
    assert all(letter["error"] and letter["queue"] == "upkeep" for letter in listed.values())
    shown = rig.ok("jobs", "dead")
    assert str(unknown["message_id"]) in shown
    assert "poison" not in shown
    assert "world" not in shown

    # Still nobody understands it, so it comes back; the worker works on.
    chosen = unknown["message_id"]
    assert rig.ok("jobs", "dead", "--retry", chosen) == "1 message is in the queue again.\n"
    wait_until(lambda: dead(rig).get(UUID(chosen), {}).get("rejected_at", "") > unknown["rejected_at"])

    # One that was repaired is worked on.
    job_id = ask(admin, user)
    wait_until(lambda: state(admin, job_id) == "done")
    repaired, *_ = poisons
    late = ask(admin, user)
    wait_until(lambda: state(admin, late) == "done")
    admin.execute(
        "UPDATE memsvc.dramatiq_queue SET message = %s WHERE message_id = %s",
        [Jsonb(json.loads(json.dumps({**GOOD, "error": "x"}).replace(ID, str(repaired)))), repaired],
    )
    assert rig.ok("jobs", "dead", "--retry", "all") == f"{len(POISON)} messages are in the queue again.\n"
    wait_until(lambda: dead(rig).keys() == poisons.keys() - {repaired})

    assert "was dropped" in rig.ok("jobs", "dead", "--drop", chosen)
    assert UUID(chosen) not in dead(rig)
    for command in (("--retry", chosen), ("--drop", chosen)):
        done = rig.run("jobs", "dead", *command)
        assert (done.returncode, "no dead letter" in done.stderr) == (3, True)
    code, _, message = ended(worker, signal.SIGTERM)
    assert (code, "Traceback" in message) == (0, False)


# Failed jobs --------------------------------------------------------------------------------------------------------


def test_after_an_outage_one_command_tries_everything_again(rig: Rig, user: UUID, admin: psycopg.Connection) -> None:
    jobs = [ask(admin, user) for _ in range(3)]
    fail = "UPDATE memsvc.jobs SET state = 'failed', finished_at = now(), attempts = 4 WHERE job_id = ANY (%s)"
    admin.execute(fail, [jobs])
    assert rig.ok("jobs", "retry", "--all-failed", "--app", "operators") == "3 jobs are pending again.\n"
    assert {state(admin, job_id) for job_id in jobs} == {"pending"}
    worker = rig.start_worker(**WORDS_ONLY)
    wait_until(lambda: all(state(admin, job_id) == "done" for job_id in jobs))
    admin.execute(fail, [jobs])
    assert rig.ok("jobs", "retry", "--all-failed", "--everybody") == "3 jobs are pending again.\n"
    wait_until(lambda: all(state(admin, job_id) == "done" for job_id in jobs))
    assert ended(worker, signal.SIGTERM)[0] == 0
    for wrong in ((), (str(jobs[0]), "--all-failed"), (str(jobs[0]), "--everybody")):
        assert rig.run("jobs", "retry", *wrong).returncode == 2


def test_a_worker_lets_requests_on_its_machine_go_first(rig: Rig, user: UUID, admin: psycopg.Connection) -> None:
    mine = os.getpriority(os.PRIO_PROCESS, 0)
    job_id = ask(admin, user)
    worker = rig.start_worker(worker_nice="3", **WORDS_ONLY)
    wait_until(lambda: state(admin, job_id) == "done")
    assert os.getpriority(os.PRIO_PROCESS, worker.process.pid) == min(19, mine + 3)
    assert ended(worker, signal.SIGTERM)[0] == 0


# A worker's metrics -------------------------------------------------------------------------------------------------


def test_a_worker_tells_its_metrics_on_a_port_of_its_own(rig: Rig, user: UUID, admin: psycopg.Connection) -> None:
    port = free_port()
    worker = rig.start_worker(worker_metrics_port=str(port), **WORDS_ONLY)
    job_id = ask(admin, user)
    wait_until(lambda: state(admin, job_id) == "done")
    done = 'memsvc_jobs_run_total{kind="tidy",outcome="done"} 1.0'
    wait_until(lambda: done in httpx.get(f"http://127.0.0.1:{port}/metrics").text, seconds=5)
    taken = rig.run("worker", database_url=rig.admin_url(), worker_metrics_port=str(port), **WORDS_ONLY)
    assert (taken.returncode, f"127.0.0.1:{port}" in taken.stderr) == (69, True)
    code, _, message = ended(worker, signal.SIGTERM)
    assert (code, "Traceback" in message) == (0, False)
