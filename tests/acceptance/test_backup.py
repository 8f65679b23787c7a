"""``memsvc backup`` and ``memsvc restore`` as a person meets them: to a folder, and into one that was never used."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig

pytestmark = pytest.mark.acceptance
LINE = '{"conversation": "talk", "id": "m%d", "text": "The heron number %d stood in the pond."}\n'


def test_what_was_backed_up_is_restored_into_an_empty_folder_and_what_was_forgotten_since_is_not(
    prepared: Path, tmp_path: Path
) -> None:
    with private_folder(prepared) as data, Rig(data, embedding_model="") as rig:
        back_up_and_restore(rig, tmp_path)


def back_up_and_restore(rig: Rig, tmp_path: Path) -> None:
    talk, folder, log = tmp_path / "talk.jsonl", tmp_path / "monday", tmp_path / "erasures.jsonl"
    talk.write_text("".join(LINE % (number, number) for number in range(3)))
    with rig.admin():
        rig.ok("user", "add", "--name", "Ada")
        rig.ok("ingest", str(talk))
        [index] = json.loads(rig.ok("db", "reindex", "passages_words", "--json"))
        assert (index["name"], index["after"] > 0) == ("passages_words", True)
        assert "oldest transaction" in rig.ok("db", "health")
        shown = rig.ok("db", "sizes", "--limit", "500")
        assert re.search(r"^database: [\d,]+\.\d MB\n", shown)
        assert re.search(r"^passages +[\d.]+ MB", shown, re.MULTILINE)
        assert re.search(r"^passages_words +passages +gin +[\d.]+ MB", shown, re.MULTILINE)
        measured = json.loads(rig.ok("db", "sizes", "--json"))
        assert measured["database"] > sum(table["total"] for table in measured["tables"])
        assert "passages 3" in rig.ok("backup", str(folder))
        again = rig.run("backup", str(folder))
        assert (again.returncode, "already" in again.stderr or "never overwrites" in again.stderr) == (3, True)
        [second] = json.loads(rig.ok("recall", "heron number 1", "-k", "1", "--json"))["memories"]
        rig.ok("forget", "--message", second["passage_id"], "--yes")
        log.write_text(rig.ok("db", "erasures"))
        used = rig.run("restore", str(folder))
        assert (used.returncode, "not empty" in used.stderr) == (3, True)
    assert [json.loads(line)["kind"] for line in log.read_text().splitlines()] == ["message"]
    with private_folder(None) as empty, Rig(empty, embedding_model="") as elsewhere:
        refused = elsewhere.run("restore", str(folder))
        assert (refused.returncode, "--new-secret" in refused.stderr) == (78, True)
        assert not empty.exists()
        empty.mkdir(mode=0o755)
        shutil.copy(rig.data / "secrets.json", empty / "secrets.json")
        told = elsewhere.ok("restore", str(folder), "--erasures", str(log))
        assert "users 1, passages 3" in told
        assert "Erased again: 1; 0 were not in the backup." in told
        found = json.loads(elsewhere.ok("recall", "heron in the pond", "--json"))["memories"]
        assert {memory["message_id"] for memory in found} == {"m0", "m2"}
        assert "Erased again: 0; 1 were not in the database." in elsewhere.ok("db", "erase-again", str(log))
