"""Schemathesis calls every operation of the OpenAPI document over real HTTP, by the profile beside this file.

Each must have let one call in at least, whatever it said to it.

MEMSVC_TEST_SCHEMATHESIS has further arguments of its command line, for a longer look: ``--max-examples=300``.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections import defaultdict
from pathlib import Path

import pytest

from memsvc.api.app import create_app
from memsvc.db.engine import Database
from memsvc.extract.run import Extractors
from memsvc.settings import Settings
from tests.api.conftest import Connect
from tests.api.served import served
from tests.api.story import Stage, played
from tests.api.test_documentation import operations

pytestmark = pytest.mark.slow
PROFILE = Path(__file__).with_name("schemathesis") / "schemathesis.toml"
SIGNED = {"POST /v1/feeds/{feed_id}/push"}
"""Refused without a signature of the body, which Schemathesis does not know how to make."""
REFUSED_AT_THE_DOOR = {"401", "403", "405"}
MORE = shlex.split(os.environ.get("MEMSVC_TEST_SCHEMATHESIS", ""))


async def test_no_operation_fails(
    db: Database, chatting: Settings, stage: Stage, connect: Connect, tmp_path: Path
) -> None:
    await played(stage)
    app = create_app(chatting, db, extractors=Extractors(chatting))
    chief = await connect("admin", app_name="schemathesis")
    keys = {
        "MEMSVC_USER_KEY": stage.user.headers["Authorization"].removeprefix("Bearer "),
        "MEMSVC_ADMIN_KEY": chief.headers["Authorization"].removeprefix("Bearer "),
    }
    async with served(app) as address:
        command = ["-m", "schemathesis.cli", "--config-file", str(PROFILE), "--no-color", "run", *MORE]
        running = await asyncio.create_subprocess_exec(
            *(sys.executable, *command, f"{address}/schema/openapi.json"),
            cwd=tmp_path,
            env=os.environ | keys | {"PYTHONPATH": str(PROFILE.parent), "PYTHONWARNINGS": "ignore"},
            stdout=PIPE,
            stderr=STDOUT,
        )
        told, _ = await running.communicate()
    assert running.returncode == 0, told.decode()
    answered = defaultdict(set)
    for line in (tmp_path / "answered.txt").read_text().splitlines():
        operation, _, status = line.rpartition(" ")
        answered[operation].add(status)
    document = (await stage.user.get("/schema/openapi.json")).json()
    every = [f"{method.upper()} {path}" for method, path, _ in operations(document)]
    tried = {one for one in every if answered[one] - REFUSED_AT_THE_DOOR}
    assert set(every) - tried - SIGNED == set(), "never tried"
    assert (await stage.user.get("/v1/me")).is_success, "the user's key was revoked on the way"
    assert (await chief.get("/v1/users")).is_success, "the administrator's key was revoked on the way"
