"""Recurring work: a table holds each user's schedules; any process may run those that are due, and exactly one does.

Reads and writes ``memsvc.schedules``. ``memsvc.next_run`` computes when work is due in its user's local time, across
changes of the clock. ``memsvc.run_schedule`` claims a schedule and requests its job, in the transaction that sets its
next time. Workers run the schedules (``keep_time``), by the database's clock.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Sequence
from datetime import datetime, time
from typing import Any, Literal
from uuid import UUID

import msgspec
import structlog
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.acting import note_act
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import InvalidRequestError, InvalidTimeError, MemsvcError, NotFoundError
from memsvc.queue.execution import OF_THE_DATABASE
from memsvc.queue.jobs import announce_jobs

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
FULL_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAYS = {name: number for number, full in enumerate(FULL_NAMES, 1) for name in (full, full[:3], str(number))}
"""The number of a day by each of its names."""
KINDS = ("tidy", "sleep")
"""Kinds of work that can recur."""
LOOK_S = 15.0
"""How often a worker looks for due schedules; varied by up to a third, so that workers do not all look together."""
BATCH = 100
CLOCK = re.compile(r"(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9]))?")
log = structlog.get_logger()

SEED = text("SELECT memsvc.seed_schedules(NULL)")
DUE = text("SELECT * FROM memsvc.due_schedules(:limit)")
RUN = text("SELECT memsvc.run_schedule(:user_id, :kind)")
ASK = text("SELECT memsvc.ask_job(:user_id, :kind, :user_id)")


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """Work that recurs."""

    kind: str
    """tidy: upkeep; deletes old jobs and events, and requests vectors that messages lack. sleep: nightly work, such as
    finding duplicates."""
    at: str
    """Time of day in the user's time zone, HH:MM or HH:MM:SS."""
    weekdays: list[Weekday] | None
    """Days on which it runs; null: every day."""
    enabled: bool
    """False: it does not run."""
    time_zone: str
    """The user's time zone."""
    next_at: datetime | None
    """When it is due next; null if it is not enabled."""
    last_at: datetime | None
    """When it ran last; null: never."""


def read_clock(value: str) -> time:
    """Read a time of day.

    Raises:
        InvalidTimeError: the value is neither HH:MM nor HH:MM:SS.
    """
    found = CLOCK.fullmatch(value)
    if found is None:
        raise InvalidTimeError(
            f"{value[:60]!r} is not a time of day.", hint="Use HH:MM or HH:MM:SS, from 00:00 to 23:59:59.", field="at"
        )
    return time(int(found["hour"]), int(found["minute"]), int(found["second"] or 0))


def read_weekdays(values: Sequence[str | int]) -> list[int] | None:
    """Days of the week as numbers, 1 (Monday) to 7; None for all seven.

    Args:
        values: names (``mon`` or ``monday``, in any case) or numbers, in any order.

    Raises:
        InvalidRequestError: one of them is not a day, or the list is empty.
    """
    days: set[int] = set()
    for value in values:
        day = DAYS.get(str(value).strip().lower())
        if day is None:
            raise InvalidRequestError(
                f"{str(value)[:60]!r} is not a day of the week.",
                hint=f"Use {', '.join(WEEKDAYS)}, or 1 (Monday) to 7.",
                field="weekdays",
            )
        days.add(day)
    if not days:
        raise InvalidRequestError(
            "There must be a day of the week.", hint="Leave weekdays out for every day.", field="weekdays"
        )
    return sorted(days) if len(days) < len(WEEKDAYS) else None


def _known(kind: str) -> str:
    if kind not in KINDS:
        raise NotFoundError(f"There is no schedule {kind[:60]!r}.", hint=f"One of: {', '.join(KINDS)}.")
    return kind


def _schedule(row: Row[Any]) -> Schedule:
    return Schedule(
        kind=row.kind,
        at=row.at_local.isoformat("seconds" if row.at_local.second else "minutes"),
        weekdays=[WEEKDAYS[day - 1] for day in row.weekdays] if row.weekdays is not None else None,
        enabled=row.enabled,
        time_zone=row.time_zone,
        next_at=row.next_at if row.enabled else None,
        last_at=row.last_at,
    )


async def list_schedules(db: Database, user_id: UUID) -> list[Schedule]:
    """A user's schedules, by kind."""
    async with db.transaction(user_id) as connection:
        rows = await connection.execute(query("list_schedules"), {"user_id": user_id, "kind": None})
        return [_schedule(row) for row in rows]


