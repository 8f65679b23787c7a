"""Messages in: validated, split, and stored with their statistics, job and event in one transaction.

A batch is all or nothing. A message's identity is the client's id, else (conversation, session, ordinal); sending it
again changes nothing, sending other words under the same identity is refused. The text itself is never an identity:
people repeat themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row, TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_zone
from memsvc.db.clock import on_clock
from memsvc.db.engine import Database
from memsvc.db.together import Together
from memsvc.errors import (
    BatchTooLargeError,
    EmptyTextError,
    InvalidRequestError,
    MemsvcError,
    MessageConflictError,
    TextTooLongError,
)
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings
from memsvc.sources.times import SaidAt, now_in, parse_time
from memsvc.text.characters import is_visible
from memsvc.text.fence import split_blocks
from memsvc.text.split import split_text
from memsvc.text.storable import check_storable

Role = Literal["user", "assistant", "other", "system", "tool", "thinking"]
Outcome = Literal["created", "existing", "erased"]
TRACES = ("system", "tool", "thinking")
MAX_CAPTION_CHARS = 4_000
MAX_METADATA_BYTES = 65_536
MAX_PARTS = 32_767
"""What ``passages.part`` can count to."""
MAX_ORDINAL = 2_000_000_000
APPEND = text("SELECT * FROM memsvc.append_messages(:user_id, CAST(:rows AS jsonb))")
NOTHING: Mapping[str, Any] = {}


class MessageIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A message as clients send it."""

    conversation: str
    """What the client calls the conversation; made on first use."""
    text: str = ""
    caption: str | None = None
    """What a shared picture shows."""
    speaker: str = ""
    role: Role = "user"
    """system, tool and thinking are kept, but recalled only when asked for."""
    session: str = ""
    """The sitting within the conversation."""
    ordinal: int | None = None
    """Place in the session, from 0; the next one when not given."""
    id: str | None = None
    """The client's own id, unique in the conversation; makes sending it again harmless."""
    said_at: str | None = None
    """ISO 8601; without an offset on the user's clock; now when not given."""
    metadata: dict[str, Any] = {}


class StoredMessage(msgspec.Struct, kw_only=True, frozen=True):
    """What became of one message."""

    index: int
    outcome: Outcome
    """created; existing: was stored before, nothing done; erased: was forgotten on request, not stored again."""
    conversation_id: UUID
    passage_id: UUID | None
    session: str
    ordinal: int | None
    said_at: datetime
    """As it is stored."""
    zone_assumed: str | None
    """The zone in which this message's time, sent without an offset, was read."""
    job_id: UUID | None


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message that becomes one passage."""

    text: str
    injected: bool = False
    """A context block of memsvc, or a piece of one: kept, but no memory of its own."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked message with its time read and its text split."""

    message: MessageIn
    client_id: str | None
    said_at: SaidAt
    parts: Sequence[Part]

    @property
    def identity(self) -> tuple[str, ...] | None:
        """What makes it the same message when it comes again; None: the client gave nothing."""
        if self.client_id is not None:
            return (self.message.conversation, self.client_id)
        if self.message.ordinal is not None:
            return (self.message.conversation, self.message.session, str(self.message.ordinal), "")
        return None

    def rows(self, index: int, language: str) -> Iterator[dict[str, object]]:
        """The rows of ``append_messages``, one a part; the caption goes with the first of the message's own."""
        message = self.message
        captioned = next((number for number, part in enumerate(self.parts) if not part.injected), 0)
        for number, part in enumerate(self.parts):
            yield {
                "message": index,
                "part": number,
                "conversation": message.conversation,
                "session": message.session,
                "ordinal": message.ordinal,
                "client_id": self.client_id,
                "speaker": message.speaker,
                "role": message.role,
                "text": part.text,
                "injected": part.injected,
                "caption": message.caption if number == captioned else None,
                "said_at": self.said_at.moment,
                "said_offset": self.said_at.offset_minutes,
                "language": language,
                "metadata": message.metadata if number == 0 else {},
            }


def _check_length(value: str | None, field: str, longest: int, hint: str = "Shorten it.") -> None:
    if value is not None and len(value) > longest:
        raise TextTooLongError(
            f"{field} has {len(value):,} characters; at most {longest:,} fit.", hint=hint, field=field
        )


