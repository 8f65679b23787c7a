"""``memsvc recall``: find memories."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

import typer

from memsvc.cli.answers import show
from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    embedders,
    note_missing,
    owner_at_home,
    print_json,
    with_database,
)
from memsvc.recall.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from memsvc.db.engine import Database
    from memsvc.llm.embedders.residents import Residents
    from memsvc.recall.kinds import Kind
    from memsvc.recall.options import SourceKind
    from memsvc.recall.rerank import ResidentReranker
    from memsvc.settings import Settings
    from memsvc.sources.messages import Role

Mode = Literal["eager", "balanced", "deliberate"]
"""Same as in memsvc.recall.options; repeated here, because --help must not import that module."""
AskedAt = typer.Option(
    None, "--asked-at", help="The moment of asking (ISO 8601 with its offset); what was said later does not count."
)
HowHard = typer.Option(
    "balanced", "--mode", metavar="MODE", help="How thoroughly to search: eager, balanced or deliberate (in pages)."
)


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
    include_archived: bool = typer.Option(
        False, "--include-archived", help="Include what forgetting has archived; what is found there is restored."
    ),
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
        from memsvc.recall.options import Filters, Near
        from memsvc.recall.presets import chosen_weights, read_metadata, read_weights
        from memsvc.recall.search import recall
        from memsvc.recall.signals import record_recall
        from memsvc.sources.moments import read_asked_at, read_known_at, read_moment

        db, owner = await owner_at_home(db, user, app)
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
            include_archived=include_archived,
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
