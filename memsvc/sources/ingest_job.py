"""The job ``ingest``: stores what a client sent (``memsvc.sources.ingests``), file by file, source by source.

It does the same run as ``memsvc ingest``. After each batch it notes how far it has come, so a job that is killed goes
on there; a batch that was stored and not yet noted is found by its messages' identities. It gives way to other jobs
after ``SLICE_S``.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any, Protocol
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc import observe
from memsvc.access.keys import spend_messages_of
from memsvc.access.users import own_names, owner_of
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import (
    BadFileError,
    BudgetExceededError,
    ConfigurationError,
    FeedRefusedError,
    JobFailedError,
    MemsvcError,
    OwnerRequiredError,
    QuotaExceededError,
    SourceUnknownError,
)
from memsvc.queue.execution import Steps
from memsvc.settings import Settings
from memsvc.sources.fetching import Fetcher
from memsvc.sources.finding import Forced, Found, Source, Unread, find
from memsvc.sources.ingests import Chosen, clean_name
from memsvc.sources.kinds.bundles import Given
from memsvc.sources.kinds.registry import DOCUMENT
from memsvc.sources.kinds.temporary import temporary_folder
from memsvc.sources.previewing import Preview, Reader, Speaker
from memsvc.sources.runs import OUTCOMES, FileOutcome, Run, in_thread

SLICE_S = 20.0
"""How long a job works before others have their turn. Going on means reading the file again up to there."""
UNPACKED_TIMES = 8
"""A file may unpack to so many times ``MEMSVC_MAX_UPLOAD_BYTES``."""
MOST_SOURCES = 1_000
"""Sources in one file."""
MOST_IN_FOLDER = 100_000
"""Sources, and other files that are looked at, in a folder of a feed."""
MOST_UNREAD = 10_000
"""Other files in one file that are looked at."""
MOST_PASSED_OVER = 100
"""Files of no known kind that are listed one by one."""
MOST_SPEAKERS = 100
MOST_CHARS = 2_000
"""Characters of an error that are kept."""
TELL_S = 1.0
"""Live clients are told of progress this often."""
log = observe.logger()


class Feeding(Protocol):
    """Who knows what the run of a feed reads."""

    async def bring(self, db: Database, user_id: UUID, feed_id: UUID, ingest_id: UUID) -> Sequence[Given]:
        """Fetch what a run reads into its rows; return what lies on this machine and is read from there."""

    async def finish(self, db: Database, user_id: UUID, feed_id: UUID) -> None:
        """Do what remains when all was read."""

    async def settle(
        self, connection: AsyncConnection, user_id: UUID, feed_id: UUID, ingest_id: UUID, code: str | None
    ) -> None:
        """Record how a run ended, in the transaction of its end; ``code``: why it failed."""


class _SliceOverError(Exception):
    """Others have their turn."""


class _CancelledError(Exception):
    """Somebody cancelled the ingest."""


class _FeedFailedError(Exception):
    """Nothing of the feed can be read."""

    def __init__(self, error: MemsvcError) -> None:
        super().__init__(error.code)
        self.error = error


@dataclass(slots=True)
class _Desk:
    """One slice of work on one ingest."""

    db: Database
    settings: Settings
    ids: dict[str, Any]
    """Values of its statements: user_id and ingest_id."""
    key_id: str | None
    feed_id: UUID | None
    """The feed whose run it is."""
    reader: Reader
    dry_run: bool
    fetcher: Fetcher
    until: float
    told: float = 0.0
    has_done: bool = False
    """Whether this slice got anywhere. It goes on until it has, however long a file takes to open."""

    async def do(self, statement: str, **values: Any) -> Any:
        """Do a statement in a transaction of its own; return its first row."""

        async def work(connection: AsyncConnection) -> Any:
            done = await connection.execute(query(statement), {**self.ids, **values})
            return done.first() if done.returns_rows else None

        return await self.db.attempt(self.ids["user_id"], work)

    async def tell(self) -> None:
        """Tell live clients, if they were not just told."""
        if time.monotonic() - self.told >= TELL_S:
            self.told = time.monotonic()
            await self.do("tell_of_ingest")

    async def check(self) -> None:
        """Raise if the ingest was cancelled, or others have their turn."""
        if not (await self.do("ingest_goes_on"))[0]:
            raise _CancelledError
        if self.has_done and time.monotonic() >= self.until:
            raise _SliceOverError


@dataclass(slots=True)
class _Place:
    """Where one source is noted; the watcher of its run."""

    desk: _Desk
    number: int
    part: int
    kind: str | None
    before: Counter[str] = field(default_factory=Counter)
    """What earlier slices counted."""
    counts: Counter[str] = field(default_factory=Counter)
    """What was counted in all."""

    @property
    def at(self) -> dict[str, int]:
        return {"number": self.number, "part": self.part}

    def found(self, sources: int) -> None:
        """Nothing is shown."""

    def ends(self) -> None:
        """Nothing is shown."""

    def owner_among(self, name: str, people: Sequence[Speaker]) -> Sequence[str] | None:
        """Nobody is asked: the client answers later."""
        del name, people
        return None

    async def begins(self, name: str, preview: Preview) -> None:
        """Note what was seen."""
        await self.desk.do(
            "note_looked_at", **self.at, source=name, kind=self.kind, preview=_encoded(_shortened(preview))
        )

    async def storing(self, messages: int) -> None:
        """Count the batch against the key's limit."""
        if self.desk.key_id is not None:
            await spend_messages_of(self.desk.db, self.desk.key_id, messages)

    async def stored(self, messages: int, counts: Counter[str]) -> None:
        """Note how far it has come."""
        before, self.counts = self.counts, self.before + counts
        for outcome in OUTCOMES:
            observe.MESSAGES.labels(outcome=outcome).inc(self.counts[outcome] - before[outcome])
        noted = await self.desk.do("note_stored", **self.at, messages=messages, counts=_encoded(dict(self.counts)))
        if noted is None:
            raise _CancelledError
        await self.desk.tell()
        if time.monotonic() >= self.desk.until:
            raise _SliceOverError

    async def note(self, outcome: FileOutcome) -> None:
        """Note what became of it."""
        kept = outcome.outcome if outcome.code != OwnerRequiredError.code else "owner_required"
        seen = outcome.document or outcome.preview
        preview = _encoded(_shortened(seen) if isinstance(seen, Preview) else seen) if seen is not None else None
        await self.desk.do(
            "note_outcome", **self.at, source=outcome.file, outcome=kept, kind=outcome.kind, code=outcome.code,
            message=_short(outcome.message), hint=_short(outcome.hint), counts=_encoded(dict(self.counts)),
            preview=preview,
        )  # fmt: skip
        self.desk.has_done = True
        await self.desk.tell()


