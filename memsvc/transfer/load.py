"""Import: an export becomes the memory of a user who has no data yet.

One transaction adds the user, if necessary, and all rows with their ids and times, under row security as the
application. Words, statistics and jobs are computed again. If anything in the files is wrong, nothing is stored, and
the error names file and line. Users with data are refused, because the application has no right to delete rows (such as
the node that ``memsvc user add`` creates).
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
from memsvc.db.acting import note_act
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import ImportInvalidError, InvalidRequestError, UserNotEmptyError, UserUnknownError
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings
from memsvc.transfer.archive import Archive, plain_reading
from memsvc.transfer.checking import BadLineError, Checker
from memsvc.transfer.format import KINDS, MANIFEST, ExportedFile, ExportedUser, file_of
from memsvc.transfer.lines import LINES, MAX_LINE_BYTES

BATCH_ROWS = 500
BATCH_BYTES = 4_000_000
PROJECTED_ROWS = 5_000
BOUND_ROWS = 200
"""Rows after which the user is bound again when rows are inserted one by one; a token lives for some seconds."""
# Classes of SQLSTATE that blame the row: cardinality, data, integrity, program limits, and memsvc's own refusals.
ROWS_FAULT = ("21", "22", "23", "54", "MS")
MEANINGS = {
    "23503": "it refers to something that neither the export nor the ontology has",
    "23505": "it exists already",
    "23P01": "it overlaps another version of the same subject",
    "23514": "a value is outside the allowed range",
    "23502": "a value is missing",
    "MS002": "the core ontology already has it",
}
# Checks that constraints cannot do: the statement that finds a wrong row, its file, its id column, and what is wrong.
CHECKS = (
    ("load_torn_messages", "passages", "passage_id", "it is a part of a message whose previous part is missing"),
    ("load_long_spans", "source_links", "link_id", "its span ends after the end of its passage"),
    ("load_misfiled", "passages", "passage_id", "its block or document does not have it"),
    ("load_merge_circles", "merges", "merge_id", "it would merge a node into itself"),
)
Progress = Callable[[str, int], None]
"""Called for each batch with the file and the number of rows."""


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """What was imported."""

    user: User
    rows: dict[str, int]


@dataclass(frozen=True, slots=True)
class LineRef:
    """A line of the export."""

    path: str
    line: int

    def refuse(self, why: str) -> NoReturn:
        """Raise an error that says what is wrong with the line."""
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
    """Import an export, completely or not at all.

    Args:
        db: the database.
        app: the app of the user.
        ref: id or external id of a user without data, or the external id of a user to add with the name, zone and
            language of the export.
        archive: an open export.
        settings: limits.
        progress: called after each batch.

    Raises:
        ImportInvalidError: the export is damaged or not valid; names file and line.
        UserNotEmptyError: the user already has data.
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
        await db.bind(connection, user_id)  # the first token may have expired
        await note_act(connection, "memory.import", user_id, rows=sum(rows.values()))
    announce_jobs(db)
    return Loaded(user=await find_user(db, app, str(user_id)), rows=rows)


def _person(person: ExportedUser) -> ExportedUser:
    try:
        valid_name(person.name, "name")
        valid_zone(person.time_zone)
    except InvalidRequestError as error:
        raise ImportInvalidError(f"{MANIFEST}: {error.message}", file=MANIFEST) from error
    if person.language not in LANGUAGES:
        raise ImportInvalidError(
            f"{MANIFEST}: language is not supported by PostgreSQL's full text search.", file=MANIFEST
        )
    return person


async def _add_user(connection: AsyncConnection, app: UUID, external: str, person: ExportedUser) -> UUID:
    """Add the user without a node, because the export has one."""
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
        raise UserNotEmptyError(f"Another request has just added a user {external!r}.")
    return made


@dataclass(slots=True)
class _Loading:
    """The state of one running import."""

    db: Database
    connection: AsyncConnection
    user_id: UUID
    archive: Archive
    max_text_chars: int
    progress: Progress

    async def run(self) -> dict[str, int]:
        """Import everything in the caller's transaction; return the number of rows of each kind."""
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
        for kind in ("node", "edge", "document", "turn"):
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
            for offset, line in enumerate(lines):
                if offset % BOUND_ROWS == 0:
                    await self._bind()
                own = await self._insert(kind, [line])
                if own is not None:
                    LineRef(path, first + offset).refuse(own)
            LineRef(path, first).refuse(f"{fault}, here or in the next {len(lines) - 1} lines")
        self.progress(path, len(lines))

    async def _insert(self, kind: str, lines: list[bytes]) -> str | None:
        """Insert rows within a savepoint; return what is wrong if the database refuses them, else None."""
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
                    LineRef(path, number).refuse(why)
        raise ImportInvalidError(f"{path}: {found}: {why}.", file=path)


def meaning(error: DriverError) -> str:
    """Return why the database refused a row, without any of the row's text."""
    constraint = error.diag.constraint_name
    why = MEANINGS.get(error.sqlstate or "", "the database cannot store it")
    return f"{why} ({constraint})" if constraint else why


def checked_lines(stream: IO[bytes], file: ExportedFile, checker: Checker) -> Iterator[bytes]:
    """Yield the lines of a file, each checked; at the end, check the file against the manifest.

    Raises:
        ImportInvalidError: a line is bad, or the file differs from the manifest.
    """
    digest = hashlib.sha256()
    size = number = 0
    while True:
        with plain_reading(file.path):
            line = stream.readline(MAX_LINE_BYTES + 1)
        if not line:
            break
        number += 1
        at = LineRef(file.path, number)
        if len(line) > MAX_LINE_BYTES:
            at.refuse(f"it has more than {MAX_LINE_BYTES:,} bytes")
        digest.update(line)
        size += len(line)
        if size > file.bytes or number > file.rows:
            at.refuse(f"the manifest says that the file has {file.rows:,} lines and {file.bytes:,} bytes")
        if not line.endswith(b"\n"):
            at.refuse("it does not end with a line break")
        try:
            checker.check(line[:-1])
        except BadLineError as error:
            at.refuse(str(error).rstrip("."))
        yield line[:-1]
    if (number, size) != (file.rows, file.bytes):
        raise ImportInvalidError(
            f"{file.path}: it has {number:,} lines and {size:,} bytes; the manifest says {file.rows:,} and "
            f"{file.bytes:,}.",
            file=file.path,
        )
    if digest.hexdigest() != file.sha256:
        raise ImportInvalidError(f"{file.path}: its sha256 differs from the manifest's.", file=file.path)
