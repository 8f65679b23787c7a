"""The command line works jobs off, changes them and their schedules, and ends when it is told."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.killpoints import Rig, refused, wait_until

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module", autouse=True)
def running(rig: Rig) -> Iterator[None]:
    """The server runs all the time, so that commands need not start it each time."""
    with rig.admin():
        yield


def test_jobs_are_listed_and_changed(rig: Rig, tmp_path: Path) -> None:
    rig.ok("user", "add", "--name", "Ada", "--app", "work")
    (tmp_path / "a.jsonl").write_text('{"text": "Something to work on."}\n')
    rig.ok("ingest", str(tmp_path / "a.jsonl"), "--app", "work")
    [job] = json.loads(rig.ok("jobs", "--app", "work", "--json"))
    assert (job["kind"], job["state"]) == ("process", "done")
    assert job["job_id"] in rig.ok("jobs", "--app", "work")
    assert json.loads(rig.ok("jobs", "--app", "work", "--json", "--state", "failed")) == []
    refused(rig, 3, "only pending jobs", "jobs", "cancel", job["job_id"], "--app", "work")
    refused(rig, 3, "not a valid job id", "jobs", "retry", "nonsense", "--app", "work")
    refused(rig, 2, "state is one of", "jobs", "--state", "odd", "--app", "work")
    assert re.fullmatch(r"\d+ jobs? done\.\n", rig.ok("jobs", "run"))


def test_schedules_are_listed_and_changed(rig: Rig) -> None:
    mine = ("--app", "nights")
    rig.ok("user", "add", "--name", "Ada", *mine, "--zone", "Europe/Berlin")
    asleep, found = json.loads(rig.ok("schedule", *mine, "--json"))
    assert asleep["kind"] == "sleep"
    assert (found["kind"], found["enabled"], found["last_at"]) == ("tidy", True, None)
    said = rig.ok("schedule", "set", "tidy", "--at", "03:30", "--days", "thu,1", *mine)
    assert re.search(r"^tidy +03:30 +mon,thu +Europe/Berlin +on +\d{4}-\d\d-\d\d 03:30 +never$", said, re.MULTILINE)
    line = said.splitlines()[1].split()
    assert line in [shown.split() for shown in rig.ok("schedule", *mine).splitlines()]
    assert re.search(r"mon,thu +Europe/Berlin +off +never$", rig.ok("schedule", "off", "tidy", *mine), re.MULTILINE)
    assert rig.ok("schedule", "on", "tidy", *mine) == said
    refused(rig, 2, "not a time of day", "schedule", "set", "tidy", "--at", "3", *mine)
    refused(rig, 2, "not a day of the week", "schedule", "set", "tidy", "--at", "03:30", "--days", "x", *mine)
    refused(rig, 3, "no schedule 'x'", "schedule", "off", "x", *mine)
    assert rig.ok("schedule", "run", "tidy", *mine).endswith(" is pending.\n")
    rig.ok("jobs", "run")
    [job] = json.loads(rig.ok("jobs", *mine, "--json"))
    assert (job["kind"], job["state"]) == ("tidy", "done")


def queue_a_job(rig: Rig, app: str, tmp_path: Path) -> None:
    """Leave a conversation with its job pending, as the API does: an ingest killed before the work at its end."""
    rig.ok("user", "add", "--name", "Ada", "--app", app)
    (tmp_path / f"{app}.jsonl").write_text('{"text": "Something to work on."}\n')
    with rig.held("corpora") as in_the_middle:
        ingest = rig.start("ingest", str(tmp_path / f"{app}.jsonl"), "--app", app)
        wait_until(in_the_middle)
        rig.kill(ingest)


def state_of(rig: Rig, app: str) -> str:
    [job] = json.loads(rig.ok("jobs", "--app", app, "--json"))
    return str(job["state"])


def test_jobs_run_drains_and_ends(rig: Rig, tmp_path: Path) -> None:
    queue_a_job(rig, "drained", tmp_path)
    assert state_of(rig, "drained") == "pending"
    assert re.fullmatch(r"\d+ jobs? done\.\n", rig.ok("jobs", "run"))
    assert state_of(rig, "drained") == "done"


def test_the_worker_works_until_it_is_told_to_stop(rig: Rig, tmp_path: Path) -> None:
    queue_a_job(rig, "worked", tmp_path)
    with rig.admin() as admin:
        worker = rig.start_worker()
        query = "SELECT FROM memsvc.jobs WHERE state = 'pending'"
        wait_until(lambda: admin.execute(query).fetchone() is None)
        worker.process.send_signal(signal.SIGTERM)
        code, _, message = worker.finish(10)
    assert (code, "Traceback" in message) == (0, False)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_up_serves_works_and_ends_when_told(rig: Rig, tmp_path: Path, number: signal.Signals) -> None:
    app = f"up-{number.name}"
    queue_a_job(rig, app, tmp_path)
    service = rig.serve()
    wait_until(lambda: state_of(rig, app) == "done")
    os.kill(service.process.pid, number)
    code, output, message = service.finish(15)
    assert (code, output, "Traceback" in message) == (0, "", False)
    assert f"http://127.0.0.1:{rig.port}" in message
