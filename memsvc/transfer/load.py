"""Import: an export becomes the memory of a user who has none yet.

One transaction: the user, if there is none of that name, and all rows with their ids and times, under row security as
the application. Words, statistics and jobs are made anew. Whatever is wrong with the files, nothing is stored, and the
error names file and line. Into a user who has anything nothing is imported: to take rows away (such as the node that
``memsvc user add`` makes) is a right that the application does not have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any, NoReturn
from uuid import UUID

import msgspec
from psycopg import Error as DriverError
from sqlalchemy import exc as sa
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import LANGUAGES, User, find_user, valid_name, valid_zone
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import ImportInvalidError, InvalidRequestError, UserNotEmptyError, UserUnknownError
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings
from memsvc.transfer.archive import KINDS, MANIFEST, Archive, ExportedFile, ExportedUser, file_of, plain_reading
from memsvc.transfer.lines import LINES, MAX_LINE_BYTES, BadLineError, Checker

BATCH_ROWS = 500
BATCH_BYTES = 4_000_000
PROJECTED_ROWS = 5_000
BOUND_ROWS = 200
"""Rows between two bindings of the user when rows go one by one; a token lives for seconds at least."""
# Classes of SQLSTATE that a row's own fault has: cardinality, data, integrity, limits of the program, our own refusals.
ROWS_FAULT = ("21", "22", "23", "54", "MS")
MEANINGS = {
    "23503": "it refers to something that the export does not hold, or that the ontology does not know",
    "23505": "it was there already",
    "23P01": "it overlaps another version of the same",
    "23514": "a value lies outside of what is allowed",
    "23502": "a value is missing",
    "MS002": "the core ontology has that already",
}
# What constraints cannot see: the statement that finds an offender, its file, its id, and what is wrong.
CHECKS = (
    ("load_torn_messages", "passages", "passage_id", "it is a part of a message, without the part before it"),
    ("load_long_spans", "source_links", "link_id", "its span ends behind its passage"),
    ("load_misfiled", "passages", "passage_id", "its block does not say this in the archive"),
    ("load_merge_circles", "merges", "merge_id", "by it a node would stand for itself"),
)
Progress = Callable[[str, int], None]
"""Told of each batch: the file, and how many rows of it."""


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """What was imported."""

    user: User
    rows: dict[str, int]


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the export."""

    path: str
    line: int

    def refuse(self, why: str) -> NoReturn:
        """Say what is wrong with it."""
        raise ImportInvalidError(f"{self.path}, line {self.line:,}: {why}.", file=self.path, line=self.line)


def _no_progress(_path: str, _rows: int) -> None:
    pass


async def load(
    db: Database,
    app: UUID,
    ref: str,
    archive: Archive,
    settings: Settings,
    *,
    progress: Progress = _no_progress,
) -> Loaded:
    """Import an export, all of it or nothing.

    Args:
        db: the database.
        app: the app of the user.
        ref: id or external id of a user that has nothing, or the external id of one that is added, with name, zone and
            language of the export.
        archive: an open export.
        settings: limits.
        progress: told how far it is.

    Raises:
        ImportInvalidError: the export is broken, or somebody else's idea of one; names file and line.
        UserNotEmptyError: the user has something.
    """
    person = _person(archive.manifest.user)
    external = valid_name(ref, "user")
    try:
        known: UUID | None = (await find_user(db, app, ref)).user_id
    except UserUnknownError:
        known = None
    async with db.transaction() as connection:
        user_id = known or await _add_user(connection, app, external, person)
        await db.bind(connection, user_id)
        loading = _Loading(db, connection, user_id, archive, settings.max_text_chars, progress)
        rows = await loading.run()
    announce_jobs(db)
    return Loaded(user=await find_user(db, app, str(user_id)), rows=rows)


def _person(person: ExportedUser) -> ExportedUser:
    try:
        valid_name(person.name, "name")
        valid_zone(person.time_zone)
    except InvalidRequestError as error:
        raise ImportInvalidError(f"{MANIFEST}: {error.message}", file=MANIFEST) from error
    if person.language not in LANGUAGES:
        raise ImportInvalidError(f"{MANIFEST}: language is none of PostgreSQL's full text search.", file=MANIFEST)
    return person


async def _add_user(connection: AsyncConnection, app: UUID, external: str, person: ExportedUser) -> UUID:
    """The user without a node: the export has one."""
    made: UUID | None = (
        await connection.execute(
            text("SELECT memsvc.create_user(:app, :external, :name, :zone, :language)"),
            {
                "app": app,
                "external": external,
                "name": person.name,
                "zone": person.time_zone,
                "language": person.language,
            },
        )
    ).scalar_one()
    if made is None:
        raise UserNotEmptyError(f"Somebody else added a user {external!r} meanwhile.")
    return made


