"""``memsvc ingest`` and ``memsvc recall``: store messages and find memories."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import typer

from memsvc.cli.answers import show
from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    chosen_user,
    embedders,
    note_missing,
    print_json,
    with_database,
)
from memsvc.recall.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Sequence

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.llm.embedders.residents import Residents
    from memsvc.recall.kinds import Kind
    from memsvc.recall.options import SourceKind
    from memsvc.recall.rerank import ResidentReranker
    from memsvc.settings import Settings
    from memsvc.sources.messages import MessageIn, Role, StoredMessage

BATCH, BATCH_CHARS = 500, 4_000_000
Mode = Literal["eager", "balanced", "deliberate"]
"""Same as in memsvc.recall.options; repeated here, because --help must not import that module."""
AskedAt = typer.Option(
    None, "--asked-at", help="The moment of asking (ISO 8601 with its offset); what was said later does not count."
)
HowHard = typer.Option(
    "balanced", "--mode", metavar="MODE", help="How thoroughly to search: eager, balanced or deliberate (in pages)."
)


async def ingest_files(db: Database, settings: Settings, owner: Owner, files: Sequence[Path]) -> dict[str, int]:
    """Store the messages of files in batches, with a progress bar on a terminal.

    Each batch is one transaction, so an interrupted run can be repeated: stored messages are skipped. The background
    jobs of the messages run at the end; a running worker takes part in them.

    Returns:
        The number of messages created, existing and erased.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from jobs.steps import all_steps
    from memsvc.access.users import own_names
    from memsvc.queue.execution import run_due
    from memsvc.sources.files import read_messages

    names = (await own_names(db, owner)).aliases
    size = min(BATCH, settings.max_batch)
    counts = {"created": 0, "existing": 0, "erased": 0, "paused": 0}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        for path in files:
            task = progress.add_task(path.name, total=_count_checked(path, names, owner, settings))
            placed = read_messages(path, names)
            for batch in batches(placed, size):
                for stored in await _append(db, owner, batch, settings):
                    counts[stored.outcome] += 1
                progress.advance(task, len(batch))
        with embedders(settings) as models:
            task = progress.add_task("vectors", total=None)
            await run_due(db, all_steps(settings, models, lambda stored: progress.advance(task, stored)))
    return counts


def batches(
    placed: Iterable[tuple[str, MessageIn]], most: int, chars: int = BATCH_CHARS
) -> Iterator[list[tuple[str, MessageIn]]]:
    """Yield batches of at most ``most`` messages and ``chars`` characters; a longer message has its own batch."""
    batch: list[tuple[str, MessageIn]] = []
    length = 0
    for one in placed:
        if batch and (len(batch) == most or length + len(one[1].text) > chars):
            yield batch
            batch, length = [], 0
        batch.append(one)
        length += len(one[1].text)
    if batch:
        yield batch


def _count_checked(path: Path, names: Sequence[str], owner: Owner, settings: Settings) -> int:
    """Count the messages of a file and check that all can be stored, so that nothing of a bad file is stored.

    Raises:
        BadFileError, InvalidRequestError: a message is bad; names the line of the first one.
    """
    from memsvc.errors import InvalidRequestError
    from memsvc.sources.files import read_messages
    from memsvc.sources.messages import prepare

    count = 0
    for count, (line, message) in enumerate(read_messages(path, names), 1):  # noqa: B007 - the last value is used
        try:
            prepare([message], owner, settings)
        except InvalidRequestError as error:
            raise type(error)(f"{line}: {error.message}", hint=error.advice) from error
    return count


async def _append(
    db: Database, owner: Owner, batch: Sequence[tuple[str, MessageIn]], settings: Settings
) -> list[StoredMessage]:
    """Store a batch; its errors name the line in the file and say how to resume."""
    from memsvc.errors import DatabaseUnavailableError, MessageConflictError, OverloadedError, StorageFullError
    from memsvc.sources.messages import append

    try:
        return await append(db, owner, [message for _, message in batch], settings)
    except MessageConflictError as error:
        line, message = batch[error.details["row"]]
        raise MessageConflictError(
            f"{line}: {message.id or 'this message'} in conversation {message.conversation!r} has other words already."
        ) from error
    except (DatabaseUnavailableError, OverloadedError, StorageFullError) as error:
        raise type(error)(error.message, hint="What was stored is kept; run the command again to resume.") from error


