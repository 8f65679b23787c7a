"""The guides of docs/guides/: short, and their code does what they say."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import MEMSVC, Rig
from tests.api.mcp_clients import use
from tests.fakes import upstream

pytestmark = pytest.mark.acceptance
GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"
MOST_LINES = 20
CALLED = "The new bike is called Rosalinde."


def code(guide: str, language: str) -> str:
    """The one example in a language; memsvc is installed here."""
    [block] = re.findall(rf"^```{language}\n(.*?)^```", (GUIDES / f"{guide}.md").read_text(), re.MULTILINE | re.DOTALL)
    return "".join(line for line in block.splitlines(keepends=True) if not line.startswith("pip install"))


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a person tries the guides: memsvc on the path, a folder to work in."""

    rig: Rig

    def run(self, *command: str, **more: str) -> str:
        """What a command prints; it must succeed. Addresses are those of the rig."""
        ours = [part.replace("localhost:8765", f"127.0.0.1:{self.rig.port}") for part in command]
        path = f"{MEMSVC.parent}:{self.rig.environment['PATH']}"
        done = subprocess.run(
            ours,
            cwd=self.rig.cwd,
            env={**self.rig.environment, "PATH": path, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done
        return done.stdout


@pytest.fixture(scope="module")
def desk(prepared: Path) -> Iterator[Desk]:
    """The desk, without a model: guides are about doors."""
    with private_folder(prepared) as data, Rig(data, embedding_model="") as rig:
        # What 'Memory.open' would make itself, in ten seconds.
        subprocess.run(["cp", "-a", "--reflink=auto", str(data), str(rig.cwd / "memory-data")], check=True)
        with rig.admin():
            yield Desk(rig)


def test_guides_are_short() -> None:
    guides = {guide.stem: len(guide.read_text().splitlines()) for guide in GUIDES.glob("*.md")}
    assert guides.keys() == {"curl", "python", "mcp", "openai", "langgraph", "psql"}
    assert max(guides.values()) <= MOST_LINES, guides


async def test_curl_then_mcp_then_psql(desk: Desk) -> None:
    said = await asyncio.to_thread(desk.run, "bash", "-euo", "pipefail", "-c", f"{code('curl', 'sh')}\nkill %1; wait")
    assert '"outcome":"created"' in said
    assert re.search(rf"Marcel.*: “{CALLED}”", said)
    server = json.loads(code("mcp", "json"))["mcpServers"]["memory"]
    assert server["command"] == MEMSVC.name
    assert "memsvc user add --name Marcel" in code("mcp", "sh")
    started = StdioServerParameters(
        command=str(MEMSVC), args=server["args"], env=desk.rig.environment, cwd=desk.rig.cwd
    )
    async with Client(stdio_client(started)) as client:
        for tool in ("recall", "get_context"):
            assert CALLED in (await use(client, tool, query="What is the bike called?"))[0]
        await use(client, "remember", text="The boat is called Walburga.")
    [_, told] = code("psql", "sh").split("memsvc ingest examples/conversation.jsonl\n")  # something was told already
    shown = await asyncio.to_thread(desk.run, "bash", "-euo", "pipefail", "-c", told)
    assert CALLED in shown
    assert "Walburga" in shown


def test_python(desk: Desk) -> None:
    said = desk.run(sys.executable, "-c", code("python", "python"))
    assert f"“{CALLED}”" in said
    assert said.endswith("\nbikes\n")


def test_langgraph(desk: Desk) -> None:
    assert desk.run(sys.executable, "-c", code("langgraph", "python")) == f"I remember: {CALLED}\n"


async def test_openai(prepared: Path) -> None:
    async with upstream.serving() as model:
        begin = code("openai", "sh").replace("http://localhost:11434/v1", model.url)
        with private_folder(prepared) as data, Rig(data, embedding_model="") as rig, rig.admin():
            typed = f'{begin}python -c "$1"\nkill %1; wait'
            run = ("bash", "-euo", "pipefail", "-c", typed, "guide", code("openai", "python"))
            said = await asyncio.to_thread(Desk(rig).run, *run)
    assert said.splitlines()[-2:] == ["Noted.", "Noted."]
    assert CALLED in model.memory
    assert all(CALLED not in one["content"] for one in model.asked[-1].body["messages"] if one["role"] == "user")
