"""``memsvc vault`` as a person meets it: real processes, what they print and do to files, and their exit codes."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]


@pytest.fixture
def rig(prepared: Path) -> Iterator[Rig]:
    with private_folder(prepared) as data, Rig(data, embedding_model="") as made, made.admin():
        yield made


def test_a_vault_is_recognised_written_to_taken_back_and_watched(rig: Rig, tmp_path: Path) -> None:
    folder = tmp_path / "Notes"
    (folder / ".obsidian").mkdir(parents=True)
    ines, diary = folder / "Ines.md", folder / "2026-11-29.md"
    ines.write_text("# Ines\n\nInes paints. [[nobody]]\n")
    diary.write_text("Tea with [[Ines]].\n- [ ] Call her 📅 2026-12-01\n")
    (folder / "list.csv").write_text("colour,price\nred,3\n")
    rig.run("user", "add", "--name", "Ada")
    seen = rig.run("ingest", str(folder), "--dry-run")
    assert "a vault of Obsidian" in seen.stderr
    done = json.loads(rig.run("ingest", str(folder), "--json").stdout)
    assert (done["vaults"][0]["notes"], done["documents"]) == (2, {"created": 3})
    again = rig.run("vault", "add", str(folder))
    assert "Notes of Obsidian: 2; nothing has changed." in again.stdout
    [vault] = json.loads(rig.run("vault", "list", "--json").stdout)
    assert (vault["notes"], vault["links"], vault["broken"], vault["tasks"]) == (2, 1, 1, 1)
    assert "nobody" in rig.run("vault", "links", str(folder), "--broken").stdout
    rig.run(
        "assert", "Ines", "LIVES_IN", "Porto", "Ines lives in Porto.", "--from-type", "Person", "--to-type", "Place"
    )
    assert "(Person)" in rig.run("graph", "--about", "Ines").stdout
    before = ines.read_bytes()
    assert "1 note would be changed." in rig.run("vault", "write", str(folder), "--dry-run").stdout
    assert ines.read_bytes() == before
    assert "+- Ines lives in Porto." in rig.run("vault", "write", str(folder)).stdout
    ines.write_text(ines.read_text().replace("lives in Porto", "lives in Lisbon"))
    rig.run("assert", "Ines", "LIVES_IN", "Lyon", "Ines lives in Lyon.", "--to-type", "Place", "--from", "2026-03-01")
    refused = rig.run("vault", "write", str(folder))
    assert (refused.returncode, "lives in Lisbon" in refused.stderr) == (3, True)
    assert rig.run("vault", "write", str(folder), "--accept").returncode == 0
    assert rig.run("vault", "write", str(folder), "--beside").returncode != 0
    for _ in range(2):
        rig.run("vault", "undo", str(folder))
    assert ines.read_bytes() == before
    watching = rig.start("vault", "watch", str(folder))
    wait_until(lambda: "2 notes" in watching.output.read_text())
    diary.write_text("Coffee with [[Ines]].\n")
    wait_until(lambda: "2026-11-29.md changed" in watching.output.read_text())
    watching.process.send_signal(signal.SIGINT)
    assert watching.finish()[0] == 0
    assert "Coffee with" in rig.run("recall", "coffee").stdout
