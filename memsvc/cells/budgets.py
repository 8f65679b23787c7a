"""Budgets of users of all cells: the home has all limits, and each cell counts what its own users use.

A cell has a copy of the limits of its apps and users, so that storing asks one database. A new limit is written to the
cells first and to the home last: if a cell does not answer, the call fails, and repeating it does the rest. Whoever
brings a user to a cell brings the limits (``bring_limits``, ``memsvc.cells.beginning``), and a move also the counts
(``memsvc.cells.crossing``). An app's limits are held meanwhile (``memsvc.hold_limits``), so no cell keeps old ones.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Container, Mapping, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
import psycopg
from psycopg.rows import tuple_row
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.budgets import (
    Budget,
    Limits,
    Listed,
    Used,
    Whose,
    check_budget,
    list_budgets,
    page_of,
    read_budgets,
    read_position,
    read_used,
    set_budget,
    write_budget,
)
from memsvc.access.users import HOME, find_user
from memsvc.cells.directory import Cell, Cells, naming
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Page
from memsvc.errors import NotFoundError, UserMovingError

TRIES = 3
"""How often a limit is written because its user moved meanwhile."""
AGAIN = (
    "Set the budget again when the cell answers: the home has the old limits, and other cells may have the new ones."
)
HOLD = text("SELECT memsvc.hold_limits(:app)")
TAKE = text("SELECT memsvc.limits_to_bring(:app)::text")
BRING = text("SELECT memsvc.bring_limits(:app, CAST(:limits AS jsonb))")
PLACES = query("places_of_users")
LIMITS = """
SELECT a.name, b.whose, b.of_user,
  ARRAY[b.messages_per_day, b.bytes_per_day, b.tokens_per_day, b.cost_per_day]
FROM memsvc.budgets AS b INNER JOIN memsvc.apps AS a ON a.app_id = b.app_id
WHERE num_nonnulls(b.messages_per_day, b.bytes_per_day, b.tokens_per_day, b.cost_per_day) > 0
ORDER BY a.name, b.whose, b.of_user
"""
LimitsOf = Mapping[tuple[str, str, UUID | None], Sequence[Decimal | None]]
"""Limits by the app's name, whose they are, and the user."""
NOTHING = Used(messages=0, bytes=0, tokens=0, cost=Decimal())


async def take_limits(home: AsyncConnection, app: UUID) -> str:
    """The limits of an app and of each of its users, as JSON; nobody changes them before this transaction ends."""
    taken: str = (await home.execute(TAKE, {"app": app})).scalar_one()
    return taken


async def bring_limits(there: AsyncConnection, app: UUID, limits: str) -> None:
    """Make an app's limits in a cell those that ``take_limits`` has read; counts stay."""
    await there.execute(BRING, {"app": app, "limits": limits})


async def set_budget_everywhere(
    cells: Cells, app: UUID, whose: Whose, limits: Limits, *, user: str | None = None
) -> None:  # fmt: skip
    """Do ``memsvc.access.budgets.set_budget`` for users of all cells.

    An app's limits are set in the home and in the cells that have the app, those of a user in the home and in the
    user's cell. Repeating it is safe.

    Raises:
        InvalidRequestError, UserUnknownError, NotFoundError: as ``set_budget``.
        UserMovingError: the user is on the way to another cell.
        DatabaseUnavailableError: a cell does not answer; the home has the old limits, and others may have the new.
    """
    databases = await _databases(cells)
    if len(databases) == 1:
        await set_budget(cells.home, app, whose, limits, user=user)
        return
    check_budget(whose, limits, user=user)
    if user is not None:
        await _set_of_user(cells, app, (await find_user(cells.home, app, user)).user_id, limits)
        return
    async with _held(cells.home, app) as home:
        for cell, db in databases[1:]:
            with naming(cell, hint=AGAIN):
                async with db.transaction() as there:
                    await write_budget(there, app, whose, None, limits)  # the app may have no user there yet
        await write_budget(home, app, whose, None, limits)


async def _set_of_user(cells: Cells, app: UUID, user_id: UUID, limits: Limits) -> None:
    """Set a user's limits in the user's cell and in the home.

    A move that may have read the old limits in the home has closed the user's door before. So if the user is found at
    the same place afterwards, there was none.
    """
    place, there = await cells.find_with_place(user_id)
    for _ in range(TRIES):
        done, cell = True, await _cell_of(cells, there)
        async with _held(cells.home, app) as home:
            if cell is not None:
                with naming(cell, hint=AGAIN):
                    async with there.transaction() as connection:
                        done = await write_budget(connection, app, "user", user_id, limits)
            done = done and await write_budget(home, app, "user", user_id, limits)
        before = place
        place, there = await cells.find_with_place(user_id)
        if place == before:
            if not done:
                raise NotFoundError("The user's cell does not have this user.", hint="See 'memsvc cells doctor'.")
            return
    raise UserMovingError


