"""``memsvc models``: which embedding models gave vectors, and whose messages lack them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    chosen_user,
    embedder,
    note,
    print_json,
    print_table,
    with_database,
)

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.settings import Settings

models = typer.Typer(help="Embedding models.", no_args_is_help=True, rich_markup_mode=None)


@models.command("list")
def list_all(user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """List the models that gave vectors, and how many of a user's messages have and lack them."""

    async def work(db: Database, settings: Settings) -> Any:
        from memsvc.access.users import find_app
        from memsvc.llm.embedders.registry import list_models

        owner = await chosen_user(db, await find_app(db, app), user)
        return settings.embedding_model, await list_models(db, owner.user_id)

    configured, found = with_database(work)
    if as_json:
        print_json({"configured": configured or None, "models": found})
        return
    print_table(
        ["model", "dimensions", "state", "embedded", "lacking"],
        [[m.name, m.dimensions, m.state, m.embedded, m.lacking] for m in found],
    )
    if configured not in {m.name for m in found}:
        note(f"Configured: {configured or 'none'}, which gave no vectors yet.")


@models.command("embed")
def embed(user: str | None = UserRef, app: str = AppName) -> None:
    """Give all messages of a user that lack the configured model's vector one; may be interrupted and run again.

    New messages get theirs from the worker. This is for those that were stored before there was this model.
    """

    async def work(db: Database, settings: Settings) -> int:
        from rich.console import Console
        from rich.progress import Progress

        from memsvc.access.users import find_app
        from memsvc.errors import EmbedderMissingError
        from memsvc.llm.embedders.registry import list_models
        from memsvc.sources.embedding import embed_lacking

        owner = await chosen_user(db, await find_app(db, app), user)
        with embedder(settings) as resident:
            if resident is None:
                raise EmbedderMissingError("MEMSVC_EMBEDDING_MODEL is empty.")
            known = {m.name: m for m in await list_models(db, owner.user_id)}.get(resident.model_name)
            with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
                task = progress.add_task(resident.model_name, total=known.lacking if known else None)
                return await embed_lacking(db, resident, owner.user_id, lambda stored: progress.advance(task, stored))

    print(f"{with_database(work):,} messages embedded.")
