"""``memsvc ingest`` and ``memsvc recall``."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    chosen_user,
    embedders,
    note,
    print_json,
    with_database,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.settings import Settings
    from memsvc.sources.messages import MessageIn, StoredMessage

BATCH = 500


async def ingest_files(db: Database, settings: Settings, owner: Owner, files: Sequence[Path]) -> dict[str, int]:
    """Send files through the write path in batches, with a progress bar on a terminal.

    Each batch is one transaction, so an interrupted run can simply be started again: what is there is left alone.
    Background work that the messages ask for is done at the end; a worker that runs anyway does it as well.

    Returns:
        How many messages were created, existing or erased.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from jobs.steps import all_steps
    from memsvc.access.users import own_names
    from memsvc.queue.run import run_due
    from memsvc.sources.files import read_messages

    names = (await own_names(db, owner)).aliases
    size = min(BATCH, settings.max_batch)
    counts = {"created": 0, "existing": 0, "erased": 0}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        for path in files:
            task = progress.add_task(path.name, total=_count_checked(path, names, owner, settings))
            placed = read_messages(path, names)
            while batch := list(islice(placed, size)):
                for stored in await _append(db, owner, batch, settings):
                    counts[stored.outcome] += 1
                progress.advance(task, len(batch))
        with embedders(settings) as models:
            task = progress.add_task("vectors", total=None)
            await run_due(db, all_steps(settings, models, lambda stored: progress.advance(task, stored)))
    return counts


def _count_checked(path: Path, names: Sequence[str], owner: Owner, settings: Settings) -> int:
    """How many messages a file holds, all of which can be stored: nothing of a bad file is.

    Raises:
        BadFileError, InvalidRequestError: the first bad message; names its line.
    """
    from memsvc.errors import InvalidRequestError
    from memsvc.sources.files import read_messages
    from memsvc.sources.messages import prepare

    count = 0
    for count, (place, message) in enumerate(read_messages(path, names), 1):  # noqa: B007 - the last one counts
        try:
            prepare([message], owner, settings)
        except InvalidRequestError as error:
            raise type(error)(f"{place}: {error.message}", hint=error.advice) from error
    return count


async def _append(
    db: Database, owner: Owner, batch: Sequence[tuple[str, MessageIn]], settings: Settings
) -> list[StoredMessage]:
    """Store a batch; errors say what it means for a file of many."""
    from memsvc.errors import DatabaseUnavailableError, MessageConflictError, OverloadedError, StorageFullError
    from memsvc.sources.messages import append

    try:
        return await append(db, owner, [message for _, message in batch], settings)
    except MessageConflictError as error:
        place, message = batch[error.details["row"]]
        raise MessageConflictError(
            f"{place}: {message.id or 'this place'} in conversation {message.conversation!r} has other words before."
        ) from error
    except (DatabaseUnavailableError, OverloadedError, StorageFullError) as error:
        raise type(error)(error.message, hint="What was stored stays stored; run it again to go on.") from error


def ingest(
    files: list[Path] = typer.Argument(help="Chat JSONL or role/content exports, perhaps gzipped.", metavar="FILE…"),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Read files of messages into a user's memory.

    May be interrupted and run again: nothing is stored twice. A file with a bad line is refused before it begins.
    """

    async def work(db: Database, settings: Settings) -> dict[str, int]:
        from memsvc.access.users import find_app

        owner = (await chosen_user(db, await find_app(db, app), user)).owner
        return await ingest_files(db, settings, owner, files)

    counts = with_database(work)
    if as_json:
        print_json(counts)
    else:
        print(f"{counts['created']:,} new messages, {counts['existing']:,} known already.")
        if counts["erased"]:
            print(f"{counts['erased']:,} were erased before and stay so.")


def recall(
    question: str = typer.Argument(help="In plain words; nothing in it is syntax."),
    user: str | None = UserRef,
    limit: int = typer.Option(5, "--limit", "-k", min=1, max=1000, help="At most so many memories."),
    conversation: list[str] = typer.Option([], help="Only this conversation; may be given several times."),
    said_from: str | None = typer.Option(None, "--from", help="Said then or later (ISO 8601)."),
    said_to: str | None = typer.Option(None, "--to", help="Said before (ISO 8601)."),
    simple: bool = typer.Option(False, "--simple", help="Compare words as they are, unstemmed."),
    traces: bool = typer.Option(False, "--traces", help="Also what system, tool and thinking roles said."),
    budget: int | None = typer.Option(None, "--context", help="Pack a context block of at most so many tokens."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show the memories that matter for a question, each with its reason and its source."""

    async def work(db: Database, settings: Settings) -> Any:
        from zoneinfo import ZoneInfo

        from memsvc.access.users import find_app
        from memsvc.recall.context import build_context
        from memsvc.recall.search import Filters, Form, recall
        from memsvc.sources.times import parse_time

        owner = (await chosen_user(db, await find_app(db, app), user)).owner
        zone = ZoneInfo(owner.time_zone)
        filters = Filters(
            conversations=conversation,
            said_from=parse_time(said_from, zone).moment if said_from else None,
            said_to=parse_time(said_to, zone).moment if said_to else None,
            traces=traces,
        )
        with embedders(settings) as models:
            if models is not None:
                await models.ready(db)
            if budget is not None:
                context = await build_context(
                    db, owner, question, settings, embedder=models, budget_tokens=budget, limit=limit, filters=filters
                )
                return context, context.degraded
            form: Form = "simple" if simple else "stemmed"
            found = await recall(
                db, owner, question, settings, embedder=models, limit=limit, form=form, filters=filters
            )
            return found.memories, found.degraded

    found, degraded = with_database(work)
    if degraded:
        note(f"Asked without: {', '.join(degraded)}. 'memsvc doctor' says why.")
    if as_json:
        print_json(found)
    elif budget is not None:
        print(found.text)
    else:
        show(found)


def show(found: Sequence[Any]) -> None:
    """Memories for people."""
    from datetime import UTC, datetime

    from memsvc.recall.context import render

    for number, memory in enumerate(found, 1):
        print(render(memory, number, datetime.now(UTC)))
    if not found:
        print("No memory matches.")
