"""What tests of background work share: something to work on, a worker within this process, and looking at both."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from structlog.testing import capture_logs

from jobs import worker
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.queue.execution import WORDS_ALONE, Step, Steps
from memsvc.queue.jobs import Job, list_jobs
from memsvc.settings import Settings
from memsvc.sources.embedding import ModelsInUse
from memsvc.sources.messages import MessageIn, StoredMessage, append

TOP = Path(__file__).resolve().parents[2]
MEMSVC = Path(sys.executable).with_name("memsvc")


async def say(db: Database, owner: Owner, settings: Settings, *texts: str, conversation: str = "pond") -> UUID:
    """Store messages in a conversation; its id."""
    stored: list[StoredMessage] = await append(
        db, owner, [MessageIn(conversation=conversation, text=text, speaker="Ada") for text in texts], settings
    )
    assert stored[0].conversation_id is not None
    return stored[0].conversation_id


def vectors_of(admin: psycopg.Connection, owner: Owner, model: str = "words") -> list[str]:
    """Texts that have a vector of the model."""
    found = admin.execute(
        "SELECT p.text FROM memsvc.embeddings AS e JOIN memsvc.embedding_models AS m USING (model_id) "
        "JOIN memsvc.passages AS p USING (user_id, passage_id) WHERE e.user_id = %s AND m.name = %s",
        [owner.user_id, model],
    )
    return sorted(row[0] for row in found)


async def only_job(db: Database, owner: Owner) -> Job:
    [job] = await list_jobs(db, owner.user_id)
    return job


def due_now(admin: psycopg.Connection, owner: Owner) -> None:
    """Let a failed job's time come."""
    admin.execute("UPDATE memsvc.jobs SET run_after = now() WHERE user_id = %s", [owner.user_id])


async def job_of(db: Database, owner: Owner, state: str = "done", seconds: float = 20) -> Job:
    """The only job of a user, as soon as it has this state."""
    deadline = time.monotonic() + seconds
    while (job := await only_job(db, owner)).state != state:
        assert time.monotonic() < deadline, job
        await asyncio.sleep(0.01)
    return job


def waiting(admin: psycopg.Connection, owner: Owner) -> list[tuple[Any, ...]]:
    """What the queue has of a user: each message's state, and how many starts of its job had no end."""
    query = (
        "SELECT q.state, coalesce(j.starts, 0) FROM memsvc.dramatiq_queue AS q "
        "LEFT JOIN memsvc.jobs AS j ON j.job_id = q.message_id WHERE q.user_id = %s ORDER BY q.position"
    )
    return admin.execute(query, [owner.user_id]).fetchall()


async def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Return as soon as the condition holds; what runs on this loop goes on meanwhile."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        await asyncio.sleep(0.01)


@asynccontextmanager
async def work_with(settings: Settings, db: Database, resident: ModelsInUse | None) -> AsyncIterator[None]:
    """A worker within this process, with this model, until the block ends; its log is kept from the tests' output."""
    with capture_logs():
        async with worker.working(settings, db.engine.url, resident):
            yield


@asynccontextmanager
async def doing(
    settings: Settings, db: Database, monkeypatch: pytest.MonkeyPatch, *steps: Step, kind: str = "process"
) -> AsyncIterator[None]:
    """A worker within this process whose jobs of a kind have these steps."""
    made: Steps = {**WORDS_ALONE, kind: steps}
    with monkeypatch.context() as patched:
        patched.setattr(worker, "all_steps", lambda _settings, _models: made)
        async with work_with(settings, db, None):
            yield


@contextmanager
def process(settings: Settings, *command: str | Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process on this run's database; killed where the block ends and it has not."""
    assert settings.database_url is not None
    mine = {
        "MEMSVC_DATA_DIR": str(settings.data_dir),
        "MEMSVC_DATABASE_URL": settings.database_url.get_secret_value(),
        "MEMSVC_EXTRACTOR": settings.extractor,
        "MEMSVC_WORKER_NICE": "0",
    }
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("MEMSVC_")}
    started = subprocess.Popen(
        command or (MEMSVC, "worker"),
        cwd=TOP,
        env={**inherited, **mine, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()
