"""``memsvc models``: show the embedding models, and replace one with another."""

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
    user_at_home,
    with_database,
)
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.llm.embedders.registry import Built, ModelProgress, Switched
    from memsvc.settings import Settings

models = typer.Typer(help="Show the embedding models, and replace one with another.", rich_markup_mode=None)
Name = typer.Argument(help="The model as 'memsvc models' shows it: backend:model, or the name of an entry point.")
OneUser = typer.Option(None, "--user", "-u", help="Count only the messages of this user, by id or external id.")
LOOK_EVERY_S = 1.0
WAITS = "A worker does this in the background ('memsvc up', 'memsvc worker'); 'memsvc models' shows the progress."


@models.callback(invoke_without_command=True)
def list_by_default(
    context: typer.Context, user: str | None = OneUser, app: str = AppName, as_json: bool = AsJson
) -> None:
    """List the embedding models, or change the active one.

    A change has three steps, which may take days: build the new model, switch to it, retire the old one. Until the last
    step, rollback undoes the switch. Recall works throughout.
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

        chosen = (await chosen_user(db, await find_app(db, app), user)).user_id if user is not None else None
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
        False, "--wait", help="Take part in the work, with a progress bar, until no message lacks a vector."
    ),
) -> None:
    """Start computing a new model's vectors for all messages of all users; recall keeps using the active model.

    The model is loaded and tried first. Running this again retries messages that still lack vectors, also for the
    active model. Afterwards, 'memsvc models switch' makes the new model the active one.
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
    print(
        f"{name} is {'paused' if made.paused else made.state}: "
        f"{counted(made.embedded, 'message has', 'messages have')} its vectors, ",
        end="",
    )
    print(f"{made.lacking:,} lack them." if made.lacking else "none lack them.")
    if made.paused:
        print(f"Resume with 'memsvc models resume {name}'.")
    elif made.lacking:
        print(f"{counted(built.jobs, 'user has', 'users have')} a job for this. {WAITS}")
    elif made.state == "building":
        print(f"Make it the active model with 'memsvc models switch {name}'.")


async def _wait(db: Database, settings: Settings, name: str) -> None:
    """Run jobs until no message lacks the model's vector, or no jobs are left for it."""
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
                pause = max(LOOK_EVERY_S, 10 * (time.monotonic() - began))  # counting takes at most a tenth of the time
                await asyncio.wait({working}, timeout=pause)
            await working
            made = next(model for model in await list_models(db) if model.name == name)
            progress.update(bar, completed=made.embedded, total=made.embedded + made.lacking)
            if not made.lacking or made.paused or made.state == "retired" or not (await backlog(db)).pending:
                return
            await asyncio.sleep(pause)  # workers run the jobs, or they are not due yet


@models.command("pause")
def pause(name: str = Name) -> None:
    """Pause the computation of a new model's vectors; existing vectors are kept."""
    _pause(name, paused=True)
    print(f"{name} is paused. Resume with 'memsvc models resume {name}'.")


@models.command("resume")
def resume(name: str = Name) -> None:
    """Resume a paused model, including messages that were stored during the pause."""
    print(f"{name} is building: {counted(_pause(name, paused=False), 'user has', 'users have')} a job. {WAITS}")


def _pause(name: str, *, paused: bool) -> int:
    async def work(db: Database, _settings: Settings) -> int:
        from memsvc.llm.embedders.registry import pause_model

        return await pause_model(db, name, paused=paused)

    return with_database(work)


@models.command("switch")
def switch(
    name: str = Name,
    now: bool = typer.Option(
        False, "--now", help="Switch even if messages lack its vectors: the old model finds those meanwhile."
    ),
) -> None:
    """Make a model that is building or leaving the active one: recall compares queries by its vectors from now on.

    The previous model is then leaving: new messages still get its vectors until 'memsvc models retire', so that
    'memsvc models rollback' loses nothing. All processes use the new model within 5 seconds.
    """
    _switch(name, now=now)


@models.command("rollback")
def rollback() -> None:
    """Make the leaving model the active one again; the model that replaced it is then leaving."""
    _switch(None, now=True)


def _switch(name: str | None, *, now: bool) -> None:
    async def work(db: Database, settings: Settings) -> tuple[Switched, str | None]:
        from memsvc.llm.embedders.registry import switch_model

        named = settings.embedding_model if "embedding_model" in settings.model_fields_set else None
        return await switch_model(db, name, now=now), named

    done, named = with_database(work)
    print(f"{done.became} is the active model now, {done.leaves} is leaving.")
    if done.behind:
        print(
            f"{done.leaves} is used for {counted(done.behind, 'message')} until there are vectors of {done.became}. "
            f"{WAITS}"
        )
    print("'memsvc models rollback' undoes it; ", end="")
    print(f"'memsvc models retire {done.leaves}' completes it and deletes that model's vectors.")
    if named not in {None, "", done.became}:
        note(f"MEMSVC_EMBEDDING_MODEL says {named}; set it to {done.became} at the next opportunity.")


@models.command("retire")
def retire(name: str = Name) -> None:
    """Delete the index and all vectors of a model that is leaving or building; messages are kept.

    May be interrupted and run again. The model can be built again later, from the beginning.
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
    """Compute the vectors that a user's messages lack, in this process; may be interrupted and run again.

    It does so for every model in use. Workers embed new messages; this is for messages that they could not embed.
    """

    async def work(db: Database, settings: Settings) -> int:
        from rich.console import Console
        from rich.progress import Progress

        from memsvc.errors import EmbedderMissingError
        from memsvc.llm.embedders.registry import list_models
        from memsvc.sources.embedding import embed_lacking

        db, owner = await user_at_home(db, user, app)
        with embedders(settings) as resident:
            if resident is None:
                raise EmbedderMissingError("MEMSVC_EMBEDDING_MODEL is empty.")
            known = [m for m in await list_models(db, owner.user_id) if m.state != "retired" and not m.paused]
            with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
                task = progress.add_task("vectors", total=sum(m.lacking for m in known) if known else None)
                return await embed_lacking(db, resident, owner.user_id, lambda stored: progress.advance(task, stored))

    print(f"{with_database(work):,} vectors stored.")
