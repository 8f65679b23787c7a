"""Read what is stored: conversations, their messages, and the messages around a passage."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.clock import on_clock
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, Page, check_page, read_cursor, write_cursor
from memsvc.errors import ConversationUnknownError, InvalidRequestError, NotFoundError
from memsvc.text.storable import check_storable


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation with its size and time span."""

    conversation_id: UUID
    identifier: str
    title: str
    status: str
    """The state of background work; recall never waits for it."""
    messages: int
    sessions: int
    first_said_at: datetime | None
    last_said_at: datetime | None
    created_at: datetime
    last_ingested_at: datetime | None
    metadata: dict[str, Any]


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message as it was sent, however many passages it was split into."""

    passage_id: UUID
    """Its first passage."""
    message_id: str | None
    session: str
    ordinal: int
    speaker: str
    role: str
    text: str
    caption: str | None
    said_at: datetime
    recorded_at: datetime
    parts: int
    metadata: dict[str, Any]


class OpenedSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source with the messages around one passage."""

    source_id: UUID
    kind: str
    identifier: str
    title: str
    status: str
    metadata: dict[str, Any]
    around: UUID | None
    messages: list[Message]


def _message(row: Row[Any]) -> Message:
    return Message(
        passage_id=row.passage_id,
        message_id=row.client_id,
        session=row.session,
        ordinal=row.ordinal,
        speaker=row.speaker,
        role=row.role,
        text=row.text,
        caption=row.caption,
        said_at=on_clock(row.said_at, row.said_offset),
        recorded_at=row.recorded_at.astimezone(UTC),
        parts=row.parts,
        metadata=row.metadata,
    )


async def find_conversation(connection: AsyncConnection, owner: Owner, name: str) -> UUID:
    """Return the id of a conversation given by id or identifier.

    Raises:
        ConversationUnknownError: this user has no such conversation.
    """
    check_storable(name, "conversation")
    rows = await connection.execute(query("conversation_ids"), {"user_id": owner.user_id, "wanted": [name]})
    row = rows.one_or_none()
    if row is None:
        raise ConversationUnknownError(f"There is no conversation {name!r}.", conversation=name)
    found: UUID = row.source_id
    return found


async def conversation_called(db: Database, owner: Owner, name: str) -> UUID:
    """Return the id of a conversation given by id or identifier. Raises: as ``find_conversation``."""
    async with db.transaction(owner.user_id) as connection:
        return await find_conversation(connection, owner, name)


async def list_conversations(
    db: Database, owner: Owner, *, identifier: str | None = None, after: UUID | None = None, limit: int = 50
) -> Page[Conversation]:
    """Return conversations, newest first.

    Args:
        db: the database.
        owner: the owner.
        identifier: only the conversation with this identifier.
        after: cursor: only conversations older than this one.
        limit: page size, 1 to 1,000.
    """
    check_page(limit)
    check_storable(identifier, "identifier")
    async with db.transaction(owner.user_id) as connection:
        rows = (
            await connection.execute(
                query("list_conversations"),
                {"user_id": owner.user_id, "identifier": identifier, "after": after, "limit": limit + 1},
            )
        ).all()
    items = [
        Conversation(
            conversation_id=row.source_id,
            identifier=row.identifier,
            title=row.title,
            status=row.status,
            messages=row.messages,
            sessions=row.sessions,
            first_said_at=row.first_said_at,
            last_said_at=row.last_said_at,
            created_at=row.created_at,
            last_ingested_at=row.last_ingested_at,
            metadata=row.metadata,
        )
        for row in rows[:limit]
    ]
    return Page(items=items, next_cursor=str(items[-1].conversation_id) if len(rows) > limit else None)


Ordinal = Annotated[int, msgspec.Meta(ge=-1, le=2**31 - 1)]


async def list_messages(
    db: Database, owner: Owner, conversation: str, *, cursor: str | None = None, limit: int = 100
) -> Page[Message]:
    """Return messages of a conversation in the order in which they were said.

    Args:
        db: the database.
        owner: the owner.
        conversation: id or identifier.
        cursor: ``next_cursor`` of the previous page.
        limit: page size, 1 to 1,000.

    Raises:
        ConversationUnknownError: this user has no such conversation.
        InvalidRequestError: the cursor or the limit is not valid.
    """
    check_page(limit)
    said_at, session, ordinal = (
        read_cursor(cursor, tuple[Moment, str, Ordinal]) if cursor is not None else (None, None, None)
    )
    async with db.transaction(owner.user_id) as connection:
        source_id = await find_conversation(connection, owner, conversation)
        rows = (
            await connection.execute(
                query("list_messages"),
                {
                    "user_id": owner.user_id,
                    "source_id": source_id,
                    "said_at": said_at,
                    "session": session,
                    "ordinal": ordinal,
                    "limit": limit + 1,
                },
            )
        ).all()
    items = [_message(row) for row in rows[:limit]]
    last = items[-1] if len(rows) > limit else None
    return Page(
        items=items,
        next_cursor=write_cursor((last.said_at, last.session, last.ordinal)) if last is not None else None,
    )


async def messages_said(
    db: Database, owner: Owner, *, since: datetime, until: datetime, limit: int = 50
) -> list[Message]:
    """Return the latest messages of all conversations within a time span, in the order said; without traces.

    Args:
        db: the database.
        owner: the owner.
        since: start of the span, inclusive.
        until: end of the span, exclusive.
        limit: most messages, 1 to 1,000.
    """
    check_page(limit)
    asked = {"user_id": owner.user_id, "since": since, "until": until, "limit": limit}
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(query("messages_said"), asked)).all()
    return [_message(row) for row in rows]


async def open_source(
    db: Database, owner: Owner, source_id: UUID, *, around: UUID | None = None, before: int = 5, after: int = 5
) -> OpenedSource:
    """Return a source with the message of a passage and its neighbours.

    Args:
        db: the database.
        owner: the owner.
        source_id: the source.
        around: a passage of the source; None: its newest message.
        before: number of messages before that message, 0 to 100.
        after: number of messages after it, 0 to 100.

    Raises:
        NotFoundError: this user has no such source, or the source has no such passage.
        InvalidRequestError: before or after is not between 0 and 100.
    """
    for field, value in (("before", before), ("after", after)):
        if not 0 <= value <= 100:  # noqa: PLR2004
            raise InvalidRequestError(f"{field} must be between 0 and 100.", field=field)
    async with db.transaction(owner.user_id) as connection:
        source = (
            await connection.execute(query("get_source"), {"user_id": owner.user_id, "source_id": source_id})
        ).one_or_none()
        if source is None:
            raise NotFoundError("There is no source with this id.")
        rows = (
            await connection.execute(
                query("messages_around"),
                {
                    "user_id": owner.user_id,
                    "source_id": source_id,
                    "around": around,
                    "before": before,
                    "after": after,
                },
            )
        ).all()
    if around is not None and not rows:
        raise NotFoundError("This source has no passage with this id.")
    return OpenedSource(
        source_id=source.source_id,
        kind=source.kind,
        identifier=source.identifier,
        title=source.title,
        status=source.status,
        metadata=source.metadata,
        around=around,
        messages=[_message(row) for row in rows],
    )
