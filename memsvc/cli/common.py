"""Shared by the commands: opening the database, choosing the user, and printing text or JSON."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

import typer

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from memsvc.access.users import Owner, User
    from memsvc.cells.directory import Cells
    from memsvc.db.engine import Database
    from memsvc.llm.embedders.residents import Residents
    from memsvc.settings import Settings

T = TypeVar("T")
_cells: ContextVar[AsyncExitStack] = ContextVar("memsvc.cells")
"""Closes the databases of cells that a command has opened."""

AppName = typer.Option("default", "--app", envvar="MEMSVC_APP", help="The application that the user belongs to.")
UserRef = typer.Option(
    None, "--user", "-u", envvar="MEMSVC_USER", help="User id or external id; optional if the app has one user."
)
EncryptTo = typer.Option(
    [], "--encrypt-to", metavar="KEY", help="Encrypt to this public key, age1… or ssh-…; may be given several times."
)
PassphraseFile = typer.Option(
    None,
    "--passphrase-file",
    metavar="FILE",
    help="Encrypt, or decrypt, with the passphrase in this file's first line.",
)
IdentityFile = typer.Option(
    None, "--identity-file", metavar="FILE", help="Decrypt with the private key in this file, of age or SSH."
)
AsJson = typer.Option(False, "--json", help="Print one JSON document.")
WithoutBackup = typer.Option(
    False, "--without-backup", help="If the embedded database must be upgraded, do not back it up first."
)
WITHOUT = {
    "vector": "The embedding model gave no vector, or not in time: ask again; MEMSVC_QUERY_EMBEDDING_MS is the longest "
    "wait.",
    "words": "It has no words that recall can look for: ask in other words.",
    "order": "The learnt order of this installation cannot be used: install memsvc again.",
}
"""What helps where a search had to do without something that is no model; 'memsvc doctor' checks the other models."""


def note(line: str) -> None:
    """Print a message to standard error; standard output is for results."""
    print(line, file=sys.stderr)


@contextmanager
def opened(**changed: object) -> Iterator[tuple[str, Settings]]:
    """Yield the administrator's URL of the configured database and the settings; keep the embedded server running.

    Args:
        **changed: settings that override the configured ones.
    """
    from memsvc.observe import configure_logging
    from memsvc.server.locate import ready
    from memsvc.settings import settings

    chosen = settings().model_copy(update=changed) if changed else settings()
    # To standard error, because standard output is for results; for people, unless the settings say JSON.
    configure_logging(chosen.model_copy(update={"log_format": "console"}) if chosen.log_format == "auto" else chosen)
    with ready(chosen, note) as admin_url:
        yield admin_url, chosen


def on_database(admin_url: str, chosen: Settings, work: Callable[[Database, Settings], Awaitable[T]]) -> T:
    """Run work on a database, connected with the application's login.

    A job takes two connections, and the notifications about what it stored a third.
    """
    from memsvc.db.acting import act_as
    from memsvc.db.engine import Database
    from memsvc.server.locate import app_url

    async def run() -> T:
        act_as("cli")
        db = Database(app_url(admin_url, chosen), chosen, pool_size=3)
        try:
            async with AsyncExitStack() as cells:
                _cells.set(cells)
                return await work(db, chosen)
        finally:
            await db.close()

    return asyncio.run(run())


def with_database(work: Callable[[Database, Settings], Awaitable[T]]) -> T:
    """Run work on the configured database with the application's login; the embedded server runs during the work."""
    with opened() as (admin_url, chosen):
        return on_database(admin_url, chosen, work)


@contextmanager
def embedders(settings: Settings) -> Iterator[Residents | None]:
    """Yield the embedding models, or None if none is configured; close them when the block ends."""
    from memsvc.llm.embedders.residents import residents

    models = residents(settings)
    try:
        yield models
    finally:
        if models is not None:
            models.close()


async def chosen_user(db: Database, app: UUID, ref: str | None) -> User:
    """Return the named user, or the app's only user if none is named.

    Raises:
        UserUnknownError: no user has this name, or the app has no user.
        UserRequiredError: the app has several users and none was named.
    """
    from memsvc.access.users import find_user, list_users
    from memsvc.errors import UserRequiredError, UserUnknownError

    if ref is not None:
        return await find_user(db, app, ref)
    users = await list_users(db, app, limit=2)
    if not users:
        raise UserUnknownError("This app has no users yet.", hint="memsvc user add --name YOUR-NAME")
    if len(users) > 1:
        raise UserRequiredError(
            "This app has several users.", hint="Choose one with --user; 'memsvc user list' lists them."
        )
    return users[0]


