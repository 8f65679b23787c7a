"""Validate messages, split them, and store them with their statistics, job and event in one transaction.

A batch is stored completely or not at all. A message's identity is the client's id, else (conversation, session,
ordinal). Sending the same message again changes nothing; sending other words under the same identity is refused. The
text is never part of the identity, because people repeat themselves.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as of
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
Outcome = Literal["created", "existing", "erased", "paused"]
TRACES = ("system", "tool", "thinking")
MAX_CAPTION_CHARS = 4_000
MAX_METADATA_BYTES = 65_536
MAX_PARTS = 32_767
"""The largest value of ``passages.part``."""
AT_ONCE_CHARS = 20_000
"""Text that is searched for secrets without a thread."""
MAX_ORDINAL = 2_000_000_000
APPEND = text("SELECT * FROM memsvc.append_messages(:user_id, CAST(:rows AS jsonb))")
NOTHING: Mapping[str, Any] = {}


class MessageIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A message as clients send it."""

    conversation: str
    """The client's name for the conversation; created on first use."""
    text: str = ""
    caption: str | None = None
    """What a shared picture shows."""
    speaker: str = ""
    role: Role = "user"
    """system, tool and thinking are stored, but recalled only on request."""
    session: str = ""
    """The sitting within the conversation."""
    ordinal: int | None = None
    """Position in the session, from 0; default: the next one."""
    id: str | None = None
    """The client's own id, unique in the conversation; with it, the message can be sent again safely."""
    said_at: str | None = None
    """ISO 8601; without an offset, in the user's time zone; default: now."""
    metadata: dict[str, Any] = {}


class StoredMessage(msgspec.Struct, kw_only=True, frozen=True):
    """The result for one message."""

    index: int
    outcome: Outcome
    """created; existing: already stored, nothing was done; erased: erased on request earlier, not stored again;
    paused: the user's memory is paused, nothing is stored."""
    conversation_id: UUID | None
    """null: nothing is stored."""
    passage_id: UUID | None
    session: str
    ordinal: int | None
    said_at: datetime
    """The stored time."""
    zone_assumed: str | None
    """The zone assumed for a time that was sent without an offset."""
    job_id: UUID | None
    masked: dict[str, int] = {}
    """Secrets that were masked under the policy, by kind."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message that becomes one passage."""

    text: str
    injected: bool = False
    """Stored as a trace, whatever the role: a context block of memsvc, or a message that is kept back."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked message with its time read and its text split."""

    message: MessageIn
    client_id: str | None
    said_at: SaidAt
    parts: Sequence[Part]
    masked: Mapping[str, int] = of(default_factory=dict)
    """How many secrets of which kinds were masked."""

    @property
    def identity(self) -> tuple[str, ...] | None:
        """What identifies the message when it is sent again; None: the client gave no id or ordinal."""
        if self.client_id is not None:
            return (self.message.conversation, self.client_id)
        if self.message.ordinal is not None:
            return (self.message.conversation, self.message.session, str(self.message.ordinal), "")
        return None

    def rows(self, index: int, language: str) -> Iterator[dict[str, object]]:
        """Yield the rows for ``append_messages``, one per part; the first part that is not injected has the caption."""
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
            f"{field} has {len(value):,} characters; at most {longest:,} are allowed.", hint=hint, field=field
        )


def check_message(message: MessageIn, owner: Owner, settings: Settings) -> SaidAt:
    """Check a message without splitting it, and return when it was said.

    Raises:
        MemsvcError: it cannot be stored.
    """
    for field in ("conversation", "text", "caption", "speaker", "session", "id", "metadata"):
        if value := getattr(message, field):
            check_storable(value, field)
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
        raise InvalidRequestError("ordinal must be between 0 and 2,000,000,000.", field="ordinal")
    if len(msgspec.json.encode(message.metadata)) > MAX_METADATA_BYTES:
        raise TextTooLongError(
            f"metadata has more than {MAX_METADATA_BYTES:,} bytes.", hint="Shorten it.", field="metadata"
        )
    zone = valid_zone(owner.time_zone)
    return parse_time(message.said_at, zone) if message.said_at is not None else now_in(zone)


def _prepare(message: MessageIn, index: int, owner: Owner, settings: Settings, idempotency_key: str | None) -> Prepared:
    said_at = check_message(message, owner, settings)
    message, masked = admitted(message, owner)
    client_id = message.id
    if client_id is None and message.ordinal is None and idempotency_key:
        client_id = f"idempotency:{idempotency_key}:{index}"
    parts = split_message(message, settings.passage_tokens)
    if len(parts) > MAX_PARTS:
        raise TextTooLongError(
            f"text makes {len(parts):,} passages; a message can have at most {MAX_PARTS:,}.",
            hint="Send it in several messages, or raise MEMSVC_PASSAGE_TOKENS, the size of a passage.",
            field="text",
        )
    return Prepared(message, client_id, said_at, parts, masked)


def admitted(message: MessageIn, owner: Owner) -> tuple[MessageIn, Mapping[str, int]]:
    """Return a message as it may be stored under the owner's policy on secrets, and what was masked, by kind.

    Raises:
        TextRefusedError: it has a secret of a kind that is refused.
    """
    policy, counts = owner.policy, Counter[str]()
    if policy.is_off:
        return message, counts
    return (
        msgspec.structs.replace(
            message,
            text=policy.admit(message.text, "text", counts),
            caption=policy.admit(message.caption, "caption", counts) if message.caption else message.caption,
            speaker=policy.admit(message.speaker, "speaker", counts),
            metadata=policy.admit_all(message.metadata, "metadata", counts),
        ),
        counts,
    )


