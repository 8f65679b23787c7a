"""The examples of some pages of docs/, run as they stand; ``…`` in an output stands for anything."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import MEMSVC, Rig

pytestmark = pytest.mark.acceptance
DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(?P<language>sh|text)\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
MARK = "--- next block ---"


def pattern(line: str) -> re.Pattern[str]:
    """A line of an output; runs of spaces are as good as one another."""
    words = re.split(r"(…)|\s+", line.strip())
    return re.compile(r"\s*" + r"\s*".join(".*" if w == "…" else re.escape(w) for w in words if w) + r"\s*")


def outputs(rig: Rig, script: str) -> list[str]:
    """What each block of a script prints."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=rig.cwd,
        env={**rig.environment, "PATH": f"{MEMSVC.parent}:{rig.environment['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done
    return done.stdout.split(MARK + "\n")


@pytest.mark.parametrize("page", ["notes.md", "ontology.md", "profile.md"])
def test_the_examples_do_what_the_page_says(page: str, prepared: Path) -> None:
    blocks = [(found["language"], found["body"]) for found in BLOCK.finditer((DOCS / page).read_text())]
    scripts = [body for language, body in blocks if language == "sh"]
    told = [body.splitlines() for language, body in blocks if language == "text"]
    assert [language for language, _ in blocks] == ["sh", "text"] * len(scripts)
    assert scripts
    with private_folder(prepared) as data, Rig(data) as rig, rig.admin():
        if any("curl" in script for script in scripts):
            rig.serve()
            scripts[0] += "KEY=$(memsvc key create --label guide)\n"
        shown = outputs(rig, f"echo '{MARK}'\n".join(scripts))
    for lines, printed in zip(told, shown, strict=True):
        found = [line for line in printed.splitlines() if line and not line.startswith(IGNORED)]
        assert len(found) == len(lines), printed
        for line, said in zip(lines, found, strict=True):
            assert pattern(line).fullmatch(said), f"told: {line}\nsaid: {said}"


IGNORED = ("Marcel ", "Next: ")
"""What 'memsvc user add' prints is another page's."""
