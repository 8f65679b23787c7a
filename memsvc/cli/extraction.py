"""``memsvc extract``: try extraction on some text, extract facts from stored messages, and show the progress."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    note,
    owner_at_home,
    plain,
    print_json,
    print_table,
    with_database,
)
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.extract.asking import Progress, Totals
    from memsvc.extract.extraction import Extractor
    from memsvc.extract.preview import Preview, Said
    from memsvc.queue.execution import Steps
    from memsvc.settings import Settings

STATUS = "status"
LOOK_S = 0.5
"""Seconds between checks of a job that another worker runs."""
LONGEST_NAME = 255
QUOTE_CHARS, FACT_CHARS = 60, 70


def extract(
    what: str | None = typer.Argument(
        None, help="Text, or a file as for 'memsvc ingest'; 'status': show the progress.", metavar="TEXT|FILE|status"
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show the facts in TEXT or FILE; store nothing."),
    everything: bool = typer.Option(False, "--all", help="Read all stored messages that have not been read yet."),
    conversation: str | None = typer.Option(None, help="Read only this conversation, by its name or id."),
    since: str | None = typer.Option(None, help="Skip unread messages that were said before this time (ISO 8601)."),
    extractor: str | None = typer.Option(
        None, help="The extractor: offline, llm, or an installed one; default: the configured one."
    ),
    speaker: str = typer.Option("", help="With --dry-run: who says TEXT; default: the user."),
    said_at: str | None = typer.Option(None, help="With --dry-run: when TEXT is said (ISO 8601); default: now."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Extract facts from text: who, what, where, since when, each with its quote.

    --dry-run shows the facts in some text. --all or --conversation reads stored messages with a progress bar; Ctrl-C
    pauses, and the same command resumes. 'memsvc extract status' shows the progress.
    """
    _check(what, dry_run=dry_run, reading=everything or conversation is not None)
    _check_times(dry_run=dry_run, status=what == STATUS, since=since, of_text=speaker or said_at)

    async def work(db: Database, settings: Settings) -> Any:

        db, owner = await owner_at_home(db, user, app)
        if dry_run:
            return owner, await _dry_run(db, settings, owner, what or "", extractor, speaker, said_at)
        if what == STATUS:
            return owner, await _status(db, owner)
        return owner, await read_stored(
            db, settings, owner, extractor=extractor, conversation=conversation, since=since
        )

    owner, found = with_database(work)
    if as_json:
        print_json(found)
    elif dry_run:
        show_preview(found, owner)
    elif what == STATUS:
        show_status(found)
    else:
        show_totals(found)
    if not (dry_run or what == STATUS) and found.failed:
        raise typer.Exit(1)


def _check(what: str | None, *, dry_run: bool, reading: bool) -> None:
    """Refuse ambiguous or empty combinations of arguments."""
    if dry_run and (what is None or reading):
        raise typer.BadParameter("It needs a TEXT or FILE to read.", param_hint="--dry-run")
    if not dry_run and what not in {None, STATUS}:
        raise typer.BadParameter("Add --dry-run, or store the text with 'memsvc ingest'.", param_hint="TEXT|FILE")
    if not dry_run and reading == (what == STATUS):
        raise typer.BadParameter("Give one of: TEXT --dry-run, --all, --conversation NAME, status.", param_hint="WHAT")


def _check_times(*, dry_run: bool, status: bool, since: str | None, of_text: str | None) -> None:
    """Refuse options that would be ignored."""
    if since is not None and (dry_run or status):
        raise typer.BadParameter("It needs --all or --conversation.", param_hint="--since")
    if of_text and not dry_run:
        raise typer.BadParameter("They need --dry-run.", param_hint="--speaker, --said-at")


async def load(settings: Settings, name: str | None) -> tuple[Extractor, str]:
    """Load an extractor, by default the configured one, and return it with its name.

    Raises:
        ExtractorMissingError: the extractor is not installed, or none is configured.
        ConfigurationError: a setting that the extractor needs is missing.
    """
    from memsvc.extract.run import Extractors

    return await Extractors(settings).named(name)


# Dry run


async def _dry_run(
    db: Database, settings: Settings, owner: Owner, what: str, name: str | None, speaker: str, said_at: str | None
) -> Preview:
    from memsvc.access.users import own_names
    from memsvc.extract.preview import Said, preview
    from memsvc.sources.moments import read_moment

    if _is_file(what):
        messages = _messages_of(Path(what), (await own_names(db, owner)).aliases, owner)
    else:
        messages = [Said(text=what, speaker=speaker, said_at=read_moment(said_at, owner, "--said-at"))]
    extractor, _ = await load(settings, name)
    return await preview(db, owner, messages, extractor, settings)


def _is_file(what: str) -> bool:
    try:
        return len(what) <= LONGEST_NAME and Path(what).is_file()
    except (OSError, ValueError):
        return False


