"""``memsvc archive``: what forgetting has archived, and taking it out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, for_owner, for_owner_with, print_json
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.settings import Settings
    from memsvc.sleep.archive import Archive, Restored

archive = typer.Typer(
    help="Memories that nobody recalled for long, which forgetting has archived.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
SWITCHES = {"on": True, "off": False, "default": None}


def _show(found: Archive, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    by = "chosen" if found.chosen else "as the service is set"
    print(f"Forgetting is {'on' if found.forgetting else 'off'} ({by}).")
    print(
        f"Archived: {counted(found.messages, 'message')}, {counted(found.facts, 'fact')}, "
        f"{counted(found.cards, 'description')} of nodes, {counted(found.turns, 'text')} of turns."
    )


@archive.command("show")
def show(user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Show how much is archived, and whether forgetting is on."""

    async def act(db: Database, owner: Owner, settings: Settings) -> Archive:
        from memsvc.sleep.archive import archive_of

        return await archive_of(db, owner, settings)

    _show(for_owner_with(user, app, act), as_json=as_json)


@archive.command("forgetting")
def forgetting(
    switch: str = typer.Argument(help="on, off, or default: as MEMSVC_FORGETTING is set.", metavar="SWITCH"),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Switch forgetting on or off for a user. What is archived stays archived."""

    async def act(db: Database, owner: Owner, settings: Settings) -> Archive:
        from memsvc.errors import InvalidRequestError
        from memsvc.sleep.archive import switch_forgetting

        if switch not in SWITCHES:
            raise InvalidRequestError("Forgetting can be on, off or default.", field="switch")
        return await switch_forgetting(db, owner, settings, on=SWITCHES[switch])

    _show(for_owner_with(user, app, act), as_json=as_json)


@archive.command("restore")
def restore(
    memories: list[str] = typer.Argument(help="Ids of memories, short or full.", metavar="MEMORY..."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Take memories out of the archive; 'memsvc sleep --undo' takes back what a whole run archived."""

    async def act(db: Database, owner: Owner) -> Restored:
        from memsvc.sleep.archive import restore

        return await restore(db, owner, memories)

    done: Any = for_owner(user, app, act)
    if as_json:
        print_json(done)
    else:
        print(f"{counted(done.restored, 'memory', 'memories')} restored.")
