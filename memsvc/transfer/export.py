"""Export: all data of a user, as JSON lines for ``memsvc.transfer.load`` and as Markdown for people.

Everything is read in one snapshot through server-side cursors, so others can write meanwhile, and RAM does not grow
with the size of the export. An unchanged user gives the same bytes again, except for the time in the manifest.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc import __version__
from memsvc.access.users import valid_zone
from memsvc.db.acting import note_act
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import InvalidZoneError, UserUnknownError
from memsvc.transfer.format import FORMAT, KINDS, MANIFEST, VERSION, ExportedFile, ExportedUser, Manifest, file_of
from memsvc.transfer.pages import FOLDER, Book
from memsvc.transfer.sinks import Sink

ROWS = 500
"""Rows that one fetch returns."""
CHUNK_CHARS = 1 << 20
"""Characters of text that are collected before they are written."""
SNAPSHOT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
Progress = Callable[[str, int], None]
"""Called for each batch with the file and the number of rows or pages."""


def _no_progress(_path: str, _rows: int) -> None:
    pass


async def export(
    db: Database,
    user_id: UUID,
    sink: Sink,
    *,
    markdown: bool = True,
    progress: Progress = _no_progress,
) -> Manifest:
    """Write all data of a user; commit the sink on success, abort it on failure. The audit log says so beforehand.

    Args:
        db: the database.
        user_id: the user.
        sink: where to write the export.
        markdown: also write the pages for people.
        progress: called after each batch.

    Raises:
        UserUnknownError: the user no longer exists.
        StorageFullError: the export cannot be written.
    """
    try:
        async with db.transaction(user_id) as connection:
            await note_act(connection, "memory.export", user_id)
        async with db.transaction() as connection:
            await connection.execute(SNAPSHOT)
            await connection.execute(query("export_settings"))
            await db.bind(connection, user_id)
            user = await _user(connection, user_id)
            writing = _Writing(db, connection, user_id, sink, progress)
            for kind in KINDS:
                await writing.rows(kind)
            if markdown:
                await writing.pages(user)
        manifest = _manifest(user, writing.files)
        await asyncio.to_thread(_end, sink, manifest)
    except BaseException:
        sink.abort()
        raise
    return manifest


async def _user(connection: AsyncConnection, user_id: UUID) -> Row[Any]:
    user = (await connection.execute(query("export_user"), {"user_id": user_id})).one_or_none()
    if user is None:
        raise UserUnknownError("This user no longer exists.")
    return user


def _manifest(user: Row[Any], files: list[ExportedFile]) -> Manifest:
    return Manifest(
        format=FORMAT,
        version=VERSION,
        memsvc=__version__,
        schema=user.revision or "",
        created_at=datetime.now(UTC),
        user=ExportedUser(name=user.name, time_zone=user.time_zone, language=user.language),
        files=files,
    )


def _end(sink: Sink, manifest: Manifest) -> None:
    sink.begin(MANIFEST)
    sink.write(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
    sink.commit()


@dataclass(slots=True)
class _Writing:
    """The state of one running export."""

    db: Database
    connection: AsyncConnection
    user_id: UUID
    sink: Sink
    progress: Progress
    files: list[ExportedFile] = field(default_factory=list)

    async def rows(self, kind: str) -> None:
        """Write one file of JSON lines."""
        await self.db.bind(self.connection, self.user_id)  # a long export outlives a token
        path = file_of(kind)
        await asyncio.to_thread(self.sink.begin, path)
        digest = hashlib.sha256()
        count = size = 0

        def write(data: bytes) -> None:
            digest.update(data)
            self.sink.write(data)

        result = await self.connection.stream(query(f"export_{kind}"), {"user_id": self.user_id})
        async for lines in result.scalars().partitions(ROWS):
            data = ("\n".join(lines) + "\n").encode()
            await asyncio.to_thread(write, data)
            count += len(lines)
            size += len(data)
            self.progress(path, len(lines))
        self.files.append(ExportedFile(path=path, rows=count, bytes=size, sha256=digest.hexdigest()))

    async def pages(self, user: Row[Any]) -> None:
        """Write the Markdown pages."""
        try:
            zone = valid_zone(user.time_zone)
        except InvalidZoneError:  # a zone that the current list no longer has
            zone = ZoneInfo("UTC")
        await self.db.bind(self.connection, self.user_id)
        book = Book(self.db, self.connection, self.user_id, user.name, zone)
        waiting: list[str] = []
        size = 0
        async for path, piece in book.pieces():
            if path is not None:
                await self._write(waiting)
                waiting, size = [], 0
                await asyncio.to_thread(self.sink.begin, path)
                self.progress(FOLDER, 1)
            waiting.append(piece)
            size += len(piece)
            if size >= CHUNK_CHARS:
                await self._write(waiting)
                waiting, size = [], 0
        await self._write(waiting)

    async def _write(self, pieces: list[str]) -> None:
        if pieces:
            await asyncio.to_thread(self.sink.write, "".join(pieces).encode())