def _encoded(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _short(text: str | None) -> str | None:
    return text.replace("\0", "")[:MOST_CHARS] if text is not None else None


def _shortened(preview: Preview) -> Preview:
    return msgspec.structs.replace(
        preview,
        speakers=preview.speakers[:MOST_SPEAKERS],
        owner=preview.owner[:MOST_SPEAKERS],
        odd=dict(list(preview.odd.items())[:MOST_SPEAKERS]),
    )


def ingest_steps(settings: Settings, feeding: Feeding) -> Steps:
    """Return the step of the job ``ingest``."""

    async def step(db: Database, user_id: UUID, ingest_id: UUID) -> bool:
        ids = {"user_id": user_id, "ingest_id": ingest_id}

        async def begin(connection: AsyncConnection) -> Any:
            return (await connection.execute(query("begin_ingest"), ids)).one_or_none()

        begun = await db.attempt(user_id, begin)
        if begun is None:
            return False
        owner = await owner_of(db, user_id)
        wanted = msgspec.convert(begun.choices, Chosen)
        names = (await own_names(db, owner)).aliases
        reader = Reader(owner, names, wanted.choices(), settings.max_text_chars)
        desk = _Desk(
            db, settings, ids, begun.key_id, begun.feed_id, reader, begun.dry_run, Fetcher(settings.max_upload_bytes),
            time.monotonic() + SLICE_S,
        )  # fmt: skip
        try:
            if desk.feed_id is None:
                await _work(desk, wanted)
            else:
                await _feed(desk, wanted, feeding, desk.feed_id)
        except _SliceOverError:
            return True
        except _CancelledError:
            return False
        except _FeedFailedError as failed:
            await _end(desk, feeding, "failed", failed.error.code)
        except (QuotaExceededError, BudgetExceededError) as error:
            await _end(desk, feeding, "failed", error.code)
        else:
            await _end(desk, feeding, "completed")
        return False

    return {"ingest": [step]}


async def _feed(desk: _Desk, wanted: Chosen, feeding: Feeding, feed_id: UUID) -> None:
    """Do the run of a feed.

    Raises:
        _FeedFailedError: it cannot be read.
    """
    user_id, ingest_id = desk.ids["user_id"], desk.ids["ingest_id"]
    try:
        local = await feeding.bring(desk.db, user_id, feed_id, ingest_id)
        await _work(desk, wanted)
        for number, given in enumerate(local):
            with ExitStack() as stack:
                await _file(desk, number, given, stack, in_folder=True)
        await feeding.finish(desk.db, user_id, feed_id)
    except (BadFileError, FeedRefusedError, ConfigurationError) as error:
        row = {"number": 0, "part": 0, "name": "feed", "bytes": 0, "sha256": None, "content": None, "url": None}
        await desk.do("add_ingest_file", **row)
        await _Place(desk, 0, 0, None).note(_refused("feed", error))
        raise _FeedFailedError(error) from error


async def _end(desk: _Desk, feeding: Feeding, state: str, error_code: str | None = None) -> None:
    async def work(connection: AsyncConnection) -> None:
        ended = await connection.execute(query("end_ingest"), {**desk.ids, "state": state, "error_code": error_code})
        if ended.one_or_none() is not None:
            await connection.execute(query("drop_content"), {**desk.ids, "everything": False})
            if desk.feed_id is not None:
                await feeding.settle(connection, desk.ids["user_id"], desk.feed_id, desk.ids["ingest_id"], error_code)
            await connection.execute(query("tell_of_ingest"), desk.ids)

    await desk.db.attempt(desk.ids["user_id"], work)


async def _work(desk: _Desk, wanted: Chosen) -> None:
    """Do all files that wait."""
    async with desk.db.transaction(desk.ids["user_id"]) as connection:
        files = (await connection.execute(query("files_to_ingest"), desk.ids)).all()
    for file in files:
        await desk.check()
        desk.reader.choices = wanted.choices(file.url)
        place = _Place(desk, file.number, 0, None)
        name = file.name
        try:
            if not file.is_here:
                name = await _fetch(desk, file.number, file.url)
        except BadFileError as error:
            await place.note(_refused(name, error))
            continue
        with temporary_folder() as folder, ExitStack() as stack:
            path = folder / "file"
            content = (await desk.do("ingest_content", number=file.number)).content
            await asyncio.to_thread(path.write_bytes, content or b"")
            del content
            most = UNPACKED_TIMES * desk.settings.max_upload_bytes
            given = Given(path, name, file.url or f"upload {name}", most)
            await _file(desk, file.number, given, stack)


async def _fetch(desk: _Desk, number: int, url: str) -> str:
    """Fetch a file and keep it, so that a job that goes on need not; return its name."""
    fetched = await desk.fetcher.fetch(url)
    name = clean_name(fetched.name)
    await desk.do(
        "keep_fetched", number=number, name=name, content=fetched.content, bytes=len(fetched.content),
        sha256=sha256(fetched.content).digest(),
    )  # fmt: skip
    return name


async def _file(desk: _Desk, number: int, given: Given, stack: ExitStack, *, in_folder: bool = False) -> None:
    """Do the sources in a file, or in a folder of a feed, that have no outcome yet."""
    async with desk.db.transaction(desk.ids["user_id"]) as connection:
        rows = (await connection.execute(query("list_ingest_files"), desk.ids)).all()
    known = {row.part: row for row in rows if row.number == number}
    kind = desk.reader.choices.forced
    try:
        listed = await in_thread(partial(_found, given, kind, stack, in_folder=in_folder))
    except MemsvcError as error:
        await _Place(desk, number, 0, None).note(_refused(given.name, error))
        return
    except Exception as error:  # noqa: BLE001 - a file must not keep others waiting
        await _Place(desk, number, 0, None).note(_failed(given.name, error))
        return
    if in_folder:  # looking at many files may take longer than a slice
        desk.until = time.monotonic() + SLICE_S
    # All are noted before one has an outcome: a file is done when each of its sources has one.
    fresh = [part for part in range(len(listed)) if part not in known]
    if fresh:
        await desk.do("add_ingest_parts", number=number, name=given.name, parts=fresh)
    for part, one in enumerate(listed):
        row = known.get(part)
        if in_folder and row is not None and row.name not in {given.name, _name(one)}:
            row = None  # the folder has changed since the slice before
        if row is not None and row.outcome is not None:
            continue
        await desk.check()
        before = Counter(row.counts if row is not None else {})
        place = _Place(desk, number, part, _kind(one), before, before)
        start = row.stored if row is not None else 0
        seen = msgspec.convert(row.preview, Preview) if row is not None and start else None
        run = Run(desk.db, desk.settings, desk.reader, place, desk.dry_run)
        try:
            outcome = await run.take(one, start, seen)
        except (_SliceOverError, _CancelledError, MemsvcError):
            raise
        except Exception as error:  # noqa: BLE001 - a file must not keep others waiting
            outcome = _failed(given.name, error)
        await place.note(outcome)


def _found(
    given: Given, kind: Forced, stack: ExitStack, go_on: Callable[[], None], *, in_folder: bool = False
) -> list[Found]:
    """Return what is noted of a file: all sources in it, and the first files of no known kind.

    Raises:
        InvalidRequestError: there is no such kind.
    """
    seen: Counter[bool] = Counter()
    most, most_unread = (MOST_IN_FOLDER, MOST_IN_FOLDER) if in_folder else (MOST_SOURCES, MOST_UNREAD)

    def check(one: Found) -> None:
        go_on()
        seen[not isinstance(one, Unread)] += 1
        if seen[True] > most or seen[False] > most_unread:
            raise BadFileError(
                f"{given.name} has too many files: at most {most:,} are read, and {most_unread:,} looked at.",
                hint="Send it in several files.",
            )

    listed: list[Found] = []
    passed: list[Unread] = []
    for one in find([given], kind, io.BytesIO(), stack, check):
        if isinstance(one, Unread) and not one.was_named:
            passed.append(one)
        else:
            listed.append(one)
    if len(passed) > MOST_PASSED_OVER:
        error = SourceUnknownError(f"{len(passed) - MOST_PASSED_OVER:,} more files in {given.name} are not read.")
        passed = [*passed[:MOST_PASSED_OVER], Unread(given.name, error, was_named=False)]
    return listed + passed


def _name(one: Found) -> str:
    return one.name if isinstance(one, Unread) else one.bundle.name


def _kind(one: Found) -> str | None:
    if isinstance(one, Unread):
        return None
    return one.kind.name if isinstance(one, Source) else DOCUMENT


def _refused(name: str, error: MemsvcError) -> FileOutcome:
    return FileOutcome(file=name, outcome="refused", code=error.code, message=error.message, hint=error.advice)


def _failed(name: str, error: Exception) -> FileOutcome:
    """Return the outcome of a file that made a reader fail."""
    log.error("reading a file failed", error=type(error).__name__, exc_info=error)
    return _refused(name, JobFailedError("Reading it failed; the service's log says why."))
