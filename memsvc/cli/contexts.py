"""``memsvc context`` and ``memsvc show``: build a context, and open a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    clock,
    embedders,
    note_missing,
    owner_at_home,
    print_json,
    with_database,
)
from memsvc.cli.memories import AskedAt, Mode

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.recall.items import Context
    from memsvc.settings import Settings
    from memsvc.sources.document_reads import ChunkPlace
    from memsvc.sources.opening import OpenedMemory


def context(
    question: str = typer.Argument(help="The question that the assistant is about to answer."),
    user: str | None = UserRef,
    budget: int = typer.Option(
        1_500, "--budget", "-b", min=50, max=100_000, help="Most tokens of the context: 50 to 100,000."
    ),
    form: str = typer.Option("text", "--format", "-f", help="text, markdown, json, or messages for chat models."),
    tokenizer: str | None = typer.Option(
        None, "--tokenizer", help="Tokenizer that counts the tokens; default: MEMSVC_TOKENIZER."
    ),
    limit: int = typer.Option(30, "--limit", "-k", min=1, max=1000, help="Most memories to consider."),
    mode: Mode = typer.Option(
        "balanced", "--mode", metavar="MODE", help="How thoroughly to search: eager, balanced or deliberate."
    ),
    preset: str | None = typer.Option(
        None, help="What counts: learnt, linear, 70-20-10 or 50-30-20 (relevance, recency, importance)."
    ),
    conversation: str | None = typer.Option(
        None, "--conversation", help="The current conversation; for --recent-turns."
    ),
    recent_turns: int = typer.Option(0, "--recent-turns", help="Number of its latest turns to include verbatim."),
    only: list[str] = typer.Option([], "--only", help="Only memories of this conversation; repeatable."),
    said_from: str | None = typer.Option(None, "--from", help="Only memories said at this time or later (ISO 8601)."),
    said_to: str | None = typer.Option(None, "--to", help="Only memories said before this time (ISO 8601)."),
    asked_at: str | None = AskedAt,
    traces: bool = typer.Option(False, "--traces", help="Include messages of system, tool and thinking roles."),
    fill: bool = typer.Option(False, "--fill", help="Fill the budget, also with what is unlikely to matter."),
    why: str | None = typer.Option(None, "--why", help="Reasons: none, short (the default) or full."),
    group_by: str = typer.Option("none", "--group-by", help="none (best first), or conversation."),
    neighbours: bool = typer.Option(
        True, "--neighbours/--no-neighbours", help="Include what a message answers, and what answers it."
    ),
    profile: bool = typer.Option(
        True, "--profile/--no-profile", help="Include core memory and the conversation's working memory."
    ),
    core: bool = typer.Option(True, "--core/--no-core", help="Include pinned instructions."),
    instructions: list[str] = typer.Option(
        [], "--instructions", help="Only instructions of this category; repeatable."
    ),
    salient: int = typer.Option(
        3, "--salient", min=0, max=3, help="Most salient items that do not match the question."
    ),
    chance: bool = typer.Option(True, "--chance/--no-chance", help="Include one random memory."),
    seed: int | None = typer.Option(None, "--seed", help="Seed for the random memory."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Build the context for a question: what an assistant should know, within a token budget."""
    given: dict[str, Any] = {
        "budget_tokens": budget,
        "format": form,
        "tokenizer": tokenizer,
        "limit": limit,
        "mode": mode,
        "conversation": conversation,
        "recent_turns": recent_turns,
        "fill": fill,
        "why": why,
        "group_by": group_by,
        "neighbours": neighbours,
        "profile": profile,
        "core": core,
        "instructions": instructions or None,
        "salient": salient,
        "chance": chance,
        "seed": seed,
    }

    async def work(db: Database, settings: Settings) -> Context:
        from zoneinfo import ZoneInfo

        from memsvc.recall import salient as salience
        from memsvc.recall.context import ContextOptions, build_context
        from memsvc.recall.options import Filters
        from memsvc.recall.presets import chosen_weights
        from memsvc.recall.signals import record_recall
        from memsvc.sources.moments import read_asked_at
        from memsvc.sources.times import parse_time

        db, owner = await owner_at_home(db, user, app)
        zone = ZoneInfo(owner.time_zone)
        filters = Filters(
            conversations=only,
            said_from=parse_time(said_from, zone).moment if said_from else None,
            said_to=parse_time(said_to, zone).moment if said_to else None,
            asked_at=read_asked_at(asked_at, "--asked-at"),
            traces=traces,
        )
        weights = chosen_weights(preset, None)
        with embedders(settings) as models:
            if models is not None:
                await models.ready(db)
            options = ContextOptions(filters=filters, weights=weights, **given)
            built = await build_context(
                db, owner, question, settings, embedder=models, options=options, salient=salience
            )
        if built.recall_id is not None and built.memories:
            await record_recall(db, owner, built, door="cli-context", mode=mode)
        return built

    built = with_database(work)
    note_missing(built.degraded)
    if as_json:
        print_json(built)
    elif built.format == "messages":
        print_json(built.messages)
    else:
        print(built.text)