@asynccontextmanager
async def every_cell(db: Database, settings: Settings) -> AsyncIterator[Cells]:
    """Yield the databases of all cells, for commands on whole users."""
    from memsvc.cells.directory import Cells

    cells = Cells(db, settings)
    try:
        await cells.read()
        yield cells
    finally:
        await cells.close()


async def user_at_home(db: Database, user: str | None, app: str) -> tuple[Database, User]:
    """Return the database with the chosen user's memory, which may be another cell's, and the user.

    ``on_database`` closes it.

    Raises:
        UserUnknownError, UserRequiredError: as ``chosen_user``.
        UserMovingError: the user is on the way to another cell.
    """
    from memsvc.access.users import find_app
    from memsvc.cells.directory import at_place_of
    from memsvc.settings import settings

    chosen = await chosen_user(db, await find_app(db, app), user)
    return await _cells.get().enter_async_context(at_place_of(db, settings(), chosen.user_id)), chosen


async def owner_at_home(db: Database, user: str | None, app: str) -> tuple[Database, Owner]:
    """Return the same, with what writing needs to know about the user, such as the policy on secrets in text."""
    from memsvc.access.users import owner_of

    there, chosen = await user_at_home(db, user, app)
    return there, await owner_of(there, chosen.user_id)


def for_owner(user: str | None, app: str, act: Callable[[Database, Owner], Awaitable[T]]) -> T:
    """Run work for the chosen user on the configured database."""
    return for_owner_with(user, app, lambda db, owner, _settings: act(db, owner))


def for_owner_shown(user: str | None, app: str, act: Callable[[Database, Owner], Awaitable[T]]) -> tuple[T, Owner]:
    """Do ``for_owner``, and return also the owner, on whose clock the result is shown."""

    async def both(db: Database, owner: Owner) -> tuple[T, Owner]:
        return await act(db, owner), owner

    return for_owner(user, app, both)


def for_owner_with(user: str | None, app: str, act: Callable[[Database, Owner, Settings], Awaitable[T]]) -> T:
    """Do ``for_owner`` for work that needs the settings."""

    async def work(db: Database, settings: Settings) -> T:
        there, owner = await owner_at_home(db, user, app)
        return await act(there, owner, settings)

    return with_database(work)


def finding(
    user: str | None, app: str, act: Callable[[Database, Owner, Settings, Residents | None], Awaitable[T]]
) -> T:
    """Run work for the chosen user that needs the embedding models."""

    async def work(db: Database, settings: Settings) -> T:
        there, owner = await owner_at_home(db, user, app)
        with embedders(settings) as models:
            return await act(there, owner, settings, models)

    return with_database(work)


def note_missing(degraded: Sequence[str]) -> None:
    """Say on standard error what a search had to do without, and what helps."""
    if degraded:
        helps = [WITHOUT[part] for part in degraded if part in WITHOUT]
        if any(part == "vector" or part not in WITHOUT for part in degraded):  # a model
            helps.append("'memsvc doctor' says why.")
        note(f"Searched without: {', '.join(degraded)}. {' '.join(helps)}")


def as_uuid(value: str, what: str) -> UUID:
    """Parse an id given on the command line.

    Raises:
        NotFoundError: the value is not an id, so nothing can have it.
    """
    from uuid import UUID

    from memsvc.errors import NotFoundError

    try:
        return UUID(value)
    except ValueError as error:
        raise NotFoundError(f"{value!r} is not a valid {what} id.") from error


def clock(moment: datetime | None, owner: Owner, *, time: bool = True) -> str:
    """Return a moment on the user's clock: a date, with the time of day unless that is midnight; empty for None.

    A message's time is another matter: it is shown on the clock of who said it, as it was written.

    Args:
        moment: an aware time, such as the begin of a fact.
        owner: whose clock it is.
        time: False: only the date.
    """
    from memsvc.access.users import valid_zone
    from memsvc.graph.draw import day

    return "" if moment is None else day(moment, valid_zone(owner.time_zone), clock=time)


def print_json(value: Any) -> None:
    """Print one JSON document to standard output."""
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def plain(text: str) -> str:
    """Replace characters that could control a terminal by spaces; keep line breaks."""
    return "".join(char if char == "\n" or char.isprintable() else " " for char in text)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a plain table that people and scripts can read at any width."""
    texts = [[plain("" if cell is None else str(cell)).replace("\n", " ") for cell in row] for row in rows]
    widths = [max(len(name), *(len(row[i]) for row in texts)) if texts else len(name) for i, name in enumerate(columns)]
    for line in ([*columns], *texts):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
