"""A run of ingesting: sources are found, looked at and stored one by one, and what became of each is noted.

The command line and the job ``ingest`` do the same run. They differ in their ``Watcher``, who shows progress and may
know which speaker is the owner. Reading files is work for the processor, so it is done in threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from memsvc.access.users import valid_zone
from memsvc.db.engine import Database
from memsvc.errors import (
    ConfigurationError,
    InvalidRequestError,
    MemsvcError,
    MessageConflictError,
    OwnerRequiredError,
)
from memsvc.settings import Settings
from memsvc.sources.documents import DocumentIn, StoredDocument, preview_document, store_document
from memsvc.sources.finding import DocumentSource, Found, Source, Unread
from memsvc.sources.ingesting import Storing, checker, store
from memsvc.sources.kinds.document_files import document_in
from memsvc.sources.kinds.registry import DOCUMENT
from memsvc.sources.messages import MessageIn
from memsvc.sources.previewing import Preview, Reader, Speaker
from memsvc.sources.times import SaidAt
from memsvc.text.characters import flat

T = TypeVar("T")
OUTCOMES = ("created", "existing", "erased", "paused")
SHOWN = 12
"""Speakers that an error names."""


class _BrokenOffError(Exception):
    """Nobody waits for the thread any more."""


@dataclass(kw_only=True, slots=True)
class FileOutcome:
    """The result for one source or file."""

    file: str
    outcome: Literal["stored", "previewed", "refused", "passed_over"]
    """refused: nothing of it is stored; passed_over: a file in a folder or zip file that is of no known kind."""
    kind: str | None = None
    preview: Any = None
    created: int = 0
    existing: int = 0
    erased: int = 0
    paused: int = 0
    differs: int = 0
    """Messages that are stored with other words or another speaker; they stay as they are."""
    document: StoredDocument | None = None
    """Of a document: what became of it."""
    code: str | None = None
    message: str | None = None
    hint: str | None = None


class KeptVault(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of notes that was read."""

    folder: str
    """Its name, for people."""
    flavours: list[str]
    """The programs that it belongs to, the surest first."""
    notes: int
    stored: dict[str, int]
    """The number of notes with each outcome, apart from those that stayed as they were."""
    relinked: int
    """Notes whose text stayed, but whose links or names changed."""
    gone: int
    odd: dict[str, int]