async def _databases(cells: Cells) -> list[tuple[Cell | None, Database]]:
    """All databases, the home first, also of a cell that was just added."""
    await cells.read()
    return await cells.all()


async def _cell_of(cells: Cells, db: Database) -> Cell | None:
    return next((cell for cell, other in await cells.all() if other is db), None)


@asynccontextmanager
async def _held(home: Database, app: UUID) -> AsyncIterator[AsyncConnection]:
    """A transaction in the home during which nobody else sets limits of the app or takes them to a cell."""
    async with home.transaction() as connection:
        await connection.execute(HOLD, {"app": app})
        yield connection


async def list_budgets_everywhere(
    cells: Cells, app: UUID, *, user_id: UUID | None = None, cursor: str | None = None, limit: int = 100
) -> Page[Budget]:
    """Do ``memsvc.access.budgets.list_budgets`` for users of all cells: the home's limits, and what all cells count.

    Raises:
        InvalidRequestError: the cursor or the limit is not valid.
        UserUnknownError, UserMovingError: as ``Cells.find``, of ``user_id``.
        DatabaseUnavailableError: a cell that counts for these budgets does not answer.
    """
    databases = await _databases(cells)
    if len(databases) == 1:
        return await list_budgets(cells.home, app, user_id=user_id, cursor=cursor, limit=limit)
    after = read_position(cursor, limit)
    if user_id is not None:
        _, there = await cells.find_with_place(user_id)
        databases = [(cell, db) for cell, db in databases if cell is None or db is there]
    found: list[tuple[int, Listed]] = []
    for cell, db in databases:
        with naming(cell):
            rows = await read_budgets(
                db, app, user_id=user_id, after=after, limit=limit + 1, counted=cell is not None
            )  # fmt: skip
        found += [(HOME.cell_id if cell is None else cell.cell_id, row) for row in rows]
    found = sorted(found, key=lambda row: row[1][0])[: limit + 1]
    places = await _places(cells.home, [one.user_id for _, (_, one) in found if one.user_id is not None])
    of_home = [one for cell_id, (_, one) in found[:limit] if cell_id == HOME.cell_id]
    used = await _used(app, databases[1:], of_home, places)
    items = []
    for cell_id, (_, one) in found[:limit]:
        if cell_id != HOME.cell_id:
            if places.get(one.user_id) == cell_id:  # otherwise it is what is left of a user who has moved
                items.append(one)
        elif one.whose == "app":
            items.append(msgspec.structs.replace(one, used=_sum(one.used, used.get(None, NOTHING))))
        elif places.get(one.user_id, HOME.cell_id) != HOME.cell_id:
            items.append(msgspec.structs.replace(one, used=used.get(one.user_id, NOTHING)))
        else:
            items.append(one)
    return Page(items=items, next_cursor=page_of([row for _, row in found], limit).next_cursor)


async def _places(home: Database, users: Sequence[UUID]) -> dict[UUID | None, int]:
    """The cells of some users; without those who are being erased."""
    async with home.transaction() as connection:
        rows = (await connection.execute(PLACES, {"users": list(users)})).all()
    return {row.user_id: row.cell_id for row in rows}


async def _used(
    app: UUID,
    databases: Sequence[tuple[Cell | None, Database]],
    budgets: Sequence[Budget],
    places: Mapping[UUID | None, int],
) -> dict[UUID | None, Used]:
    """What was used in cells of some budgets of the home: by the app (None), and by its users."""
    sums: dict[UUID | None, Used] = {}
    of_app = any(one.whose == "app" for one in budgets)
    users = [one.user_id for one in budgets if one.user_id is not None]
    for cell, db in databases:
        here = [user for user in users if cell is not None and places.get(user) == cell.cell_id]
        if here or of_app:
            with naming(cell):
                for whose, used in (await read_used(db, app, here)).items():
                    sums[whose] = _sum(sums.get(whose, NOTHING), used)
    return sums


def _sum(one: Used, other: Used) -> Used:
    return Used(
        messages=one.messages + other.messages,
        bytes=one.bytes + other.bytes,
        tokens=one.tokens + other.tokens,
        cost=one.cost + other.cost,
    )


def read_limits(connection: psycopg.Connection[Any]) -> LimitsOf:
    """All limits in a database, for an administrator."""
    return {(row[0], row[1], row[2]): row[3] for row in connection.cursor(row_factory=tuple_row).execute(LIMITS)}


def differing(home: LimitsOf, cell: LimitsOf, apps: Container[str], users: Container[UUID]) -> list[str]:
    """Whose limits are not the same in the home and in a cell.

    Args:
        home: limits in the home.
        cell: limits in the cell.
        apps: names of the apps that the cell has.
        users: users who are in the cell.
    """
    return [
        f"{whose} of {app}" if user is None else str(user)
        for app, whose, user in dict.fromkeys((*home, *cell))
        if home.get((app, whose, user)) != cell.get((app, whose, user))
        and app in apps
        and (user is None or user in users)
    ]
