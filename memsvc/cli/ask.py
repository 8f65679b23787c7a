"""``memsvc ask`` and ``memsvc verify``: answer a question from memory, and verify a claim against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    clock,
    embedders,
    note_missing,
    owner_at_home,
    plain,
    print_json,
    with_database,
)
from memsvc.cli.memories import AskedAt

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.chat.answering import MemoryAnswer
    from memsvc.chat.verifying import Verified
    from memsvc.chat.weighing import ClaimEvidence
    from memsvc.db.engine import Database
    from memsvc.settings import Settings


def ask(
    question: str = typer.Argument(help="The question to answer from memory."),
    user: str | None = UserRef,
    budget: int = typer.Option(
        1_500, "--budget", "-b", min=50, max=100_000, help="Most tokens of memories to read: 50 to 100,000."
    ),
    only: list[str] = typer.Option([], "--only", help="Only memories of this conversation; repeatable."),
    asked_at: str | None = AskedAt,
    quotes: bool = typer.Option(False, "--quotes", help="Quote memories instead of asking the language model."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Answer a question only from memory, with the source of each claim, or say that the answer is not in memory."""

    async def work(db: Database, settings: Settings) -> MemoryAnswer:
        from memsvc.chat.answering import answer_question
        from memsvc.recall.options import Filters
        from memsvc.recall.signals import record_recall
        from memsvc.sources.moments import read_asked_at

        db, owner = await owner_at_home(db, user, app)
        with embedders(settings) as models:
            if models is not None:
                await models.ready(db)
            answer, context = await answer_question(
                db,
                owner,
                question,
                settings,
                embedder=models,
                filters=Filters(conversations=only, asked_at=read_asked_at(asked_at, "--asked-at")),
                budget_tokens=budget,
                model=not quotes,
            )
        if context.recall_id is not None and context.memories:
            await record_recall(db, owner, context, door="cli-ask", mode="balanced")
        return answer

    answer = with_database(work)
    note_missing(answer.degraded)
    if as_json:
        print_json(answer)
        return
    print(plain(answer.answer))
    if answer.by == "model":
        for source in answer.sources:
            print(plain(f"  [{source.id}] {source.speaker}: {source.text}".replace("\n", " ")))


def verify(
    claim: str = typer.Argument(help="One statement, such as 'Ines lives in Porto'."),
    user: str | None = UserRef,
    as_of: str | None = typer.Option(None, "--as-of", help="Whether it was true at this time (ISO 8601)."),
    known_at: str | None = typer.Option(None, "--known-at", help="By what memsvc knew at this time (ISO 8601)."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Say whether memory supports a claim, contradicts it or does not know, with the memories for and against it."""

    async def work(db: Database, settings: Settings) -> tuple[Verified, Owner]:
        from memsvc.chat.verifying import When, verify
        from memsvc.extract.run import Extractors
        from memsvc.sources.moments import read_known_at, read_moment

        db, owner = await owner_at_home(db, user, app)
        when = When(as_of=read_moment(as_of, owner, "--as-of"), known_at=read_known_at(known_at, owner, "--known-at"))
        with embedders(settings) as models:
            if models is not None:
                await models.ready(db)
            extractors = Extractors(settings)
            return await verify(db, owner, claim, settings, extractors=extractors, embedder=models, when=when), owner

    found, owner = with_database(work)
    note_missing(found.degraded)
    if as_json:
        print_json(found)
        return
    print(f"{found.verdict}: {found.reason}")
    for sign, listed in (("+", found.supporting), ("-", found.contradicting), ("?", found.related)):
        for evidence in listed:
            print(plain(f"  {sign} [{evidence.id}] {_dated(evidence, owner)}{evidence.text}".replace("\n", " ")))


def _dated(evidence: ClaimEvidence, owner: Owner) -> str:
    """Who said a message and when, or from when until when a fact holds."""
    if evidence.said_at is not None:
        return f"{evidence.speaker}, {evidence.said_at.date().isoformat()}: ".removeprefix(", ")
    from memsvc.times.untold import span_in_words

    bounds = (evidence.valid_from, evidence.valid_to)
    begin, end = (clock(moment, owner, time=False) for moment in bounds)
    span = span_in_words(begin, end, begin_untold=evidence.begin_untold, end_untold=evidence.end_untold)
    return f"{span}: " if span else ""
