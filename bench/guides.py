"""``python -m bench.guides``: each guide of docs/guides as a reader meets it, from a fresh clone, in seconds.

For each guide: HEAD is cloned into a new folder, a new virtual environment is made, and what the guide says is typed
in there, with a data folder that nobody used before. Its own ``pip install`` line installs memsvc; what pip has in its
cache it need not fetch again. Only addresses are changed, to ports that are free here. What it shows is looked at.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.harness import REPOSITORY, Outcome, figures_table, report, run
from memsvc.server import embedded

GUIDES = REPOSITORY / "docs" / "guides"
CALLED = "The new bike is called Rosalinde."
SHOWN = {"psql": 'View "memsvc.messages"'}
"""What a guide shows at last, where that is not the bike's name."""
FIVE_MINUTES_S = 300.0
ASSISTANT = """
import asyncio, json, os, sys
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

async def talk():
    server = json.loads(sys.argv[1])["mcpServers"]["memory"]
    started = StdioServerParameters(**server, env=dict(os.environ))
    async with Client(stdio_client(started)) as client:
        await client.call_tool("remember", {"text": "The new bike is called Rosalinde."})
        print((await client.call_tool("recall", {"query": "What is the bike called?"})).content[0].text)

asyncio.run(talk())
"""
"""What a desktop assistant does with its settings."""


def blocks(guide: str, language: str) -> list[str]:
    """The examples of a guide in a language."""
    text = (GUIDES / f"{guide}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def free_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
    return found


@dataclass(slots=True)
class Desk:
    """Where a reader sits: a clone, an environment of its own, and a shell in the clone."""

    folder: Path
    port: int = field(default_factory=free_port)

    @property
    def clone(self) -> Path:
        """The clone."""
        return self.folder / "memsvc"

    def prepare(self) -> None:
        """Clone what is committed, and make the environment."""
        subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(self.clone)], check=True)
        subprocess.run([sys.executable, "-m", "venv", str(self.folder / "venv")], check=True)

    def type_in(self, script: str, *arguments: str) -> str:
        """What a shell prints that reads this.

        Raises:
            SystemExit: it failed; its output is on stderr.
        """
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("MEMSVC_", "PYTHON", "VIRTUAL_"))
        }
        environment = {
            **inherited,
            "PATH": f"{self.folder / 'venv' / 'bin'}:{inherited['PATH']}",
            "MEMSVC_DATA_DIR": str(self.folder / "data"),
            "MEMSVC_PORT": str(self.port),
            "PIP_QUIET": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        typed = [given.replace("localhost:8765", f"127.0.0.1:{self.port}") for given in (script, "guide", *arguments)]
        # To files: a service that a failing guide leaves behind would hold a pipe open.
        printed, errors = self.folder / "printed", self.folder / "errors"
        with printed.open("wb") as output, errors.open("wb") as complaints:
            shell = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", *typed], cwd=self.clone, env=environment,
                stdin=subprocess.DEVNULL, stdout=output, stderr=complaints, start_new_session=True,
            )  # fmt: skip
            try:
                code = shell.wait(2 * FIVE_MINUTES_S)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(shell.pid, signal.SIGKILL)
        shown = printed.read_text(encoding="utf-8")
        if code:
            print(shown, errors.read_text(encoding="utf-8"), sep="\n", file=sys.stderr)
            sys.exit(f"A guide failed with {code}.")
        return shown


LEAVE = "\nkill %1; wait"


def curl(desk: Desk) -> str:
    """A service, and two requests."""
    return desk.type_in(blocks("curl", "sh")[0] + LEAVE)


def in_python(guide: str) -> Callable[[Desk], str]:
    """A program that holds its memory itself."""

    def typed(desk: Desk) -> str:
        install = "".join(blocks(guide, "sh")) or _line_of_title(guide)
        return desk.type_in(f'{install}\npython -c "$1"', blocks(guide, "python")[0])

    return typed


def _line_of_title(guide: str) -> str:
    title = (GUIDES / f"{guide}.md").read_text(encoding="utf-8").splitlines()[0]
    return title.partition("`")[2].rstrip("`")


def mcp(desk: Desk) -> str:
    """The settings of an assistant, read by the official client."""
    return desk.type_in(blocks("mcp", "sh")[0] + '\npython -c "$1" "$2"', ASSISTANT, blocks("mcp", "json")[0])


def psql(desk: Desk) -> str:
    """Questions in SQL; a conversation came before."""
    return desk.type_in(blocks("psql", "sh")[0])


def openai(desk: Desk) -> str:
    """An OpenAI client whose chat server knows nothing but what it is told."""
    with chat_server() as (url, told):
        begin = blocks("openai", "sh")[0].replace("http://localhost:11434/v1", url)
        desk.type_in(f'{begin}\npython -c "$1"{LEAVE}', blocks("openai", "python")[0])
    return "\n".join(told[-1])


@contextlib.contextmanager
def chat_server() -> Iterator[tuple[str, list[list[str]]]]:
    """A chat server that nods: its address, and the system messages of each request."""
    told: list[list[str]] = []

    class Nods(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.append([one["content"] for one in asked["messages"] if one["role"] == "system"])
            said: dict[str, Any] = {"role": "assistant", "content": "Noted."}
            answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "any"}
            body = json.dumps(answer | {"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as http.server calls it
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Nods) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", told
        server.shutdown()


READERS: dict[str, Callable[[Desk], str]] = {
    "curl": curl,
    "python": in_python("python"),
    "mcp": mcp,
    "openai": openai,
    "langgraph": in_python("langgraph"),
    "psql": psql,
}


def measure(guide: str) -> float:
    """Seconds from an empty folder to the end of a guide.

    Raises:
        SystemExit: it does not work.
    """
    folder = Path(tempfile.mkdtemp(prefix="memsvc-guide-"))
    folder.chmod(0o755)  # the server's unprivileged user must reach its data
    try:
        began = time.monotonic()
        desk = Desk(folder)
        desk.prepare()
        shown = READERS[guide](desk)
        seconds = time.monotonic() - began
        if SHOWN.get(guide, CALLED) not in shown:
            print(shown, file=sys.stderr)
            sys.exit(f"The guide {guide} does not show what it says.")
        return seconds
    finally:
        for data in (folder / "data", folder / "memsvc" / "memory-data"):
            if data.exists():
                embedded.stop(data)
        shutil.rmtree(folder, ignore_errors=True)


def bench() -> None:
    """Read all guides, or those that are named."""
    parser = argparse.ArgumentParser(prog="make bench-guides")
    parser.add_argument("--only", help="guides with commas between them; no result is written")
    only = parser.parse_args().only
    wanted = only.split(",") if only else sorted({guide.stem for guide in GUIDES.glob("*.md")})
    outcome = Outcome("guides", configuration={"from": "an empty folder: clone, environment, pip install, the guide"})
    for guide in wanted:
        outcome.figures[f"{guide}.s"] = measure(guide)
        outcome.bars[f"{guide}.s"] = f"<= {FIVE_MINUTES_S:.0f}"
        print(f"{guide}: {outcome.figures[f'{guide}.s']:.0f} s", flush=True)
    figures_table("Guides, from a fresh clone", outcome, ("",))
    if not only:
        report(outcome)


if __name__ == "__main__":
    run(bench)
