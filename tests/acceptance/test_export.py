"""``memsvc export`` and ``memsvc import`` as a person meets them, and killed at moments that nobody chose."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memsvc.db.files import folder
from tests.acceptance.killpoints import Rig, wait_until

pytestmark = pytest.mark.acceptance
DOCS = Path(__file__).resolve().parents[2] / "docs" / "export.md"
BLOCK = re.compile(r"^```sh\n(?P<commands>.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module", autouse=True)
def running(rig: Rig) -> Iterator[None]:
    """The server runs all the time, so that commands need not start it each time."""
    with rig.admin():
        yield


def without_time(raw: bytes) -> dict[str, object]:
    """A manifest that can be compared."""
    manifest: dict[str, object] = json.loads(raw)
    del manifest["created_at"]
    return manifest


def test_the_examples_of_the_documentation_make_a_round_trip(rig: Rig) -> None:
    shutil.copytree(folder("examples"), rig.cwd / "examples")
    block = BLOCK.search(DOCS.read_text())
    assert block is not None
    for line in block["commands"].splitlines():
        command, *words = line.split()
        assert command == "memsvc"
        rig.ok(*words)
    with zipfile.ZipFile(rig.cwd / "ada.zip") as first:
        assert first.read("passages.jsonl").count(b"\n") == 208
        files = {name for name in first.namelist() if not name.startswith("markdown/")}
        again = rig.cwd / "ada-again"
        assert {path.name for path in again.iterdir()} == files
        for name in files - {"manifest.json"}:
            assert first.read(name) == (again / name).read_bytes(), name
        assert without_time(first.read("manifest.json")) == without_time((again / "manifest.json").read_bytes())
    found = rig.ok("recall", "--user", "ada-again", "--app", "journey", "Where was the lock of Rosinante cut?")
    assert "Altona" in found


def test_mistakes_are_explained(rig: Rig) -> None:
    assert rig.run("import", "nothing", "--user", "x", "--app", "journey").returncode == 3
    again = rig.run("import", "ada.zip", "--user", "ada-again", "--app", "journey")
    assert (again.returncode, "memory is not empty" in again.stderr) == (3, True)
    nobody = rig.run("import", "ada.zip", "--app", "journey")
    assert (nobody.returncode, "--user" in nobody.stderr) == (4, True)
    there = rig.run("export", "ada.zip", "--user", "Ada", "--app", "journey")
    assert (there.returncode, "already exists" in there.stderr) == (3, True)
    rig.ok("export", "ada.zip", "--user", "Ada", "--app", "journey", "--force")
    (rig.cwd / "note.txt").write_text("mine")
    kept = rig.run("export", "note.txt", "--user", "Ada", "--app", "journey", "--force")
    assert kept.returncode == 3
    broken = rig.cwd / "broken"
    shutil.copytree(rig.cwd / "ada-again", broken)
    raw = (broken / "passages.jsonl").read_bytes()
    (broken / "passages.jsonl").write_bytes(raw.replace(b"Rosinante", b"Rosalinde"))
    refused = rig.run("import", "broken", "--user", "broken", "--app", "journey")
    assert refused.returncode == 2
    assert "passages.jsonl: its sha256 differs from the manifest's" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert "broken" not in rig.ok("user", "list", "--app", "journey")
    manifest = json.loads(rig.ok("export", "third", "--user", "Ada", "--app", "journey", "--json"))
    assert manifest["user"]["time_zone"] == "Europe/Berlin"


def test_a_killed_import_leaves_nothing_and_can_be_made_again(rig: Rig) -> None:
    """Killed when all but its last rows are written."""
    before = rig.ok("user", "list", "--app", "journey", "--json")
    with rig.held("outbox") as somebody_waits:
        part = rig.start("import", "ada.zip", "--user", "killed", "--app", "journey")
        wait_until(somebody_waits)
        rig.kill(part)
    assert rig.ok("user", "list", "--app", "journey", "--json") == before
    rig.ok("import", "ada.zip", "--user", "killed", "--app", "journey")
    with rig.admin() as admin:
        rows = admin.execute(
            "SELECT count(*), count(DISTINCT p.user_id) FROM memsvc.passages AS p INNER JOIN memsvc.users AS u "
            "ON u.user_id = p.user_id WHERE u.external_id IN ('killed', 'Ada')"
        ).fetchone()
    assert rows == (416, 2)


@pytest.mark.parametrize("target", ["half", "half.zip"])
def test_a_killed_export_leaves_nothing_under_its_name(rig: Rig, target: str) -> None:
    with rig.admin() as holder, rig.admin() as watcher:
        holder.execute("BEGIN")
        holder.execute("LOCK TABLE memsvc.tombstones IN ACCESS EXCLUSIVE MODE")
        part = rig.start("export", target, "--user", "Ada", "--app", "journey")
        waiting = "SELECT FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
        wait_until(lambda: watcher.execute(waiting, [holder.info.backend_pid]).fetchone() is not None)
        rig.kill(part)
    assert not (rig.cwd / target).exists()
    rig.ok("export", target, "--user", "Ada", "--app", "journey")
    assert (rig.cwd / target).exists()


def test_an_encrypted_export_makes_a_round_trip_and_mistakes_are_told(rig: Rig) -> None:
    pytest.importorskip("pyrage")
    from pyrage import x25519  # noqa: PLC0415

    identity = x25519.Identity.generate()
    (rig.cwd / "key.txt").write_text(f"# a key\n{identity}\n")
    (rig.cwd / "other.txt").write_text(f"{x25519.Identity.generate()}\n")
    (rig.cwd / "phrase.txt").write_text("correct horse battery\n")
    ada = ("--user", "Ada", "--app", "journey")
    rig.ok("export", "ada.zip.age", *ada, "--encrypt-to", str(identity.to_public()), "--no-markdown")
    rig.ok("export", "ada.phrase", *ada, "--passphrase-file", "phrase.txt", "--no-markdown")
    rig.ok("export", "plain.zip", *ada, "--no-markdown")
    raw = (rig.cwd / "ada.zip.age").read_bytes()
    assert raw.startswith(b"age-encryption.org/v1\n")
    assert b"passages.jsonl" not in raw
    (rig.cwd / "short.age").write_bytes(raw[:-100])
    for name, options, code, told in (
        ("ada.zip.age", (), 2, "is encrypted"),
        ("ada.zip.age", ("--identity-file", "other.txt"), 2, "No given key opens"),
        ("ada.zip.age", ("--passphrase-file", "phrase.txt"), 2, "encrypted to a key, not with a passphrase"),
        ("plain.zip", ("--identity-file", "key.txt"), 2, "is not encrypted"),
        ("ada-again", ("--identity-file", "key.txt"), 2, "not encrypted"),
        ("short.age", ("--identity-file", "key.txt"), 2, "cut off or was altered"),
        ("ada.zip.age", ("--identity-file", "absent.txt"), 2, "cannot be read"),
    ):
        refused = rig.run("import", name, "--user", "sealed", "--app", "journey", *options)
        assert (refused.returncode, told in refused.stderr) == (code, True), refused.stderr
        assert "Traceback" not in refused.stderr
    assert "sealed" not in rig.ok("user", "list", "--app", "journey")
    rig.ok("import", "ada.zip.age", "--user", "sealed", "--app", "journey", "--identity-file", "key.txt")
    rig.ok("import", "ada.phrase", "--user", "phrased", "--app", "journey", "--passphrase-file", "phrase.txt")
    for user in ("sealed", "phrased"):
        rig.ok("export", f"{user}.zip", "--user", user, "--app", "journey", "--no-markdown")
        with zipfile.ZipFile(rig.cwd / f"{user}.zip") as again, zipfile.ZipFile(rig.cwd / "plain.zip") as plain:
            assert again.read("passages.jsonl") == plain.read("passages.jsonl")
            assert again.read("edge_versions.jsonl") == plain.read("edge_versions.jsonl")
