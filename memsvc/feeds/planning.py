"""When feeds are read: each due one is claimed by one process, which asks for the ingest that reads it.

Reads and writes ``memsvc.feeds``. A claim, its ingest and the next time are one transaction, so a process that dies
leaves the feed due, and however often a feed was missed, it is read once. An ingest that ends says so (``settle``), in
the transaction of its end: a failure puts the next run off, and after ``MOST_FAILURES`` in a row the feed is failed.
"""

from __future__ import annotations

import asyncio
import random
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import structlog
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import valid_zone
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import MemsvcError
from memsvc.feeds.wanted import reads_of
from memsvc.queue.execution import OF_THE_DATABASE
from memsvc.queue.jobs import announce_jobs
from memsvc.times.rules import FAR, read_rule

LOOK_S = 15.0
"""How often a worker looks for due feeds; varied by up to a third, so that workers do not all look together."""
BATCH = 100
MOST_FAILURES = 10
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=5), timedelta(days=1)
"""The least pause after one failure, doubled by each further one."""
DUE = text("SELECT * FROM memsvc.due_feeds(:limit)")
log = structlog.get_logger()


def planned(row: Row[Any], failures: int) -> datetime | None:
    """Return when a feed is due next; None: it has no rule.

    Args:
        row: of ``lock_feed``.
        failures: how many runs in a row have failed.
    """
    if row.rule is None:
        return None
    start = row.created_at.astimezone(valid_zone(row.time_zone)).replace(second=0, microsecond=0)
    moment = read_rule(row.rule).after(row.now_at, start) or row.now_at + FAR
    return max(moment, row.now_at + pause_after(failures)) if failures else moment


def pause_after(failures: int) -> timedelta:
    """Return the least time until the next run after so many failures in a row."""
    times: int = 2 ** min(failures - 1, MOST_FAILURES)
    return min(LONGEST_PAUSE, FIRST_PAUSE * times)


async def begin(connection: AsyncConnection, user_id: UUID, feed_id: UUID, *, by_hand: bool = False) -> UUID | None:
    """Claim a feed and ask for the ingest that reads it, in the caller's transaction.

    Args:
        connection: of the user's transaction.
        user_id: whose feed.
        feed_id: the feed.
        by_hand: somebody asked for it: it is read now, whatever its state.

    Returns:
        The ingest; of a feed that is being read, the one that reads it. None: it is not due, or no longer there.
    """
    ids = {"user_id": user_id, "feed_id": feed_id}
    row = (await connection.execute(query("lock_feed"), ids)).one_or_none()
    if row is None or (not by_hand and (row.state != "active" or row.rule is None)):
        return None
    if not by_hand and (row.next_run is None or row.next_run > row.now_at):
        await connection.execute(
            query("plan_feed"), {**ids, "next_run": planned(row, row.failures), "run_id": row.run_id}
        )
        return None
    if row.run_id is not None:
        # A statement of its own, after the lock: it sees the ingest of a process that claimed the feed just before.
        run = (await connection.execute(query("state_of_run"), {**ids, "ingest_id": row.run_id})).one_or_none()
        if run is not None and run.goes_on:
            next_run = row.next_run if by_hand else planned(row, row.failures)
            await connection.execute(query("plan_feed"), {**ids, "next_run": next_run, "run_id": row.run_id})
            going: UUID = row.run_id
            return going if by_hand else None
        if run is not None and run.error_code is not None:
            row = await _settled(connection, ids, row, run.error_code)
            if row.state == "failed" and not by_hand:
                return None
    reads = reads_of(row.settings)
    values = {**ids, "key_id": row.key_id, "choices": msgspec.json.encode(reads.choices).decode()}
    ingest_id: UUID = (await connection.execute(query("add_run"), values)).scalar_one()
    next_run = planned(row, 0) if row.state == "active" else None
    await connection.execute(query("plan_feed"), {**ids, "next_run": next_run, "run_id": ingest_id})
    run_ids = {"user_id": user_id, "ingest_id": ingest_id}
    await connection.execute(query("ask_ingest"), run_ids)
    await connection.execute(query("tell_of_ingest"), run_ids)
    return ingest_id


async def settle(connection: AsyncConnection, user_id: UUID, feed_id: UUID, ingest_id: UUID, code: str | None) -> None:
    """Record how a run ended, in the transaction of its end.

    Args:
        connection: of the user's transaction.
        user_id: whose feed.
        feed_id: the feed; it may have been removed.
        ingest_id: the run.
        code: why it failed; None: it did not.
    """
    ids = {"user_id": user_id, "feed_id": feed_id}
    row = (await connection.execute(query("lock_feed"), ids)).one_or_none()
    if row is not None and row.run_id == ingest_id:
        await _settled(connection, ids, row, code)


async def _settled(connection: AsyncConnection, ids: dict[str, Any], row: Row[Any], code: str | None) -> Row[Any]:
    """Settle a locked feed; return it as it is then."""
    failures = row.failures + 1 if code is not None else 0
    state = "failed" if failures >= MOST_FAILURES and row.state == "active" else row.state
    next_run: datetime | None = None
    if state == "active":
        next_run = row.now_at if code is None and row.cursor.get("more") else planned(row, failures)
    values = {**ids, "state": state, "failures": failures, "last_error": code, "next_run": next_run}
    await connection.execute(query("settle_feed"), values)
    return (await connection.execute(query("lock_feed"), ids)).one()


async def begin_due(db: Database) -> int:
    """Begin the runs of all due feeds of all users; other processes may begin some.

    Returns:
        How many this process began.

    Raises:
        MemsvcError: the database cannot be reached; feeds whose run did not begin stay due.
    """
    begun = 0
    while True:
        async with db.transaction() as connection:
            due = list((await connection.execute(DUE, {"limit": BATCH})).all())
        random.shuffle(due)  # two processes that read the same rows begin at different ones
        before = begun
        for row in due:
            begun += await _begun(db, row.user_id, row.feed_id)
        if begun > before:
            announce_jobs(db)
        if len(due) < BATCH or begun == before:
            return begun


async def _begun(db: Database, user_id: UUID, feed_id: UUID) -> bool:
    """Begin one run, if it is still due; an error of one feed does not stop those of others."""

    async def work(connection: AsyncConnection) -> UUID | None:
        return await begin(connection, user_id, feed_id)

    try:
        return await db.attempt(user_id, work) is not None
    except OF_THE_DATABASE:
        raise
    except Exception:
        log.exception("feed failed", feed_id=str(feed_id), user_id=str(user_id))
        return False


async def keep_feeding(db: Database) -> None:
    """Begin due runs repeatedly until cancelled; keeps trying while the database is away."""
    while True:
        try:
            if begun := await begin_due(db):
                log.info("feeds are read", count=begun)
        except MemsvcError as error:
            log.warning("feeds wait for the database", code=error.code)
        except Exception:
            log.exception("feeds were not read")
        await asyncio.sleep(LOOK_S * random.uniform(2 / 3, 4 / 3))  # noqa: S311 - no secret
