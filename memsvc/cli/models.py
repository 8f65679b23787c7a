"""``memsvc models``: which embedding models gave vectors, and how one takes over from another."""

from __future__ import annotations

import sys
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
    print_table,
    with_database,
)

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.llm.embedders.registry import Built, ModelProgress, Switched
    from memsvc.settings import Settings

models = typer.Typer(
    help="Embedding models: what they gave, and how one takes over from another.", rich_markup_mode=None
)
Name = typer.Argument(help="As 'memsvc models' shows it: backend:model, or the name of an entry point.")
OneUser = typer.Option(None, "--user", "-u", help="Count the messages of this user alone, by id or external id.")
LOOK_EVERY_S = 1.0
WAITS = "A worker does that in the background ('memsvc up', 'memsvc worker'); 'memsvc models' shows how far it is."


@models.callback(invoke_without_command=True)
def list_unless_told(
    context: typer.Context, user: str | None = OneUser, app: str = AppName, as_json: bool = AsJson
) -> None:
    """List the embedding models, or change the active one.

    A change goes in steps that may take days: build the new model, switch to it, retire the old one. Until that last
    step, rollback undoes it. Recall works all the time.
    """
    if context.invoked_subcommand is None:
        _show(user, app, as_json=as_json)


@models.command("list")
def list_all(user: str | None = OneUser, app: str = AppName, as_json: bool = AsJson) -> None:
    """List the models: state, dimensions, and how many messages have and lack their vectors, over all users."""
    _show(user, app, as_json=as_json)


def _show(user: str | None, app: str, *, as_json: bool) -> None:
    async def work(db: Database, settings: Settings) -> Any:
        from memsvc.access.users import find_app
        from memsvc.llm.embedders.registry import list_models

        chosen = (await chosen_user(db, await find_app(db, app), user)).owner.user_id if user is not None else None
        return settings.embedding_model, await list_models(db, chosen)

    configured, found = with_database(work)
    if as_json:
        print_json({"configured": configured or None, "models": found})
        return
    print_table(
        ["model", "dimensions", "state", "embedded", "lacking"],
        [[m.name, m.dimensions, "paused" if m.paused else m.state, m.embedded, m.lacking] for m in found],
    )
    if not found:
        note(f"Configured: {configured or 'none'}, which gave no vectors yet.")


@models.command("build")
def build(
    name: str = Name,
    wait: bool = typer.Option(
        False, "--wait", help="Work on it here, with a progress bar, until no message lacks a vector."
    ),
) -> None:
    """Begin to give all messages, of all users, the vectors of a new model; recall goes on by the active one.

    The model is loaded and tried first. May be repeated: then messages that still lack its vectors get a new try; that
    works for the active model as well. Afterwards, 'memsvc models switch' makes it the active one.
    """

    async def work(db: Database, settings: Settings) -> tuple[Built, ModelProgress]:
        from memsvc.llm.embedders.registry import build_model, list_models
        from memsvc.llm.embedders.resident import ResidentEmbedder
        from memsvc.sources.embedding import ready_for_tokens

        holder = ResidentEmbedder(settings.model_copy(update={"embedding_model": name}))
        try:
            dimensions = (await holder.load()).dimensions
            await holder.vectors(["Does it work?"])
            built = await build_model(db, name, dimensions)
            await ready_for_tokens(db, holder, built.model_id)
        finally:
            holder.close()
        if wait:
            await _wait(db, settings, name)
        return built, next(model for model in await list_models(db) if model.name == name)

    built, made = with_database(work)
    print(f"{name} is {'paused' if made.paused else made.state}: {made.embedded:,} messages have its vectors, ", end="")
    print(f"{made.lacking:,} lack them." if made.lacking else "none lacks them.")
    if made.paused:
        print(f"Go on with 'memsvc models resume {name}'.")
    elif made.lacking:
        print(f"{built.jobs:,} users have a job for that. {WAITS}")
    elif made.state == "building":
        print(f"Make it the active one with 'memsvc models switch {name}'.")


async def _wait(db: Database, settings: Settings, name: str) -> None:
    """Take part in the work until no message lacks the model's vector, or nothing is left to do about it."""
    import asyncio
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from memsvc.llm.embedders.registry import list_models
    from memsvc.queue.backlog import backlog
    from memsvc.queue.execution import run_due
    from memsvc.sources.embedding import embedding_steps

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        embedders(settings) as resident,
        Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress,
    ):
        bar = progress.add_task(name, total=None)
        while True:
            working = asyncio.create_task(run_due(db, embedding_steps(resident)))
            pause = 0.0
            while not working.done():
                began = time.monotonic()
                made = next(model for model in await list_models(db) if model.name == name)
                progress.update(bar, completed=made.embedded, total=made.embedded + made.lacking)
                pause = max(LOOK_EVERY_S, 10 * (time.monotonic() - began))  # counting must not be most of the work
                await asyncio.wait({working}, timeout=pause)
            await working
            made = next(model for model in await list_models(db) if model.name == name)
            progress.update(bar, completed=made.embedded, total=made.embedded + made.lacking)
            if not made.lacking or made.paused or made.state == "retired" or not (await backlog(db)).pending:
                return
            await asyncio.sleep(pause)  # others have the jobs, or their time has not come


