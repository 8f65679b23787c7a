"""Events as followers read them: of transactions that overlap, and from cursors of older releases."""

from __future__ import annotations

import random
from contextlib import AsyncExitStack
from uuid import UUID, uuid4

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.paging import write_cursor
from memsvc.errors import CursorExpiredError
from memsvc.graph.events import EventPage, Position, end_of, frames_after, page_after, position_of, users_with_news

EVENT = text("INSERT INTO memsvc.outbox (user_id, kind, subject_id) VALUES (:user_id, 'passages.added', :subject)")
KEEP_DAYS = 30


class Follower:
    """Reads page by page, each time from the cursor that it was given."""

    def __init__(self, db: Database, owner: Owner, cursor: str) -> None:
        self.db, self.owner, self.cursor = db, owner, cursor
        self.told: list[UUID] = []

    async def page(self, limit: int = 100, *, leave_after: int | None = None) -> EventPage:
        """One page; or only so much of it, as if the connection had broken there."""
        position = await position_of(self.db, self.cursor, KEEP_DAYS)
        page = await page_after(self.db, self.owner.user_id, position, limit)
        items = page.items[:leave_after]
        self.cursor = page.next_cursor if leave_after is None or not items else items[-1].cursor
        self.told += [event.subject_id for event in items]
        return page


async def told(connection: AsyncConnection, owner: Owner) -> UUID:
    """Write an event."""
    subject = uuid4()
    await connection.execute(EVENT, {"user_id": owner.user_id, "subject": subject})
    return subject


async def with_news(db: Database, owner: Owner, position: Position) -> list[UUID]:
    """The user, where something happened after the position."""
    async with db.transaction() as connection:
        return (await users_with_news(connection, {owner.user_id: position}))[0]


async def test_a_client_in_a_room_is_told_of_a_late_commit_beside_the_next_transaction(
    db: Database, owner: Owner
) -> None:
    """The client's own position is that of its last message; the room's is the snapshot in which it was read."""
    room = client = await end_of(db)
    told_of: list[UUID] = []

    async def read() -> None:
        nonlocal room, client
        frames = await frames_after(db, owner.user_id, room)
        room = frames.end
        for frame in frames.items:
            if not client.covers(frame.transaction, frame.event):
                client = frame.after(client)
                told_of.append(frame.event)

    async with db.transaction(owner.user_id) as late:
        await told(late, owner)
        async with db.transaction(owner.user_id) as early:
            await told(early, owner)
        await read()
        assert len(told_of) == 1
        async with db.transaction(owner.user_id) as following:
            await told(following, owner)
    await read()
    assert len(told_of) == 3


async def test_two_writers_of_one_user_that_commit_in_the_opposite_order_are_both_told(
    db: Database, owner: Owner
) -> None:
    follower = Follower(db, owner, (await end_of(db)).cursor)
    async with db.transaction(owner.user_id) as first:
        one = [await told(first, owner)]
        async with db.transaction(owner.user_id) as second:
            two = [await told(second, owner), await told(second, owner)]
        await follower.page(1)
        assert follower.told == two[:1]
        one.append(await told(first, owner))
    await follower.page(1)
    assert follower.told == two, "a transaction is told to its end"
    await follower.page()
    assert follower.told == two + one
    assert (await follower.page()).items == []


async def test_however_writers_overlap_followers_are_told_of_each_event_once(db: Database, owner: Owner) -> None:
    chance = random.Random(7)
    start = (await end_of(db)).cursor
    followers = [Follower(db, owner, start) for _ in range(3)]
    written = []
    for _ in range(8):
        async with AsyncExitStack() as stack:
            writers = []
            for _ in range(3):
                ending = await stack.enter_async_context(AsyncExitStack())
                writers.append((ending, await ending.enter_async_context(db.transaction(owner.user_id))))
            chance.shuffle(writers)
            for ending, connection in writers:
                still_open = [other for _, other in chance.sample(writers, 2) if not other.closed]
                written += [await told(other, owner) for other in (*still_open, connection)]
                await ending.aclose()
                for follower in followers:
                    await follower.page(chance.randint(1, 3), leave_after=chance.choice([None, 1, 2]))
    for follower in followers:
        while (await follower.page(2)).items:
            pass
        assert sorted(follower.told) == sorted(written)


@pytest.mark.parametrize("database", ["postgres", None], ids=["elsewhere", "here"])
async def test_a_transaction_that_writes_no_event_holds_nothing_up(
    db: Database, owner: Owner, admin: psycopg.Connection, database: str | None
) -> None:
    with psycopg.connect(admin.info.dsn, password=admin.info.password, dbname=database or admin.info.dbname) as waiting:
        waiting.execute("SELECT pg_current_xact_id()")
        position = await end_of(db)
        follower = Follower(db, owner, position.cursor)
        for _ in range(3):
            async with db.transaction(owner.user_id) as connection:
                subject = await told(connection, owner)
            assert await with_news(db, owner, position) == [owner.user_id]
            await follower.page()
            assert follower.told.pop() == subject
            frames = await frames_after(db, owner.user_id, position)
            assert len(frames.items) == 1
            position = frames.end
            assert await with_news(db, owner, position) == []


async def test_cursors_of_older_releases_lead_on(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    subjects = []
    for _ in range(3):
        async with db.transaction(owner.user_id) as connection:
            subjects.append(await told(connection, owner))
    rows = admin.execute(
        "SELECT transaction_id::text::bigint, event_id, extract(epoch FROM recorded_at)::bigint FROM memsvc.outbox "
        "WHERE user_id = %s ORDER BY transaction_id, event_id",
        [owner.user_id],
    ).fetchall()
    for number, (transaction, event, at) in enumerate(rows, 1):
        follower = Follower(db, owner, write_cursor((transaction, event, at)))
        await follower.page()
        assert follower.told == subjects[number:]
    with pytest.raises(CursorExpiredError):
        await position_of(db, write_cursor((2**60, rows[0][1], rows[0][2])), KEEP_DAYS)
    with pytest.raises(CursorExpiredError):
        await position_of(db, Position(2**60, (5,), 5, rows[0][1], rows[0][2]).cursor, KEEP_DAYS)


async def test_events_that_a_backup_brought_are_not_told_before_the_server_comes_so_far(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    position = await end_of(db)
    admin.execute(
        "INSERT INTO memsvc.outbox (user_id, kind, subject_id, transaction_id) "
        "VALUES (%s, 'passages.added', gen_random_uuid(), '900000000000')",
        [owner.user_id],
    )
    assert await with_news(db, owner, position) == []
    assert (await page_after(db, owner.user_id, position, 10)).items == []
