"""Anonymise a user: erase the user, and keep numbers that name nobody, added to those of the app.

Text that mentions people cannot be made anonymous by rules, and neither can names, vectors or a timeline, so all of
that goes, as in erasing (``memsvc/erasing/users.py`` does it). What stays is sums by month and kind over all users of
the app who were anonymised (docs/adr/0066-anonymising.md).
"""

from __future__ import annotations

from datetime import date
from uuid import UUID

import msgspec
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import find_user
from memsvc.db.acting import sign
from memsvc.db.engine import Database
from memsvc.erasing.memories import Receipt
from memsvc.erasing.users import Progress, erase_user
from memsvc.errors import UserUnknownError
from memsvc.text.storable import check_storable

FIGURES = text("SELECT * FROM memsvc.figures_of_user(:user_id)")
BEGIN = text("SELECT * FROM memsvc.begin_user_anonymising(:app, :user_id, :by)")
OF_APP = text("SELECT * FROM memsvc.figures_of_app(:app)")


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A number."""

    month: date
    """The first day of the month (UTC)."""
    what: str
    """users, messages, documents, turns, tool_calls, nodes, facts, recalls or tokens."""
    kind: str
    """Of which kind: a role, a type of the common ontology (own: any other), a door, a task; empty: all."""
    number: int


class Anonymised(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an anonymised user."""

    receipt: Receipt
    """What was erased."""
    added: int
    """How many numbers were added to those of the app; 0: the user was already being erased."""


async def preview_anonymising(db: Database, app: UUID, ref: str) -> list[Figure]:
    """Return the numbers that would be added to those of the app; everything else of the user would be erased.

    Raises:
        UserUnknownError: the app has no such user, or the user is already being erased.
    """
    check_storable(ref, "user")
    user = await find_user(db, app, ref)
    async with db.transaction(user.user_id) as connection:
        return [Figure(**row) for row in (await connection.execute(FIGURES, {"user_id": user.user_id})).mappings()]


async def anonymise_user(
    db: Database,
    app: UUID,
    ref: str,
    *,
    requested_by: str,
    seconds: float | None = None,
    on_progress: Progress | None = None,
) -> Anonymised:
    """Add a user's numbers to those of the app, and erase the user. A repeated call continues, and adds nothing again.

    Args:
        db: the database.
        app: the app that the user belongs to.
        ref: id or external id.
        requested_by: the door of the request, for the receipt and the audit log; not a name.
        seconds: stop after about this long and leave the rest to workers; None: erase everything.
        on_progress: called after each batch with the number of erased rows and the total.

    Raises:
        UserUnknownError: the app has no such user.
        OverloadedError, ContendedError: as ``erase_user``.
    """
    check_storable(ref, "user")
    try:
        user_id = (await find_user(db, app, ref)).user_id
    except UserUnknownError:  # it may have been begun: then erasing continues
        added = 0
    else:
        added, ref = await begin_anonymising(db, app, user_id, requested_by=requested_by), str(user_id)
    receipt = await erase_user(db, app, ref, requested_by=requested_by, seconds=seconds, on_progress=on_progress)
    return Anonymised(receipt=receipt, added=added)


async def begin_anonymising(db: Database, app: UUID, user_id: UUID, *, requested_by: str) -> int:
    """Add a user's numbers to those of the app, and mark the user for erasing; ``erase_user`` does the rest.

    Returns:
        How many numbers were added; 0: the user was marked before.
    """
    values = {"app": app, "user_id": user_id, "by": requested_by}

    async def begin(connection: AsyncConnection) -> int:
        await sign(connection)
        row = (await connection.execute(BEGIN, values)).one_or_none()
        return row.added if row is not None else 0

    return await db.attempt(user_id, begin)


async def figures_of_app(db: Database, app: UUID) -> list[Figure]:
    """Return the sums over all users of an app who were anonymised, by month."""
    async with db.transaction() as connection:
        return [Figure(**row) for row in (await connection.execute(OF_APP, {"app": app})).mappings()]
