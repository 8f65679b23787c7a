"""Recorded changes: the list of batches, and what one batch wrote and closed."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import check_page, read_cursor, write_cursor
from memsvc.errors import ChangeUnknownError, InvalidTimeError
from memsvc.graph.read import Kind


class RecordedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A batch of changes to the graph."""

    change_id: UUID
    recorded_at: datetime
    """Reads with a ``known_at`` from this moment on see the change."""
    asserted_by: str
    operations: list[str]
    """The kinds of operations in the batch."""
    undoes: UUID | None
    """The change that it undoes."""
    undone_by: UUID | None
    """The last change that undid it."""


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """A version, name or merge that a change wrote or closed."""

    kind: Kind
    id: UUID
    """Id of the version, name or merge."""
    subject: UUID
    """The node or edge."""
    written: bool
    closed: bool
    """If ``written`` is true as well, the version was superseded within the same batch."""
    content: dict[str, Any]
    asserted_by: str
    valid_from: datetime | None
    valid_to: datetime | None


class ShownChange(RecordedChange, frozen=True, kw_only=True):
    """A change with one page of what it wrote and closed."""

    items: list[Touched]
    next_cursor: str | None
    """Send it as ``cursor`` to get the next page; None: this is the last page."""


async def list_changes(
    db: Database, owner: Owner, *, before: datetime | None = None, limit: int = 50
) -> list[RecordedChange]:
    """List changes that were recorded before a time, newest first; at most ``limit``, 1 to 1,000.

    Raises:
        InvalidRequestError, InvalidTimeError: the limit is out of range, or the time has no offset.
    """
    check_page(limit)
    if before is not None and before.utcoffset() is None:
        raise InvalidTimeError("before has no offset.", field="before")
    async with db.transaction(owner.user_id) as connection:
        parameters = {"user_id": owner.user_id, "before": before, "limit": limit}
        rows = (await connection.execute(query("list_changes"), parameters)).mappings()
        return [RecordedChange(**row) for row in rows]


async def get_change(
    db: Database, owner: Owner, change_id: UUID, *, cursor: str | None = None, limit: int = 100
) -> ShownChange:
    """Return a change with one page of what it wrote and closed.

    Raises:
        ChangeUnknownError: the user has no such change.
        InvalidRequestError: the cursor or the limit is not valid.
    """
    check_page(limit)
    kind, last_id = read_cursor(cursor, tuple[Kind, UUID]) if cursor is not None else (None, None)
    async with db.transaction(owner.user_id) as connection:
        asked: dict[str, Any] = {"user_id": owner.user_id, "change_id": change_id}
        change = (await connection.execute(query("get_change"), asked)).mappings().one_or_none()
        if change is None:
            raise ChangeUnknownError(f"There is no change {change_id}.")
        asked = asked | {"at": change["recorded_at"], "after_kind": kind, "after_id": last_id, "limit": limit + 1}
        rows = (await connection.execute(query("events_of_change"), asked)).mappings().all()
    items = [Touched(**row) for row in rows[:limit]]
    following = write_cursor((items[-1].kind, items[-1].id)) if len(rows) > limit else None
    return ShownChange(**change, items=items, next_cursor=following)
