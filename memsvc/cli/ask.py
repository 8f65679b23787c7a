"""``memsvc ask``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, chosen_user, embedders, note, plain, print_json, with_database

if TYPE_CHECKING:
    from memsvc.chat.answering import MemoryAnswer
    from memsvc.db.engine import Database
    from memsvc.settings import Settings


def ask(
    question: str = typer.Argument(help="A question that memory is to answer."),
    user: str | None = UserRef,
    budget: int = typer.Option(1_500, "--budget", "-b", help="Most tokens of memories that are read: 50 to 100,000."),
    only: list[str] = typer.Option([], "--only", help="Memories of this conversation alone; may be repeated."),
    quotes: bool = typer.Option(False, "--quotes", help="Quote memories, though there is a language model."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Answer a question from memory alone, with the source of each claim; or say that it is not in memory."""

    async def work(db: Database, settings: Settings) -> MemoryAnswer:
        from memsvc.access.users import find_app
        from memsvc.chat.answering import answer_question
        from memsvc.recall.options import Filters
        from memsvc.recall.signals import record_recall

        owner = (await chosen_user(db, await find_app(db, app), user)).owner
        with embedders(settings) as models:
            if models is not None:
                await models.ready(db)
            told, context = await answer_question(
                db,
                owner,
                question,
                settings,
                embedder=models,
                filters=Filters(conversations=only),
                budget_tokens=budget,
                model=not quotes,
            )
        if context.recall_id is not None and context.memories:
            await record_recall(db, owner, context, door="cli-ask", mode="balanced")
        return told

    told = with_database(work)
    if told.degraded:
        note(f"Asked without: {', '.join(told.degraded)}. 'memsvc doctor' says why.")
    if as_json:
        print_json(told)
        return
    print(plain(told.answer))
    if told.by == "model":
        for source in told.sources:
            print(plain(f"  [{source.id}] {source.speaker}: {source.text}".replace("\n", " ")))
