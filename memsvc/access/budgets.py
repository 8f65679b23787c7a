"""Budgets: what an app and its users may use in a day (UTC). See ``sql/functions/accounts/70_budgets.sql``.

Messages and bytes are counted where they are stored, whatever the door; tokens and cost are checked before each call of
the language model (``memsvc.llm.calls``). Without a budget nothing is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import find_user
from memsvc.db.acting import sign
from memsvc.db.clock import midnight
from memsvc.db.engine import Database
from memsvc.db.paging import Page, check_page, read_cursor, write_cursor
from memsvc.errors import InvalidRequestError, NotFoundError

Whose = Literal["app", "each", "user"]
MOST = 10**15
MOST_COST = Decimal(10) ** 9
NAMES = ("messages_per_day", "bytes_per_day", "tokens_per_day")
SET = text("SELECT memsvc.set_budget(:app, :whose, :of_user, :messages, :bytes, :tokens, :cost)")
LIST = text("SELECT * FROM memsvc.budgets_of_app(:app, :of_user, :after, :limit, p_counted => :counted)")
USED = text("SELECT * FROM memsvc.budgets_of_app(:app, NULL, NULL, NULL, p_users => CAST(:users AS uuid[]))")
USED_UP = text("SELECT * FROM memsvc.budgets_used_up()")


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be used in a day (UTC); null or left out: no limit."""

    messages_per_day: int | None = None
    """The most messages to store. Repeated messages count again."""
    bytes_per_day: int | None = None
    """The most bytes of messages' texts and of documents."""
    tokens_per_day: int | None = None
    """The most tokens of the language model, questions and answers together."""
    cost_per_day: Decimal | None = None
    """The highest cost of the language model, in its server's currency, where the server reports it."""


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """What was used today."""

    messages: int
    bytes: int
    tokens: int
    cost: Decimal


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """A budget, and what was used of it today."""

    whose: Whose
    """app: all users of the app together; each: every user who has no limit of their own; user: one user."""
    user_id: UUID | None
    user_name: str | None
    limits: Limits
    used: Used
    """Of each: nothing, as each user is counted alone."""
    resets_at: datetime
    """When counting begins again."""


Listed = tuple[UUID, Budget]
"""A budget with its id, by which budgets are ordered."""


class UsedUp(msgspec.Struct, frozen=True, kw_only=True):
    """How many budgets are used up today."""

    whose: Whose
    what: str
    budgets: int


def check_budget(whose: Whose, limits: Limits, *, user: str | None = None) -> None:
    """Check what a budget says.

    Raises:
        InvalidRequestError: a limit is out of range, or the user is missing or not wanted.
    """
    for name in NAMES:
        value = getattr(limits, name)
        if value is not None and not 1 <= value <= MOST:
            raise InvalidRequestError(f"{name} must be between 1 and {MOST:,}.", field=name)
    cost = limits.cost_per_day
    if cost is not None and not (cost.is_finite() and 0 < cost <= MOST_COST):
        raise InvalidRequestError(f"cost_per_day must be positive and at most {MOST_COST:,}.", field="cost_per_day")
    if (whose == "user") != (user is not None):
        raise InvalidRequestError("A budget of one user names the user, and no other does.", field="user")


async def set_budget(db: Database, app: UUID, whose: Whose, limits: Limits, *, user: str | None = None) -> None:
    """Set what may be used in a day, with immediate effect; limits that are not given are removed.

    Args:
        db: the database.
        app: the app.
        whose: the app as a whole, each of its users, or one user.
        limits: the limits.
        user: id or external id of the user, for ``whose`` user.

    Raises:
        InvalidRequestError: a limit is out of range, or the user is missing or not wanted.
        UserUnknownError, NotFoundError: the app has no such user.
    """
    check_budget(whose, limits, user=user)
    of_user = (await find_user(db, app, user)).user_id if user is not None else None
    async with db.transaction() as connection:
        done = await write_budget(connection, app, whose, of_user, limits)
    if not done:
        raise NotFoundError("This app has no such user.")


async def write_budget(
    connection: AsyncConnection, app: UUID, whose: Whose, of_user: UUID | None, limits: Limits
) -> bool:  # fmt: skip
    """Set a budget in the running transaction; False: this database has no such app, or the app no such user here."""
    await sign(connection)
    values = {
        "app": app, "whose": whose, "of_user": of_user, "messages": limits.messages_per_day,
        "bytes": limits.bytes_per_day, "tokens": limits.tokens_per_day, "cost": limits.cost_per_day,
    }  # fmt: skip
    done: bool = (await connection.execute(SET, values)).scalar_one()
    return done


async def list_budgets(
    db: Database, app: UUID, *, user_id: UUID | None = None, cursor: str | None = None, limit: int = 100
) -> Page[Budget]:
    """Return budgets of an app with what was used today, oldest first.

    Args:
        db: the database.
        app: the app.
        user_id: only that of this user.
        cursor: ``next_cursor`` of the previous page.
        limit: page size, 1 to 1,000.

    Raises:
        InvalidRequestError: the cursor or the limit is not valid.
    """
    after = read_position(cursor, limit)
    return page_of(await read_budgets(db, app, user_id=user_id, after=after, limit=limit + 1), limit)


def read_position(cursor: str | None, limit: int) -> UUID | None:
    """Read after which budget a page begins.

    Raises:
        InvalidRequestError: the cursor or the limit is not valid.
    """
    check_page(limit)
    return read_cursor(cursor, tuple[UUID])[0] if cursor is not None else None


def page_of(found: Sequence[Listed], limit: int) -> Page[Budget]:
    """Return the first budgets of a list as a page; another one follows if there are more than ``limit``."""
    next_cursor = write_cursor((found[limit - 1][0],)) if len(found) > limit else None
    return Page(items=[one for _, one in found[:limit]], next_cursor=next_cursor)


async def read_budgets(
    db: Database, app: UUID, *, user_id: UUID | None, after: UUID | None, limit: int, counted: bool = False
) -> list[Listed]:
    """Return budgets in one database; with ``counted`` only those of users who have no limits of their own."""
    values = {"app": app, "of_user": user_id, "after": after, "limit": limit, "counted": counted}
    async with db.transaction() as connection:
        rows = (await connection.execute(LIST, values)).all()
    resets_at = midnight()
    return [(row.budget_id, _budget(row, resets_at)) for row in rows]


async def read_used(db: Database, app: UUID, users: Sequence[UUID]) -> dict[UUID | None, Used]:
    """Return what the app (None) and some of its users have used in one database, if it counts them."""
    async with db.transaction() as connection:
        rows = (await connection.execute(USED, {"app": app, "users": list(users)})).all()
    return {row.user_id: _used(row) for row in rows}


def _budget(row: Any, resets_at: datetime) -> Budget:
    return Budget(
        whose=row.whose,
        user_id=row.user_id,
        user_name=row.user_name,
        limits=Limits(
            messages_per_day=row.messages_per_day,
            bytes_per_day=row.bytes_per_day,
            tokens_per_day=row.tokens_per_day,
            cost_per_day=row.cost_per_day,
        ),
        used=_used(row),
        resets_at=resets_at,
    )


def _used(row: Any) -> Used:
    return Used(messages=row.messages, bytes=row.bytes, tokens=row.tokens, cost=row.cost)


async def used_up(db: Database) -> list[UsedUp]:
    """Return how many budgets of all apps are used up today, for operators."""
    async with db.transaction() as connection:
        rows = (await connection.execute(USED_UP)).all()
    return [UsedUp(whose=row.whose, what=row.what, budgets=row.budgets) for row in rows]