@models.command("pause")
def pause(name: str = Name) -> None:
    """Stop giving messages the vectors of a model that is being built; what it has stays."""
    _pause(name, paused=True)
    print(f"{name} is paused. Go on with 'memsvc models resume {name}'.")


@models.command("resume")
def resume(name: str = Name) -> None:
    """Go on with a model that was paused, also with messages that came meanwhile."""
    print(f"{name} is building: {_pause(name, paused=False):,} users have a job. {WAITS}")


def _pause(name: str, *, paused: bool) -> int:
    async def work(db: Database, _settings: Settings) -> int:
        from memsvc.llm.embedders.registry import pause_model

        return await pause_model(db, name, paused=paused)

    return with_database(work)


@models.command("switch")
def switch(
    name: str = Name,
    now: bool = typer.Option(
        False, "--now", help="Also while messages lack its vectors: the old model answers for those meanwhile."
    ),
) -> None:
    """Make a model that is being built, or leaving, the active one: queries are compared by it from now on.

    The model before it is leaving: it still gets vectors, so that nothing is lost with 'memsvc models rollback', until
    'memsvc models retire'. All processes know within 5 seconds.
    """
    _switch(name, now=now)


@models.command("rollback")
def rollback() -> None:
    """Make the model that is leaving the active one again; the one that replaced it leaves."""
    _switch(None, now=True)


def _switch(name: str | None, *, now: bool) -> None:
    async def work(db: Database, settings: Settings) -> tuple[Switched, str | None]:
        from memsvc.llm.embedders.registry import switch_model

        named = settings.embedding_model if "embedding_model" in settings.model_fields_set else None
        return await switch_model(db, name, now=now), named

    done, named = with_database(work)
    print(f"{done.became} is the active model now, {done.leaves} is leaving.")
    if done.behind:
        print(f"{done.leaves} answers for {done.behind:,} messages until they have vectors of {done.became}. {WAITS}")
    print("'memsvc models rollback' undoes it; ", end="")
    print(f"'memsvc models retire {done.leaves}' ends it and deletes that model's vectors.")
    if named not in {None, "", done.became}:
        note(f"MEMSVC_EMBEDDING_MODEL says {named}; set it to {done.became} when you next can.")


@models.command("retire")
def retire(name: str = Name) -> None:
    """Give a model up that is leaving or being built: its index and all its vectors are deleted, texts stay.

    May be interrupted and run again. The model can be built again afterwards, from the beginning.
    """

    async def work(db: Database, _settings: Settings) -> int:
        from rich.console import Console
        from rich.progress import Progress

        from memsvc.llm.embedders.registry import list_models, retire_model

        total = {model.name: model.embedded for model in await list_models(db)}.get(name)
        with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
            bar = progress.add_task(f"deleting vectors of {name}", total=total)
            return await retire_model(db, name, lambda dropped: progress.advance(bar, dropped))

    print(f"{name} is retired; {with_database(work):,} vectors were deleted.")


@models.command("embed")
def embed(user: str | None = UserRef, app: str = AppName) -> None:
    """Give all messages of a user the vectors that they lack, here and now; may be interrupted and run again.

    By every model in use. New messages get theirs from the worker; this is for what it could not do.
    """

    async def work(db: Database, settings: Settings) -> int:
        from rich.console import Console
        from rich.progress import Progress

        from memsvc.access.users import find_app
        from memsvc.errors import EmbedderMissingError
        from memsvc.llm.embedders.registry import list_models
        from memsvc.sources.embedding import embed_lacking

        owner = await chosen_user(db, await find_app(db, app), user)
        with embedders(settings) as resident:
            if resident is None:
                raise EmbedderMissingError("MEMSVC_EMBEDDING_MODEL is empty.")
            known = [m for m in await list_models(db, owner.user_id) if m.state != "retired" and not m.paused]
            with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
                task = progress.add_task("vectors", total=sum(m.lacking for m in known) if known else None)
                return await embed_lacking(db, resident, owner.user_id, lambda stored: progress.advance(task, stored))

    print(f"{with_database(work):,} vectors made.")
