"""Recurring work: claimed by one process, once however often it was missed, by the user's clock; and how it is set."""

from __future__ import annotations

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import psycopg
import pytest
from sqlalchemy import URL
from sqlalchemy.ext.asyncio import AsyncConnection
from structlog.testing import capture_logs

from jobs.worker import working
from memsvc.access.users import Owner
from memsvc.db.engine import Database, role_url
from memsvc.errors import DatabaseUnavailableError, InvalidRequestError, InvalidTimeError, NotFoundError
from memsvc.queue import schedule
from memsvc.queue.jobs import Job, list_jobs
from memsvc.queue.schedule import (
    fire_due,
    get_schedule,
    keep_time,
    list_schedules,
    read_clock,
    read_weekdays,
    run_now,
    set_schedule,
    switch_schedule,
)
from memsvc.settings import Settings
from tests.cluster import Cluster
from tests.sql.world import value

NIGHT = timedelta(hours=26)
"""Longer than any two nightly runs are apart, even where clocks are turned back."""


@pytest.fixture(autouse=True)
def _nobody_elses_is_due(admin: psycopg.Connection) -> None:
    """Schedules of other tests' users do not run, whatever time it is."""
    admin.execute("UPDATE memsvc.schedules SET enabled = false")


@pytest.fixture
def url(cluster: Cluster, database_name: str, settings: Settings) -> URL:
    return role_url(cluster.admin_url(database_name), "memsvc_app", settings.secret("app_password"))


def make_due(admin: psycopg.Connection, user_id: UUID, ago: timedelta = timedelta(minutes=1)) -> None:
    admin.execute(
        "UPDATE memsvc.schedules SET enabled = true, next_at = clock_timestamp() - %s "
        "WHERE user_id = %s AND kind = 'tidy'",
        [ago, user_id],
    )


async def tidy_jobs(db: Database, user_id: UUID) -> list[Job]:
    return [job for job in await list_jobs(db, user_id) if job.kind == "tidy"]


async def until_tidied(db: Database, user_id: UUID, state: str) -> None:
    """Wait until the user has one job of this kind, and it is in this state."""
    async with asyncio.timeout(30):
        while [job.state for job in await tidy_jobs(db, user_id)] != [state]:  # noqa: ASYNC110 - another process sets it
            await asyncio.sleep(0.02)


# Running -------------------------------------------------------------------------------------------------------------


