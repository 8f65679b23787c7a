"""A user's feeds: add, list, change, read now, pause, resume, remove.

What is read is an ingest like any other (``memsvc.sources.ingests``), so its files and their outcomes are shown there.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Page, check_page
from memsvc.errors import AlreadyExistsError, FeedRefusedError, FeedStateError, FeedUnknownError
from memsvc.feeds.planning import begin
from memsvc.feeds.wanted import Door, FeedIn, Kind, Mailbox, Reads, Takes, check_allowed, checked, reads_of
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings
from memsvc.sources.ingests import Ingest, get, list_ingests

State = Literal["active", "paused", "failed"]
PREFIX = "mps_"
"""What a secret of pushes begins with."""
SALT_BYTES = 16


class Feed(msgspec.Struct, frozen=True, kw_only=True):
    """What is read again by itself, or pushed."""

    feed_id: UUID
    kind: Kind
    name: str
    identifier: str
    """What is read; of a push, its name when it was added."""
    rule: str | None
    """When it is read, in the user's time zone; null: it is pushed."""
    state: State
    """active; paused; failed: ten runs in a row failed, so it is not read until it is resumed."""
    failures: int
    """How many runs in a row have failed."""
    last_error: str | None
    """The code of the last failure, until a run succeeds."""
    last_run: datetime | None
    """When the last run ended, or the last push came."""
    next_run: datetime | None
    """When it is due; null: it is pushed, not active, or about to be planned."""
    run_id: UUID | None
    """The ingest that reads it now: GET /v1/ingests/{id}."""
    by_operator: bool
    """It was added on the command line."""
    path: str | None
    url: str | None
    imap: Mailbox | None
    takes: Takes | None
    """Of a push: what its bodies are."""
    as_: str | None = msgspec.field(name="as")
    me: list[str]
    not_me: bool
    since: datetime | None
    title: str
    created_at: datetime


class AddedFeed(Feed, frozen=True, kw_only=True):
    """A feed with the secret of its signatures, which is shown only now."""

    secret: str | None
    """Of a push: pushes are signed with it. It is not stored and not shown again; a new one replaces it."""


class FeedRemoved(msgspec.Struct, frozen=True, kw_only=True):
    """A feed that is no longer read. What it stored stays."""

    feed: Feed
    """As it was."""


def push_secret(db: Database, feed_id: UUID, salt: bytes) -> str:
    """Return the secret of a push. It is computed, so that no copy of the database has it."""
    digest = hmac.digest(db.signer.derived("push"), feed_id.bytes + salt, "sha256")
    return PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")


async def add(db: Database, owner: Owner, asked: FeedIn, settings: Settings, door: Door) -> AddedFeed:
    """Add a feed. It is read at once, and then by its rule.

    Raises:
        AlreadyExistsError: the user has a feed of this kind of the same thing.
        InvalidRequestError, FeedRefusedError, UrlRefusedError, FolderMissingError: as ``checked``.
    """
    wanted = checked(asked, owner, settings, door)
    salt = secrets.token_bytes(SALT_BYTES) if asked.kind == "push" else None
    values = {
        "user_id": owner.user_id, "kind": asked.kind, **wanted.values(), "secret": door.secret, "salt": salt,
        "by_operator": door.by_operator, "key_id": door.key_id,
    }  # fmt: skip

    async def work(connection: AsyncConnection) -> Feed:
        feed_id = (await connection.execute(query("add_feed"), values)).scalar_one_or_none()
        if feed_id is None:
            raise AlreadyExistsError("This is a feed already.", hint="GET /v1/feeds or 'memsvc feed list' shows it.")
        if asked.kind != "push":
            await begin(connection, owner.user_id, feed_id)
        return await _found(connection, owner, feed_id)

    feed = await db.attempt(owner.user_id, work)
    announce_jobs(db)
    secret = push_secret(db, feed.feed_id, salt) if salt is not None else None
    return AddedFeed(**{name: getattr(feed, name) for name in Feed.__struct_fields__}, secret=secret)


