"""``memsvc ingest``: store what files, folders and zip files have, or show what would be stored."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, chosen_user, embedders, note, plain, print_json, with_database

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.errors import MemsvcError
    from memsvc.settings import Settings
    from memsvc.sources.documents import DocumentPreview, StoredDocument
    from memsvc.sources.finding import DocumentSource, Source, Unread
    from memsvc.sources.previewing import Choices, Preview, Reader

OUTCOMES = ("created", "existing", "erased", "paused")
WORDS = {
    "created": "new", "changed": "changed", "existing": "already stored", "moved": "moved",
    "erased": "erased earlier, which stay erased", "paused": "not stored, because memory is paused", "gone": "gone",
}  # fmt: skip
"""What became of documents."""
SHOWN = 12
"""Speakers and other entries of a list that are shown."""


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


def _unstored(
    file: str, outcome: Literal["refused", "passed_over"], error: MemsvcError, kind: str | None
) -> FileOutcome:
    return FileOutcome(file=file, outcome=outcome, kind=kind, code=error.code, message=error.message, hint=error.advice)


class Report:
    """The outcomes of a run; says on standard error what is refused, as soon as it is."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.files: list[FileOutcome] = []
        self.errors: list[MemsvcError] = []
        self.gone = 0
        """Documents that were marked as gone."""

    def refuse(self, file: str, error: MemsvcError, kind: str | None = None) -> None:
        """Add a source that is refused."""
        self.files.append(_unstored(file, "refused", error, kind))
        self.errors.append(error)

    def pass_over(self, unread: Unread) -> None:
        """Add a file of a folder that is not read."""
        self.files.append(_unstored(unread.name, "passed_over", unread.error, None))

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