def _prepare(message: MessageIn, index: int, owner: Owner, settings: Settings, idempotency_key: str | None) -> Prepared:
    for field in ("conversation", "text", "caption", "speaker", "session", "id", "metadata"):
        check_storable(getattr(message, field), field)
    if not is_visible(message.conversation):
        raise InvalidRequestError("conversation is empty.", hint="Name the conversation.", field="conversation")
    if not is_visible(message.text) and not is_visible(message.caption or ""):
        raise EmptyTextError(field="text")
    _check_length(message.text, "text", settings.max_text_chars, TextTooLongError.hint)
    _check_length(message.caption, "caption", MAX_CAPTION_CHARS)
    _check_length(message.speaker, "speaker", 200)
    for field in ("conversation", "session", "id"):
        _check_length(getattr(message, field), field, 400)
    if message.id == "":
        raise InvalidRequestError("id is empty.", hint="Leave it out, or send an id.", field="id")
    if message.ordinal is not None and not 0 <= message.ordinal <= MAX_ORDINAL:
        raise InvalidRequestError("ordinal must lie between 0 and 2,000,000,000.", field="ordinal")
    if len(msgspec.json.encode(message.metadata)) > MAX_METADATA_BYTES:
        raise TextTooLongError(
            f"metadata has more than {MAX_METADATA_BYTES:,} bytes.", hint="Shorten it.", field="metadata"
        )
    zone = valid_zone(owner.time_zone)
    said_at = parse_time(message.said_at, zone) if message.said_at is not None else now_in(zone)
    client_id = message.id
    if client_id is None and message.ordinal is None and idempotency_key:
        client_id = f"idempotency:{idempotency_key}:{index}"
    parts = split_message(message, settings.passage_tokens)
    if len(parts) > MAX_PARTS:
        raise TextTooLongError(
            f"text makes {len(parts):,} passages; a message has {MAX_PARTS:,} at most.",
            hint="Send it in several messages, or raise MEMSVC_PASSAGE_TOKENS, by which it is split.",
            field="text",
        )
    return Prepared(message, client_id, said_at, parts)


def split_message(message: MessageIn, window: int) -> list[Part]:
    """A message in parts of at most ``window`` estimated tokens; its text is theirs, joined.

    A context block that a client sends along in a message would come back as a memory of memories. It becomes parts of
    its own, kept to the letter as a trace, and what the message says itself is recalled as ever. Roles that are traces
    anyway are not looked at.
    """
    if message.role in TRACES:
        return [Part(piece) for piece in split_text(message.text, window)]
    parts = [
        Part(piece, injected) for text, injected in split_blocks(message.text) for piece in split_text(text, window)
    ]
    if message.caption and all(part.injected for part in parts):
        parts.insert(0, Part(""))
    return parts


def prepare(
    messages: Sequence[MessageIn], owner: Owner, settings: Settings, idempotency_key: str | None = None
) -> list[Prepared]:
    """Check a batch; the first bad message ends it and is named.

    Raises:
        BatchTooLargeError: more than ``settings.max_batch`` messages, or none.
        MemsvcError: whatever is wrong with a message; ``details["row"]`` is its place, from 0.
    """
    if not messages:
        raise InvalidRequestError("The batch is empty.", hint="Send at least one message.")
    if len(messages) > settings.max_batch:
        raise BatchTooLargeError(f"{len(messages):,} messages; at most {settings.max_batch:,} fit one request.")
    prepared: list[Prepared] = []
    first: dict[tuple[str, ...], int] = {}
    for index, message in enumerate(messages):
        try:
            item = _prepare(message, index, owner, settings, idempotency_key)
            if item.identity is not None:
                _check_repetition(item, index, first, prepared)
        except MemsvcError as error:
            error.details = {**error.details, "row": index}
            raise
        prepared.append(item)
    return prepared


def _check_repetition(item: Prepared, index: int, first: dict[tuple[str, ...], int], before: list[Prepared]) -> None:
    """Two messages of one batch may share an identity only if they say the same."""
    earlier = first.setdefault(item.identity or (), index)
    if earlier == index:
        return
    other = before[earlier].message
    mine = item.message
    if (mine.text, mine.caption, mine.speaker, mine.role) != (other.text, other.caption, other.speaker, other.role):
        raise MessageConflictError(f"Row {index} has the identity of row {earlier}, but other words.")


