"""The audit log: who did what to accounts, keys, models and whole memories, and how often keys are used a day.

Acts are written by the functions in ``sql/`` that do them, in the same transaction; reading an export, which changes
nothing, is written before it begins. The log has ids and counts, and no text (``docs/adr/0062-audit-log.md``).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import msgspec
import structlog
from sqlalchemy import text

from memsvc.db.engine import Database
from memsvc.db.paging import MAX_PAGE, Page, check_page
from memsvc.errors import MemsvcError
from memsvc.text.storable import check_storable

MAX_DAYS = 3_650
FLUSH_S = 60.0
"""How often a process writes down what it counted."""
ACTS = text("SELECT * FROM memsvc.acts_of_app(:app, :actor, :action, :user_id, :since, :until, :before, :limit)")
COUNT = text("SELECT memsvc.count_key_use(:keys, :days, :requests, :last)")
USE = text("SELECT * FROM memsvc.key_use_of_app(:app, :key_id, :since)")
log = structlog.get_logger()


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was done."""

    audit_id: UUID
    recorded_at: datetime
    action: str
    """What was done, such as key.create, key.revoke, user.erase, memory.export or model.switch."""
    subject: str
    """The id of what it was done to: a key, a user, an erasure, a job; or the name of a model."""
    user_id: UUID | None
    """The user concerned, who may be erased since."""
    door: Literal["api", "page", "cli"] | None
    """Through which door; null: a worker, or an operator with a login of the database."""
    key_id: str | None
    """The key that acted; null: none was needed."""
    login: str
    """The login of the database that acted."""
    whole_service: bool
    """It concerns the whole service and not this app alone: models, secrets, restores, dead letters."""
    details: dict[str, Any]
    """Scopes, kinds and counts; no text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActFilters:
    """Which acts are wanted. What is None leaves nothing out."""

    actor: str | None = None
    """The id of the key, or the door."""
    action: str | None = None
    """The action, or its first word: ``key`` is all acts on keys."""
    user_id: UUID | None = None
    """Only acts on this user."""
    since: datetime | None = None
    """The first moment."""
    until: datetime | None = None
    """The first moment that is too late."""


class KeyDay(msgspec.Struct, frozen=True, kw_only=True):
    """How often a key was used on a day, with its tokens."""

    key_id: str
    day: date
    """The day (UTC)."""
    requests: int
    last_at: datetime


async def list_acts(
    db: Database, app: UUID, filters: ActFilters, *, before: UUID | None = None, limit: int = 50
) -> Page[Act]:
    """Return acts that concern an app, newest first.

    Args:
        db: the database.
        app: the app. Acts on the whole service belong to every app.
        filters: which acts.
        before: the last act of the previous page.
        limit: page size, 1 to 1,000.

    Raises:
        InvalidRequestError: the limit is not valid.
    """
    check_page(limit)
    check_storable(filters.actor, "actor")
    check_storable(filters.action, "action")
    actor = filters.actor.split(".", 1)[0] if filters.actor else None
    wanted = asdict(replace(filters, actor=actor, action=filters.action or None))
    page = {"app": app, "before": before, "limit": limit + 1}
    async with db.transaction() as connection:
        rows = (await connection.execute(ACTS, wanted | page)).mappings().all()
    items = [Act(**row) for row in rows[:limit]]
    return Page(items=items, next_cursor=str(items[-1].audit_id) if len(rows) > limit else None)


async def every_act(db: Database, app: UUID, filters: ActFilters, *, before: UUID | None = None) -> AsyncIterator[Act]:
    """Yield all acts that concern an app, newest first, a page at a time. Arguments as of ``list_acts``.

    What is done while they are read is newer than the first one, so it is not among them.
    """
    while True:
        page = await list_acts(db, app, filters, before=before, limit=MAX_PAGE)
        for act in page.items:
            yield act
        if page.next_cursor is None:
            return
        before = page.items[-1].audit_id


async def key_use(db: Database, app: UUID, *, key_id: str | None = None, days: int = 30) -> list[KeyDay]:
    """Return how often the keys of an app were used on each day (UTC), newest first, today included."""
    check_storable(key_id, "key")
    since = datetime.now(UTC).date() - timedelta(days=days - 1)
    async with db.transaction() as connection:
        rows = await connection.execute(USE, {"app": app, "key_id": key_id, "since": since})
        return [KeyDay(**row) for row in rows.mappings()]


class KeyUse:
    """Counts the requests of keys in this process, and writes them down once a minute, so that no request waits for it.

    A process that is killed loses the last minute.
    """

    def __init__(self, db: Database) -> None:
        """Begin with nothing."""
        self._db = db
        self._counted: dict[tuple[str, date], tuple[int, datetime]] = {}

    def add(self, key_id: str | None) -> None:
        """Count a request."""
        if key_id is None:
            return
        now = datetime.now(UTC)
        requests, _ = self._counted.get((key_id, now.date()), (0, now))
        self._counted[key_id, now.date()] = requests + 1, now

    async def flush(self) -> None:
        """Write down what was counted. If the database is away, it is kept for the next time."""
        counted, self._counted = self._counted, {}
        if not counted:
            return
        values = {
            "keys": [key_id for key_id, _ in counted],
            "days": [day for _, day in counted],
            "requests": [requests for requests, _ in counted.values()],
            "last": [last for _, last in counted.values()],
        }
        try:
            async with self._db.transaction() as connection:
                await connection.execute(COUNT, values)
        except BaseException:
            for name, (requests, last) in counted.items():
                since, latest = self._counted.get(name, (0, last))
                self._counted[name] = requests + since, max(last, latest)
            raise

    async def keep(self) -> None:
        """Write down once a minute until cancelled."""
        while True:
            await asyncio.sleep(FLUSH_S)
            try:
                await self.flush()
            except MemsvcError as error:
                log.warning("the use of keys is written down later", code=error.code)
            except Exception:
                log.exception("the use of keys was not written down")
