"""What commands say to somebody who is new: errors name what helps on a command line, and counts are grammatical."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, refused

pytestmark = pytest.mark.acceptance
AS = ("--user", "Ada")


@pytest.fixture(scope="module")
def rig(prepared: Path) -> Iterator[Rig]:
    """A memsvc without a model, with a user."""
    with private_folder(prepared) as data, Rig(data, embedding_model="") as made, made.admin():
        made.ok("user", "add", "--name", "Ada")
        yield made


@pytest.mark.parametrize("command", [("ask", ""), ("ask", " "), ("verify", "")])
def test_an_empty_text_is_refused_with_the_commands_help(rig: Rig, command: tuple[str, str]) -> None:
    said = refused(rig, 2, f"'memsvc {command[0]} --help'", *command, *AS)
    assert "/docs" not in said


@pytest.mark.parametrize("command", ["ask", "context"])
@pytest.mark.parametrize("budget", ["10", "100001"])
def test_a_budget_that_cannot_be_is_refused_by_the_options_name(rig: Rig, command: str, budget: str) -> None:
    refused(rig, 2, "Invalid value for '--budget'", command, "bike", "--budget", budget, *AS)


def test_an_unknown_type_is_named_before_an_unknown_node(rig: Rig) -> None:
    refused(rig, 2, "no edge type 'LIVESIN'", "assert", "Eva", "LIVESIN", "X", "y", *AS)
    refused(rig, 3, r"No node is called 'Eva'(.|\n)*--from-type TYPE", "assert", "Eva", "LIVES_IN", "X", "y", *AS)
    made = ("--from-type", "Person")
    refused(rig, 3, r"No node is called 'X'(.|\n)*--to-type TYPE", "assert", "Eva", "LIVES_IN", "X", "y", *made, *AS)


def test_import_says_what_it_reads(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text('{"text": "a heron"}')
    for path in (tmp_path / "chat.jsonl", tmp_path):
        said = refused(rig, 2, "'memsvc import' reads what 'memsvc export' wrote", "import", str(path), "--user", "Eve")
        assert "memsvc ingest" in said


def test_cells_say_what_a_name_and_a_weight_mean(rig: Rig) -> None:
    refused(rig, 2, "'home' is taken", "cells", "add", "home", "postgresql:///x")
    refused(rig, 2, "'Home' cannot be a cell's name", "cells", "add", "Home", "postgresql:///x")
    assert "new users still come to home" in rig.ok("cells", "weight", "home", "0")
    assert rig.ok("cells", "weight", "home", "2") == "New users come to home with the weight 2 of 2.\n"


def test_a_day_before_the_first_sleep_is_not_told_as_no_sleep_at_all(rig: Rig) -> None:
    rig.ok("sleep", "--tasks", "duplicates", *AS)
    said = rig.ok("sleep", "--report", "--date", "2020-01-01", *AS)
    assert "did not run on this day" in said
    assert "has not run yet" not in said


def test_a_model_that_is_missing_is_told_in_words(rig: Rig) -> None:
    done = Rig(rig.data, embedding_model="onnx:none").run("recall", "heron", *AS)
    assert "Searched without: vector. The embedding model" in done.stderr
    assert not any(line.startswith("{") for line in done.stderr.splitlines())
    assert "\x1b" not in done.stderr


def test_a_name_that_no_speaker_has_is_refused(rig: Rig, tmp_path: Path) -> None:
    def chat(*speakers: str) -> str:
        file = tmp_path / f"{'-'.join(speakers)}.jsonl"
        rows = [{"id": str(n), "speaker": one, "text": f"heron {n}"} for n, one in enumerate(speakers)]
        file.write_text("\n".join(map(json.dumps, rows)))
        return str(file)

    for file in (chat("Tom", "Una"), chat("Tom"), chat("Tom", "assistant")):
        refused(rig, 2, r"no speaker is called 'Tmo': Tom \(1\)", "ingest", file, "--me", "Tmo", *AS)
    assert "not known" in rig.ok("ingest", "--dry-run", chat("Tom", "Una"), "--me", "Tmo", *AS)
    assert rig.ok("ingest", chat("Tom", "Una"), "--me", "tom", *AS).startswith("2 new messages")
    stored = rig.run("ingest", chat("Kai", "Lea"), *AS)
    assert stored.stdout.startswith("2 new messages")
    assert "you are none of the speakers: Kai, Lea." in stored.stderr
    assert rig.run("ingest", chat("Mia", "Noa"), "--not-me", *AS).stderr == ""
    # Where several files are read, one may be a chat in which somebody else speaks alone.
    assert rig.run("ingest", chat("Ole"), chat("Pia", "Tom"), "--me", "Tom", *AS).returncode == 0


def test_one_of_something_is_told_in_the_singular(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text('{"id": "1", "conversation": "one", "text": "a heron"}')
    (tmp_path / "a.md").write_text("# Herons\n\nHerons stand still.\n")
    seen = rig.ok("ingest", "--dry-run", str(tmp_path / "chat.jsonl"), *AS)
    assert "messages  1 in 1 conversation\n" in seen
    assert rig.ok("ingest", str(tmp_path / "chat.jsonl"), *AS).startswith("1 new message, 0 already stored.")
    assert "1 new chunk.\n" in rig.ok("ingest", str(tmp_path / "a.md"), *AS)
