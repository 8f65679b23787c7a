"""A running service with the sample conversation, and a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig
from tests.acceptance.web.world import ROOT, World
from tests.browser import Browser


@pytest.fixture(scope="module")
def world(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Marcel has the sample; Bob has nothing."""
    profile = tmp_path_factory.mktemp("browser")
    with private_folder(prepared) as data, Rig(data, embedding_model="") as rig, rig.admin():
        shutil.copy(ROOT / "examples" / "conversation.jsonl", rig.cwd)
        rig.ok("user", "add", "--name", "Marcel", "--zone", "Europe/Berlin")
        rig.ok("user", "add", "--name", "Bob")
        rig.ok("ingest", "conversation.jsonl", "--user", "Marcel")
        scopes = [part for scope in ("read", "write", "forget") for part in ("--scope", scope)]
        marcel, bob = (rig.ok("key", "create", "--user", name, *scopes).strip() for name in ("Marcel", "Bob"))
        rig.serve("api")
        with Browser(profile) as browser:
            yield World(rig, browser, marcel, bob)
