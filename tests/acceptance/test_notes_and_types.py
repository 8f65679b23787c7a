"""``memsvc note`` and ``memsvc ontology`` as scripts meet them: JSON, exit codes, and what cannot be."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest

from tests.acceptance.killpoints import MEMSVC, PATIENCE_S, Rig, refused

pytestmark = pytest.mark.acceptance
NASTY = "'; DROP TABLE memsvc.nodes; -- <b>\x1b[31m"


@pytest.fixture(scope="module", autouse=True)
def running(rig: Rig) -> Iterator[None]:
    """The server runs all the time, so that commands need not start it each time."""
    with rig.admin():
        rig.ok("user", "add", "--name", "Ada")
        yield


def test_notes_as_json_and_from_standard_input(rig: Rig) -> None:
    done = subprocess.run(
        [str(MEMSVC), "note", "add", NASTY, "--text", "-", "--json"],
        cwd=rig.cwd, env=rig.environment, input="two\nlines", capture_output=True, encoding="utf-8",
        timeout=PATIENCE_S, check=True,
    )  # fmt: skip
    made = json.loads(done.stdout)
    assert (made["title"], made["text"]) == (NASTY, "two\nlines")
    shown = rig.ok("note", "show", made["note_id"])
    assert "\x1b" not in shown
    assert "two\nlines" in shown
    assert "\x1b" not in rig.ok("note", "list")
    other = rig.ok("note", "add", "--id", "Other", "--about", made["note_id"]).strip()
    assert json.loads(rig.ok("note", "show", other, "--json"))["about"] == [made["note_id"]]
    link = json.loads(rig.ok("note", "link", made["note_id"], other, "extends", "--strength", "0.25", "--json"))
    assert (link["strength"], link["fact"]) == (0.25, f"{NASTY} extends Other.")
    near = json.loads(rig.ok("note", "linked", other, "--json"))
    assert [note["note_id"] for note in near] == [made["note_id"]]
    far = rig.ok("note", "add", "--id", "Far").strip()
    rig.ok("note", "link", far, made["note_id"], "supports")
    assert len(json.loads(rig.ok("note", "linked", other, "--json"))) == 2
    assert len(json.loads(rig.ok("note", "linked", other, "--radius", "1", "--json"))) == 1
    assert rig.ok("note", "unlink", link["link_id"]) == "The link has ended.\n"
    assert rig.ok("note", "unlink", link["link_id"]) == "The link had already ended.\n"
    assert json.loads(rig.ok("note", "linked", other, "--json")) == []


def test_notes_and_links_that_cannot_be(rig: Rig) -> None:
    note = rig.ok("note", "add", "--id", "Alone").strip()
    refused(rig, 2, "is not a kind of note", "note", "add", "x", "--kind", "thought")
    refused(rig, 2, "A title has 1 to 200", "note", "add", " ")
    refused(rig, 3, "is not a valid note id", "note", "show", "x")
    refused(rig, 3, "There is no node", "note", "show", "01900000-0000-7000-8000-000000000000")
    refused(rig, 2, "linked with itself", "note", "link", note, note, "extends")
    refused(rig, 2, "is not a relation of notes", "note", "link", note, note, "loves")
    refused(rig, 3, "There is no link", "note", "unlink", note)


def test_types_are_proposed_decided_and_listed(rig: Rig) -> None:
    description = ("--description", "x")
    assert rig.ok("ontology", "propose", "Robot", *description, "--parent", "Object") == "Robot is proposed.\n"
    waits = json.loads(rig.ok("ontology", "--proposals", "--json"))
    assert [t["name"] for t in waits["node_types"]] == ["Robot"]
    assert rig.ok("ontology", "reject", "Robot") == "Robot is rejected.\n"
    assert rig.ok("ontology", "--proposals") == ""
    assert rig.ok("ontology", "withdraw", "Robot") == "Robot was deleted.\n"
    assert rig.ok("ontology", "add", "Robot", *description) == "Robot is approved.\n"
    assert rig.ok("ontology", "add", "BUILDS", *description, "--to", "Robot", "--functional") == "BUILDS is approved.\n"
    assert rig.ok("ontology", "deprecate", "BUILDS") == "BUILDS is deprecated.\n"
    listed = rig.ok("ontology")
    assert "Person" in listed
    assert any(line.split()[:6] == ["BUILDS", "deprecated", "0", "any", "Robot", "one"] for line in listed.splitlines())


def test_types_that_cannot_be(rig: Rig) -> None:
    description = ("--description", "x")
    refused(rig, 3, "The core ontology has the type Person", "ontology", "add", "Person", *description)
    refused(rig, 2, "cannot be the name of a node type", "ontology", "add", "<b>", *description)
    refused(rig, 2, "are for edge types", "ontology", "add", "Plant", *description, "--to", "Person")
    refused(rig, 2, "has no node type Plant", "ontology", "add", "WATERS", *description, "--to", "Plant")
    refused(rig, 3, "is a core type", "ontology", "deprecate", "LIVES_IN")
    refused(rig, 3, "has no edge type NOTHING", "ontology", "approve", "NOTHING")