def ingest(
    files: list[Path] = typer.Argument(help="Chat JSONL or role/content exports, optionally gzipped.", metavar="FILE…"),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Store files of messages in a user's memory.

    May be interrupted and run again: nothing is stored twice. A file with a bad line is refused as a whole.
    """

    async def work(db: Database, settings: Settings) -> dict[str, int]:
        from memsvc.access.users import find_app

        owner = (await chosen_user(db, await find_app(db, app), user)).owner
        return await ingest_files(db, settings, owner, files)

    counts = with_database(work)
    if as_json:
        print_json(counts)
    else:
        print(f"{counts['created']:,} new messages, {counts['existing']:,} already stored.")
        if counts["erased"]:
            print(f"{counts['erased']:,} were erased earlier and stay erased.")
        if counts["paused"]:
            print(f"{counts['paused']:,} were not stored: memory is paused ('memsvc user resume' ends that).")


@asynccontextmanager
async def asked_with(
    db: Database, settings: Settings, *, rerank: bool
) -> AsyncIterator[tuple[Residents | None, ResidentReranker | None]]:
    """Yield the loaded models for a query; close them when the block ends.

    Raises:
        RerankerMissingError: ``rerank`` is set and no reranker is configured.
        ConfigurationError: the reranker's URL is missing.
    """
    from memsvc.errors import RerankerMissingError
    from memsvc.recall.rerank import reranker_of

    reranker = reranker_of(settings) if rerank else None
    if rerank and reranker is None:
        raise RerankerMissingError
    try:
        with embedders(settings) as models:
            if models is not None:
                await models.ready(db)
            if reranker is not None:
                await reranker.ready()
            yield models, reranker
    finally:
        if reranker is not None:
            reranker.close()


def recall(
    question: str = typer.Argument(help="The question in plain words; it has no special syntax."),
    user: str | None = UserRef,
    limit: int = typer.Option(5, "--limit", "-k", min=1, max=1000, help="Most memories to show."),
    conversation: list[str] = typer.Option([], help="Only this conversation; repeatable."),
    not_conversation: list[str] = typer.Option([], help="Not this conversation; repeatable."),
    said_from: str | None = typer.Option(None, "--from", help="Said at this time or later (ISO 8601)."),
    said_to: str | None = typer.Option(None, "--to", help="Said before this time (ISO 8601)."),
    as_of: str | None = typer.Option(
        None, "--as-of", help="What was true at this time (ISO 8601, in the user's time zone)."
    ),
    asked_at: str | None = AskedAt,
    known_at: str | None = typer.Option(None, "--known-at", help="What memsvc knew at this time (ISO 8601)."),
    near: tuple[float, float, float] | None = typer.Option(
        None, "--near", metavar="LAT LON METRES", help="Only memories about something near that point."
    ),
    kind: list[str] = typer.Option([], "--kind", help=f"Only this kind ({', '.join(KINDS)}); repeatable."),
    speaker: list[str] = typer.Option([], "--speaker", help="Only what this person said; repeatable."),
    role: list[str] = typer.Option(
        [], "--role", help="Only what was said as user, assistant, other, system, tool or thinking; repeatable."
    ),
    source_kind: list[str] = typer.Option(
        [], "--source-kind", help="Only from this kind of source (conversation, block, graph); repeatable."
    ),
    of_type: list[str] = typer.Option([], "--type", help="Only about nodes or edges of this type; repeatable."),
    least_importance: float | None = typer.Option(None, min=1, max=10, help="Only what is at least this important."),
    metadata: str | None = typer.Option(None, metavar="JSON", help='Only with this metadata, such as {"tags": ["a"]}.'),
    least_score: float | None = typer.Option(None, help="Only what has at least this score for the question."),
    simple: bool = typer.Option(False, "--simple", help="Match words as written, without stemming."),
    traces: bool = typer.Option(False, "--traces", help="Include messages of system, tool and thinking roles."),
    no_facts: bool = typer.Option(False, "--no-facts", help="No facts of the graph."),
    mode: Mode = HowHard,
    cursor: str | None = typer.Option(
        None, "--cursor", help="next_cursor of the previous page, in the mode deliberate."
    ),
    diversity: float = typer.Option(
        0.0, min=0, max=1, help="How much a memory loses for being similar to a better one."
    ),
    preset: str | None = typer.Option(
        None, help="What counts: learnt, linear, 70-20-10 or 50-30-20 (relevance, recency, importance)."
    ),
    weight: list[str] = typer.Option(
        [], "--weight", metavar="FACTOR=NUMBER", help="What a factor counts instead, such as recency=0.5; repeatable."
    ),
    rerank: bool = typer.Option(False, "--rerank", help="Let the reranker of MEMSVC_RERANKER sort the best 50."),
    explain: bool = typer.Option(False, "--explain", help="Explain the answer in a table."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show the memories that are relevant to a question, each with its reason and source."""

    async def work(db: Database, settings: Settings) -> Any:
        from memsvc.access.users import find_app
        from memsvc.recall.options import Filters, Near
        from memsvc.recall.presets import chosen_weights, read_metadata, read_weights
        from memsvc.recall.search import recall
        from memsvc.recall.signals import record_recall
        from memsvc.sources.moments import read_asked_at, read_known_at, read_moment

        owner = (await chosen_user(db, await find_app(db, app), user)).owner
        filters = Filters(
            conversations=conversation,
            not_conversations=not_conversation,
            said_from=read_moment(said_from, owner, "--from"),
            said_to=read_moment(said_to, owner, "--to"),
            traces=traces,
            facts=not no_facts,
            as_of=read_moment(as_of, owner, "--as-of"),
            asked_at=read_asked_at(asked_at, "--asked-at"),
            known_at=read_known_at(known_at, owner, "--known-at"),
            near=Near(latitude=near[0], longitude=near[1], radius_m=near[2]) if near is not None else None,
            kinds=cast("list[Kind]", kind),
            speakers=speaker,
            roles=cast("list[Role]", role),
            source_kinds=cast("list[SourceKind]", source_kind),
            types=of_type,
            least_importance=least_importance,
            metadata=read_metadata(metadata),
            least_score=least_score,
        )
        asked: dict[str, Any] = {"limit": limit, "filters": filters, "mode": mode, "explain": explain, "cursor": cursor}
        asked["weights"] = chosen_weights(preset, read_weights(weight))
        async with asked_with(db, settings, rerank=rerank) as (models, reranker):
            asked |= {"form": "simple" if simple else "stemmed", "reranker": reranker, "diversity": diversity}
            found = await recall(db, owner, question, settings, embedder=models, **asked)
        if found.recall_id is not None and found.memories:
            await record_recall(db, owner, found, door="cli", mode=mode)
        return owner, found

    owner, found = with_database(work)
    note_missing(found.degraded)
    if as_json:
        print_json(found)
    else:
        show(found, question, owner)
