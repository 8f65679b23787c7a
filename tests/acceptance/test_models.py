"""The whole change of an embedding model by commands, with a second model behind a real HTTP server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.killpoints import Rig
from tests.fakes.embedding_server import EmbeddingServer, embedding_server

pytestmark = pytest.mark.acceptance
OLD, NEW = "onnx:all-MiniLM-L6-v2", "openai:fake"
TEXTS = ("The heron stands in the reeds.", "Ines sold the mill.", "We meet on Friday.", "Otters swim.", "Tea at five.")


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingServer]:
    """Gives vectors of 1,024 dimensions."""
    with embedding_server(1_024) as serving:
        yield serving


@pytest.fixture(scope="module")
def told(rig: Rig, server: EmbeddingServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A running server with a user's five messages."""
    rig.environment["MEMSVC_EMBEDDING_URL"] = server.url
    with rig.admin():
        rig.ok("user", "add", "--name", "Ada")
        file: Path = tmp_path_factory.mktemp("models") / "a.jsonl"
        file.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
        rig.ok("ingest", str(file))
        yield rig


def shown(rig: Rig) -> dict[str, tuple[Any, ...]]:
    """State, embedded and lacking of each model."""
    models = json.loads(rig.ok("models", "--json"))["models"]
    return {model["name"]: (model["state"], model["embedded"], model["lacking"]) for model in models}


def refused(rig: Rig, code: int, says: str, *arguments: str) -> None:
    done = rig.run(*arguments)
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (code, "", False), done
    assert says in done.stderr


def test_a_model_is_built_switched_to_rolled_back_and_retired(told: Rig) -> None:
    assert shown(told) == {OLD: ("active", 5, 0)}
    said = told.ok("models", "build", NEW)
    assert f"{NEW} is building: 0 messages have its vectors, 5 lack them." in said
    assert "1 user has a job" in said
    assert shown(told) == {OLD: ("active", 5, 0), NEW: ("building", 0, 5)}
    refused(told, 3, "5 messages still lack", "models", "switch", NEW)

    assert f"resume {NEW}" in told.ok("models", "pause", NEW)
    assert "paused" in told.ok("models")
    assert "is paused" in told.ok("models", "build", NEW, "--wait")
    assert "1 user has a job" in told.ok("models", "resume", NEW)
    assert "none lack them" in told.ok("models", "build", NEW, "--wait")

    assert f"{NEW} is the active model now, {OLD} is leaving." in told.ok("models", "switch", NEW)
    assert shown(told) == {OLD: ("leaving", 5, 0), NEW: ("active", 5, 0)}
    assert "The heron stands" in told.ok("recall", "heron in the reeds")
    checks = {check["name"]: check for check in json.loads(told.ok("doctor", "--json"))["checks"]}
    assert NEW in checks["embedding model"]["says"]
    assert "change of model" not in checks

    assert f"{OLD} is the active model now" in told.ok("models", "rollback")
    refused(told, 3, "is the active one", "models", "retire", OLD)
    assert "5 vectors were deleted" in told.ok("models", "retire", NEW)
    assert "0 vectors were deleted" in told.ok("models", "retire", NEW)
    assert shown(told) == {OLD: ("active", 5, 0), NEW: ("retired", 0, 5)}
    refused(told, 3, "nothing to go back to", "models", "rollback")


def test_a_model_that_cannot_be_asked_is_not_built(told: Rig, server: EmbeddingServer) -> None:
    before = shown(told)
    refused(told, 78, "There is no embedding model 'nothing'", "models", "build", "nothing")
    server.modes = ["ok", "shape"]
    refused(told, 69, "another form", "models", "build", "openai:broken")
    refused(told, 3, "There is no embedding model 'nothing'", "models", "pause", "nothing")
    assert shown(told) == before


def test_one_user_can_be_counted_alone(told: Rig) -> None:
    assert "Usage" not in told.ok("models", "list")
    told.ok("user", "add", "--name", "Bob")
    models = json.loads(told.ok("models", "list", "--json", "--user", "Bob"))["models"]
    assert {(model["embedded"], model["lacking"]) for model in models} == {(0, 0)}
    assert told.ok("models", "embed", "--user", "Bob") == "0 vectors stored.\n"
