"""How a document fared: its versions with what made each, and how stale it is for the turns that touched it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Number, Page, check_page, read_cursor, read_id, write_cursor
from memsvc.errors import DocumentUnknownError

Cause = Literal["inbound", "external"]
"""inbound: an agent's call wrote it; external: it came from outside, and a call or an ingest found it."""


class CausedVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a document, with what made it."""

    version: int
    cause: Cause
    """inbound: an agent's call wrote it; external: it came from outside, and a call or an ingest found it."""
    sha256: str
    bytes: int
    chunked: bool
    """Its text is stored; false: only its digest is known."""
    recorded_from: datetime
    recorded_to: datetime | None
    """When a newer one was found; null: it is the last."""
    turn_id: UUID | None
    """The turn that wrote it, or found it first; null: an ingest found it, or the turn was erased."""
    conversation: str | None
    id: str | None
    """The client's id of that turn."""
    agent: str | None
    tool: str | None
    """Of the call."""
    number: int | None
    """The call's place in the turn."""


class Touch(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that touched a document."""

    turn_id: UUID
    conversation: str
    id: str
    project: str | None
    agent: str
    at: datetime
    """When the user asked."""
    version: int | None
    """The last one that it saw or wrote; null: no digest was known."""
    current_version: int | None
    staleness: int | None
    """Versions since."""
    wrote: bool


class Staleness(msgspec.Struct, frozen=True, kw_only=True):
    """How stale a document is for the turns that touched it."""

    document_id: UUID
    document: str
    """Project and path, else path or address."""
    version: int | None
    """The last one; null: no digest is known."""
    versions: int
    volatility: float
    """Versions a day between the first and the last; 0 for one."""
    familiarity: int
    """Conversations of agents that touched it."""
    last_change: CausedVersion | None
    """The last version, with what made it."""
    items: list[Touch]
    """The last first."""
    next_cursor: str | None
    """Send it as the cursor of the next page; null: this was the last."""


async def document_versions(
    db: Database, owner: Owner, document_id: UUID, *, cursor: str | None = None, limit: int = 50
) -> Page[CausedVersion]:
    """Return a page of the versions of a document, the newest first.

    Raises:
        DocumentUnknownError: this user has no such document.
        InvalidRequestError, BadCursorError: the limit or the cursor is not valid.
    """
    check_page(limit)
    (before,) = read_cursor(cursor, tuple[Number]) if cursor is not None else (None,)
    asked = {"user_id": owner.user_id, "document_id": document_id, "before": before, "limit": limit + 1}
    async with db.transaction(owner.user_id) as connection:
        if (await connection.execute(query("document_named"), asked)).first() is None:
            raise DocumentUnknownError
        rows = (await connection.execute(query("version_causes"), asked)).all()
    items = [_version(row) for row in rows[:limit]]
    return Page(items=items, next_cursor=write_cursor((items[-1].version,)) if len(rows) > limit else None)


async def document_staleness(
    db: Database, owner: Owner, document_id: UUID, *, cursor: str | None = None, limit: int = 50
) -> Staleness:
    """Return how a document fared, and a page of the turns that touched it, the last first.

    Raises:
        DocumentUnknownError, InvalidRequestError, BadCursorError: as ``document_versions``.
    """
    check_page(limit)
    asked = {"user_id": owner.user_id, "document_id": document_id, "before": read_id(cursor), "limit": limit + 1}
    async with db.transaction(owner.user_id) as connection:
        named = (await connection.execute(query("document_named"), asked)).first()
        if named is None:
            raise DocumentUnknownError
        rows = (await connection.execute(query("turns_that_touched"), asked)).all()
        last = (await connection.execute(query("version_causes"), {**asked, "before": None, "limit": 1})).first()
    items = [Touch(**row._mapping) for row in rows[:limit]]  # noqa: SLF001 - the public name of a row's mapping
    return Staleness(
        **named._mapping,  # noqa: SLF001 - as above
        last_change=_version(last) if last is not None else None,
        items=items,
        next_cursor=str(items[-1].turn_id) if len(rows) > limit else None,
    )


def _version(row: Any) -> CausedVersion:
    return CausedVersion(**row._mapping)  # noqa: SLF001 - as above
