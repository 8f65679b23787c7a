"""The relay carries each job's message to a real Redis and a real RabbitMQ, whatever is killed or goes away."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
import traceback
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import dramatiq.errors
import psycopg
import pytest
from dramatiq import Message
from psycopg.types.json import Json
from structlog.testing import capture_logs

from memsvc.db.engine import Database
from memsvc.errors import QueueUnavailableError
from memsvc.queue import relay
from memsvc.queue.broker import NotUnderstoodError, read_message
from memsvc.queue.jobs import channel
from memsvc.queue.targets import Target, target
from memsvc.settings import Settings
from tests.acceptance.killpoints import MEMSVC, PATIENCE_S
from tests.jobs.relay.conftest import Server, ask, flat, ids, in_queue, process, received, relaying, until
from tests.servers import Redis

pytestmark = pytest.mark.slow
OPEN_TRANSACTIONS = """
SELECT FROM pg_stat_activity WHERE usename = 'memsvc_app' AND datname = current_database() AND xact_start IS NOT NULL
"""


# Nothing dies -------------------------------------------------------------------------------------------------------


async def test_each_of_500_messages_arrives_once(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target
) -> None:
    models, upkeep = await ask(database, 90, 90, 90, 90, 90), await ask(database, 50, kind="tidy")
    async with relaying(database, server):
        await until(lambda: not in_queue(watcher))
    messages = received(reader)
    assert sorted(ids(messages)) == sorted(flat(models))
    assert sorted(ids(received(reader, "upkeep"))) == sorted(upkeep[0])
    assert {message.actor_name for message in messages} == {"process"}
    assert all(message.message_id == message.args[1] and UUID(message.args[0]) for message in messages)


async def test_the_server_never_holds_more_than_it_may_and_users_take_turns(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target
) -> None:
    [many, few] = await ask(database, 150, 6)
    most = 0
    got: list[str] = []
    async with relaying(database, server, most_waiting=20):
        while len(got) < 156:
            there = min(20, 156 - len(got))
            await until(lambda there=there: reader.waiting("models") == there)  # type: ignore[misc]
            await asyncio.sleep(0.3)
            most = max(most, reader.waiting("models"))
            got += ids(received(reader, most=60))
    assert most == 20
    assert set(few) <= set(got[:13])
    assert got[12:] == [job for job in many if job in got[12:]], "a user's own jobs keep their order"
    assert sorted(got) == sorted(many + few)


async def test_turns_go_round_where_there_are_more_users_than_a_batch_holds(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "BATCH", 3)
    asked = await ask(database, 2, 2, 2, 2, 2)
    async with relaying(database, server):
        await until(lambda: not in_queue(watcher))
    got = ids(received(reader))
    assert set(got[:5]) == {mine[0] for mine in asked}
    assert sorted(got) == sorted(flat(asked))


async def test_two_relays_at_once_carry_each_message_once(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target, settings: Settings
) -> None:
    asked = await ask(database, 200, 200, *[1] * 50)
    second = Database(database.engine.url, settings, pool_size=2)
    async with relaying(database, server), relaying(second, server):
        await until(lambda: not in_queue(watcher))
    await second.close()
    assert sorted(ids(received(reader))) == sorted(flat(asked))


async def test_a_notification_wakes_the_relay(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "POLL_S", 6.0)
    moved: list[float] = []
    move = relay.Relay.move

    async def noted(self: relay.Relay) -> float:
        moved.append(await move(self))
        return moved[-1]

    monkeypatch.setattr(relay.Relay, "move", noted)
    async with relaying(database, server):
        await until(lambda: moved == [6.0])
        [[job]] = await ask(database, 1)
        await asyncio.sleep(0.5)
        assert in_queue(watcher) == 1, "it rests"
        watcher.execute("SELECT pg_notify(%s, '')", [channel("models")])
        await until(lambda: not in_queue(watcher), seconds=4)
    assert ids(received(reader)) == [job]


async def test_a_delayed_message_stays_until_its_time(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target
) -> None:
    [[later, now]] = await ask(database, 2)
    watcher.execute("UPDATE memsvc.jobs SET run_after = now() + interval '4 minutes' WHERE job_id = %s", [later])
    async with relaying(database, server):
        await until(lambda: in_queue(watcher) == 1)
        await asyncio.sleep(1.5)
        assert ids(received(reader)) == [now]
        assert in_queue(watcher) == 1
        watcher.execute("UPDATE memsvc.dramatiq_queue SET available_at = clock_timestamp() + interval '1 second'")
        await until(lambda: reader.waiting("models") == 1)
    assert ids(received(reader)) == [later]


SOUND = {
    "queue_name": "models", "actor_name": "process", "args": [], "kwargs": {}, "options": {}, "message_id": "x",
    "message_timestamp": 1,
}  # fmt: skip
BAD: tuple[Any, ...] = (
    None,
    {},
    [1],
    "text",
    {"queue_name": "models"},
    {**SOUND, "queue_name": "others"},
    {**SOUND, "actor_name": 7},
    {**SOUND, "args": 7},
    {**SOUND, "kwargs": []},
    {**SOUND, "options": None},
    {**SOUND, "message_id": None},
    {**SOUND, "further": 1},
    {**SOUND, "message_id": "another id than its row's"},
)


async def test_what_cannot_be_read_is_rejected_and_holds_nobody_up(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target
) -> None:
    [[job]] = await ask(database, 1)
    for message in BAD:
        watcher.execute(
            "INSERT INTO memsvc.dramatiq_queue (message_id, user_id, queue_name, message) "
            "VALUES (uuidv7(), 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'models', %s)",
            [None if message is None else Json(message)],
        )
    assert in_queue(watcher) == len(BAD) + 1
    with capture_logs() as logs:
        async with relaying(database, server):
            await until(lambda: not in_queue(watcher))
    assert in_queue(watcher, "rejected") == len(BAD)
    assert [entry["code"] for entry in logs if entry["event"] == "message rejected"] == ["message_rejected"] * len(BAD)
    kept = [row[0] for row in watcher.execute("SELECT message FROM memsvc.dramatiq_queue").fetchall()]
    assert all(message in kept for message in BAD)
    assert ids(received(reader)) == [job]


async def test_what_was_lost_on_its_way_is_sent_again(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target
) -> None:
    [[job]] = await ask(database, 1)
    watcher.execute("UPDATE memsvc.jobs SET run_after = now() - interval '5 minutes'")
    watcher.execute("DELETE FROM memsvc.dramatiq_queue")
    async with relaying(database, server):
        await until(lambda: reader.waiting("models") == 1)
    assert ids(received(reader)) == [job]


# Something dies -----------------------------------------------------------------------------------------------------


async def test_a_relay_killed_in_the_middle_loses_nothing(
    database: Database, watcher: psycopg.Connection, reader: Target, relay_environment: dict[str, str], server: Server
) -> None:
    asked = await ask(database, 150, 150, 150, 150)
    for moment in (50, 150, 250):
        with process([str(MEMSVC), "relay", "--waiting", "300"], relay_environment) as killed:
            await until(lambda moment=moment: reader.waiting("models") >= moment)  # type: ignore[misc]
            killed.kill()
    await until(lambda: not watcher.execute(OPEN_TRANSACTIONS).fetchall())
    assert in_queue(watcher), "it was killed in the middle"
    with process([str(MEMSVC), "relay", "--waiting", "1000"], relay_environment) as last:
        await until(lambda: not in_queue(watcher))
        last.send_signal(signal.SIGTERM)
        _, said = await asyncio.to_thread(last.communicate, timeout=PATIENCE_S)
    assert last.returncode == 0
    assert server.password not in said
    got = ids(received(reader))
    assert set(got) == set(flat(asked))
    assert len(got) <= 600 + 3 * relay.BATCH


async def test_a_server_that_goes_away_is_waited_for(
    database: Database,
    watcher: psycopg.Connection,
    server: Server,
    reader: Target,
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked = await ask(database, 100, 100)
    with capture_logs() as logs:
        async with relaying(database, server):
            await until(lambda: reader.waiting("models") >= 100)
            server.kill()
            asked += await ask(database, 50)
            await until(lambda: [entry["code"] for entry in logs].count("queue_unavailable") > 2)
            assert in_queue(watcher) >= 50
            server.start()
            await until(lambda: not in_queue(watcher))
    assert set(ids(received(reader))) == set(flat(asked))
    assert {entry["event"] for entry in logs} == {"relay waits", "relay goes on"}
    assert server.password not in caplog.text + str(logs)


async def test_a_connection_that_broke_meanwhile_is_made_anew(server: Server, reader: Target) -> None:
    assert reader.waiting("models") == 0
    server.kill()
    server.start()
    assert reader.waiting("models") == 0


async def test_a_wrong_password_is_an_error_that_does_not_show_it(server: Server) -> None:
    with closing(target(server.url.replace(server.password, "mistaken"))) as wrong:
        with pytest.raises(QueueUnavailableError) as caught:
            wrong.waiting("models")
        with pytest.raises(QueueUnavailableError):
            wrong.send([Message("models", "process", (), {}, {})])
    shown = "".join(traceback.format_exception(caught.value))
    assert "mistaken" not in shown
    assert "uthentication" in shown


async def test_a_database_that_goes_away_is_waited_for(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target
) -> None:
    asked = await ask(database, 200, 200, 200)
    with capture_logs() as logs:
        async with relaying(database, server):
            for _ in range(4):
                await until(lambda: reader.waiting("models") > 20)
                watcher.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE usename = 'memsvc_app' AND datname = current_database()"
                )
                await asyncio.sleep(0.1)
            await until(lambda: not in_queue(watcher))
    assert set(ids(received(reader))) == set(flat(asked))
    assert {"database_unavailable", "outcome_unknown"} & {entry.get("code") for entry in logs}


async def test_a_killed_worker_gives_back_what_it_had_within_30_seconds(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target, tmp_path: Path
) -> None:
    [asked] = await ask(database, 5)
    async with relaying(database, server):
        await until(lambda: not in_queue(watcher))
    worker = [sys.executable, "-m", "tests.fakes.queue_worker", server.url, str(tmp_path)]
    with process([*worker, "60"]) as killed:
        await until((tmp_path / "begun").exists)
        killed.kill()
    began = time.monotonic()
    with process([*worker, "0"]):
        await until(lambda: len(lines(tmp_path / "done")) >= 5, seconds=30)
    assert time.monotonic() - began < 30
    assert sorted(lines(tmp_path / "done")) == sorted(asked)


async def test_a_slow_job_stays_with_its_worker(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target, tmp_path: Path
) -> None:
    """Also where the job takes longer than the silence by which Redis knows the dead."""
    [asked] = await ask(database, 2)
    async with relaying(database, server):
        await until(lambda: not in_queue(watcher))
    seconds = "9" if isinstance(server, Redis) else "2"
    worker = [sys.executable, "-m", "tests.fakes.queue_worker", server.url, str(tmp_path), seconds, "5000"]
    with process(worker), process(worker):
        await until(lambda: len(lines(tmp_path / "done")) >= 2)
    assert sorted(lines(tmp_path / "begun")) == sorted(asked)


async def test_what_a_worker_cannot_do_now_comes_back_and_what_it_never_can_is_kept(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target
) -> None:
    [[late, hopeless, sound]] = await ask(database, 3)
    async with relaying(database, server):
        await until(lambda: not in_queue(watcher))
    tried: list[str] = []

    def process(_user_id: str, job_id: str) -> None:
        tried.append(job_id)
        if job_id == hopeless:
            raise KeyError
        if job_id == late and tried.count(late) == 1:
            raise dramatiq.errors.Retry

    broker = target(server.url, hopeless=(KeyError,)).broker
    dramatiq.actor(actor_name="process", queue_name="models", broker=broker)(process)
    worker = dramatiq.Worker(broker, worker_threads=2, worker_timeout=200)
    worker.start()
    try:
        await until(lambda: tried.count(late) == 2, seconds=15)
        await until(lambda: dead_letters(reader) == 1)
    finally:
        await asyncio.to_thread(worker.stop)
        broker.close()
    assert sorted(tried) == sorted([late, late, hopeless, sound])


def dead_letters(reader: Target) -> int:
    """How many messages of the queue models nobody could work on."""
    broker: Any = reader.broker
    if hasattr(broker, "client"):
        return int(broker.client.zcard("dramatiq:models.XQ"))
    counts: tuple[int, int, int] = broker.get_queue_message_counts("models")
    return counts[2]


def lines(path: Path) -> list[str]:
    """What a worker noted."""
    return path.read_text().splitlines() if path.exists() else []


# Reading ------------------------------------------------------------------------------------------------------------


def test_a_message_of_ours_is_read_as_it_was_written() -> None:
    message = read_message("x", "models", json.dumps(SOUND))
    assert (message.actor_name, message.args) == ("process", ())
    with pytest.raises(NotUnderstoodError):
        read_message("x", "upkeep", json.dumps(SOUND))
