"""What a worker needs to find nothing else to do, and to wait less."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import dramatiq.worker
import psycopg
import pytest

from memsvc.db.engine import Database
from memsvc.queue import broker
from memsvc.queue.execution import run_due
from tests.fakes.embedding_server import EmbeddingServer, embedding_server


@pytest.fixture(autouse=True)
async def _nothing_else_waits(db: Database, admin: psycopg.Connection) -> AsyncIterator[None]:
    """Other tests' jobs do not stand in the way, and nothing of ours stays for them."""
    await run_due(db)
    admin.execute("DELETE FROM memsvc.dramatiq_worker")
    yield
    admin.execute("UPDATE memsvc.jobs SET state = 'cancelled' WHERE state = 'pending'")
    admin.execute("DELETE FROM memsvc.dramatiq_queue")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that a worker of this process waits for takes a tenth of its time."""
    for name, seconds in (("HEARTBEAT_S", 0.2), ("SILENCE_S", 1.5), ("UPKEEP_S", 0.2), ("POLL_S", 0.1)):
        monkeypatch.setattr(broker, name, seconds)
    monkeypatch.setattr(broker, "LATER_S", 0.2)
    monkeypatch.setattr(dramatiq.worker, "CONSUMER_RESTART_DELAY_SECS", 0.2)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """An embedding server."""
    with embedding_server() as made:
        yield made