def show(
    memory: str = typer.Argument(
        help="The memory's full id, or the short one in a context or recall (m:…, f:…, n:…, b:…)."
    ),
    user: str | None = UserRef,
    around: int = typer.Option(2, "--around", min=0, max=100, help="Number of messages before and after a message."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show a memory: a message with its neighbours and the facts that it supports, a fact with evidence, or a node."""

    async def work(db: Database, _settings: Settings) -> tuple[OpenedMemory, Owner]:
        from memsvc.sources.opening import open_memory

        db, owner = await owner_at_home(db, user, app)
        return await open_memory(db, owner, memory, before=around, after=around), owner

    opened, owner = with_database(work)
    if as_json:
        print_json(opened)
    elif opened.source is not None:
        _show_message(opened)
    elif opened.document is not None:
        _show_chunk(opened, opened.document)
    elif opened.fact is not None:
        _show_fact(opened, owner)
    elif opened.block is not None:
        from memsvc.cli.profile import show_block

        show_block(opened.block, owner)
    else:
        _show_node(opened)


def _show_message(opened: OpenedMemory) -> None:
    from memsvc.sources.origins import origin_in_words
    from memsvc.text.characters import flat

    source = opened.source
    if source is None:
        return
    title = f"{source.title} ({source.identifier})" if source.title else source.identifier
    print(flat(f"message {opened.memory_id} in {title}"))
    if opened.message is not None and (origin := origin_in_words(opened.message.metadata)):
        print(flat(f"from {origin}"))
    for message in source.messages:
        session = f" session {message.session}" if message.session else ""
        mark = ">" if message == opened.message else " "
        print(flat(f"{mark} {message.said_at:%Y-%m-%d %H:%M}{session} {message.speaker or message.role}:"))
        print(f"    {flat(message.text)}")
    for fact in opened.supports:
        says = "says that this ended" if fact.stance == "ends" else fact.stance
        print(flat(f"{says}: {fact.fact} (fact {fact.edge_id})"))


def _show_chunk(opened: OpenedMemory, place: ChunkPlace) -> None:
    from memsvc.sources.origins import place_in_words
    from memsvc.text.characters import flat

    gone = ", gone" if place.gone else ""
    print(flat(f"chunk {opened.memory_id} of {place.title} ({place.path}, version {place.version}{gone})"))
    for chunk in opened.chunks:
        mark = ">" if chunk.passage_id == opened.memory_id else " "
        print(flat(f"{mark} {place_in_words('', chunk.headings, chunk.origin)}:"))
        print(f"    {flat(chunk.text)}")
    for fact in opened.supports:
        print(flat(f"{fact.stance}: {fact.fact} (fact {fact.edge_id})"))


def _show_fact(opened: OpenedMemory, owner: Owner) -> None:
    from memsvc.db.short_ids import short_id
    from memsvc.text.characters import flat

    fact = opened.fact
    if fact is None:
        return
    print(flat(f"fact {fact.edge_id}: {fact.from_label} {fact.type} {fact.to_label}"))
    for version in fact.versions:
        begin, end = (clock(moment, owner, time=False) or "…" for moment in (version.valid_from, version.valid_to))
        known = f"recorded {clock(version.recorded_from, owner, time=False)}"
        if version.recorded_to is not None:
            known += f", believed until {clock(version.recorded_to, owner, time=False)}"
        mark = ">" if version.version_id == opened.memory_id else " "
        print(flat(f"{mark} {begin} to {end}: {version.fact}"))
        print(f"    {known}, by {flat(version.asserted_by)}")
        for quote in version.sources:
            print(f"    m:{short_id(quote.passage_id)} {quote.stance}: “{flat(quote.quote)}”")


def _show_node(opened: OpenedMemory) -> None:
    from memsvc.text.characters import flat

    node = opened.node
    if node is None:
        return
    print(flat(f"{node.type or 'node'} {node.node_id}: {node.label or ''}"))
    if node.description:
        print(f"    {flat(node.description)}")
    print(flat(f"    names: {', '.join(name.alias for name in node.aliases)}"))
    for fact in node.facts:
        print(f"    {flat(fact.fact)}")
