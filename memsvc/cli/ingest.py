"""``memsvc ingest``: store what files, folders and zip files have, or show what would be stored."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    embedders,
    note,
    owner_at_home,
    plain,
    print_json,
    with_database,
)
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import tzinfo

    from rich.progress import Progress, TaskID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.settings import Settings
    from memsvc.sources.documents import DocumentPreview
    from memsvc.sources.finding import Found
    from memsvc.sources.previewing import Choices, Preview, Speaker
    from memsvc.sources.runs import FileOutcome, KeptVault, Report, Run

WORDS = {
    "created": "new", "changed": "changed", "existing": "already stored", "moved": "moved",
    "erased": "erased earlier, which stay erased", "paused": "not stored, because memory is paused", "gone": "gone",
}  # fmt: skip
"""What became of documents."""
FLAVOURS = {
    "obsidian": "Obsidian", "logseq": "Logseq", "foam": "Foam", "notion": "Notion", "markdown": "Markdown",
}  # fmt: skip
SHOWN = 12
"""Speakers and other entries of a list that are shown."""


class Terminal:
    """Shows progress on a terminal, and asks there who is the owner."""

    def __init__(self, progress: Progress) -> None:
        """Show it there."""
        self._progress = progress
        self._files = progress.add_task("files", total=None, visible=False)
        self._task: TaskID | None = None

    def found(self, sources: int) -> None:
        """Show how many there are."""
        self._progress.update(self._files, total=sources, visible=sources > 1)

    async def begins(self, name: str, preview: Preview) -> None:
        """Show a bar."""
        self._task = self._progress.add_task(name, total=preview.messages)

    async def storing(self, messages: int) -> None:
        """Nothing keeps it out."""

    async def stored(self, messages: int, counts: Counter[str]) -> None:
        """Move the bar."""
        del counts
        if self._task is not None:
            self._progress.advance(self._task, messages)

    def ends(self) -> None:
        """Count it."""
        self._progress.advance(self._files)

    def owner_among(self, name: str, people: Sequence[Speaker]) -> Sequence[str] | None:
        """Ask, if this is a terminal."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        self._progress.stop()
        note(f"{name}: which of them are you?")
        for number, one in enumerate(people, 1):
            note(f"  {number}  {plain(one.speaker)} ({counted(one.messages, 'message')})")
        note("  0  none of them")
        chosen = -1
        while not 0 <= chosen <= len(people):
            chosen = typer.prompt("Number", type=int, err=True)
        self._progress.start()
        return [people[chosen - 1].speaker] if chosen else []


