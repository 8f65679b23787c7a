"""What the run of a feed reads. The job ``ingest`` asks here for it, stores it as anything else, and says how it ended.

What is fetched from elsewhere is kept in the run's rows, in the transaction in which the feed's cursor moves. So a run
that is killed goes on with what was fetched, and loses and doubles nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import owner_of
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import FolderMissingError
from memsvc.feeds.planning import settle
from memsvc.feeds.wanted import Reads, check_allowed, reads_of
from memsvc.settings import Settings
from memsvc.sources.documents import mark_gone
from memsvc.sources.ingests import clean_name
from memsvc.sources.kinds.bundles import Given
from memsvc.sources.kinds.document_files import file_is_there


class FeedRuns:
    """The runs of feeds, for the job ``ingest``."""

    def __init__(self, settings: Settings) -> None:
        """Read by these settings."""
        self._settings = settings

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
        return ()

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
        if row.kind == "folder":  # one bad file among many is no failure of the folder
            await connection.execute(query("fold_unchanged"), ids)
        elif code is None:
            code = (await connection.execute(query("code_of_run"), ids)).scalar_one_or_none()
        await settle(connection, user_id, feed_id, ingest_id, code)

    async def _read(self, db: Database, user_id: UUID, feed_id: UUID) -> tuple[Row[Any] | None, Reads]:
        async with db.transaction(user_id) as connection:
            found = await connection.execute(query("read_feed"), {"user_id": user_id, "feed_id": feed_id})
            row = found.one_or_none()
        return row, reads_of(row.settings) if row is not None else Reads()


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
