"""``memsvc mcp``: serve memory to a desktop assistant over standard input and output."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, UserRef, chosen_user, embedders, note, opened
from memsvc.cli.service import end, kept_up, stop_signal

if TYPE_CHECKING:
    from memsvc.access.keys import Principal
    from memsvc.db.engine import Database
    from memsvc.settings import Settings

MAY_DO = frozenset({"read", "write", "forget"})
POOL = 4


async def _principal(db: Database, app: str, user: str | None, key: str | None, scopes: list[str]) -> Principal:
    """Return the principal that the assistant acts for: the key's user, or the named user.

    Raises:
        UnauthenticatedError: the key is not valid.
        UserUnknownError: the user does not exist.
        UserRequiredError: the app has several users and none is named.
    """
    from memsvc.access.keys import Principal, authenticate
    from memsvc.access.users import find_app, owner_of

    if key is not None:
        known = await authenticate(db, key, user)
        known.require_owner("read" if "read" in known.scopes else "write")
        return known
    found = await find_app(db, app)
    meant = await owner_of(db, (await chosen_user(db, found, user)).user_id)
    return Principal(found, frozenset(scopes), meant, meant.user_id)


async def _serve(
    settings: Settings, admin_url: str, who: tuple[str, str | None, str | None, list[str]], *, work: bool
) -> None:
    """Serve until standard input ends or a signal arrives."""
    from jobs.worker import working
    from memsvc.api.mcp.asker import Asker
    from memsvc.api.mcp.stdio import serve_stdio
    from memsvc.cells.directory import Cells, Followed
    from memsvc.db.engine import Database
    from memsvc.extract.run import Extractors
    from memsvc.server.locate import app_url

    url = app_url(admin_url, settings)
    stopping = stop_signal()
    db = Database(url, settings, pool_size=POOL)
    cells = Cells(db, settings.model_copy(update={"pool_size": POOL}))
    try:
        principal = await _principal(db, *who)
        owner = principal.owner
        find = Followed(cells, owner.user_id) if owner is not None else None
        if find is not None:
            await asyncio.create_task(find())  # in a task of its own, whose epoch no worker of this process gets
        with embedders(settings) as models:
            warming = asyncio.create_task(models.ready(db)) if models is not None else None
            async with working(settings, url, models) if work else nullcontext():
                note("memsvc serves MCP on standard input and output. Press Ctrl-C to stop.")
                asker = Asker(db, settings, models, principal, Extractors(settings), find)
                serving = asyncio.create_task(serve_stdio(asker))
                # A signal does not cancel this task: its thread blocks until it has read a line.
                await asyncio.wait({serving, asyncio.create_task(stopping.wait())}, return_when=asyncio.FIRST_COMPLETED)
                if serving.done():
                    await serving
            if warming is not None:
                warming.cancel()
    finally:
        await cells.close()
        await db.close()


def mcp(
    user: str | None = UserRef,
    app: str = AppName,
    key: str | None = typer.Option(
        None, "--key", envvar="MEMSVC_KEY", help="Use this key's user and scopes instead of --user and --scope."
    ),
    scope: list[str] = typer.Option(
        ["read", "write"], "--scope", help="What the assistant may do: read, write or forget; repeatable."
    ),
    worker: bool = typer.Option(
        True, "--worker/--no-worker", help="Also run background jobs, such as vectors and facts, in this process."
    ),
) -> None:
    """Serve the Model Context Protocol on standard input and output, to a desktop assistant that starts this."""
    if not MAY_DO.issuperset(scope):
        raise typer.BadParameter("The scopes are read, write and forget.", param_hint="--scope")
    with opened() as (admin_url, settings), kept_up(settings):
        loop = asyncio.new_event_loop()
        loop.run_until_complete(_serve(settings, admin_url, (app, user, key, scope), work=worker))
    end()
