"""Erase a whole user: the user and all rows of the user in every table.

The first transaction marks the user: keys are revoked, and nobody can act for the user any more, not even with a token
(``Database.bind`` checks it). Then rows are deleted in batches of bounded size, in the order of foreign keys. The last
transaction locks the user's row and deletes rows that were added meanwhile. Any step may be killed: a repeated call
continues, and so do workers (``keep_erasing``). The SQL is ``sql/functions/erase/85_users.sql`` and
``erase/90_user_rows.sql``.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from datetime import UTC
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import find_user
from memsvc.db.acting import sign
from memsvc.db.engine import EVENTS, Database
from memsvc.erasing.memories import Receipt
from memsvc.errors import (
    ContendedError,
    MemsvcError,
    NotFoundError,
    OverloadedError,
    UserUnknownError,
)
from memsvc.text.storable import check_storable

BATCH = 10_000
"""Most rows that one transaction deletes."""
SMALLEST_BATCH = 100
LOOK_S = 15.0
"""Seconds between a worker's checks for users whose erasure has started, varied by up to a third."""
SLICE_S = 10.0
"""How long a worker erases one user before it continues with the next."""
PATIENCE_S = 60.0
"""How long to retry while other transactions still act for the user; each of their statements ends sooner."""
PAUSE_S = 0.2
MANY = 100
Progress = Callable[[int, int], None]
"""Called with the number of erased rows and the total."""
log = structlog.get_logger()

BEGIN = text("SELECT memsvc.begin_user_erasure(:app, :ref, :by)")
ERASE = text("SELECT * FROM memsvc.erase_user(:user_id, :limit)")
ROWS = text("SELECT * FROM memsvc.rows_of_user(:user_id)")
RECORD = text("SELECT * FROM memsvc.user_erasure(:app, :user_id)")
ERASING = text("SELECT * FROM memsvc.users_erasing(:limit)")


async def preview_user(db: Database, app: UUID, ref: str) -> dict[str, int]:
    """Return how many rows of each table erasing a user would remove; change nothing.

    Args:
        db: the database.
        app: the app that the user belongs to.
        ref: id or external id.

    Raises:
        UserUnknownError: the app has no such user, or the user is already being erased.
    """
    check_storable(ref, "user")
    return await _rows(db, (await find_user(db, app, ref)).user_id)


async def erase_user(
    db: Database,
    app: UUID,
    ref: str,
    *,
    requested_by: str,
    seconds: float | None = None,
    on_progress: Progress | None = None,
) -> Receipt:
    """Erase a user of an app with all the user's data; a repeated call continues where the last one stopped.

    Args:
        db: the database.
        app: the app that the user belongs to.
        ref: id or external id.
        requested_by: the door of the request, for the receipt and the audit log; not a name.
        seconds: stop after about this long and leave the rest to workers; None: erase everything.
        on_progress: called after each batch with the number of erased rows and the total.

    Returns:
        The receipt: ``done`` and checked, or ``pending`` if the time was up.

    Raises:
        UserUnknownError: the app has no such user.
        OverloadedError, ContendedError: other transactions blocked it for a minute; erased rows stay erased.
    """
    check_storable(ref, "user")
    values = {"app": app, "ref": ref, "by": requested_by}

    async def begin(connection: AsyncConnection) -> UUID | None:
        await sign(connection)
        found: UUID | None = (await connection.execute(BEGIN, values)).scalar_one()
        return found

    user_id = await db.attempt(None, begin)
    if user_id is None:
        raise UserUnknownError(f"This app has no user {ref!r}.")
    db.notify(EVENTS)  # disconnects live clients of this user
    total = sum((await _rows(db, user_id)).values()) if on_progress is not None else 0
    done = 0

    def advance(erased: int) -> None:
        nonlocal done
        done += erased
        if on_progress is not None:
            on_progress(done, max(done, total))

    await _erase_batches(db, user_id, None if seconds is None else time.monotonic() + seconds, advance)
    return await user_erasure(db, app, user_id)


