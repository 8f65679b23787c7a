"""Sleep before its time: for what it begins, that it waits while the user may be waiting, and that it never storms."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.queue.execution import run_due
from memsvc.queue.schedule import fire_due, set_schedule
from memsvc.recall.signals import mark_memory
from memsvc.settings import Settings
from memsvc.sleep import runner, waking
from memsvc.sleep.runs import list_runs
from memsvc.sleep.waking import wake_due
from memsvc.sources.messages import MessageIn, append
from tests.jobs.test_sleep import people
from tests.sql.world import value

OFF = {"sleep_after_messages": 0, "sleep_after_sitting": 0, "sleep_after_importance": 0}


@pytest.fixture(autouse=True)
async def _nobody_else(db: Database, admin: psycopg.Connection) -> None:
    """Other tests' users have nothing to do."""
    await run_due(db)
    admin.execute("UPDATE memsvc.schedules SET enabled = false, look_at = NULL")


@pytest.fixture
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes in tests: a message that was just said was said long enough ago."""
    monkeypatch.setattr(waking, "QUIET", timedelta(0))
    monkeypatch.setattr(waking, "SILENCE", timedelta(0))


class Person:
    """A user who says things, with the settings of a service."""

    def __init__(self, db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection) -> None:
        self.db, self.owner, self.settings, self.admin = db, owner, settings, admin
        self._set("enabled = true, look_at = NULL, last_at = NULL, woken_at = NULL, woken_for = NULL")

    def _set(self, what: str) -> None:
        self.admin.execute(
            f"UPDATE memsvc.schedules SET {what} WHERE user_id = %s AND kind = 'sleep'".encode(), [self.owner.user_id]
        )

    async def say(self, number: int, **more: Any) -> list[UUID]:
        """Store messages, and let their job end."""
        messages = [MessageIn(conversation="pond", text=f"Heron {n} of {number}", **more) for n in range(number)]
        stored = await append(self.db, self.owner, messages, self.settings)
        await run_due(self.db, {"process": ()})
        return [one.passage_id for one in stored if one.passage_id]

    async def look(self, **settings: int) -> int:
        """Let the time to look come, and look."""
        self._set("look_at = CASE WHEN look_at IS NOT NULL THEN clock_timestamp() END")
        return await wake_due(self.db, self.settings.model_copy(update={**OFF, **settings}))

    def row(self, column: str) -> Any:
        return value(
            self.admin, f"SELECT {column} FROM memsvc.schedules WHERE user_id = %s AND kind = 'sleep'",
            [self.owner.user_id],
        )  # fmt: skip

    def jobs(self) -> int:
        count = "SELECT count(*) FROM memsvc.jobs WHERE user_id = %s AND kind = 'sleep'"
        return int(value(self.admin, count, [self.owner.user_id]))


@pytest.fixture
def person(db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection) -> Person:
    return Person(db, owner, settings, admin)


@pytest.mark.parametrize(
    ("chosen", "enough"),
    [
        ({"sleep_after_messages": 5}, True),
        ({"sleep_after_messages": 6}, False),
        ({"sleep_after_sitting": 5}, True),
        ({"sleep_after_sitting": 6}, False),
        ({"sleep_after_importance": 12}, True),
        ({"sleep_after_importance": 13}, False),
        ({}, False),
    ],
)
@pytest.mark.usefixtures("calm")
async def test_it_begins_when_so_much_is_new(person: Person, chosen: dict[str, int], enough: bool) -> None:
    assert person.row("look_at") is None
    said = await person.say(5)
    assert person.row("look_at") is not None
    for message, importance in zip(said, (9, 3), strict=False):
        await mark_memory(person.db, person.owner, f"m:{message}", importance=importance)
    assert await person.look(**chosen) == person.jobs() == enough
    assert person.row("look_at") is None, "it looks again when something new comes"
    if enough:
        [reason] = (name.removeprefix("sleep_after_") for name in chosen)
        assert person.row("woken_for") == reason
        await run_due(person.db, {"sleep": all_steps(person.settings, None)["sleep"]})
        assert person.row("woken_for") is None
        await person.say(4)
        assert await person.look(**chosen, sleep_pause_minutes=5) == 0, "what was there before is not new"


async def test_it_waits_for_the_end_of_a_sitting_and_while_the_user_talks(person: Person) -> None:
    await person.say(3)
    assert await person.look(sleep_after_messages=2) == 0
    wait = person.row("look_at") - datetime.now(UTC)
    assert timedelta(0) < wait <= waking.QUIET
    assert await person.look(sleep_after_sitting=2) == 0
    wait = person.row("look_at") - datetime.now(UTC)
    assert waking.QUIET < wait <= waking.SILENCE
    assert person.jobs() == 0


@pytest.mark.usefixtures("calm")
async def test_it_waits_for_new_messages_before_it_begins_and_after_each_page(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await people(person.db, person.owner, [("Bo", {})])
    await person.say(3)
    message = MessageIn(conversation="pond", text="Is anybody there?")
    await append(person.db, person.owner, [message], person.settings)
    assert await person.look(sleep_after_messages=2) == 0
    await run_due(person.db, {"process": ()})
    assert await person.look(sleep_after_messages=2) == 1

    monkeypatch.setattr(runner, "GIVE_WAY_S", 0.0)
    await append(person.db, person.owner, [message], person.settings)
    [step] = all_steps(person.settings, None)["sleep"]
    assert await step(person.db, person.owner.user_id, person.owner.user_id), "it goes on later"
    [run] = await list_runs(person.db, person.owner.user_id)
    assert (run.state, run.cause, run.examined) == ("open", "messages", 0)
    await run_due(person.db, {"process": ()})
    await run_due(person.db, {"sleep": [step]})
    assert {run.state for run in await list_runs(person.db, person.owner.user_id)} == {"done"}


@pytest.mark.usefixtures("calm")
async def test_a_stream_of_messages_is_no_storm(person: Person) -> None:
    for _ in range(10):
        await person.say(5)
        await person.look(sleep_after_messages=2, sleep_after_sitting=1, sleep_after_importance=1)
        await run_due(person.db, {"sleep": all_steps(person.settings, None)["sleep"]})
    assert person.jobs() == 1
    assert timedelta(0) <= person.row("look_at") - person.row("woken_at") - timedelta(minutes=60) < timedelta(minutes=1)


@pytest.mark.usefixtures("calm")
async def test_many_who_look_at_once_begin_it_once(person: Person) -> None:
    await person.say(3)
    assert sum(await asyncio.gather(*(person.look(sleep_after_messages=2) for _ in range(4)))) == 1
    assert value(person.admin, "SELECT max(requests) FROM memsvc.jobs WHERE kind = 'sleep' AND user_id = %s",
                 [person.owner.user_id]) == 1  # fmt: skip


@pytest.mark.usefixtures("calm")
async def test_who_switched_sleep_off_is_left_alone(person: Person) -> None:
    await set_schedule(person.db, person.owner.user_id, "sleep", at="03:00", enabled=False)
    await person.say(3)
    assert person.row("look_at") is None
    person._set("look_at = now()")
    assert await wake_due(person.db, person.settings.model_copy(update={**OFF, "sleep_after_messages": 1})) == 0
    assert person.row("look_at") is None


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"])
@pytest.mark.usefixtures("calm")
async def test_no_clock_stops_it_for_long(person: Person, zone: str) -> None:
    """The clock was years ahead when times were written; the user's own clock does not matter."""
    await person.say(3)
    person.admin.execute("UPDATE memsvc.users SET time_zone = %s WHERE user_id = %s", [zone, person.owner.user_id])
    ahead = "clock_timestamp() + interval '400 days'"
    person._set(f"look_at = {ahead}, woken_at = {ahead}, last_at = {ahead}")
    choice = person.settings.model_copy(update={**OFF, "sleep_after_messages": 2, "sleep_pause_minutes": 5})
    assert await wake_due(person.db, choice) == 0
    assert person.row("look_at") is None
    person._set("woken_at = NULL, last_at = NULL")
    await person.say(1)
    assert await person.look(sleep_after_messages=2) == 1


@pytest.mark.usefixtures("calm")
async def test_the_night_takes_over_what_was_to_begin_before_it(person: Person) -> None:
    await people(person.db, person.owner, [("Bo", {})])
    await person.say(3)
    assert await person.look(sleep_after_messages=2) == 1
    person._set("next_at = clock_timestamp()")
    assert await fire_due(person.db) == 1
    await run_due(person.db, {"sleep": all_steps(person.settings, None)["sleep"]})
    runs = await list_runs(person.db, person.owner.user_id)
    assert ({(run.cause, run.state) for run in runs}, person.jobs()) == ({("night", "done")}, 1)