class Report:
    """The outcomes of a run."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.files: list[FileOutcome] = []
        self.errors: list[MemsvcError] = []
        """Why files were refused."""
        self.gone = 0
        """Documents that were marked as gone."""
        self.vaults: list[KeptVault] = []
        """Folders of notes among what was read."""

    @property
    def totals(self) -> dict[str, int]:
        """The number of messages created, existing, erased and paused."""
        return {name: sum(getattr(file, name) for file in self.files) for name in OUTCOMES}

    @property
    def documents(self) -> dict[str, int]:
        """The number of documents with each outcome; empty: there were none."""
        counts: dict[str, int] = {}
        for file in self.files:
            if file.document is not None:
                counts[file.document.outcome] = counts.get(file.document.outcome, 0) + 1
        return counts | ({"gone": self.gone} if self.gone else {})


class Watcher(Storing, Protocol):
    """Who is told what a run does, and is asked."""

    def found(self, sources: int) -> None:
        """So many sources were found."""

    async def begins(self, name: str, preview: Preview) -> None:
        """A source is about to be stored."""

    def ends(self) -> None:
        """A source is done, or refused."""

    def owner_among(self, name: str, people: Sequence[Speaker]) -> Sequence[str] | None:
        """Say which speakers of a source are the owner; none of them: empty; None: there is nobody to ask."""


@dataclass(slots=True)
class Run:
    """A run for one user."""

    db: Database
    settings: Settings
    reader: Reader
    watcher: Watcher
    dry_run: bool = False
    """Look at sources and store nothing."""
    report: Report = field(default_factory=Report)
    is_alone: bool = False
    """Whether there is only one source, so that who was named as the owner must speak in it."""

    async def over(self, found: Iterable[Found]) -> Report:
        """Do all that was found.

        Raises:
            MemsvcError: the only source is refused, or the database cannot be used.
        """
        given = list(found)
        self.is_alone = len(given) == 1
        self.watcher.found(sum(not isinstance(one, Unread) for one in given))
        for one in given:
            await self.take(one)
            if not isinstance(one, Unread):
                self.watcher.ends()
        if len(self.report.errors) == 1 and all(
            file.outcome in {"refused", "passed_over"} for file in self.report.files
        ):
            raise self.report.errors[0]
        return self.report

    async def take(self, one: Found, start: int = 0, known: Preview | None = None) -> FileOutcome:
        """Look at a source, then store or refuse it; note and return what became of it.

        Args:
            one: what was found.
            start: so many of its messages were stored by an earlier run of the same choices, and are not read again.
            known: what that run saw when it looked.

        Raises:
            MemsvcError: the database cannot be used; what was stored is kept.
        """
        if isinstance(one, Unread):
            passed = not one.was_named and one.error.code == "source_unknown"
            return self._note(_unstored(one.name, one.error), passed=passed, error=one.error)
        if isinstance(one, DocumentSource):
            return await self._take_document(one)
        name, kind = one.bundle.name, one.kind.name
        preview = known
        try:
            reader = self.reader
            if preview is None:
                preview = await in_thread(_look(reader, one, checker(reader.owner, self.settings)))
            if self.dry_run:
                return self._note(
                    FileOutcome(file=name, outcome="previewed", kind=kind, preview=preview, message=one.why)
                )
            if preview.must_ask or self._is_misnamed(preview):
                reader = self._with_owner(preview, name)
            await self.watcher.begins(name, preview)
            counts = await store(self.db, self.settings, reader, one, self.watcher, start=start)
        except (InvalidRequestError, MessageConflictError) as error:
            refused = replace(_unstored(name, error), kind=kind, preview=preview)
            return self._note(refused, error=error)
        finally:
            one.bundle.release()
        return self._note(
            FileOutcome(
                file=name, outcome="stored", kind=kind, preview=preview, created=counts["created"],
                existing=counts["existing"], erased=counts["erased"], paused=counts["paused"],
                differs=counts["differs"],
            )
        )  # fmt: skip

    async def _take_document(self, one: DocumentSource) -> FileOutcome:
        """Look at a document, or store it."""
        owner, file = self.reader.owner, FileOutcome(file=one.bundle.name, outcome="stored", kind=DOCUMENT)
        try:
            document = self._named(document_in(one.bundle, self.settings, valid_zone(owner.time_zone)))
            if self.dry_run:
                file.outcome, file.message = "previewed", one.why
                file.preview = await preview_document(document, owner, self.settings)
            else:
                await self.watcher.storing(1)
                file.document = await store_document(self.db, owner, document, self.settings)
        except (InvalidRequestError, ConfigurationError) as error:
            return self._note(replace(_unstored(file.file, error), kind=DOCUMENT), error=error)
        finally:
            one.bundle.release()
        return self._note(file)

    def _named(self, document: DocumentIn) -> DocumentIn:
        """Return a document with the title and the address that the caller gave."""
        title, url, parse = self.reader.choices.title, self.reader.choices.url, document.parse
        if title:
            document = replace(document, parse=lambda: msgspec.structs.replace(parse(), title=title))
        return replace(document, path=url) if url is not None else document

    def _note(self, outcome: FileOutcome, *, passed: bool = False, error: MemsvcError | None = None) -> FileOutcome:
        if passed:
            outcome.outcome = "passed_over"
        elif error is not None:
            self.report.errors.append(error)
        self.report.files.append(outcome)
        return outcome

    def _is_misnamed(self, preview: Preview) -> bool:
        """Return whether the owner was named, and the only person of the only source has another name."""
        choices = self.reader.choices
        named = [one for one in preview.speakers if one.role == "other" and one.speaker]
        return self.is_alone and bool(choices.me and named) and not (preview.owner or choices.is_nobody)

    def _with_owner(self, preview: Preview, name: str) -> Reader:
        """Return a reader that knows who of several people is the owner.

        Raises:
            OwnerRequiredError: nobody says; names the speakers.
        """
        people = [one for one in preview.speakers if one.role == "other" and one.speaker]
        me = self.watcher.owner_among(name, people)
        if me is None:
            listed = ", ".join(f"{flat(one.speaker)} ({one.messages:,})" for one in people[:SHOWN])
            more = f" and {len(people) - SHOWN:,} more" if len(people) > SHOWN else ""
            given = " or ".join(repr(flat(one)) for one in self.reader.choices.me[:SHOWN])
            why = f"no speaker is called {given}" if given else "several people speak, and none has your name"
            raise OwnerRequiredError(
                f"{name}: {why}: {listed}{more}.",
                hint=f'Nothing of it was stored. Add --me "{flat(people[0].speaker)}" if that is you, or --not-me.',
            )
        choices = self.reader.choices
        return replace(self.reader, choices=replace(choices, me=(*choices.me, *me), is_nobody=not me))


def _unstored(file: str, error: MemsvcError) -> FileOutcome:
    return FileOutcome(file=file, outcome="refused", code=error.code, message=error.message, hint=error.advice)


def _look(
    reader: Reader, source: Source, check: Callable[[MessageIn], SaidAt]
) -> Callable[[Callable[[], None]], Preview]:
    def look(go_on: Callable[[], None]) -> Preview:
        def checked(message: MessageIn) -> SaidAt:
            go_on()
            return check(message)

        return reader.preview(source, checked)

    return look


async def in_thread(work: Callable[[Callable[[], None]], T]) -> T:
    """Do work in a thread.

    Args:
        work: gets a function that it calls now and then; it raises as soon as the caller was cancelled, so that nobody
            waits for the thread at the end of the process.
    """
    is_over = False

    def go_on() -> None:
        if is_over:
            raise _BrokenOffError

    try:
        return await asyncio.to_thread(work, go_on)
    finally:
        is_over = True
