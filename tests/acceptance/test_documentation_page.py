"""The page at ``/docs`` in a real browser: its policy lets its own script run, and the script draws every operation."""

from __future__ import annotations

import html
import re
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.acceptance.killpoints import Rig
from tests.servers import program

pytestmark = pytest.mark.acceptance
OPENED_S = 120.0


def opened(url: str, folder: Path) -> str:
    """The document that Chromium has after the page's scripts are done."""
    command = [
        program("chromium", "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--no-first-run", "--disable-background-networking", f"--user-data-dir={folder}", "--virtual-time-budget=10000",
        "--dump-dom", url,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=OPENED_S, check=True).stdout


def test_the_page_draws_every_operation(rig: Rig, tmp_path: Path) -> None:
    with rig.admin():
        part = rig.serve("api")
        try:
            described = httpx.get(f"{rig.url}/schema/openapi.json").json()
            page = opened(f"{rig.url}/docs", tmp_path / "browser")
        finally:
            rig.kill(part)
    operations = {
        operation["operationId"]: operation["summary"]
        for item in described["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict) and "operationId" in operation
    }
    assert len(operations) >= 18
    drawn = dict(re.findall(r'<section id="(\w+)">.*?<strong>(.*?)</strong>', page, re.DOTALL))
    assert {name: html.unescape(summary) for name, summary in drawn.items()} == operations