async def ingest_files(
    db: Database,
    settings: Settings,
    owner: Owner,
    paths: Sequence[Path],
    choices: Choices | None = None,
    *,
    dry_run: bool = False,
    as_vaults: bool = False,
) -> Report:
    """Store what paths have, or look at it, with a progress bar on a terminal. Folders of notes are kept as vaults.

    Each batch is one transaction, so an interrupted run can be repeated: stored messages are skipped. The background
    jobs of the messages run at the end; a running worker takes part in them.

    Args:
        db: the database.
        settings: limits, and the embedding models.
        owner: the owner of the memory.
        paths: files, folders, zip files, or "-".
        choices: what the caller wants.
        dry_run: store nothing.
        as_vaults: all of them are folders of notes, whatever they look like.

    Raises:
        MemsvcError: the only source is refused, or the database cannot be used.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from jobs.steps import all_steps
    from memsvc.access.users import own_names
    from memsvc.queue.execution import run_due
    from memsvc.sources.documents import mark_gone
    from memsvc.sources.finding import find
    from memsvc.sources.kinds.document_files import file_is_there
    from memsvc.sources.previewing import Choices, Reader
    from memsvc.sources.runs import Run
    from memsvc.sources.vaults.storing import is_vault

    names = (await own_names(db, owner)).aliases
    reader = Reader(owner, names, choices or Choices(), settings.max_text_chars)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = dry_run or not sys.stderr.isatty()
    with ExitStack() as stack, Progress(*columns, console=Console(stderr=True), disable=hidden) as progress:
        run = Run(db, settings, reader, Terminal(progress), dry_run=dry_run)
        found = find(paths, reader.choices.forced, sys.stdin.buffer, stack)
        for path in paths:
            if path.is_dir() and (as_vaults or (reader.choices.forced is None and is_vault(path))):
                found = await _keep_vault(run, path, found, progress)
        report = await run.over(found)
        if not dry_run:
            for folder in (path.resolve() for path in paths if path.is_dir()):
                report.gone += await mark_gone(db, owner, folder.as_posix(), file_is_there)
            with embedders(settings) as models:
                task = progress.add_task("vectors", total=None)
                await run_due(db, all_steps(settings, models, lambda stored: progress.advance(task, stored)))
    return report


async def _keep_vault(run: Run, folder: Path, found: Iterable[Found], progress: Progress) -> Iterator[Found]:
    """Store the notes of a folder, and return what else was found."""
    from memsvc.documents.vaults.reading import VaultReader
    from memsvc.sources.finding import DocumentSource, Unread
    from memsvc.sources.vaults.storing import Keeper

    keeper = Keeper(run.db, run.reader.owner, run.settings, folder)
    vault = VaultReader(keeper.folder).read()
    notes = {f"{keeper.folder.as_posix()}/{note.path}" for note in vault.notes}
    if run.dry_run:
        kept = f"a vault of {FLAVOURS[vault.flavours[0]]}, {counted(len(vault.notes), 'note')} with links between them"
        note(f"{folder}: {kept}.")
        return iter(found)
    task = progress.add_task("notes", total=None)
    brought = await keeper.bring(vault, lambda _: progress.advance(task))
    run.report.vaults.append(brought.kept(keeper.folder, vault.flavours))
    run.report.files += brought.files
    run.report.errors += brought.errors
    run.report.gone += brought.gone
    shown = folder.name or keeper.folder.name
    named = {shown, *(f"{shown}/{path.path}" for path in vault.notes)}
    return (
        one for one in found
        if not (isinstance(one, DocumentSource) and one.bundle.identity(one.bundle.files[0]) in notes)
        and not (isinstance(one, Unread) and one.name in named)
    )  # fmt: skip


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
    columns: list[str] = typer.Option(
        [],
        "--map",
        metavar="FIELD=COLUMN",
        help="Read CSV files as chats with these columns: text=body,said_at=date,speaker=from; repeatable.",
    ),
    since: str | None = typer.Option(
        None, "--since", metavar="DATE", help="Leave out what was said before (ISO 8601)."
    ),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Store chats, exports and documents in a user's memory.

    Recognises exports of chat programs and assistants, mail, transcripts, memories of other systems, chat JSONL and
    role/content exports by their content; any other file is a document, if it is PDF, Office, HTML, Markdown or text
    (memsvc documents lists them). A folder of notes is kept with its links (memsvc vault). A file that is not
    recognised, or has a bad line, is refused as a whole. May be interrupted and run again: nothing is stored twice, and
    of a document that has changed only what is new is added.
    """

    async def work(db: Database, settings: Settings) -> tuple[Report, Owner]:
        from memsvc.sources.kinds.table import columns_of
        from memsvc.sources.moments import read_moment
        from memsvc.sources.previewing import Choices

        db, owner = await owner_at_home(db, user, app)
        choices = Choices(
            kind=kind,
            columns=columns_of(columns) if columns else {},
            me=me,
            is_nobody=not_me,
            since=read_moment(since, owner, "--since"),
        )
        return await ingest_files(db, settings, owner, paths, choices, dry_run=dry_run), owner

    report, owner = with_database(work)
    if as_json:
        print_json({**report.totals, "documents": report.documents, "vaults": report.vaults, "files": report.files})
    elif dry_run:
        for file in report.files:
            _show_preview(file, owner)
    else:
        show_totals(report)
        if not not_me:
            _note_strangers(report)
    end_with(report)


