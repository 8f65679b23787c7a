"""Real servers for the relay, a database whose jobs are nobody else's, and what tests do with both."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from itertools import chain
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from dramatiq import MessageProxy
from sqlalchemy import text

from memsvc.access.users import add_user, app_id
from memsvc.db.engine import Database, role_url
from memsvc.queue.relay import Relay
from memsvc.queue.targets import Target, target
from memsvc.settings import Settings
from tests.acceptance.killpoints import PATIENCE_S
from tests.cluster import Cluster
from tests.servers import Rabbit, Redis, answers

TOP = Path(__file__).resolve().parents[3]
Server = Redis | Rabbit
SERVERS: dict[str, type[Server]] = {"redis": Redis, "rabbitmq": Rabbit}


@pytest.fixture(scope="session", params=SERVERS)
def started(request: pytest.FixtureRequest, folder: Path, worker_id: str) -> Iterator[Server]:
    """A server for all tests."""
    with SERVERS[request.param](folder / f"{request.param}-{worker_id}") as running:
        yield running


@pytest.fixture
def server(started: Server) -> Server:
    """That server, up even where a test that ended it failed before it was back."""
    if not answers(started.port):
        started.kill()  # what is left of it
        started.start()
    return started


@pytest.fixture(scope="session")
def admin_url(cluster: Cluster, template: str, worker_id: str) -> Iterator[str]:
    """The administrator's URL of a database in which nobody else has jobs."""
    name = f"memsvc_test_relay_{worker_id}"
    yield cluster.clone(name, template)
    cluster.drop(name)


@pytest.fixture
def watcher(admin_url: str) -> Iterator[psycopg.Connection]:
    """The administrator in that database, outside a transaction; no jobs are there when a test begins."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute("DELETE FROM memsvc.jobs")
        connection.execute("DELETE FROM memsvc.dramatiq_queue")
        yield connection


@pytest.fixture
async def database(admin_url: str, settings: Settings) -> AsyncIterator[Database]:
    """That database as the application sees it, with as many connections as a relay has."""
    opened = Database(role_url(admin_url, "memsvc_app", settings.secret("app_password")), settings, pool_size=2)
    yield opened
    await opened.close()


@pytest.fixture
def reader(server: Server) -> Iterator[Target]:
    """The server as a worker has it; all queues are empty when a test begins and when it ends."""
    opened = target(server.url)
    for queue in ("models", "upkeep"):
        opened.waiting(queue)
        opened.broker.flush(queue)
    yield opened
    opened.close()  # its connection may be that of a server that was killed
    opened.broker.flush_all()
    opened.close()


async def ask(database: Database, *counts: int, kind: str = "process") -> list[list[str]]:
    """Ask for jobs as fresh users, for each user so many; the jobs' ids."""
    app, asked = await app_id(database, "relay"), []
    for count in counts:
        user = await add_user(database, app, name="Ada", external_id=uuid4().hex)
        async with database.transaction(user.owner.user_id) as connection:
            rows = await connection.execute(
                text("SELECT memsvc.ask_job(:user, :kind, uuidv7()) AS id FROM generate_series(1, :count)"),
                {"user": user.owner.user_id, "kind": kind, "count": count},
            )
            asked.append([str(row.id) for row in rows])
    return asked


def in_queue(watcher: psycopg.Connection, state: str = "queued") -> int:
    """How many messages the database holds."""
    row = watcher.execute("SELECT count(*) FROM memsvc.dramatiq_queue WHERE state = %s", [state]).fetchone()
    assert row is not None
    return int(row[0])


def received(reader: Target, queue: str = "models", most: int = 100_000) -> list[MessageProxy]:
    """Take all waiting messages, or so many, as a worker does."""
    found: list[MessageProxy] = []
    with closing(reader.broker.consume(queue, prefetch=min(most, 1_000), timeout=200)) as consumer:
        idle = 0
        while idle < 3 and len(found) < most:
            message = next(consumer)
            if message is None:
                idle += 1
            else:
                found.append(message)
                consumer.ack(message)
    return found


def ids(messages: Sequence[MessageProxy]) -> list[str]:
    """The ids of jobs that messages bring."""
    return [message.args[1] for message in messages]


def flat(asked: Sequence[list[str]]) -> list[str]:
    """The jobs of all users."""
    return list(chain.from_iterable(asked))


async def until(condition: Callable[[], object], seconds: float = PATIENCE_S) -> None:
    """Return as soon as the condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - it lies outside of this process
            await asyncio.sleep(0.01)


@asynccontextmanager
async def relaying(database: Database, server: Server, most_waiting: int = 1_000) -> AsyncIterator[None]:
    """A relay in this process."""
    stop = asyncio.Event()
    running = asyncio.create_task(Relay(database, target(server.url), most_waiting=most_waiting).run(stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(running, PATIENCE_S)


@contextmanager
def process(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """A process of its own, killed when the block ends."""
    started = subprocess.Popen(
        command,
        cwd=TOP,
        env={"MEMSVC_WORKER_NICE": "0", **os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    with started:
        try:
            yield started
        finally:
            started.kill()


@pytest.fixture
def relay_environment(admin_url: str, folder: Path, server: Server) -> dict[str, str]:
    """The variables of a ``memsvc relay`` of its own."""
    return {
        "MEMSVC_DATABASE_URL": admin_url, "MEMSVC_DATA_DIR": str(folder), "MEMSVC_QUEUE_URL": server.url,
        "MEMSVC_EXTRACTOR": "none",
    }  # fmt: skip