async def append(
    db: Database,
    owner: Owner,
    messages: Sequence[MessageIn],
    settings: Settings,
    *,
    idempotency_key: str | None = None,
) -> list[StoredMessage]:
    """Store a batch in one transaction, all of it or nothing.

    Args:
        db: the database.
        owner: whose memory it is.
        messages: 1 to ``settings.max_batch``.
        settings: limits and the passage window.
        idempotency_key: gives messages without id and ordinal an identity, so that the same request can be sent again.

    Returns:
        One entry a message, in order. When this returns, the messages are committed and can be recalled.

    Raises:
        MemsvcError: see ``prepare``; MessageConflictError also where a stored message has other words.
    """
    prepared = prepare(messages, owner, settings, idempotency_key)
    if len(prepared) == 1:
        return [await append_one(db, owner, prepared[0])]
    stored = await db.attempt(owner.user_id, lambda connection: append_prepared(connection, owner, prepared))
    if any(message.job_id for message in stored):
        announce_jobs(db)
    return stored


async def append_one(db: Database, owner: Owner, prepared: Prepared) -> StoredMessage:
    """Store a checked message in one round trip; see ``append``."""
    stored, _ = await append_with(db, owner, prepared, APPEND, NOTHING)
    return stored


async def append_with(
    db: Database, owner: Owner, prepared: Prepared, statement: TextClause, values: Mapping[str, Any]
) -> tuple[StoredMessage, Any]:
    """Store a checked message, and more with it, in one round trip; see ``append``.

    Args:
        db: the database.
        owner: whose memory it is.
        prepared: the message.
        statement: gives the row of ``append_messages``, and may do more in the same transaction.
        values: what it needs for that.

    Returns:
        What became of the message, and the row, with columns as attributes.
    """

    async def once() -> tuple[StoredMessage, Any]:
        trip = Together(db, owner.user_id, keep_plans=True)
        rows = trip.ask(statement, {**_values(owner, [prepared]), **values})
        await trip.send()
        return _receipts(owner, [prepared], rows)[0], rows[0]

    stored, row = await db.again(once)
    if stored.job_id is not None:
        announce_jobs(db)
    return stored, row


async def append_prepared(
    connection: AsyncConnection, owner: Owner, prepared: Sequence[Prepared]
) -> list[StoredMessage]:
    """Store checked messages in the caller's transaction; see ``append``."""
    return _receipts(owner, prepared, (await connection.execute(APPEND, _values(owner, prepared))).all())


def _firsts(prepared: Sequence[Prepared]) -> dict[tuple[str, ...] | int, int]:
    """Where each message comes first in the batch, by its identity."""
    unique: dict[tuple[str, ...] | int, int] = {}
    for index, item in enumerate(prepared):
        unique.setdefault(item.identity or index, index)
    return unique


def _values(owner: Owner, prepared: Sequence[Prepared]) -> dict[str, Any]:
    rows = [row for index in _firsts(prepared).values() for row in prepared[index].rows(index, owner.language)]
    return {"user_id": owner.user_id, "rows": msgspec.json.encode(rows).decode()}


def _receipts(owner: Owner, prepared: Sequence[Prepared], rows: Sequence[Row[Any]]) -> list[StoredMessage]:
    """What became of each message, by the rows of ``append_messages``."""
    unique = _firsts(prepared)
    stored = {row.message: row for row in rows}
    for index, row in stored.items():
        if row.outcome == "conflict":
            raise MessageConflictError(
                f"Row {index}: {prepared[index].client_id or 'this place'} in conversation "
                f"{prepared[index].message.conversation!r} already has other words.",
                row=index,
                **({"passage_id": str(row.passage_id)} if row.passage_id else {}),
            )
    receipts: list[StoredMessage] = []
    for index, item in enumerate(prepared):
        kept = unique[item.identity or index]
        row = stored[kept]
        receipts.append(
            StoredMessage(
                index=index,
                outcome=row.outcome if kept == index or row.outcome != "created" else "existing",
                conversation_id=row.source_id,
                passage_id=row.passage_id,
                session=row.session,
                ordinal=row.ordinal,
                said_at=on_clock(row.known_said_at, row.known_said_offset)
                if row.known_said_at
                else item.said_at.moment,
                zone_assumed=owner.time_zone if item.said_at.assumed and row.known_said_at is None else None,
                job_id=row.job_id,
            )
        )
    return receipts