async def list_feeds(db: Database, owner: Owner, *, after: UUID | None = None, limit: int = 50) -> Page[Feed]:
    """One page of a user's feeds, oldest first; ``after`` is the last one of the previous page.

    Raises:
        InvalidRequestError: a limit outside 1 to 1,000.
    """
    check_page(limit)
    async with db.transaction(owner.user_id) as connection:
        rows = await _listed(connection, owner, {"after": after, "limit": limit + 1})
    more = str(rows[limit - 1].feed_id) if len(rows) > limit else None
    return Page(items=rows[:limit], next_cursor=more)


async def look(db: Database, owner: Owner, feed_id: UUID) -> Feed:
    """One feed.

    Raises:
        FeedUnknownError: this user has none with this id.
    """
    async with db.transaction(owner.user_id) as connection:
        return await _found(connection, owner, feed_id)


async def runs(
    db: Database, owner: Owner, feed_id: UUID, *, after: UUID | None = None, limit: int = 50
) -> Page[Ingest]:
    """One page of a feed's runs, newest first; old ones are deleted with other ingests. Raises: as ``look``."""
    await look(db, owner, feed_id)
    return await list_ingests(db, owner, after=after, limit=limit, feed_id=feed_id)


async def run(db: Database, owner: Owner, feed_id: UUID, settings: Settings, door: Door) -> Ingest:
    """Read a feed now, whatever its state; return the ingest that does. One that is being read is not read twice.

    Raises:
        FeedUnknownError: this user has none with this id.
        FeedStateError: it is pushed.
        FeedRefusedError, UrlRefusedError, FolderMissingError: it may not be read, or is not there.
    """

    async def work(connection: AsyncConnection) -> UUID | None:
        feed = await _found(connection, owner, feed_id)
        if feed.kind == "push":
            raise FeedStateError("A push is not read: other programs send it.")
        _check(feed, settings, door)
        return await begin(connection, owner.user_id, feed_id, by_hand=True)

    ingest_id = await db.attempt(owner.user_id, work)
    announce_jobs(db)
    if ingest_id is None:  # it was removed in between
        raise FeedUnknownError
    return await get(db, owner, ingest_id)


async def pause(db: Database, owner: Owner, feed_id: UUID) -> Feed:
    """Stop reading a feed, or taking what is pushed. A run that has begun goes on. Raises: as ``look``."""
    return await _change(db, owner, feed_id, _statement("pause_feed", owner, feed_id))


async def resume(db: Database, owner: Owner, feed_id: UUID, settings: Settings, door: Door) -> Feed:
    """Read a paused or failed feed again, at once and then by its rule.

    Raises:
        FeedUnknownError: this user has none with this id.
        FeedRefusedError, UrlRefusedError, FolderMissingError: it may not be read, or is not there.
    """

    async def work(connection: AsyncConnection) -> None:
        _check(await _found(connection, owner, feed_id), settings, door)
        await connection.execute(query("resume_feed"), {"user_id": owner.user_id, "feed_id": feed_id})
        await begin(connection, owner.user_id, feed_id)

    feed = await _change(db, owner, feed_id, work)
    announce_jobs(db)
    return feed


async def change(db: Database, owner: Owner, feed_id: UUID, asked: FeedIn, settings: Settings, *, door: Door) -> Feed:
    """Change name, rule and choices of a feed. What it reads stays: another one is another feed.

    Raises:
        FeedUnknownError: this user has none with this id.
        FeedStateError: the kind, or what it reads, is another one.
        InvalidRequestError, FeedRefusedError, UrlRefusedError, FolderMissingError: as ``checked``.
    """

    async def work(connection: AsyncConnection) -> None:
        feed = await _found(connection, owner, feed_id)
        box = door.mailbox or feed.imap
        trusted = door.by_operator or (feed.by_operator and asked.path == feed.path)
        known = Door(by_operator=trusted, key_id=door.key_id, mailbox=box, secret=door.secret or "env:unchanged")
        wanted = checked(asked, owner, settings, known)
        if asked.kind != feed.kind or (feed.kind != "push" and wanted.identifier != feed.identifier):
            raise FeedStateError("It reads something else.", hint="Add another feed, and remove this one.")
        values = {"user_id": owner.user_id, "feed_id": feed_id, **wanted.values()}
        await connection.execute(query("change_feed"), values)

    return await _change(db, owner, feed_id, work)


