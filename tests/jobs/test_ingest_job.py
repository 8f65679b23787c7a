"""The job that stores files: killed in the middle, it goes on, and nothing is stored twice or lost."""

from __future__ import annotations

import json

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sources.ingests import Chosen, Sent, look, send
from tests.jobs.working import process, until
from tests.sql.world import value

pytestmark = pytest.mark.slow
LINES = 12_000
STORED = "SELECT stored FROM memsvc.ingest_files WHERE user_id = %s"
MESSAGES = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND kind = 'message'"
TEXTS = "SELECT count(DISTINCT text) FROM memsvc.passages WHERE user_id = %s AND kind = 'message'"


async def test_a_worker_that_is_killed_in_the_middle_loses_and_doubles_nothing(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    lines = "".join(json.dumps({"text": f"heron {number}"}) + "\n" for number in range(LINES))
    sent = await send(db, owner, [Sent("talk.jsonl", lines.encode())], Chosen(), settings)
    with process(settings, MEMSVC_EMBEDDING_MODEL="") as worker:
        await until(lambda: 0 < value(admin, STORED, [owner.user_id]) < LINES, 60)
        worker.kill()
    there = value(admin, MESSAGES, [owner.user_id])
    assert 0 < there < LINES
    found = await look(db, owner, sent.ingest_id)
    assert found.state == "running"
    await until(lambda: value(admin, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", []) == 0)
    await run_due(db, all_steps(settings, None))
    found = await look(db, owner, sent.ingest_id)
    assert (found.state, found.items[0].outcome, found.stored) == ("completed", "stored", LINES)
    assert found.created + found.existing == LINES
    assert found.existing <= 500  # the batch that was stored and not yet noted
    assert [value(admin, query, [owner.user_id]) for query in (MESSAGES, TEXTS)] == [LINES, LINES]
