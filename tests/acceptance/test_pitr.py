"""A whole user is erased by mistake, and comes back; what others erased since then stays erased.

The runbook of docs/operations.md, "Undoing an erasure", with PostgreSQL's own tools: pg_basebackup and archive_command.
(``tests/full/test_high_availability.py`` does it by pgBackRest.)
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from memsvc.server import embedded
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]
QUICK = {"fsync": "off"}
PEOPLE = {"Ada": "The heron stood in the pond.", "Bob": "The marten ran off.", "Eve": "The oak fell in the storm."}


class Drill:
    """A base backup and an archived log of a server that has erased a user by mistake, and others on purpose."""

    def __init__(self, prepared: Path, top: Path) -> None:
        """Do all of it; the server is gone afterwards, and only what lies elsewhere is left."""
        self.archive, self.base, self.log = top / "archive", top / "base", top / "erasures.jsonl"
        self.secrets: dict[str, bytes] = {}
        self.archive.mkdir()
        with private_folder(prepared) as data:
            self._give(self.archive, data / "pg")
            command = f"test ! -f {self.archive}/%f && cp %p {self.archive}/%f"
            archiving = {"archive_mode": "on", "archive_command": command}
            with Rig(data, embedding_model="") as rig, embedded.running(data, options=QUICK | archiving) as server:
                for name, said in PEOPLE.items():
                    rig.ok("user", "add", "--name", name, "--external-id", name.lower())
                    remember(rig, top, name, "first", said)
                self.keys = {name: rig.ok("key", "create", "--user", name.lower()).strip() for name in PEOPLE}
                self.ids = {one["name"]: one["user_id"] for one in json.loads(rig.ok("user", "list", "--json"))}
                program = str(embedded.binary(data, "pg_basebackup"))
                subprocess.run([program, "-d", server.conninfo(), "-D", str(self.base), "-c", "fast"], check=True)
                with psycopg.connect(server.conninfo(), autocommit=True) as admin:
                    remember(rig, top, "Ada", "second", "A kingfisher came after the base backup.")
                    remember(rig, top, "Eve", "second", "The ash fell, too.")
                    self.moment = str(admin.execute("SELECT clock_timestamp()").fetchall()[0][0])
                    rig.ok("forget", "--everything", "--user", "ada", "--yes")  # the mistake
                    rig.ok("forget", "--everything", "--user", "bob", "--yes")  # this was meant
                    rig.ok("forget", "--source", "second", "--yes", "--user", "eve")  # and so was this
                    rig.ok("key", "revoke", self.keys["Eve"].split(".")[0])
                    self.log.write_text(rig.ok("db", "erasures"))
                    last = admin.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchall()[0][0]
                    wait_until((self.archive / last).exists)
            for name in ("superuser.secret", "secrets.json"):
                self.secrets[name] = (data / name).read_bytes()
            self._uid, self._gid = embedded._identity()

    def _give(self, path: Path, like: Path) -> None:
        owner = like.stat()
        os.chown(path, owner.st_uid, owner.st_gid)

    @contextmanager
    def restored(self, prepared: Path, **target: str) -> Iterator[Rig]:
        """A server that has replayed the log, up to a target where one is given."""
        with private_folder(prepared) as data:
            shutil.rmtree(data / "pg")
            shutil.copytree(self.base, data / "pg")
            (data / "pg" / "recovery.signal").touch()
            (data / "pg").chmod(0o700)
            for each in [data / "pg", *(data / "pg").rglob("*")]:
                os.chown(each, self._uid, self._gid)
            for name, content in self.secrets.items():
                (data / name).write_bytes(content)
            replay = {"restore_command": f"cp {self.archive}/%f %p", "archive_mode": "off", **target}
            with Rig(data, embedding_model="") as rig, embedded.running(data, options=QUICK | replay) as server:
                with psycopg.connect(server.conninfo(), autocommit=True) as admin:
                    wait_until(lambda: admin.execute("SELECT pg_is_in_recovery()").fetchone() == (False,))
                yield rig

    def before_the_mistake(self) -> dict[str, str]:
        """Settings that stop the replay there."""
        return {"recovery_target_time": self.moment, "recovery_target_action": "promote"}


@pytest.fixture(scope="module")
def drill(prepared: Path) -> Iterator[Drill]:
    """Done once; each test restores it anew."""
    with private_folder(None) as folder:
        folder.mkdir(mode=0o755)
        yield Drill(prepared, folder)


def remember(rig: Rig, folder: Path, name: str, conversation: str, text: str) -> None:
    file = folder / "said.jsonl"
    file.write_text(json.dumps({"conversation": conversation, "id": f"{name} {conversation}", "text": text}) + "\n")
    rig.ok("ingest", str(file), "--user", name.lower())


def texts(rig: Rig, user: str) -> set[str]:
    answer = json.loads(rig.ok("recall", "heron, kingfisher, marten, oak or ash", "--user", user, "--json"))
    return {memory["text"] for memory in answer["memories"]}


def names(rig: Rig) -> set[str]:
    return {one["name"] for one in json.loads(rig.ok("user", "list", "--json"))} & set(PEOPLE)


def test_who_was_erased_by_mistake_comes_back_and_what_was_meant_stays_erased(drill: Drill, prepared: Path) -> None:
    with drill.restored(prepared, **drill.before_the_mistake()) as rig:
        assert names(rig) == set(PEOPLE), "everybody is back until the erasures are repeated"
        assert texts(rig, "eve") == {PEOPLE["Eve"], "The ash fell, too."}
        wrong = rig.run("db", "erase-again", str(drill.log), "--except", drill.ids["Ada"][:-1])
        assert wrong.returncode != 0
        assert "Nothing was erased" in wrong.stderr
        assert names(rig) == set(PEOPLE)
        said = rig.ok("db", "erase-again", str(drill.log), "--except", drill.ids["Ada"])
        assert "Erased again: 3; 0 were not in the database." in said
        assert names(rig) == {"Ada", "Eve"}
        assert texts(rig, "ada") == {PEOPLE["Ada"], "A kingfisher came after the base backup."}
        assert texts(rig, "eve") == {PEOPLE["Eve"]}
        rig.serve("api")
        answers = {
            name: httpx.post(
                f"{rig.url}/v1/recall", json={"query": "heron"}, headers={"Authorization": f"Bearer {key}"}, timeout=60
            )
            for name, key in drill.keys.items()
        }
        assert PEOPLE["Ada"] in answers["Ada"].text, "the key works again, too"
        assert [answers[name].status_code for name in PEOPLE] == [200, 401, 401]


def test_without_the_option_the_mistake_is_repeated(drill: Drill, prepared: Path) -> None:
    with drill.restored(prepared, **drill.before_the_mistake()) as rig:
        alone = rig.run("restore", "/backups/monday", "--except", drill.ids["Ada"])
        assert alone.returncode == 2
        assert "add '--erasures'" in alone.stderr
        assert "Erased again: 4" in rig.ok("db", "erase-again", str(drill.log))
        assert names(rig) == {"Eve"}


def test_erasures_since_the_moment_can_be_read_from_the_end_of_the_archive(drill: Drill, prepared: Path) -> None:
    """Where nobody kept a log: the restored database itself cannot know them."""
    with drill.restored(prepared, **drill.before_the_mistake()) as rig:
        assert rig.ok("db", "erasures") == ""
    with drill.restored(prepared) as rig:
        assert sorted(rig.ok("db", "erasures").splitlines()) == sorted(drill.log.read_text().splitlines())