async def new_secret(db: Database, owner: Owner, feed_id: UUID) -> AddedFeed:
    """Give a push another secret; the one before is worth nothing from now on.

    Raises:
        FeedUnknownError: this user has none with this id.
        FeedStateError: it is not pushed.
    """
    salt = secrets.token_bytes(SALT_BYTES)

    async def work(connection: AsyncConnection) -> None:
        if (await _found(connection, owner, feed_id)).kind != "push":
            raise FeedStateError("Only pushes are signed.")
        values = {"user_id": owner.user_id, "feed_id": feed_id, "secret": None, "salt": salt}
        await connection.execute(query("set_feed_secret"), values)

    feed = await _change(db, owner, feed_id, work)
    fields = {name: getattr(feed, name) for name in Feed.__struct_fields__}
    return AddedFeed(**fields, secret=push_secret(db, feed_id, salt))


async def remove(db: Database, owner: Owner, feed_id: UUID) -> FeedRemoved:
    """Remove a feed. What it stored stays, and its runs are still listed as ingests. Raises: as ``look``."""

    async def work(connection: AsyncConnection) -> Feed:
        feed = await _found(connection, owner, feed_id)
        await connection.execute(query("remove_feed"), {"user_id": owner.user_id, "feed_id": feed_id})
        return feed

    return FeedRemoved(feed=await db.attempt(owner.user_id, work))


def _check(feed: Feed, settings: Settings, door: Door) -> None:
    """Refuse a feed that may not be read. The operator at the command line may read anything."""
    trusted = feed.by_operator or door.by_operator
    if feed.kind != "push" and feed.path is None and feed.url is None and feed.imap is None:
        raise FeedStateError("Nobody knows what it reads.", hint="Remove it and add it again.")
    check_allowed(Reads(path=feed.path, url=feed.url, imap=feed.imap), settings, by_operator=trusted)
    if door.by_operator and not feed.by_operator and feed.imap is not None:
        raise FeedRefusedError("An imported mailbox has no password.", hint="Remove it and add it again.")


def _statement(name: str, owner: Owner, feed_id: UUID) -> Callable[[AsyncConnection], Awaitable[None]]:
    async def work(connection: AsyncConnection) -> None:
        await connection.execute(query(name), {"user_id": owner.user_id, "feed_id": feed_id})

    return work


async def _change(
    db: Database, owner: Owner, feed_id: UUID, change: Callable[[AsyncConnection], Awaitable[None]]
) -> Feed:
    """Change a feed and return it as it is then.

    Raises:
        FeedUnknownError: this user has none with this id.
    """

    async def work(connection: AsyncConnection) -> Feed:
        await change(connection)
        return await _found(connection, owner, feed_id)

    return await db.attempt(owner.user_id, work)


async def _found(connection: AsyncConnection, owner: Owner, feed_id: UUID) -> Feed:
    found = await _listed(connection, owner, {"feed_id": feed_id, "limit": 1})
    if not found:
        raise FeedUnknownError
    return found[0]


async def _listed(connection: AsyncConnection, owner: Owner, wanted: dict[str, Any]) -> list[Feed]:
    values = {"user_id": owner.user_id, "feed_id": None, "after": None, **wanted}
    rows = await connection.execute(query("list_feeds"), values)
    return [_feed(row) for row in rows.mappings()]


def _feed(row: RowMapping) -> Feed:
    values = dict(row)
    reads = reads_of(values.pop("settings"))
    choices = reads.choices
    return Feed(
        **values, path=reads.path, url=reads.url, imap=reads.imap, as_=choices.kind, me=choices.me,
        takes=reads.takes if row["kind"] == "push" else None, not_me=choices.not_me, since=choices.since,
        title=choices.title,
    )  # fmt: skip
