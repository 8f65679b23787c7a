"""What the run of a feed reads. The job ``ingest`` asks here for it, stores it as anything else, and says how it ended.

What is fetched from elsewhere is kept in the run's rows, in the transaction in which the feed's cursor moves. So a run
that is killed goes on with what was fetched, and loses and doubles nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import own_names, owner_of, valid_zone
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import FolderMissingError
from memsvc.feeds.calendars import Applying, now
from memsvc.feeds.icalendar import MOST_BYTES, read_calendar
from memsvc.feeds.mailboxes import fetch_new
from memsvc.feeds.planning import settle
from memsvc.feeds.wanted import Mailbox, Reads, check_allowed, reads_of
from memsvc.settings import Settings
from memsvc.settings.secrets import secret_at
from memsvc.sources.documents import mark_gone
from memsvc.sources.fetching import Fetcher
from memsvc.sources.ingests import Chosen, clean_name
from memsvc.sources.kinds.bundles import Given
from memsvc.sources.kinds.document_files import file_is_there

MOST_CHARS = 2_000
"""Characters of what was left out that are kept."""


class FeedRuns:
    """The runs of feeds, for the job ``ingest``."""

    def __init__(self, settings: Settings, fetcher: Fetcher | None = None) -> None:
        """Read by these settings.

        Args:
            settings: limits, and what may be read.
            fetcher: fetches calendars; None: one that reaches public addresses alone.
        """
        self._settings = settings
        self._fetcher = fetcher or Fetcher(settings.max_upload_bytes)

    async def bring(self, db: Database, user_id: UUID, feed_id: UUID, ingest_id: UUID) -> Sequence[Given]:
        """Fetch what a run reads into its rows; return what lies on this machine and is read from there.

        It may be called again for the same run, which then goes on.

        Raises:
            MemsvcError: it cannot be read; nothing of it was stored.
        """
        row, reads = await self._read(db, user_id, feed_id)
        if row is None:
            return ()
        check_allowed(reads, self._settings, by_operator=row.by_operator)
        ids = {"user_id": user_id, "ingest_id": ingest_id}
        if row.kind == "folder" and reads.path is not None:
            path = Path(reads.path)
            return [Given(path, path.name or "/", path.as_posix(), None)]
        if row.kind == "url":
            values = {**_file(clean_name(row.name)), **ids, "url": reads.url}
            await db.attempt(user_id, lambda connection: _add(connection, values))
        if row.kind == "imap" and reads.imap is not None:
            await self._mailbox(db, row, reads.imap, reads.choices, {**ids, "feed_id": feed_id})
        if row.kind == "ics":
            await self._calendar(db, row, reads, {**ids, "feed_id": feed_id})
        return ()

    async def _mailbox(self, db: Database, row: Row[Any], box: Mailbox, choices: Chosen, ids: dict[str, Any]) -> None:
        """Fetch new mails into the run's rows, each as a file, in the transaction in which the cursor moves.

        Raises:
            ConfigurationError: there is no password.
            MailboxFailedError, MailboxRefusedError: the mailbox cannot be read.
        """
        async with db.transaction(ids["user_id"]) as connection:
            if (await connection.execute(query("has_files"), ids)).scalar_one():
                return  # a run that goes on has what it fetched
            if (await connection.execute(query("is_paused"), ids)).scalar_one():
                return  # mails wait on their server
        password = secret_at(row.secret or "")
        found = await asyncio.to_thread(
            fetch_new, box, password, row.cursor, most_bytes=self._settings.max_upload_bytes, since=choices.since
        )

        async def keep(connection: AsyncConnection) -> None:
            cursor = msgspec.json.encode(found.cursor).decode()
            moved = await connection.execute(query("set_feed_cursor"), {**ids, "cursor": cursor})
            if moved.one_or_none() is None:
                return  # another run reads it, or it was removed
            for number, mail in enumerate(found.mails):
                values = {
                    **_file(f"mail {mail.uid}"), **ids, "number": number, "content": mail.content,
                    "bytes": len(mail.content), "sha256": sha256(mail.content).digest(),
                }  # fmt: skip
                await _add(connection, values)

        await db.attempt(ids["user_id"], keep)

    async def _calendar(self, db: Database, row: Row[Any], reads: Reads, ids: dict[str, Any]) -> None:
        """Read a calendar and write its events.

        Raises:
            CalendarError, UrlFailedError, UrlRefusedError, FolderMissingError: it cannot be read.
        """
        owner = await owner_of(db, ids["user_id"])
        async with db.transaction(owner.user_id) as connection:
            if (await connection.execute(query("is_paused"), ids)).scalar_one():
                return
        if reads.url is not None:
            content = (await self._fetcher.fetch(reads.url)).content
        else:
            content = await asyncio.to_thread(_content, Path(reads.path or ""))
        calendar = await asyncio.to_thread(read_calendar, content, valid_zone(owner.time_zone))
        own = await own_names(db, owner)
        me = frozenset(name.casefold() for name in (*own.aliases, own.label, *reads.choices.me))
        applying = Applying(db, owner, own, me, ids, reads.url or reads.path or "", dict(row.cursor))
        counts = await applying.apply(calendar, now())
        odd = ", ".join(f"{count:,} {what}" for what, count in calendar.odd.most_common())
        values = {
            "source": row.name, "outcome": "stored", "kind": "calendar", "code": None, "hint": None, "preview": None,
            "message": f"Left out: {odd}."[:MOST_CHARS] if odd else None,
            "counts": msgspec.json.encode(counts).decode(),
        }  # fmt: skip

        async def note(connection: AsyncConnection) -> None:
            await _add(connection, {**_file(clean_name(row.name)), **ids})
            await connection.execute(query("note_outcome"), {"number": 0, "part": 0, **ids, **values})

        await db.attempt(owner.user_id, note)

    async def finish(self, db: Database, user_id: UUID, feed_id: UUID) -> None:
        """Do what remains when all was read: what is no longer in a folder is gone.

        An empty folder says nothing: it may be the place of a disk that is not mounted.
        """
        row, reads = await self._read(db, user_id, feed_id)
        if row is None or row.kind != "folder" or reads.path is None:
            return
        if not await asyncio.to_thread(_has_something, Path(reads.path)):
            return
        await mark_gone(db, await owner_of(db, user_id), reads.path, file_is_there)

    async def settle(
        self, connection: AsyncConnection, user_id: UUID, feed_id: UUID, ingest_id: UUID, code: str | None
    ) -> None:
        """Record how a run ended, in the transaction of its end.

        Args:
            connection: of the user's transaction.
            user_id: whose feed.
            feed_id: the feed.
            ingest_id: the run.
            code: why it failed as a whole; None: it did not, but what it read may have been refused.
        """
        ids = {"user_id": user_id, "ingest_id": ingest_id}
        row = (await connection.execute(query("read_feed"), {"user_id": user_id, "feed_id": feed_id})).one_or_none()
        if row is None:
            return
        if row.kind in {"folder", "imap"}:
            await connection.execute(query("fold_unchanged"), ids)
        if row.kind != "folder" and code is None:  # one bad file among many is no failure of a folder
            code = (await connection.execute(query("code_of_run"), ids)).scalar_one_or_none()
        await settle(connection, user_id, feed_id, ingest_id, code)

    async def _read(self, db: Database, user_id: UUID, feed_id: UUID) -> tuple[Row[Any] | None, Reads]:
        async with db.transaction(user_id) as connection:
            found = await connection.execute(query("read_feed"), {"user_id": user_id, "feed_id": feed_id})
            row = found.one_or_none()
        return row, reads_of(row.settings) if row is not None else Reads()


def _content(path: Path) -> bytes:
    """Return a calendar's file.

    Raises:
        FolderMissingError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise FolderMissingError(f"The file cannot be read: {error.strerror}.") from error


def _file(name: str) -> dict[str, Any]:
    """Return the row of a file of a run."""
    return {"number": 0, "part": 0, "name": name, "bytes": 0, "sha256": None, "content": None, "url": None}


async def _add(connection: AsyncConnection, values: dict[str, Any]) -> None:
    await connection.execute(query("add_ingest_file"), values)


def _has_something(folder: Path) -> bool:
    """Return whether a folder has anything in it.

    Raises:
        FolderMissingError: it cannot be read.
    """
    try:
        return any(folder.iterdir())
    except OSError as error:
        raise FolderMissingError(f"The folder cannot be read: {error.strerror}.") from error
