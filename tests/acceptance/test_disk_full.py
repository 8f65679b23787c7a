"""A full disk: a clear error, nothing acknowledged is lost, and all works again when there is space.

The database lies on a small file system of its own where the tests may mount one (root in most containers). Elsewhere a
trigger makes the server itself meet "No space left on device" (it writes to ``/dev/full``) in the middle of each write.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, assert_books_right, assert_no_job_waits

pytestmark = pytest.mark.acceptance
MEGABYTES = 200
FULL = """
CREATE FUNCTION public.meet_a_full_disk() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN COPY (SELECT repeat('x', 1000) FROM generate_series(1, 1000)) TO '/dev/full'; RETURN NULL; END $$;
CREATE TRIGGER full_disk AFTER INSERT ON memsvc.term_deltas EXECUTE FUNCTION public.meet_a_full_disk();
"""
FREED = "DROP FUNCTION public.meet_a_full_disk() CASCADE"


@dataclass(frozen=True, slots=True)
class Disk:
    """A rig whose disk can be filled."""

    rig: Rig
    fill: Callable[[], None]
    free: Callable[[], None]


@contextmanager
def small_file_system(at: Path) -> Iterator[bool]:
    """Mount a tmpfs; False where that is not allowed."""
    at.mkdir(mode=0o755)
    command = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=755", "memsvc-test", str(at)]
    mounted = os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(at)], check=True)


@pytest.fixture
def disk(prepared: Path, tmp_path: Path) -> Iterator[Disk]:
    with private_folder(None) as top, small_file_system(top) as mounted:
        data, filler = top / "data", top / "filler"
        subprocess.run(["cp", "-a", str(prepared), str(data)], check=True)
        with Rig(data, cwd=tmp_path, embedding_model="") as rig:  # vectors of what is acknowledged can wait

            def fill() -> None:
                with filler.open("ab", buffering=0) as file, suppress(OSError):
                    while True:
                        file.write(b"\0" * 4_096)

            def as_admin(script: str) -> None:
                with rig.admin() as admin:
                    admin.execute(script.encode())

            if mounted:
                yield Disk(rig, fill, filler.unlink)
            else:
                yield Disk(rig, lambda: as_admin(FULL), lambda: as_admin(FREED))


def message(identity: str) -> dict[str, str]:
    text = f"The word of {identity} is zebra{identity}. " + " ".join(f"{identity}w{n}" for n in range(30))
    return {"conversation": "c", "id": identity, "text": text}


def stored(admin: psycopg.Connection) -> set[str]:
    rows = admin.execute("SELECT DISTINCT client_id FROM memsvc.passages").fetchall()
    return {row[0] for row in rows}


def test_a_full_disk_is_a_clear_error_and_loses_nothing(disk: Disk, tmp_path: Path) -> None:
    rig = disk.rig
    rig.ok("user", "add", "--name", "Ada")
    key = json.loads(rig.ok("key", "create", "--json"))["key"]
    service = rig.serve()
    headers = {"Authorization": f"Bearer {key}", "X-Memsvc-User": "Ada"}
    with httpx.Client(base_url=rig.url, headers=headers, timeout=30) as client:
        for n in range(20):
            assert client.post("/v1/messages", json=message(f"before{n}")).status_code == 202
        acknowledged = {f"before{n}" for n in range(20)}
        sent = set(acknowledged)
        with rig.admin() as admin:
            admin.execute("CHECKPOINT")  # the log has room for a while; it is the tables that cannot grow
            admin.execute("SELECT pg_switch_wal()")
            admin.execute("SELECT pg_logical_emit_message(false, 'test', 'the new segment exists', true)")
            disk.fill()
            answer = None
            deadline = time.monotonic() + 20
            for n in range(1_000):
                batch = [message(f"full{n}x{i}") for i in range(20)]
                sent |= {each["id"] for each in batch}
                answer = client.post("/v1/messages", json={"messages": batch})
                if answer.status_code != 202:
                    break
                acknowledged |= {each["id"] for each in batch}
                assert time.monotonic() < deadline
            assert answer is not None
            assert (answer.status_code, answer.json()["code"]) == (507, "storage_full")
            assert "space" in answer.json()["hint"]
            # Reading goes on.
            found = client.post("/v1/recall", json={"query": "zebrabefore7"}).json()
            assert found["memories"][0]["message_id"] == "before7"

            file = tmp_path / "more.jsonl"
            file.write_text("".join(json.dumps(message(f"file{n}")) + "\n" for n in range(400)))
            done = rig.run("ingest", str(file))
            assert done.returncode == 69
            # A new connection may itself need room, for the server's cache of its catalog.
            assert re.search("disk is full|No space left on device(.|\n)*free disk space", done.stderr), done.stderr
            assert "Traceback" not in done.stderr
            assert acknowledged == stored(admin)

            disk.free()
            assert client.post("/v1/messages", json=message("after")).status_code == 202
            assert json.loads(rig.ok("ingest", str(file), "--json"))["created"] == 400
            assert stored(admin) == acknowledged | {"after"} | {f"file{n}" for n in range(400)}
            rig.kill(service)
            rig.ok("jobs", "run")
            assert_books_right(admin)
            assert_no_job_waits(admin)