@dataclass(slots=True)
class _Loading:
    """One import on its way."""

    db: Database
    connection: AsyncConnection
    user_id: UUID
    archive: Archive
    max_text_chars: int
    progress: Progress

    async def run(self) -> dict[str, int]:
        """Everything, in the caller's transaction; how many rows of each kind."""
        today: datetime = (await self.connection.execute(query("load_settings"))).one().today
        await self._execute("load_lock")
        if (await self._execute("load_occupied")).scalar_one():
            raise UserNotEmptyError
        counts = dict.fromkeys(KINDS, 0)
        for kind in KINDS:
            path = file_of(kind)
            if (file := self.archive.files.get(path)) is not None:
                await self._file(kind, file, Checker.of(kind, today, self.max_text_chars))
                counts[kind] = file.rows
        await self._bind()
        for statement, kind, key, why in CHECKS:
            found = (await self._execute(statement)).scalar_one_or_none()
            if found is not None:
                self._refuse(kind, key, found, why)
        await self.connection.execute(text("SELECT memsvc.fold_statistics(:user_id)"), {"user_id": self.user_id})
        await self._execute("load_jobs")
        await self._execute("load_file")
        for kind in ("node", "edge"):
            after = None
            while True:
                await self._bind()
                after = (await self._execute("project_more", kind=kind, after=after, limit=PROJECTED_ROWS)).scalar_one()
                if after is None:
                    break
        return counts

    async def _execute(self, name: str, **parameters: object) -> Any:
        return await self.connection.execute(query(name), {"user_id": self.user_id, **parameters})

    async def _bind(self) -> None:
        await self.db.bind(self.connection, self.user_id)

    async def _file(self, kind: str, file: ExportedFile, checker: Checker) -> None:
        with self.archive.open(file.path) as stream:
            batch: list[bytes] = []
            size = first = 0
            for number, line in enumerate(checked_lines(stream, file, checker), 1):
                if not batch:
                    first = number
                batch.append(line)
                size += len(line)
                if len(batch) == BATCH_ROWS or size >= BATCH_BYTES:
                    await self._batch(kind, file.path, first, batch)
                    batch, size = [], 0
            if batch:
                await self._batch(kind, file.path, first, batch)

    async def _batch(self, kind: str, path: str, first: int, lines: list[bytes]) -> None:
        await self._bind()
        fault = await self._insert(kind, lines)
        if fault is not None:
            for place, line in enumerate(lines):
                if place % BOUND_ROWS == 0:
                    await self._bind()
                own = await self._insert(kind, [line])
                if own is not None:
                    Place(path, first + place).refuse(own)
            Place(path, first).refuse(f"{fault}, here or in the {len(lines) - 1} lines behind")
        self.progress(path, len(lines))

    async def _insert(self, kind: str, lines: list[bytes]) -> str | None:
        """Insert rows behind a savepoint; what is wrong where the database refuses them."""
        rows = (b"[" + b",".join(lines) + b"]").decode()
        try:
            async with self.connection.begin_nested():
                await self._execute(f"load_{kind}", rows=rows)
        except sa.DBAPIError as error:
            cause = error.orig
            state = cause.sqlstate if isinstance(cause, DriverError) else None
            if not isinstance(cause, DriverError) or state is None or not state.startswith(ROWS_FAULT):
                raise
            return meaning(cause)
        return None

    def _refuse(self, kind: str, key: str, found: UUID, why: str) -> NoReturn:
        """Find the line of a row and refuse it."""
        path = file_of(kind)
        decoder = msgspec.json.Decoder(LINES[kind])
        with self.archive.open(path) as stream, plain_reading(path):
            for number, line in enumerate(stream, 1):
                if getattr(decoder.decode(line), key) == found:
                    Place(path, number).refuse(why)
        raise ImportInvalidError(f"{path}: {found}: {why}.", file=path)


def meaning(error: DriverError) -> str:
    """What a refusal of the database says about a row, without a word of the row."""
    constraint = error.diag.constraint_name
    why = MEANINGS.get(error.sqlstate or "", "the database cannot hold it")
    return f"{why} ({constraint})" if constraint else why


def checked_lines(stream: IO[bytes], file: ExportedFile, checker: Checker) -> Iterator[bytes]:
    """Lines of a file, each of them checked, and at the end that these are all that were written.

    Raises:
        ImportInvalidError: the first bad line, or a file that the manifest does not mean.
    """
    digest = hashlib.sha256()
    size = number = 0
    while True:
        with plain_reading(file.path):
            line = stream.readline(MAX_LINE_BYTES + 1)
        if not line:
            break
        number += 1
        place = Place(file.path, number)
        if len(line) > MAX_LINE_BYTES:
            place.refuse(f"it has more than {MAX_LINE_BYTES:,} bytes")
        digest.update(line)
        size += len(line)
        if size > file.bytes or number > file.rows:
            place.refuse(f"the manifest says that the file has {file.rows:,} lines and {file.bytes:,} bytes")
        if not line.endswith(b"\n"):
            place.refuse("it has no end")
        try:
            checker.check(line[:-1])
        except BadLineError as error:
            place.refuse(str(error).rstrip("."))
        yield line[:-1]
    if (number, size) != (file.rows, file.bytes):
        raise ImportInvalidError(
            f"{file.path}: it has {number:,} lines and {size:,} bytes; the manifest says {file.rows:,} and "
            f"{file.bytes:,}.",
            file=file.path,
        )
    if digest.hexdigest() != file.sha256:
        raise ImportInvalidError(f"{file.path}: its sha256 is not the manifest's.", file=file.path)