async def get_schedule(db: Database, user_id: UUID, kind: str) -> Schedule:
    """One schedule.

    Raises:
        NotFoundError: this kind does not exist, or this user has no such schedule.
    """
    async with db.transaction(user_id) as connection:
        rows = await connection.execute(query("list_schedules"), {"user_id": user_id, "kind": _known(kind)})
        row = rows.one_or_none()
    if row is None:
        raise NotFoundError(f"This user has no schedule {kind!r}.")
    return _schedule(row)


async def set_schedule(
    db: Database,
    user_id: UUID,
    kind: str,
    *,
    at: str,
    weekdays: Sequence[str | int] | None = None,
    enabled: bool = True,
) -> Schedule:
    """Set when something recurs.

    Args:
        db: the database.
        user_id: whose schedule.
        kind: kind of work.
        at: time of day in the user's time zone, HH:MM or HH:MM:SS.
        weekdays: names or numbers of the days on which it runs; None: every day.
        enabled: whether it runs at all.

    Raises:
        NotFoundError: this kind does not exist.
        InvalidTimeError, InvalidRequestError: the time or the days are invalid.
    """
    values = {
        "user_id": user_id,
        "kind": _known(kind),
        "at": read_clock(at),
        "weekdays": read_weekdays(weekdays) if weekdays is not None else None,
        "enabled": enabled,
    }

    async def change(connection: AsyncConnection) -> None:
        await connection.execute(query("set_schedule"), values)
        await note_act(connection, "schedule.set", user_id, kind, enabled=enabled)

    await db.attempt(user_id, change)
    return await get_schedule(db, user_id, kind)


async def switch_schedule(db: Database, user_id: UUID, kind: str, *, enabled: bool) -> Schedule:
    """Turn a schedule off, or on again; runs that were missed in between are not made up for.

    Raises:
        NotFoundError: this kind does not exist, or this user has no such schedule.
    """
    values = {"user_id": user_id, "kind": _known(kind), "enabled": enabled}

    async def change(connection: AsyncConnection) -> None:
        await connection.execute(query("switch_schedule"), values)
        await note_act(connection, "schedule.set", user_id, kind, enabled=enabled)

    await db.attempt(user_id, change)
    return await get_schedule(db, user_id, kind)


async def run_now(db: Database, user_id: UUID, kind: str) -> UUID:
    """Request the job of a schedule now, in addition to its times; returns the job's id.

    Raises:
        NotFoundError: this kind does not exist.
    """
    values = {"user_id": user_id, "kind": _known(kind)}

    async def ask(connection: AsyncConnection) -> UUID:
        job_id: UUID = (await connection.execute(ASK, values)).scalar_one()
        return job_id

    job_id = await db.attempt(user_id, ask)
    announce_jobs(db)
    return job_id


async def fire_due(db: Database) -> int:
    """Run all due schedules of all users; each is a transaction of its own, and other processes may run some.

    Returns:
        How many schedules this process ran.

    Raises:
        MemsvcError: the database cannot be reached; schedules that did not run stay due.
    """
    ran = 0
    while True:
        async with db.transaction() as connection:
            due = list((await connection.execute(DUE, {"limit": BATCH})).all())
        random.shuffle(due)  # two processes that read the same rows begin at different ones
        before = ran
        for row in due:
            ran += await _fire(db, row.user_id, row.kind)
        if ran > before:
            announce_jobs(db)
        if len(due) < BATCH or ran == before:
            return ran


async def _fire(db: Database, user_id: UUID, kind: str) -> bool:
    """Run one schedule, if it is still due; an error of one schedule does not stop those of other users."""

    async def run(connection: AsyncConnection) -> bool:
        fired: bool = (await connection.execute(RUN, {"user_id": user_id, "kind": kind})).scalar_one()
        return fired

    try:
        return await db.attempt(user_id, run)
    except OF_THE_DATABASE:
        raise
    except Exception:
        log.exception("schedule failed", kind=kind, user_id=str(user_id))
        return False


async def keep_time(db: Database) -> None:
    """Run due schedules repeatedly until cancelled; keeps trying while the database is away."""
    seeded = False
    while True:
        try:
            if not seeded:
                async with db.transaction() as connection:
                    await connection.execute(SEED)
                seeded = True
            if ran := await fire_due(db):
                log.info("recurring work was asked for", count=ran)
        except MemsvcError as error:
            log.warning("recurring work waits for the database", code=error.code)
        except Exception:
            log.exception("recurring work was not asked for")
        await asyncio.sleep(LOOK_S * random.uniform(2 / 3, 4 / 3))  # noqa: S311 - no secret
