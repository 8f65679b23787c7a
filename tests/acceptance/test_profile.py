"""``memsvc profile`` as scripts meet it, and what of it stands in a context."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.acceptance.killpoints import Rig, refused

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module", autouse=True)
def running(rig: Rig) -> Iterator[None]:
    """The server runs all the time, so that commands need not start it each time."""
    with rig.admin():
        rig.ok("user", "add", "--name", "Ada")
        yield


def test_a_block_from_the_command_line(rig: Rig) -> None:
    made = json.loads(rig.ok("profile", "append", "preferences", "Tea.\x1b[31m", "--expect", "0", "--json"))
    assert (made["kind"], made["version"]) == ("core", 1)
    refused(rig, 3, "is at version 1", "profile", "append", "preferences", "Oak.", "--expect", "0")
    said = rig.ok("profile", "replace", "preferences", "Tea", "Green tea")
    assert "preferences  (core, version 2" in said
    assert "\x1b" not in said
    assert f"[{made['id']}] preferences: Green tea." in rig.ok("context", "What to drink?")
    assert rig.ok("show", made["id"]) == said
    assert json.loads(rig.ok("profile", "move", "preferences", "archival", "--json"))["version"] == 3
    assert rig.ok("profile", "forget", "preferences", "--yes").startswith("preferences: 3 versions erased")
    refused(rig, 3, "no block 'preferences'", "profile", "history", "preferences")
