"""What tests of the queue share: messages put into it by hand, upkeep, and steps that can be watched."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import psycopg

from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.fakes.embedding_server import EmbeddingServer
from tests.jobs.working import process
from tests.sql.world import value

PENDING = "SELECT count(*) FROM memsvc.jobs WHERE state = 'pending'"
QUEUED = "SELECT count(*) FROM memsvc.dramatiq_queue"
DEADLY_WORKER = (sys.executable, "-m", "tests.fakes.deadly_worker")


async def nothing(_db: Database, _user: UUID, _subject: UUID) -> bool:
    """A step that is done at once."""
    return False


class Gate:
    """A step that waits until it is let through, and notes for whom it was begun and ended."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.begun: list[UUID] = []
        self.ended: list[UUID] = []

    async def __call__(self, _db: Database, _user: UUID, subject: UUID) -> bool:
        self.begun.append(subject)
        await self.open.wait()
        self.ended.append(subject)
        return False


def keep(admin: psycopg.Connection, silence: float = 12) -> int:
    """Upkeep of the queue, now; how many messages went back or out."""
    return int(value(admin, "SELECT memsvc.keep_queue(make_interval(secs => %s))", [silence]))


def begin(admin: psycopg.Connection, user_id: UUID, *, starts: int | None = None) -> bool:
    """Begin the newest job of a user as a worker does that then dies; False if it is not begun.

    Args:
        admin: the administrator.
        user_id: whose job.
        starts: how many starts had no end before.
    """
    if starts is not None:
        admin.execute("UPDATE memsvc.jobs SET starts = %s WHERE user_id = %s AND state = 'pending'", [starts, user_id])
    newest = value(admin, "SELECT max(job_id::text)::uuid FROM memsvc.jobs WHERE user_id = %s", [user_id])
    return admin.execute("SELECT FROM memsvc.begin_job(%s, %s)", [user_id, newest]).fetchone() is not None


def quietly(admin: psycopg.Connection, statement: str, values: Sequence[Any]) -> None:
    """Change rows without the triggers that keep queue and jobs in step."""
    with admin.transaction():
        admin.execute("SET LOCAL session_replication_role = replica")
        admin.execute(statement, values)


def place_in_queue(admin: psycopg.Connection, message: str | None, message_id: UUID | None = None) -> UUID:
    """Put a message, any JSON, into the queue; None: the column is empty."""
    chosen = message_id or uuid4()
    admin.execute(
        "INSERT INTO memsvc.dramatiq_queue (message_id, queue_name, message) VALUES (%s, 'models', %s)",
        [chosen, message],
    )
    return chosen


def message(message_id: UUID, /, **changes: object) -> str:
    """A message that is right but for the changes."""
    right: dict[str, object] = {
        "queue_name": "models", "actor_name": "process", "args": [str(uuid4()), str(uuid4())], "kwargs": {},
        "options": {}, "message_id": str(message_id), "message_timestamp": 1,
    }  # fmt: skip
    return json.dumps(right | changes)


def serving(settings: Settings, server: EmbeddingServer, model: str) -> Any:
    """A real ``memsvc worker`` whose model is the server's."""
    return process(settings, MEMSVC_EMBEDDING_MODEL=model, MEMSVC_EMBEDDING_URL=server.url)