async def test_what_is_due_asks_for_its_job_once(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    make_due(admin, owner.user_id)
    before = datetime.now(UTC)
    assert await fire_due(db) == 1
    [job] = await tidy_jobs(db, owner.user_id)
    assert (job.state, job.subject_id) == ("pending", owner.user_id)
    found = await get_schedule(db, owner.user_id, "tidy")
    assert found.last_at is not None
    assert found.next_at is not None
    assert before - timedelta(seconds=5) < found.last_at < found.next_at < found.last_at + NIGHT
    assert found.next_at.strftime("%H:%M") == found.at
    assert await fire_due(db) == 0
    assert await get_schedule(db, owner.user_id, "tidy") == found


async def test_it_joins_a_job_that_waits(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    waiting = await run_now(db, owner.user_id, "tidy")
    make_due(admin, owner.user_id)
    assert await fire_due(db) == 1
    assert [job.job_id for job in await tidy_jobs(db, owner.user_id)] == [waiting]


async def test_missed_days_are_made_up_for_once(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    make_due(admin, owner.user_id, timedelta(days=40))
    assert await fire_due(db) == 1
    assert await fire_due(db) == 0
    assert value(admin, "SELECT requests FROM memsvc.jobs WHERE user_id = %s", [owner.user_id]) == 1


def fire_in_a_process(url: URL, settings: Settings) -> int:
    """What each of the processes below does."""

    async def fire() -> int:
        db = Database(url, settings, pool_size=4)
        try:
            return sum(await asyncio.gather(*(fire_due(db) for _ in range(4))))
        finally:
            await db.close()

    return asyncio.run(fire())


async def test_processes_that_look_at_once_run_each_of_them_once(
    url: URL, settings: Settings, app: UUID, admin: psycopg.Connection
) -> None:
    made = "SELECT memsvc.create_user(%s, %s, 'Many', 'Europe/Berlin', 'english')"
    users = [value(admin, made, [app, f"many-{uuid4()}"]) for _ in range(200)]
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        await asyncio.gather(*(loop.run_in_executor(processes, abs, number) for number in range(2)))  # all are up
        admin.execute(  # none is due again while this runs, whatever time it is
            "UPDATE memsvc.schedules SET enabled = true, next_at = now() - interval '1 hour', "
            "at_local = (now() AT TIME ZONE 'Europe/Berlin' + interval '12 hours')::time WHERE user_id = ANY (%s)",
            [users],
        )
        ran = await asyncio.gather(
            *(loop.run_in_executor(processes, fire_in_a_process, url, settings) for _ in range(2))
        )
    assert sum(ran) == 400
    asked = admin.execute(
        "SELECT user_id, kind, requests FROM memsvc.jobs WHERE user_id = ANY (%s)", [users]
    ).fetchall()
    assert sorted(asked) == sorted((user, kind, 1) for user in users for kind in ("sleep", "tidy"))
    left = "SELECT count(*) FROM memsvc.schedules WHERE user_id = ANY (%s) AND (next_at < now() OR last_at IS NULL)"
    assert value(admin, left, [users]) == 0


async def test_what_another_transaction_has_is_not_waited_for(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    make_due(admin, owner.user_id)
    values = {"user_id": owner.user_id, "kind": "tidy"}
    async with db.transaction(owner.user_id) as connection:
        assert (await connection.execute(schedule.RUN, values)).scalar_one() is True
        assert await asyncio.wait_for(fire_due(db), 5) == 0
    assert len(await tidy_jobs(db, owner.user_id)) == 1
    assert await fire_due(db) == 0


async def test_what_dies_in_the_middle_leaves_it_due(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    async def die(connection: AsyncConnection) -> None:
        values = {"user_id": owner.user_id, "kind": "tidy"}
        assert (await connection.execute(schedule.RUN, values)).scalar_one() is True
        raise KeyError

    make_due(admin, owner.user_id)
    with pytest.raises(KeyError):
        await db.attempt(owner.user_id, die)
    assert await tidy_jobs(db, owner.user_id) == []
    assert await fire_due(db) == 1


async def test_more_than_a_batch_runs(
    db: Database, owner: Owner, other: Owner, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "BATCH", 1)
    for user in (owner, other):
        make_due(admin, user.user_id)
    assert await fire_due(db) == 2


async def test_one_that_fails_keeps_no_other_from_running(
    db: Database, owner: Owner, other: Owner, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = db.attempt

    async def failing(user_id: UUID | None, work: Any) -> Any:
        if user_id == owner.user_id:
            raise RuntimeError
        return await attempt(user_id, work)

    for user in (owner, other):
        make_due(admin, user.user_id)
    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr(db, "attempt", failing)
        assert await fire_due(db) == 1
    assert [line["event"] for line in logs] == ["schedule failed"]
    assert len(await tidy_jobs(db, other.user_id)) == 1
    assert await fire_due(db) == 1


async def test_what_is_off_does_not_run(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    make_due(admin, owner.user_id)
    found = await switch_schedule(db, owner.user_id, "tidy", enabled=False)
    assert (found.enabled, found.next_at) == (False, None)
    assert await fire_due(db) == 0
    found = await switch_schedule(db, owner.user_id, "tidy", enabled=True)
    assert found.next_at is not None
    assert datetime.now(UTC) < found.next_at < datetime.now(UTC) + NIGHT
    assert await fire_due(db) == 0, "what was missed while it was off was made up for"
    make_due(admin, owner.user_id)
    await switch_schedule(db, owner.user_id, "tidy", enabled=True)
    assert await fire_due(db) == 1, "turning on what was on made it lose a run"


# Clocks --------------------------------------------------------------------------------------------------------------


async def test_a_zone_that_changes_moves_the_next_run(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    await set_schedule(db, owner.user_id, "tidy", at="03:30")
    for zone in ("Asia/Tokyo", "America/New_York", "Pacific/Apia"):
        admin.execute("UPDATE memsvc.users SET time_zone = %s WHERE user_id = %s", [zone, owner.user_id])
        found = await get_schedule(db, owner.user_id, "tidy")
        assert found.time_zone == zone
        assert found.next_at is not None
        assert f"{found.next_at.astimezone(ZoneInfo(zone)):%H:%M}" == "03:30"
        assert datetime.now(UTC) < found.next_at < datetime.now(UTC) + NIGHT
    make_due(admin, owner.user_id)
    admin.execute("UPDATE memsvc.users SET time_zone = 'UTC' WHERE user_id = %s", [owner.user_id])
    assert await fire_due(db) == 1, "a run that was due got lost on the way"


async def test_a_clock_that_was_ahead_stops_nothing_for_long(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    make_due(admin, owner.user_id, -timedelta(days=400))
    assert await fire_due(db) == 0
    assert await tidy_jobs(db, owner.user_id) == []
    found = await get_schedule(db, owner.user_id, "tidy")
    assert found.next_at is not None
    assert datetime.now(UTC) < found.next_at < datetime.now(UTC) + NIGHT
    assert found.last_at is None


async def test_it_runs_at_the_wanted_time_and_days(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    admin.execute("UPDATE memsvc.users SET time_zone = 'Europe/Berlin' WHERE user_id = %s", [owner.user_id])
    found = await set_schedule(db, owner.user_id, "tidy", at="04:15:30", weekdays=["Thu", 1])
    assert (found.at, found.weekdays) == ("04:15:30", ["mon", "thu"])
    for _ in range(3):
        make_due(admin, owner.user_id)
        assert await fire_due(db) == 1
        found = await get_schedule(db, owner.user_id, "tidy")
        assert found.next_at is not None
        local = found.next_at.astimezone(ZoneInfo("Europe/Berlin"))
        assert f"{local:%H:%M:%S}" == "04:15:30"
        assert local.isoweekday() in {1, 4}
    found = await set_schedule(db, owner.user_id, "tidy", at="04:15", weekdays=range(1, 8))
    assert (found.at, found.weekdays, found.enabled) == ("04:15", None, True)


# Setting -------------------------------------------------------------------------------------------------------------


async def test_a_new_user_is_tidied_up_in_the_night_not_all_at_once(app: UUID, admin: psycopg.Connection) -> None:
    made = "SELECT memsvc.create_user(%s, %s, 'Many', 'Asia/Kolkata', 'english')"
    users = [value(admin, made, [app, f"night-{uuid4()}"]) for _ in range(50)]
    nights = admin.execute(
        "SELECT at_local::text, (next_at AT TIME ZONE 'Asia/Kolkata')::time::text FROM memsvc.schedules "
        "WHERE user_id = ANY (%s) AND kind = 'tidy' AND weekdays IS NULL AND enabled AND last_at IS NULL",
        [users],
    ).fetchall()
    assert len(nights) == 50
    assert all("03:00:00" <= at <= "04:59:00" and at == due for at, due in nights)
    assert len({at for at, _due in nights}) > 20


async def test_users_from_before_get_theirs_and_what_was_set_stays(
    db: Database, owner: Owner, other: Owner, admin: psycopg.Connection
) -> None:
    admin.execute("DELETE FROM memsvc.schedules WHERE user_id = %s", [owner.user_id])
    kept = await set_schedule(db, other.user_id, "tidy", at="12:00", enabled=False)
    assert await list_schedules(db, owner.user_id) == []
    with pytest.raises(NotFoundError):
        await switch_schedule(db, owner.user_id, "tidy", enabled=True)
    every = value(admin, "SELECT count(*) FROM memsvc.users")
    assert value(admin, "SELECT memsvc.seed_schedules(NULL)") == 2 * every
    assert [found.kind for found in await list_schedules(db, owner.user_id)] == ["sleep", "tidy"]
    assert await get_schedule(db, other.user_id, "tidy") == kept
    admin.execute("DELETE FROM memsvc.schedules WHERE user_id = %s", [owner.user_id])
    assert (await set_schedule(db, owner.user_id, "tidy", at="12:00")).at == "12:00"


@pytest.mark.parametrize(
    "at", ["", "3:30", "24:00", "03:60", "03:30:60", "03", "0330", "03:30+01:00", "03:30 ", "٠٣:٣٠", "03:30\n", "\0"]
)
def test_what_is_no_time_of_day_is_refused(at: str) -> None:
    with pytest.raises(InvalidTimeError) as caught:
        read_clock(at)
    assert caught.value.details == {"field": "at"}
    assert "HH:MM" in caught.value.advice


@pytest.mark.parametrize("days", [[], [""], ["0"], [8], [-1], ["m"], ["mon", "noday"], ["mond"], ["\0"]])
def test_what_is_no_day_of_the_week_is_refused(days: list[str | int]) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        read_weekdays(days)
    assert caught.value.details == {"field": "weekdays"}


def test_days_of_the_week_have_names_and_numbers() -> None:
    assert read_weekdays(["sun", "Monday", 3, "3", " fri "]) == [1, 3, 5, 7]
    assert read_weekdays(["mon", 2, 3, 4, 5, 6, 7]) is None


async def test_what_does_not_recur_is_not_found(db: Database, owner: Owner) -> None:
    for kind in ("process", "", "\0", "x" * 1000):
        with pytest.raises(NotFoundError):
            await set_schedule(db, owner.user_id, kind, at="03:00")
        with pytest.raises(NotFoundError):
            await run_now(db, owner.user_id, kind)


# Keeping time --------------------------------------------------------------------------------------------------------


async def test_a_database_that_is_away_is_waited_for(
    db: Database, owner: Owner, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    async def failing_at_first(db: Database) -> int:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise DatabaseUnavailableError
        if looks == 2:
            raise ZeroDivisionError
        return await fire_due(db)

    monkeypatch.setattr(schedule, "LOOK_S", 0.01)
    monkeypatch.setattr(schedule, "fire_due", failing_at_first)
    make_due(admin, owner.user_id)
    with capture_logs() as logs:
        keeping = asyncio.create_task(keep_time(db))
        await until_tidied(db, owner.user_id, "pending")
        keeping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await keeping
    assert [line["event"] for line in logs][:2] == [
        "recurring work waits for the database", "recurring work was not asked for",
    ]  # fmt: skip


async def test_a_worker_keeps_time_and_does_the_work(
    db: Database, owner: Owner, admin: psycopg.Connection, settings: Settings, url: URL
) -> None:
    old = await run_now(db, owner.user_id, "tidy")
    admin.execute(
        "UPDATE memsvc.jobs SET state = 'done', job_id = uuidv7('-40 days'), finished_at = now() - interval '39 days' "
        "WHERE job_id = %s",
        [old],
    )
    make_due(admin, owner.user_id)
    async with working(settings.model_copy(update={"worker_threads": 1}), url, None):
        await until_tidied(db, owner.user_id, "done")
