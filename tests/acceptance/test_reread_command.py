"""``memsvc reread`` in real processes: an extractor is installed, then a new version of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, refused
from tests.fakes import installed_reader

pytestmark = pytest.mark.acceptance


@pytest.fixture
def installed(prepared: Path, tmp_path: Path) -> Iterator[Rig]:
    """A memsvc of its own, whose first version finds no WORKS_AT."""
    with (
        private_folder(prepared) as data,
        Rig(data, extractor=installed_reader.NAME, embedding_model="") as made,
    ):
        made.environment |= installed_reader.install(tmp_path / "packages")
        made.environment |= {installed_reader.WITHOUT: "WORKS_AT"}
        with made.admin():
            yield made


def test_a_new_version_is_tried_applied_looked_at_and_undone(installed: Rig, tmp_path: Path) -> None:
    rig = installed
    rig.ok("user", "add", "--name", "Ada")
    chat = tmp_path / "chat.jsonl"
    texts = ("I OWNS a boat.", "Ana WORKS_AT Lidl.", "Ana KNOWS Rui.")
    chat.write_text("".join(json.dumps({"speaker": "Ada", "text": text}) + "\n" for text in texts))
    rig.ok("ingest", str(chat))
    rig.ok("extract", "--all")
    assert "nothing to read again" in rig.run("reread", "run").stderr

    rig.environment |= {installed_reader.VERSION: "2", installed_reader.WITHOUT: "OWNS"}
    dry = json.loads(rig.ok("reread", "run", "--dry-run", "--json"))
    assert (dry["extractor"], dry["turns"], dry["left"], dry["next_cursor"]) == ("saying/2", 3, 3, None)
    assert "nothing was stored" in rig.run("reread", "run", "--dry-run").stderr
    assert json.loads(rig.ok("reread", "list", "--json")) == []

    done = json.loads(rig.ok("reread", "run", "--json"))
    assert (done["state"], done["counts"]) == ("done", dry["counts"])
    assert done == json.loads(rig.ok("reread", "run", "--json")), "once is enough"
    shown = rig.ok("reread", "show", done["rereading_id"], "--outcome", "retracted")
    assert "I OWNS a boat." in shown
    assert "Ana WORKS_AT Lidl." not in shown
    [status] = [one for one in json.loads(rig.ok("extract", "status", "--json")) if one["extractor"] == "saying/2"]
    assert (status["turns"], status["left"], status["again"]) == (3, 0, 0)
    refused(rig, 3, "The re-reading is done", "reread", "stop", done["rereading_id"])
    refused(rig, 3, "no re-reading with this id", "reread", "undo", "01a2007c-7eda-7cfc-8e66-461d27fa4b50")

    undone = json.loads(rig.ok("reread", "undo", done["rereading_id"], "--json"))
    assert (undone["rereading"]["state"], undone["not_undone"]) == ("undone", [])
    assert "I OWNS a boat." in rig.ok("facts", "--about", "Ada")
    assert "undone" in rig.ok("reread", "list")