async def ingest_files(
    db: Database,
    settings: Settings,
    owner: Owner,
    paths: Sequence[Path],
    choices: Choices | None = None,
    *,
    dry_run: bool = False,
) -> Report:
    """Store what paths have, or look at it, with a progress bar on a terminal.

    Each batch is one transaction, so an interrupted run can be repeated: stored messages are skipped. The background
    jobs of the messages run at the end; a running worker takes part in them.

    Raises:
        MemsvcError: the only source is refused, or the database cannot be used.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from jobs.steps import all_steps
    from memsvc.access.users import own_names
    from memsvc.queue.execution import run_due
    from memsvc.sources.documents import mark_gone
    from memsvc.sources.finding import DocumentSource, Source, find
    from memsvc.sources.kinds.document_files import file_is_there
    from memsvc.sources.previewing import Choices, Reader

    reader = Reader(owner, (await own_names(db, owner)).aliases, choices or Choices())
    report = Report()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = dry_run or not sys.stderr.isatty()
    with ExitStack() as stack, Progress(*columns, console=Console(stderr=True), disable=hidden) as progress:
        found = list(find(paths, reader.choices.kind, sys.stdin.buffer, stack))
        sources = [one for one in found if isinstance(one, Source | DocumentSource)]
        in_all = progress.add_task("files", total=len(sources), visible=len(sources) > 1)
        for one in found:
            if isinstance(one, Source):
                await _take(db, settings, reader, one, report, progress, dry_run=dry_run)
                progress.advance(in_all)
            elif isinstance(one, DocumentSource):
                await _take_document(db, settings, reader.owner, one, report, dry_run=dry_run)
                progress.advance(in_all)
            elif one.was_named or one.error.code != "source_unknown":
                report.refuse(one.name, one.error)
            else:
                report.pass_over(one)
        if len(report.errors) == 1 and not any(file.outcome in {"stored", "previewed"} for file in report.files):
            raise report.errors[0]
        if not dry_run:
            for folder in (path.resolve() for path in paths if path.is_dir()):
                report.gone += await mark_gone(db, owner, folder.as_posix(), file_is_there)
            with embedders(settings) as models:
                task = progress.add_task("vectors", total=None)
                await run_due(db, all_steps(settings, models, lambda stored: progress.advance(task, stored)))
    return report


async def _take(
    db: Database, settings: Settings, reader: Reader, source: Source, report: Report, progress: Any, *, dry_run: bool
) -> None:
    """Look at a source; then store it, or refuse it."""
    from memsvc.errors import InvalidRequestError, MessageConflictError
    from memsvc.sources.ingesting import checker, store

    name, kind = source.bundle.name, source.kind.name
    try:
        preview = reader.preview(source, checker(reader.owner, settings))
        if dry_run:
            report.files.append(
                FileOutcome(file=name, outcome="previewed", kind=kind, preview=preview, message=source.why)
            )
            return
        if preview.must_ask:
            reader = _with_owner(reader, preview, name, progress)
        task = progress.add_task(name, total=preview.messages)
        counts = await store(db, settings, reader, source, lambda stored: progress.advance(task, stored))
    except (InvalidRequestError, MessageConflictError) as error:
        report.refuse(name, error, kind)
    else:
        report.files.append(
            FileOutcome(
                file=name, outcome="stored", kind=kind, preview=preview, created=counts["created"],
                existing=counts["existing"], erased=counts["erased"], paused=counts["paused"],
                differs=counts["differs"],
            )
        )  # fmt: skip
    finally:
        source.bundle.release()


async def _take_document(
    db: Database, settings: Settings, owner: Owner, source: DocumentSource, report: Report, *, dry_run: bool
) -> None:
    """Store a document, or look at it."""
    from memsvc.access.users import valid_zone
    from memsvc.errors import ConfigurationError, InvalidRequestError
    from memsvc.sources.documents import preview_document, store_document
    from memsvc.sources.kinds.document_files import document_in
    from memsvc.sources.kinds.registry import DOCUMENT

    file = FileOutcome(file=source.bundle.name, outcome="previewed" if dry_run else "stored", kind=DOCUMENT)
    try:
        document = document_in(source.bundle, settings, valid_zone(owner.time_zone))
        if dry_run:
            file.preview, file.message = await preview_document(document, owner, settings), source.why
        else:
            file.document = await store_document(db, owner, document, settings)
    except (InvalidRequestError, ConfigurationError) as error:
        report.refuse(file.file, error, DOCUMENT)
    else:
        report.files.append(file)
    finally:
        source.bundle.release()


def _with_owner(reader: Reader, preview: Preview, name: str, progress: Any) -> Reader:
    """Ask on a terminal which speaker is the owner.

    Raises:
        OwnerRequiredError: there is no terminal; names the speakers.
    """
    from memsvc.errors import OwnerRequiredError

    people = [one for one in preview.speakers if one.role == "other" and one.speaker]
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        listed = ", ".join(f"{plain(one.speaker)} ({one.messages:,})" for one in people[:SHOWN])
        more = f" and {len(people) - SHOWN:,} more" if len(people) > SHOWN else ""
        raise OwnerRequiredError(
            f"{name}: several people speak, and none has your name: {listed}{more}.",
            hint=f'Nothing of it was stored. Add --me "{plain(people[0].speaker)}" if that is you, or --not-me.',
        )
    progress.stop()
    note(f"{name}: which of them are you?")
    for number, one in enumerate(people, 1):
        note(f"  {number}  {plain(one.speaker)} ({one.messages:,} messages)")
    note("  0  none of them")
    chosen = -1
    while not 0 <= chosen <= len(people):
        chosen = typer.prompt("Number", type=int, err=True)
    progress.start()
    me = [people[chosen - 1].speaker] if chosen else []
    return replace(reader, choices=replace(reader.choices, me=(*reader.choices.me, *me), is_nobody=not me))


def ingest(
    paths: list[Path] = typer.Argument(help="Files, folders, zip files, or - for standard input.", metavar="PATH…"),
    kind: str | None = typer.Option(
        None, "--as", metavar="KIND", help="Read everything as this kind, instead of recognising it by its content."
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Show what would be stored: kind, messages, speakers, chunks, time. Store nothing."
    ),
    me: list[str] = typer.Option(
        [], "--me", metavar="NAME", help="The speaker who you are, if you have another name there; repeatable."
    ),
    not_me: bool = typer.Option(False, "--not-me", help="You are none of the speakers."),
    since: str | None = typer.Option(
        None, "--since", metavar="DATE", help="Leave out what was said before (ISO 8601)."
    ),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Store chats, exports and documents in a user's memory.

    Recognises exports of ChatGPT, Claude, Telegram, Slack and WhatsApp, chat JSONL and role/content exports by their
    content; any other file is a document, if it is PDF, Office, HTML, Markdown or text (memsvc documents lists them). A
    file that is not recognised, or has a bad line, is refused as a whole. May be interrupted and run again: nothing is
    stored twice, and of a document that has changed only what is new is added.
    """

    async def work(db: Database, settings: Settings) -> tuple[Report, Owner]:
        from memsvc.access.users import find_app
        from memsvc.sources.moments import read_moment
        from memsvc.sources.previewing import Choices

        owner = (await chosen_user(db, await find_app(db, app), user)).owner
        choices = Choices(kind=kind, me=me, is_nobody=not_me, since=read_moment(since, owner, "--since"))
        return await ingest_files(db, settings, owner, paths, choices, dry_run=dry_run), owner

    report, owner = with_database(work)
    if as_json:
        print_json({**report.totals, "documents": report.documents, "files": report.files})
    elif dry_run:
        for file in report.files:
            _show_preview(file, owner)
    else:
        _show_totals(report)
    for file in report.files:
        if file.outcome == "refused":
            note(f"{plain(file.message or '')}\n{file.hint}")
    if report.errors:
        raise typer.Exit(report.errors[0].exit_code)


