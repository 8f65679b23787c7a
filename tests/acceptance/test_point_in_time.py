"""The runbook of docs/operations.md, "To any moment": a base backup, and the archived log up to before a mistake."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from memsvc.server import care, embedded
from memsvc.server.care import look
from memsvc.server.embedded import Server
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, wait_until

pytestmark = pytest.mark.acceptance


def give(path: Path, like: Path) -> None:
    """Give a folder to whoever owns another one: the server's user."""
    owner = like.stat()
    for each in [path, *path.rglob("*")]:
        os.chown(each, owner.st_uid, owner.st_gid)


def test_a_mistake_is_undone_by_replaying_the_log_to_the_moment_before_it(prepared: Path, tmp_path: Path) -> None:
    log = tmp_path / "erasures.jsonl"
    with private_folder(prepared) as data, private_folder(None) as other:
        archive, base = data.parent / "archive", other / "pg"
        archive.mkdir()
        give(archive, data / "pg")
        with (
            Rig(data, embedding_model="") as rig,
            embedded.running(data, options={"fsync": "off", "archive_mode": "on"}) as server,
        ):
            archive_by(server, "false")
            wait_until(lambda: "archive" in needing_care(server))
            archive_by(server, f"test ! -f {archive}/%f && cp %p {archive}/%f")
            wait_until(lambda: "archive" not in needing_care(server))
            with psycopg.connect(server.conninfo(), autocommit=True) as admin, pytest.MonkeyPatch.context() as patch:
                patch.setattr(care, "RETAINED_BYTES", 0)
                admin.execute("SELECT pg_create_physical_replication_slot('replica', true)")
                assert "slot replica keeps" in needing_care(server)["replication"]
                admin.execute("SELECT pg_drop_replication_slot('replica')")
            rig.ok("user", "add", "--name", "Ada")
            remember(rig, tmp_path, "before", "The heron stood in the pond.", "A marten ran off.")
            other.mkdir(mode=0o755)
            subprocess.run(
                [embedded.binary(data, "pg_basebackup"), "-d", server.conninfo(), "-D", base, "-c", "fast"], check=True
            )
            remember(rig, tmp_path, "after", "The oak fell in the storm.")
            with psycopg.connect(server.conninfo(), autocommit=True) as admin:
                moment = admin.execute("SELECT clock_timestamp()::text").fetchall()[0][0]
                [wanted] = [row["passage_id"] for row in recalled(rig, "marten") if "marten" in row["text"]]
                rig.ok("forget", "--message", wanted, "--yes")  # this was meant
                log.write_text(rig.ok("db", "erasures"))
                rig.ok("forget", "--source", "after", "--yes")  # and this was the mistake
                last = admin.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchall()[0][0]
                wait_until((archive / last).exists)
        shutil.copy(data / "superuser.secret", other / "superuser.secret")
        shutil.copy(data / "secrets.json", other / "secrets.json")
        (base / "recovery.signal").touch()
        give(base, data / "pg")
        target = {"recovery_target_time": moment, "recovery_target_action": "promote"}
        back = {"restore_command": f"cp {archive}/%f %p", "archive_mode": "off", **target}
        with Rig(other, embedding_model="") as rig, embedded.running(other, options={"fsync": "off", **back}):
            assert texts(rig) == {"The heron stood in the pond.", "A marten ran off.", "The oak fell in the storm."}
            assert "Erased again: 1; 0 were not in the database." in rig.ok("db", "erase-again", str(log))
            assert texts(rig) == {"The heron stood in the pond.", "The oak fell in the storm."}


def archive_by(server: Server, command: str) -> None:
    """Set how the log is archived, and finish a file of it, so that it is tried."""
    with psycopg.connect(server.conninfo(), autocommit=True) as admin:
        admin.execute(sql.SQL("ALTER SYSTEM SET archive_command = {}").format(sql.Literal(command)))
        admin.execute("SELECT pg_reload_conf(), pg_switch_wal()")


def needing_care(server: Server) -> dict[str, str]:
    """What ``memsvc db health`` warns of."""
    found = look(server.conninfo(database="memsvc"))
    return {check.name: check.says for check in found.checks if check.state != "ok"}


def remember(rig: Rig, folder: Path, conversation: str, *said: str) -> None:
    file = folder / f"{conversation}.jsonl"
    lines = [{"conversation": conversation, "id": f"m{place}", "text": text} for place, text in enumerate(said)]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    rig.ok("ingest", str(file))


def recalled(rig: Rig, query: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(rig.ok("recall", query, "--json"))["memories"]
    return found


def texts(rig: Rig) -> set[str]:
    return {memory["text"] for memory in recalled(rig, "heron, marten or oak")}
