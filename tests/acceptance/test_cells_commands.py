"""The commands with a second cell: who is there is found, and operators see and change what they should."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import psycopg
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from sqlalchemy import make_url

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import MEMSVC, Rig
from tests.api.mcp_clients import use

pytestmark = pytest.mark.acceptance


def test_commands_find_users_of_other_cells(prepared: Path) -> None:
    with private_folder(prepared) as data, Rig(data) as rig, rig.admin() as admin:
        admin.execute("CREATE DATABASE east TEMPLATE template0")
        east = make_url(rig.admin_url()).set(database="east")
        with_login = east.render_as_string(hide_password=False)
        plain = east._replace(username=None, password=None).render_as_string(hide_password=False)
        new = rig.run("cells", "add", "east", plain)
        assert new.returncode != 0, "a database without memsvc became a cell"
        rig.ok("db", "upgrade", database_url=with_login)
        refused = rig.run("cells", "add", "east", with_login)
        assert refused.returncode != 0
        assert "must not have a login" in refused.stderr
        assert str(east.password) not in refused.stdout + refused.stderr
        rig.ok("cells", "add", "east", plain, "--weight", "0")
        rig.ok("user", "add", "--name", "Ada")
        rig.ok("cells", "weight", "home", "0")
        rig.ok("cells", "weight", "east", "1")
        rig.ok("user", "add", "--name", "Zoe")
        listed = {one["name"]: one for one in json.loads(rig.ok("cells", "list", "--json"))}
        assert (listed["home"]["users"], listed["east"]["users"], listed["east"]["weight"]) == (1, 1, 1)
        (rig.cwd / "talk.jsonl").write_text(
            '{"conversation": "pond", "speaker": "Zoe", "text": "The heron is at the lock."}\n'
        )
        rig.ok("ingest", "talk.jsonl", "--user", "Zoe")
        assert "at the lock" in rig.ok("recall", "heron", "--user", "Zoe")
        assert "at the lock" not in rig.run("recall", "heron", "--user", "Ada").stdout
        assert "at the lock" in rig.ok("sql", "SELECT text FROM messages", "--user", "Zoe")
        assert rig.ok("schedule", "--user", "Zoe")
        with psycopg.connect(with_login) as there:
            assert there.execute("SELECT count(*) FROM memsvc.passages").fetchone() == (1,)
        assert admin.execute("SELECT count(*) FROM memsvc.passages").fetchone() == (0,)
        rig.ok("cells", "doctor")
        held = rig.run("cells", "remove", "east")
        assert held.returncode != 0
        assert "still has users" in held.stderr
        rig.ok("cells", "upgrade")
        rig.ok("forget", "--user", "Zoe", "--everything", "--yes")
        rig.ok("cells", "remove", "east")
        assert [one["name"] for one in json.loads(rig.ok("cells", "list", "--json"))] == ["home"]
        away = rig.run("cells", "remove", "nowhere")
        assert (away.returncode != 0, "There is no cell" in away.stderr) == (True, True)


async def test_an_assistant_finds_its_user_in_the_new_cell_after_a_move(prepared: Path) -> None:
    with private_folder(prepared) as data, Rig(data, embedding_model="", extractor="none") as rig, rig.admin() as admin:
        admin.execute("CREATE DATABASE east TEMPLATE template0")
        east = make_url(rig.admin_url()).set(database="east")
        rig.ok("db", "upgrade", database_url=east.render_as_string(hide_password=False))
        rig.ok("cells", "add", "east", east._replace(username=None, password=None).render_as_string(), "--weight", "0")
        rig.ok("user", "add", "--name", "Ada")
        started = StdioServerParameters(
            command=str(MEMSVC), args=["mcp", "--no-worker", "--user", "Ada"], env=rig.environment, cwd=rig.cwd
        )
        async with Client(stdio_client(started)) as client:
            await use(client, "remember", text="The heron is at the lock.")
            await asyncio.to_thread(rig.ok, "user", "move", "Ada", "--to", "east")
            assert "at the lock" in (await use(client, "recall", query="heron"))[0]
            await use(client, "remember", text="The heron is at the mill.")
        with psycopg.connect(east.render_as_string(hide_password=False)) as there:
            assert there.execute("SELECT count(*) FROM memsvc.passages WHERE kind = 'message'").fetchone() == (2,)
        assert admin.execute("SELECT count(*) FROM memsvc.passages").fetchone() == (0,)
