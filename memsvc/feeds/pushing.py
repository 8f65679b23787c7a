"""What other programs push: each push is signed with its feed's secret, over its time and its body.

The signature is ``v1=`` and the hexadecimal HMAC-SHA256 of the time in seconds, a full stop and the body's bytes. One
that is older than ``WINDOW_S`` is refused. The same push within that time gets the first one's answer and stores
nothing again, so a sender may repeat what it does not know the outcome of, and an eavesdropper gains nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import msgspec
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.keys import spend_messages_of
from memsvc.access.users import Owner, owner_of
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import BatchTooLargeError, FeedStateError, MemsvcError, SignatureError
from memsvc.feeds.feeds import push_secret
from memsvc.feeds.wanted import Reads, reads_of
from memsvc.settings import Settings
from memsvc.sources.ingests import Chosen, Sender, Sent, send
from memsvc.sources.messages import MessageIn, StoredMessage, append

WINDOW_S = 300
SCHEME = "v1="
MOST_DIGITS = 12
NO_SALT = bytes(16)
PUSHED = text("SELECT * FROM memsvc.pushed_feed(:feed_id)")


class Pushed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a push."""

    ingest_id: UUID | None
    """The ingest that stores a document: GET /v1/ingests/{id}; null: it was a memory."""
    message: StoredMessage | None
    """The receipt of a memory, which is stored; null: it was a document."""


@dataclass(frozen=True, slots=True)
class Push:
    """A push as it came."""

    feed_id: UUID
    body: bytes
    timestamp: str
    signature: str

    @property
    def once(self) -> str:
        """What is the same for the same push."""
        digest = hashlib.sha256(f"{self.feed_id} {self.timestamp} {self.signature}".encode(errors="replace"))
        return f"push-{digest.hexdigest()}"


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was pushed, and what the push chose of it beyond what its feed says."""

    sent: Sent
    choices: Chosen


Decode = Callable[[bytes, Reads, Owner], Document | MessageIn]
"""Reads a body as its feed says; raises InvalidRequestError."""


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a push.

    Args:
        secret: of the feed.
        timestamp: Unix time in seconds.
        body: the bytes that are sent.
    """
    return SCHEME + hmac.digest(secret.encode(), f"{timestamp}.".encode() + body, "sha256").hex()


async def whose(db: Database, push: Push, now: float | None = None) -> UUID:
    """Return whose feed a push is for.

    Raises:
        SignatureError: as ``take``; or the feed is in another cell's database.
    """
    return await _proved(db, push, time.time() if now is None else now)


async def take(db: Database, push: Push, decode: Decode, settings: Settings, now: float | None = None) -> Pushed:
    """Check and store a push.

    Args:
        db: the database.
        push: as it came.
        decode: reads its body.
        settings: limits.
        now: Unix time; None: this machine's clock.

    Raises:
        SignatureError: there is no such feed, or the signature is missing, wrong or too old; it does not say which.
        FeedStateError: the feed is paused.
        MemsvcError: the body cannot be stored.
    """
    user_id = await whose(db, push, now)
    owner = await owner_of(db, user_id)
    found = await _noted(db, user_id, push.feed_id, None)
    if found is None:
        raise FeedStateError("The feed is paused.", hint="Resume it, and send this again.")
    reads, key_id = found
    try:
        return await _store(db, owner, push, decode(push.body, reads, owner), settings, key_id=key_id)
    except MemsvcError as error:
        await _noted(db, user_id, push.feed_id, error.code)
        raise


async def _proved(db: Database, push: Push, now: float) -> UUID:
    """Return whose feed it is. All of it is done in any case, so the time that it takes tells nothing.

    Raises:
        SignatureError: it is not signed as it must be.
    """
    async with db.transaction() as connection:
        row = (await connection.execute(PUSHED, {"feed_id": push.feed_id})).one_or_none()
    is_time = push.timestamp.isascii() and push.timestamp.isdecimal() and len(push.timestamp) <= MOST_DIGITS
    moment = int(push.timestamp) if is_time else 0
    secret = push_secret(db, push.feed_id, NO_SALT if row is None else row.salt)
    is_right = hmac.compare_digest(sign(secret, moment, push.body).encode(), push.signature.encode(errors="replace"))
    if row is None or not is_right or abs(now - moment) > WINDOW_S:
        raise SignatureError
    user_id: UUID = row.user_id
    return user_id


async def _noted(db: Database, user_id: UUID, feed_id: UUID, code: str | None) -> tuple[Reads, str | None] | None:
    """Note that a push came, and why it was refused; return how it is read; None: the feed is not active."""

    async def work(connection: AsyncConnection) -> tuple[Reads, str | None] | None:
        values = {"user_id": user_id, "feed_id": feed_id, "code": code}
        row = (await connection.execute(query("note_push"), values)).one_or_none()
        return None if row is None else (reads_of(row.settings), row.key_id)

    return await db.attempt(user_id, work)


async def _store(
    db: Database, owner: Owner, push: Push, given: Document | MessageIn, settings: Settings, *, key_id: str | None
) -> Pushed:
    if isinstance(given, MessageIn):
        if key_id is not None:
            await spend_messages_of(db, key_id, 1)
        [stored] = await append(db, owner, [given], settings, idempotency_key=push.once)
        return Pushed(ingest_id=None, message=stored)
    if len(given.sent.content or b"") > settings.max_upload_bytes:
        raise BatchTooLargeError(f"A document has at most {settings.max_upload_bytes:,} bytes.")
    sender = Sender(key_id, push.once, push.feed_id)
    ingest = await send(db, owner, [given.sent], given.choices, settings, sender=sender)
    return Pushed(ingest_id=ingest.ingest_id, message=None)