async def user_erasure(db: Database, app: UUID, user_id: UUID) -> Receipt:
    """Return the progress of a user's erasure; if it is done, check all tables again.

    Raises:
        NotFoundError: no user of the app with this id was ever erased.
    """
    async with db.transaction() as connection:
        row = (await connection.execute(RECORD, {"app": app, "user_id": user_id})).one_or_none()
    if row is None:
        raise NotFoundError("No user with this id was ever erased.")
    leftovers = await _rows(db, user_id) if row.finished_at is not None else {}
    return Receipt(
        erasure_id=row.erasure_id,
        kind="user",
        subject_id=user_id,
        state="pending" if row.finished_at is None else "done",
        counts=dict(sorted(row.erased_rows.items())),
        requested_by=row.requested_by,
        created_at=row.created_at.astimezone(UTC),
        finished_at=row.finished_at.astimezone(UTC) if row.finished_at is not None else None,
        verified=None if row.finished_at is None else not leftovers,
        leftovers=leftovers,
    )


async def keep_erasing(db: Database) -> None:
    """Continue started erasures until cancelled; survive times without a database."""
    while True:
        more = False
        try:
            more = await go_on_erasing(db)
        except MemsvcError as error:
            log.warning("erasing users waits for the database", code=error.code)
        except Exception:
            log.exception("users were not erased")
        await asyncio.sleep(PAUSE_S if more else LOOK_S * random.uniform(2 / 3, 4 / 3))  # noqa: S311 - no secret


async def go_on_erasing(db: Database, seconds: float = SLICE_S) -> bool:
    """Continue started erasures, for at most ``seconds`` each; a failure of one does not delay the others.

    Returns:
        Whether there is more to do that did not fail.

    Raises:
        MemsvcError: the database cannot be reached.
    """
    async with db.transaction() as connection:
        started = list((await connection.execute(ERASING, {"limit": MANY})).scalars())
    more = False
    for user_id in started:
        try:
            finished = await _erase_batches(db, user_id, time.monotonic() + seconds, lambda _erased: None)
        except (ContendedError, OverloadedError) as error:
            log.warning("a user is not erased yet", user_id=str(user_id), code=error.code)
        else:
            more = more or not finished
            if finished:
                log.info("a user was erased", user_id=str(user_id))
    return more


async def _rows(db: Database, user_id: UUID) -> dict[str, int]:
    """Return the number of a user's rows by table, also for users who are being or have been erased."""
    async with db.transaction() as connection:
        await db.bind(connection, user_id, erasing=True)
        rows = await connection.execute(ROWS, {"user_id": user_id})
        return {row.name: row.stored for row in rows}


async def _erase_batches(db: Database, user_id: UUID, until: float | None, advance: Callable[[int], None]) -> bool:
    """Erase batches until the user is erased or the time is up; return whether the user is erased.

    Transactions that acted for the user when the mark was set may still lock rows, or add rows that others then refer
    to. Such a batch is rolled back and retried.

    Raises:
        OverloadedError, ContendedError: they blocked the erasure for a minute.
    """
    limit = BATCH

    async def erase(connection: AsyncConnection) -> tuple[int, bool]:
        await sign(connection)
        await db.bind(connection, user_id, erasing=True)
        row = (await connection.execute(ERASE, {"user_id": user_id, "limit": limit})).one()
        return row.erased, row.finished

    stuck_since: float | None = None
    while True:
        try:
            erased, finished = await db.attempt(None, erase)
        except (
            ContendedError,
            OverloadedError,
            UserUnknownError,
        ) as error:  # a foreign key to users raises UserUnknownError
            stuck_since = stuck_since or time.monotonic()
            if time.monotonic() - stuck_since > PATIENCE_S:
                raise ContendedError("Other requests still act for the user.") from error
            if isinstance(error, OverloadedError):  # the batch may have been too large for one statement
                limit = max(SMALLEST_BATCH, limit // 2)
            await asyncio.sleep(PAUSE_S)
        else:
            stuck_since, limit = None, min(BATCH, 2 * limit)
            advance(erased)
            if finished:
                return True
        if until is not None and time.monotonic() >= until:
            return False
