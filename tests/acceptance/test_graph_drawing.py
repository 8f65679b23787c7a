"""``memsvc graph`` on the sample conversation: trees for people, drawings for programs, and the guide's examples."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from memsvc.access.users import find_app, find_user
from memsvc.db.engine import Database, role_url
from memsvc.db.files import folder
from memsvc.graph import history
from memsvc.graph.find import find_node
from memsvc.graph.operations import Alias, Edge, Node, Operation
from memsvc.settings import Settings
from tests.acceptance.killpoints import Rig
from tests.sample_graph import sample_operations

pytestmark = pytest.mark.acceptance
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "graph.md"
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
HOSTILE = "\x1b]0;owned\x07\x1b[31mred\nnext\u202eback"


@pytest.fixture(scope="module")
async def told(rig: Rig) -> AsyncIterator[Rig]:
    """A running server: Marcel with the sample conversation and its facts; Eve, who likes what has a bad label."""
    with rig.admin() as admin:
        rig.ok("user", "add", "--name", "Marcel", "--alias", "MW", "--zone", "Europe/Berlin", "--external-id", "marcel")
        rig.ok("user", "add", "--name", "Eve", "--external-id", "eve")
        rig.environment["MEMSVC_USER"] = "marcel"
        rig.ok("ingest", str(folder("examples") / "conversation.jsonl"), embedding_model="")
        messages = dict(admin.execute("SELECT client_id, passage_id FROM memsvc.passages WHERE part = 0").fetchall())
        settings = Settings.model_validate({"data_dir": rig.data, "database_url": rig.admin_url()})
        db = Database(role_url(rig.admin_url(), "memsvc_app", settings.secret("app_password")), settings)
        try:
            app = await find_app(db)
            for name in ("marcel", "eve"):
                owner = (await find_user(db, app, name)).owner
                me = await find_node(db, owner, "me")
                facts = sample_operations(me, messages) if name == "marcel" else bad_label(me)
                await history.write(db, owner, facts, asserted_by="user")
        finally:
            await db.close()
        yield rig


def bad_label(me: UUID) -> list[Operation]:
    return [
        Node(type="Concept", label=HOSTILE),
        Edge(from_node=me, type="LIKES", to_node=0, fact=HOSTILE),
        Node(type="Concept", label=f"{HOSTILE} 2"),
        Alias(node=0, alias="Twice"),
        Alias(node=2, alias="twice"),
    ]


def refused(rig: Rig, code: int, says: str, *arguments: str) -> None:
    done = rig.run("graph", *arguments)
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (code, "", False), done
    assert re.search(says, done.stderr), done.stderr


def test_the_past_looks_different(told: Rig) -> None:
    then = told.ok("graph", "--about", "mw", "--as-of", "2025-10-01", "--hops", "1")
    assert "lives in → Hamburg (Place), until 2026-04-18" in then
    assert "Porto" not in then
    assert "Jonas" not in then
    ever = told.ok("graph", "--about", "Marcel", "--type", "LIVES_IN", "--as-of", "always")
    assert "Hamburg" in ever
    assert "lives in → Porto (Place), since 2026-04-18" in ever
    assert "1 node, 0 facts." in told.ok("graph", "--about", "Marcel", "--known-at", "2020-01-01")


def test_far_walks_and_pages_say_what_they_leave_out(told: Rig) -> None:
    far = told.ok("graph", "--about", "Porto", "--hops", "4")
    assert "11 nodes, 12 facts." in far
    assert far.count("→") + far.count("←") == 12
    everything = json.loads(told.ok("graph", "--json"))
    assert (len(everything["nodes"]), len(everything["edges"]), everything["truncated"]) == (16, 12, False)
    some = told.run("graph", "--limit", "4", "--json")
    read = json.loads(some.stdout)
    assert read["truncated"] is True
    assert 2 <= len(read["nodes"]) <= 4
    assert {edge["from_node"] for edge in read["edges"]} <= {node["node_id"] for node in read["nodes"]}
    assert "There is more" in told.ok("graph", "--limit", "4")


def test_a_conversation_is_drawn(told: Rig) -> None:
    name = "marcel-and-ines"
    drawn = told.ok("graph", "--conversation", name, "--mermaid")
    assert drawn.startswith("flowchart LR\n")
    assert '"Wedding of Ines and Jonas"' in drawn
    assert "Eve" not in drawn
    read = json.loads(told.ok("graph", "--conversation", name, "--json", "--limit", "4"))
    assert (len(read["edges"]), read["truncated"]) == (2, True)
    assert "lives in → Porto (Place)" in told.ok("graph", "--conversation", name)
    assert "lives in" not in told.ok("graph", "--conversation", name, "--type", "KNOWS")
    refused(told, 3, "no conversation 'nowhere'", "--conversation", "nowhere")
    refused(told, 3, "no conversation", "--conversation", name, "--user", "eve")


def test_a_drawing_goes_to_a_file_that_others_cannot_read(told: Rig, tmp_path: Path) -> None:
    file = tmp_path / "graph.graphml"
    done = told.run("graph", "--graphml", "--output", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    assert f"Written to {file}." in done.stderr
    text = file.read_text(encoding="utf-8")
    assert (text.count("<node "), text.count("<edge ")) == (16, 12)
    assert "Obermühle" in text
    assert file.stat().st_mode & 0o777 == 0o600
    assert told.ok("graph", "--graphml") == text
    refused(told, 2, r"cannot be written: Is a directory\.", "-o", str(tmp_path))
    refused(told, 2, "cannot be written: No such file", "-o", str(tmp_path / "nowhere" / "file"))


def test_labels_do_not_steer_the_terminal(told: Rig) -> None:
    shown = told.ok("graph", "--user", "eve")
    assert "likes → ]0;owned [31mred next back (Concept)" in shown
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", shown)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", told.ok("graph", "--user", "eve", "--mermaid"))
    assert "Porto" not in shown
    refused(told, 3, re.escape("'\\x1b]0;owned!'"), "--user", "eve", "--about", HOSTILE[:9] + "!")
    done = told.run("graph", "--user", "eve", "--about", "twice")
    assert (done.returncode, done.stdout) == (3, "")
    assert len(re.findall(r"\(Concept, [0-9a-f-]{36}\)", done.stderr)) == 2
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", done.stderr)


def test_what_cannot_be_shown_is_refused(told: Rig) -> None:
    refused(told, 3, "No node is called 'Nowhere'", "--about", "Nowhere")
    refused(told, 3, "No node is called 'Porto'", "--about", "Porto", "--user", "eve")
    refused(told, 3, "No node is called 'Nowhere'", "--path", "Marcel", "Nowhere")
    refused(told, 2, "no edge type 'LIVES_UNDER'", "--type", "LIVES_UNDER")
    refused(told, 2, "'yesterday' is not a time", "--as-of", "yesterday")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--about", "a", "--stats"), ("--about", "a", "--path", "a", "b"), ("--conversation", "a", "--about", "b"),
        ("--conversation", "a", "--hops", "1"), ("--stats", "--mermaid"), ("--path", "a"),
        ("--mermaid", "--graphml"), ("--hops", "5"), ("--limit", "0"), ("--limit", "1001"), ("--hops", "x"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_end_at_once(rig: Rig, arguments: tuple[str, ...]) -> None:
    done = rig.run("graph", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Error: " in done.stderr


# The guide


def section() -> str:
    """What the guide says about walking and drawing."""
    text = GUIDE.read_text(encoding="utf-8")
    return text.split("\n## Walking and drawing\n")[1].split("\n## ")[0]


def test_the_commands_of_the_guide_print_what_it_shows(told: Rig) -> None:
    shown = 0
    for block in BLOCK.finditer(section()):
        if block["kind"] == "console":
            for example in block["text"].split("$ memsvc ")[1:]:
                command, _, output = example.partition("\n")
                assert told.ok(*shlex.split(command)) == output.rstrip("\n") + "\n", command
                shown += 1
        elif block["kind"] == "mermaid":
            [command] = re.findall(r"`memsvc (graph [^`]*--mermaid)`", section())
            assert told.ok(*shlex.split(command)) == block["text"]
            shown += 1
    assert shown >= 4


def test_the_addresses_of_the_guide_answer(told: Rig) -> None:
    addresses = re.findall(r"localhost:8765(/v1/graph[^'\"\s]*)", section())
    assert len(addresses) >= 3
    key = told.ok("key", "create", "--label", "guide").split()[0]
    part = told.serve("api")
    try:
        headers = {"Authorization": f"Bearer {key}", "X-Memsvc-User": "marcel"}
        for address in addresses:
            answer = httpx.get(f"{told.url}{address}", headers=headers)
            assert answer.status_code == 200, answer.text
            assert answer.text
    finally:
        told.kill(part)


def test_the_table_of_the_guide_names_every_walk() -> None:
    from memsvc.api.controllers.walks import WalksController  # noqa: PLC0415

    named = set(re.findall(r"`GET (/v1/graph\S*?)`", section()))
    served = {f"/v1/graph{path}".rstrip("/") for path in _paths(WalksController)}
    assert named == served


def _paths(controller: Any) -> list[str]:
    return [path for handler in vars(controller).values() for path in getattr(handler, "paths", ())]