def _show_totals(report: Report) -> None:
    counts = report.totals
    stored = [file for file in report.files if file.outcome == "stored"]
    chats = [file for file in stored if file.document is None]
    if len(report.files) > 1:
        for file in chats:
            print(f"{plain(file.file)} ({file.kind}): {file.created:,} new, {file.existing:,} already stored.")
    if chats or not report.documents:
        print(f"{counts['created']:,} new messages, {counts['existing']:,} already stored.")
    _show_documents(stored, report)
    if counts["erased"]:
        print(f"{counts['erased']:,} were erased earlier and stay erased.")
    if counts["paused"]:
        print(f"{counts['paused']:,} were not stored: memory is paused ('memsvc user resume' ends that).")
    if differs := sum(file.differs for file in stored):
        print(f"{differs:,} are stored with other words or another speaker, and stay as they are.")
    _show_odd(stored)
    _show_passed_over(report)


def _show_documents(stored: Sequence[FileOutcome], report: Report) -> None:
    told = [(file, file.document) for file in stored if file.document is not None]
    for file, document in told:
        if document.outcome in {"created", "changed"}:
            version = f", version {document.version}" if document.outcome == "changed" else ""
            left = f", {document.kept:,} kept, {document.closed:,} gone" if document.outcome == "changed" else ""
            print(f"{plain(file.file)}{version}: {document.added:,} new chunks{left}.")
    if counts := report.documents:
        print(f"Documents: {', '.join(f'{count:,} {WORDS[outcome]}' for outcome, count in counts.items())}.")


def _show_odd(stored: Sequence[FileOutcome]) -> None:
    from collections import Counter

    odd: Counter[str] = Counter()
    for file in stored:
        odd.update(file.preview.odd if file.document is None else file.document.odd)
    if odd:
        print(f"Left out: {', '.join(f'{count:,} {what}' for what, count in odd.most_common())}.")


def _show_passed_over(report: Report) -> None:
    passed = [file for file in report.files if file.outcome == "passed_over"]
    if passed:
        names = ", ".join(plain(file.file) for file in passed[:SHOWN])
        more = f" and {len(passed) - SHOWN:,} more" if len(passed) > SHOWN else ""
        print(f"Not read, because of no known kind: {names}{more}.")


def _show_preview(file: FileOutcome, owner: Owner) -> None:
    """Print what a source would store."""
    from memsvc.access.users import valid_zone

    if file.outcome == "passed_over":
        print(f"{plain(file.message or '')}")
    if file.outcome != "previewed":
        return
    zone = valid_zone(owner.time_zone)
    print(f"{plain(file.file)}: {file.kind}, recognised by {file.message}")
    if file.kind == "document":
        _show_document(file.preview, zone)
        return
    found: Preview = file.preview
    print(f"  messages  {found.messages:,} in {found.conversations:,} conversations")
    if found.first_said_at is not None and found.last_said_at is not None:
        first, last = (moment.astimezone(zone).date() for moment in (found.first_said_at, found.last_said_at))
        print(f"  said      {first} to {last}")
    speakers = [f"{plain(one.speaker) or '(no name)'} {one.messages:,} {one.role}" for one in found.speakers[:SHOWN]]
    more = f" and {len(found.speakers) - SHOWN:,} more" if len(found.speakers) > SHOWN else ""
    print(f"  speakers  {', '.join(speakers)}{more}")
    named = ", ".join(plain(one) for one in found.owner if one)
    unnamed = "not known: add --me NAME, or --not-me" if found.must_ask else "none of the speakers"
    print(f"  you are   {named or ('the role user' if found.owner else unnamed)}")
    if found.odd:
        print(f"  left out  {', '.join(f'{count:,} {what}' for what, count in found.odd.items())}")


def _show_document(found: DocumentPreview, zone: tzinfo) -> None:
    """Print what a document would store."""
    pages = f", {found.pages:,} pages" if found.pages else ""
    print(f"  title     {plain(found.title)}")
    print(f"  chunks    {found.chunks:,}{pages}, {found.characters:,} characters")
    print(f"  written   {found.written_at.astimezone(zone).date()}")
    if found.odd:
        print(f"  left out  {', '.join(f'{count:,} {what}' for what, count in found.odd.items())}")