def _messages_of(path: Path, names: Any, owner: Owner) -> list[Said]:
    """Read the messages of a file as 'memsvc ingest' reads them."""
    from itertools import islice

    from memsvc.extract.preview import MOST_MESSAGES, Said
    from memsvc.sources.files import read_messages
    from memsvc.sources.moments import read_moment

    placed = list(islice(read_messages(path, names), MOST_MESSAGES + 1))
    if len(placed) > MOST_MESSAGES:
        note(f"{path.name} has more than {MOST_MESSAGES} messages; only the first ones are read.")
    return [
        Said(
            text=message.text,
            speaker=message.speaker or "",
            role=message.role,
            said_at=read_moment(message.said_at, owner, "said_at"),
            caption=message.caption or "",
        )
        for _, message in placed[:MOST_MESSAGES]
    ]


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def show_preview(found: Preview, owner: Owner) -> None:
    """Print the facts as a table, one a line, then the new and known nodes."""
    from memsvc.extract.validation import REASONS

    print_table(
        ["who", "fact", "quote", "since", "would be"],
        [
            [
                one.proposal.subject.name,
                _short(f"{one.proposal.type} {one.proposal.object.name}", FACT_CHARS),
                f"“{_short(one.proposal.quote, QUOTE_CHARS)}”",
                _day(one.proposal.since, owner),
                f"{one.verdict}: {REASONS.get(one.reason, one.reason)}" if one.reason else one.verdict,
            ]
            for one in found.facts
        ],
    )
    if not found.facts:
        note("No facts found.")
    new = [f"{node.name} ({node.type})" for node in found.nodes if node.node_id is None]
    known = [f"{node.name} ({node.type})" for node in found.nodes if node.node_id is not None]
    lines = [f"{label}: {', '.join(names)}" for label, names in (("new", new), ("known", known)) if names]
    if lines:
        print("", *map(plain, lines), sep="\n")
    note(f"Read by {found.extractor}; nothing was stored.")


def _day(moment: Any, owner: Owner) -> str:
    from zoneinfo import ZoneInfo

    return f"{moment.astimezone(ZoneInfo(owner.time_zone)):%Y-%m-%d}" if moment is not None else ""


# Reading what is stored


async def read_stored(
    db: Database,
    settings: Settings,
    owner: Owner,
    *,
    extractor: str | None = None,
    conversation: str | None = None,
    since: str | None = None,
) -> Totals:
    """Read all messages that an extractor has not read, in this process, with a progress bar on a terminal.

    It runs the jobs that workers would run, and waits for those that a worker already runs. Ctrl-C pauses by cancelling
    the remaining jobs: each window is written completely or not at all, and the next call continues after the last one.

    Raises:
        ExtractorMissingError, ConfigurationError: the extractor is not available.
        ConversationUnknownError, InvalidTimeError: ``conversation`` or ``since`` is wrong.
    """
    from jobs.steps import all_steps
    from memsvc.extract.asking import ask_all, pause, totals
    from memsvc.sources.moments import read_moment
    from memsvc.sources.read import find_conversation

    reader, backend = await load(settings, extractor)
    source = None
    if conversation is not None:
        async with db.transaction(owner.user_id) as connection:
            source = await find_conversation(connection, owner, conversation)
    moment = read_moment(since, owner, "--since")
    left_out = settings.kinds_of("extractor_skips")
    asked = await ask_all(db, owner, reader, backend, since=moment, source=source, left_out=left_out)
    try:
        await _run(db, owner, asked.jobs, all_steps(settings, None), lambda: totals(db, owner, reader.name))
    except asyncio.CancelledError:
        await pause(db, owner, source=source)
        note("Paused; run the same command to resume.")
        raise
    return await totals(db, owner, reader.name)


async def _run(db: Database, owner: Owner, jobs: list[UUID], steps: Steps, look: Callable[[], Any]) -> None:
    """Run jobs one after the other, each until it is finished."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from memsvc.queue.execution import run_job

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    left = (await look()).left
    with Bar(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("messages read", total=left)
        for job_id in jobs:
            while (outcome := await run_job(db, "extract", owner.user_id, job_id, steps["extract"])) in {
                "again",
                "busy",
            }:
                bar.update(task, completed=left - (await look()).left)
                if outcome == "busy":
                    await asyncio.sleep(LOOK_S)
            bar.update(task, completed=left - (await look()).left)


def show_totals(found: Totals) -> None:
    """Print what an extractor has read, in a line or two."""
    print(
        f"{found.extractor} has read {counted(found.turns, 'message')} of "
        f"{counted(found.sources, 'conversation')}: {counted(found.facts, 'fact')}, "
        f"{found.refused:,} not written ('memsvc review list')."
    )
    if found.tokens and found.turns:
        print(f"The language model took {found.tokens:,} tokens, {found.tokens / found.turns:,.0f} a message.")
    if found.left:
        print(f"{found.left:,} are still unread; 'memsvc extract status' shows which, and what holds them up.")
    if found.failed:
        note(
            f"{counted(found.failed, 'conversation')} failed: "
            "'memsvc extract status' says why; retry with 'memsvc jobs retry'."
        )


# Status


async def _status(db: Database, owner: Owner) -> list[Progress]:
    from memsvc.db.paging import MAX_PAGE
    from memsvc.extract.asking import progress

    found: list[Progress] = []
    while True:
        after = (found[-1].source_id, found[-1].extractor) if found else None
        page = await progress(db, owner, after=after, limit=MAX_PAGE)
        found += page
        if len(page) < MAX_PAGE:
            return found


def show_status(found: list[Progress]) -> None:
    """Print a line for each conversation and extractor."""
    print_table(
        ["conversation", "extractor", "read", "left", "again", "facts", "not written", "last", "job"],
        [
            [
                _short(one.identifier, 40), one.extractor, one.turns, one.left, one.again, one.facts,
                one.refused,
                f"{one.last_at:%Y-%m-%d %H:%M}" if one.last_at is not None else "",
                " ".join(filter(None, (one.job_state, one.error_code))),
            ]
            for one in found
        ],
    )  # fmt: skip
    if not found:
        note("No messages have been read yet: read them with 'memsvc extract --all'.")