def refused_of(message: MessageIn, owner: Owner) -> tuple[str, str] | None:
    """Return what ``admitted`` would refuse: the field, and the kind of secret in it in words; None: nothing."""
    policy = owner.policy
    for field in ("text", "caption", "speaker", "metadata"):
        if (refused := policy.refused_in_all(getattr(message, field))) is not None:
            return field, refused
    return None


def split_message(message: MessageIn, window: int) -> list[Part]:
    """Split a message into parts of at most ``window`` estimated tokens; the joined parts are its text.

    A client may send a context block back in a message. The block must not become a memory of memories, so it becomes
    separate parts, which are stored verbatim as traces. The message's own text is recalled as usual. Roles that are
    traces anyway are not searched for blocks.
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
    """Check a batch and stop at the first bad message.

    Raises:
        InvalidRequestError: the batch is empty.
        BatchTooLargeError: the batch has more than ``settings.max_batch`` messages.
        MemsvcError: a message is not valid; ``details["row"]`` is its index, from 0.
    """
    if not messages:
        raise InvalidRequestError("The batch is empty.", hint="Send at least one message.")
    if len(messages) > settings.max_batch:
        raise BatchTooLargeError(f"{len(messages):,} messages; a request can have at most {settings.max_batch:,}.")
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


async def prepare_aside(
    messages: Sequence[MessageIn], owner: Owner, settings: Settings, idempotency_key: str | None = None
) -> list[Prepared]:
    """Do ``prepare``, in a thread if much text is to be searched for secrets: a million characters take seconds."""
    if owner.policy.is_off or sum(len(message.text) for message in messages) <= AT_ONCE_CHARS:
        return prepare(messages, owner, settings, idempotency_key)
    return await asyncio.to_thread(prepare, messages, owner, settings, idempotency_key)


def kept_back(prepared: Prepared) -> Prepared:
    """Return a message that is stored as a trace, whatever its role."""
    return replace(prepared, parts=[replace(part, injected=True) for part in prepared.parts])


def _check_repetition(item: Prepared, index: int, first: dict[tuple[str, ...], int], before: list[Prepared]) -> None:
    """Refuse two messages of a batch with the same identity and different words."""
    earlier = first.setdefault(item.identity or (), index)
    if earlier == index:
        return
    other = before[earlier].message
    current = item.message
    if (current.text, current.caption, current.speaker, current.role) != (
        other.text,
        other.caption,
        other.speaker,
        other.role,
    ):
        raise MessageConflictError(f"Row {index} has the same identity as row {earlier}, but other words.")


async def append(
    db: Database,
    owner: Owner,
    messages: Sequence[MessageIn],
    settings: Settings,
    *,
    idempotency_key: str | None = None,
) -> list[StoredMessage]:
    """Store a batch in one transaction, completely or not at all.

    Args:
        db: the database.
        owner: the owner of the memory.
        messages: 1 to ``settings.max_batch`` messages.
        settings: limits and the passage window.
        idempotency_key: identifies messages without id and ordinal, so that the same request can be sent again.

    Returns:
        One entry per message, in order. When this returns, the messages are committed and can be recalled.

    Raises:
        MemsvcError: see ``prepare``; MessageConflictError also if the stored message has other words.
    """
    return await append_checked(db, owner, await prepare_aside(messages, owner, settings, idempotency_key))


async def append_checked(db: Database, owner: Owner, prepared: Sequence[Prepared]) -> list[StoredMessage]:
    """Store checked messages in one transaction; see ``append``."""
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
    """Store a checked message with an extended statement, in one round trip; see ``append``.

    Args:
        db: the database.
        owner: the owner of the memory.
        prepared: the message.
        statement: returns the row of ``append_messages``, and may do more in the same transaction.
        values: additional parameters of the statement.

    Returns:
        The result for the message, and the row, with columns as attributes.
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
    """Return the index of the first message of the batch for each identity."""
    unique: dict[tuple[str, ...] | int, int] = {}
    for index, item in enumerate(prepared):
        unique.setdefault(item.identity or index, index)
    return unique


def _values(owner: Owner, prepared: Sequence[Prepared]) -> dict[str, Any]:
    rows = [row for index in _firsts(prepared).values() for row in prepared[index].rows(index, owner.language)]
    return {"user_id": owner.user_id, "rows": msgspec.json.encode(rows).decode()}


def _receipts(owner: Owner, prepared: Sequence[Prepared], rows: Sequence[Row[Any]]) -> list[StoredMessage]:
    """Return the result for each message, from the rows of ``append_messages``."""
    unique = _firsts(prepared)
    stored = {row.message: row for row in rows}
    differing = [index for index, row in stored.items() if row.outcome == "conflict"]
    if differing:
        index, row = differing[0], stored[differing[0]]
        error = MessageConflictError(
            f"Row {index}: {prepared[index].client_id or 'this message'} in conversation "
            f"{prepared[index].message.conversation!r} already has other words.",
            row=index,
            **({"passage_id": str(row.passage_id)} if row.passage_id else {}),
        )
        error.rows = differing
        raise error
    receipts: list[StoredMessage] = []
    for index, item in enumerate(prepared):
        first = unique[item.identity or index]
        row = stored[first]
        receipts.append(
            StoredMessage(
                index=index,
                outcome=row.outcome if first == index or row.outcome != "created" else "existing",
                conversation_id=row.source_id,
                passage_id=row.passage_id,
                session=row.session,
                ordinal=row.ordinal,
                said_at=on_clock(row.known_said_at, row.known_said_offset)
                if row.known_said_at
                else item.said_at.moment,
                zone_assumed=owner.time_zone if item.said_at.assumed and row.known_said_at is None else None,
                job_id=row.job_id,
                masked=dict(item.masked),
            )
        )
    return receipts
