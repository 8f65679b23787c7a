"""The published driver of Apache AGE reads the graph, in an environment of its own.

Its parser leaves the escapes of quotes in texts as they are, so no text here has one.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from memsvc.db.engine import Database
from memsvc.db.identity import Signer
from memsvc.graph.history import assert_facts
from memsvc.graph.operations import Edge, Node
from memsvc.settings import Settings
from tests.cypher.conftest import Asker
from tests.sql.world import CYPHER, login_url

DRIVER = "apache-age-python==0.0.7"
NEEDS = ("antlr4-python3-runtime==4.11.1", "psycopg2-binary==2.9.12")
"""The driver asks for psycopg2, which would have to be compiled; this is the same as a wheel."""
DONE = ".complete"


def environment() -> Path:
    """The Python of an environment with the driver, made once a machine in the user's cache folder."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memsvc-tests"
    cache.mkdir(parents=True, exist_ok=True)
    place = cache / f"age-{DRIVER.rpartition('=')[2]}-py{sys.version_info.major}{sys.version_info.minor}"
    with place.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / DONE).is_file():
            shutil.rmtree(place, ignore_errors=True)  # half made
            pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            subprocess.run([*pip, "--only-binary", ":all:", *NEEDS], check=True)
            subprocess.run([*pip, "--no-deps", DRIVER], check=True)
            (place / DONE).touch()
    return place / "bin" / "python"


def read(python: Path, asked: dict[str, str]) -> Any:
    """What the driver reads."""
    done = subprocess.run(
        [str(python), str(Path(__file__).with_name("driver_side.py"))], input=json.dumps(asked), capture_output=True,
        text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


async def test_the_published_driver_reads_a_users_graph(
    asker: Callable[[str], Awaitable[Asker]], cypher_db: Database, cypher_url: str, cypher_settings: Settings
) -> None:
    bob, ines = await asker("Bob"), await asker("Ines")
    [[self]] = await ines.rows("MATCH (n:Person) RETURN n.id")
    facts: list[Node | Edge] = [
        Node(type="Place", label="Porto", data={"tags": ["x", 1, 2.5, None, True], "big": 2**60}),
        Edge(from_node=UUID(self), type="LIVES_IN", to_node=0, fact="Ines lives in Porto."),
    ]
    await assert_facts(cypher_db, ines.owner, facts, asserted_by="tests")
    query = "MATCH p = (a:Person)-[e]->(b) RETURN a, e, p"
    answers, python = {}, await asyncio.to_thread(environment)
    for who in (ines, bob):
        asked = {
            "dsn": login_url(cypher_url, CYPHER, cypher_settings),
            "token": Signer(cypher_settings.secret("identity_secret").encode(), 600).token(who.owner.user_id),
            "statement": f"SELECT * FROM cypher('memory', $$ {query} $$) AS (a agtype, e agtype, p agtype)",
        }
        answers[who.owner.name] = await asyncio.to_thread(read, python, asked)
    [[vertex, edge, path]] = await ines.rows(query)
    for found in (vertex, edge, *path):
        found |= {name: int(found[name]) for name in ("id", "start_id", "end_id") if name in found}
    path[2]["properties"]["data"]["big"] = int(path[2]["properties"]["data"]["big"])
    assert answers == {"Ines": [[vertex, edge, path]], "Bob": []}