def _note_strangers(report: Report) -> None:
    """Say of which chats the user is none of several speakers, where roles and names decided that without asking."""
    for file in report.files:
        if file.outcome != "stored" or file.document is not None or file.preview.owner:
            continue
        people = [plain(one.speaker) for one in file.preview.speakers if one.role == "other" and one.speaker]
        if len(people) > 1 and file.created:
            more = f" and {len(people) - SHOWN:,} more" if len(people) > SHOWN else ""
            note(f"{plain(file.file)}: you are none of the speakers: {', '.join(people[:SHOWN])}{more}.")
            note("If you are one of them, forget the conversation, and store it again with --me NAME.")


def end_with(report: Report) -> None:
    """Say what was refused, and end with its exit code."""
    for file in report.files:
        if file.outcome == "refused":
            note(f"{plain(file.message or '')}\n{file.hint}")
    if report.errors:
        raise typer.Exit(report.errors[0].exit_code)


def show_totals(report: Report) -> None:
    """Print what became of what was read."""
    counts = report.totals
    stored = [file for file in report.files if file.outcome == "stored"]
    chats = [file for file in stored if file.document is None]
    if len(report.files) > 1:
        for file in chats:
            print(f"{plain(file.file)} ({file.kind}): {file.created:,} new, {file.existing:,} already stored.")
    if chats or not (report.documents or report.vaults):
        print(f"{counted(counts['created'], 'new message')}, {counts['existing']:,} already stored.")
    _show_documents(stored, report)
    for vault in report.vaults:
        show_vault(vault)
    if counts["erased"]:
        print(f"{counts['erased']:,} were erased earlier and stay erased.")
    if counts["paused"]:
        print(f"{counts['paused']:,} were not stored: memory is paused ('memsvc user resume' ends that).")
    if differs := sum(file.differs for file in stored):
        print(f"{differs:,} are stored with other words or another speaker, and stay as they are.")
    _show_odd(stored)
    _show_passed_over(report)


def show_vault(vault: KeptVault) -> None:
    """Print what became of a folder of notes."""
    done = [f"{count:,} {WORDS.get(outcome, outcome)}" for outcome, count in vault.stored.items()]
    done += [f"{vault.gone:,} gone"] if vault.gone else []
    done += [f"{vault.relinked:,} with other links"] if vault.relinked else []
    print(f"Notes of {FLAVOURS[vault.flavours[0]]}: {vault.notes:,}; {', '.join(done) or 'nothing has changed'}.")
    if vault.odd:
        print(f"Not taken as notes or links: {', '.join(f'{count:,} {what}' for what, count in vault.odd.items())}.")


def _show_documents(stored: Sequence[FileOutcome], report: Report) -> None:
    told = [(file, file.document) for file in stored if file.document is not None]
    for file, document in told:
        if document.outcome in {"created", "changed"}:
            version = f", version {document.version}" if document.outcome == "changed" else ""
            left = f", {document.kept:,} kept, {document.closed:,} gone" if document.outcome == "changed" else ""
            print(f"{plain(file.file)}{version}: {counted(document.added, 'new chunk')}{left}.")
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
    print(f"  messages  {found.messages:,} in {counted(found.conversations, 'conversation')}")
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
    pages = f", {counted(found.pages, 'page')}" if found.pages else ""
    print(f"  title     {plain(found.title)}")
    print(f"  chunks    {found.chunks:,}{pages}, {counted(found.characters, 'character')}")
    print(f"  written   {found.written_at.astimezone(zone).date()}")
    if found.odd:
        print(f"  left out  {', '.join(f'{count:,} {what}' for what, count in found.odd.items())}")
