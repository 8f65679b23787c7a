"""Places at the command line and in their guide: real processes; the guide's examples do what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.killpoints import MEMSVC, Rig

pytestmark = pytest.mark.acceptance
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "places.md"
BLOCK = re.compile(r"^```sh\n(?P<script>.*?)^```", re.MULTILINE | re.DOTALL)


def run_script(rig: Rig, script: str, key: str) -> str:
    """What a block of the guide prints."""
    environment = rig.environment | {
        "PATH": f"{MEMSVC.parent}:{os.environ['PATH']}", "URL": rig.url, "AUTH": f"Authorization: Bearer {key}",
    }  # fmt: skip
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script.replace("curl -s", "echo; curl -sS --fail-with-body")],
        env=environment, capture_output=True, text=True, cwd=rig.cwd, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, (script, ran.stdout, ran.stderr)
    return ran.stdout


def test_the_guides_examples_do_what_it_says(rig: Rig) -> None:
    with rig.admin():
        rig.ok("user", "add", "--name", "Marcel")
        key = json.loads(rig.ok("key", "create", "--user", "Marcel", "--json"))["key"]
        rig.serve("api")
        commands, requests = (block["script"] for block in BLOCK.finditer(GUIDE.read_text()))
        said = run_script(rig, commands, key)
        assert said.count("written | change") == 3
        now, then = said.split("away")[1:3]
        assert "Kern Joinery" in now
        assert "Ines" not in now
        assert "Ines" in then
        near, people, drawn = (json.loads(line) for line in run_script(rig, requests, key).splitlines() if line)
        assert [item["label"] for item in near["items"]] == ["Kern Joinery"]
        assert [item["label"] for item in people["items"]] == ["Ines"]
        assert drawn["type"] == "FeatureCollection"
        assert rig.ok("places", "end", "Ines", "--at", "2026-03-02").startswith("closed")
        assert "Kern Joinery" in rig.ok("places", "nearby", "-33.9", "-70.7")  # however far, and south and west
