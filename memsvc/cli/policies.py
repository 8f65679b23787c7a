"""``memsvc policy``: what happens to secrets in text, for all users of an app or for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, every_cell, owner_at_home, print_json, print_table, with_database

if TYPE_CHECKING:
    from memsvc.access.policies import Policies
    from memsvc.db.engine import Database
    from memsvc.settings import Settings

policies = typer.Typer(
    help="Show or set what happens to secrets in text: kept, masked or refused.", no_args_is_help=True
)
OfUser = typer.Option(None, "--user", "-u", help="External id or id of a user; default: all users of the app.")


@policies.command("show")
def show(user: str | None = OfUser, app: str = AppName, as_json: bool = AsJson) -> None:
    """Show what happens to secrets of each kind, and who demands it."""

    async def work(db: Database, _settings: Settings) -> Policies:
        from memsvc.access.policies import app_policies, user_policies
        from memsvc.access.users import find_app

        found = await find_app(db, app)
        if user is None:
            return await app_policies(db, found)
        return await user_policies(*await owner_at_home(db, user, app))

    _print(with_database(work), as_json=as_json)


@policies.command("set")
def set_policy(
    treatments: list[str] = typer.Argument(
        metavar="KIND=keep|mask|refuse",
        help="Kinds: key, private_key, password, card, iban, national_id; all stands for those that are not named.",
    ),
    user: str | None = OfUser,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Replace the policy of an app or of a user. Kinds that are not named are kept; what is stored stays as it is."""

    async def work(db: Database, settings: Settings) -> Policies:
        from memsvc.access.policies import set_app_policy, set_user_policy
        from memsvc.access.users import find_app

        wanted = {kind: treatment for kind, _, treatment in (one.partition("=") for one in treatments)}
        found = await find_app(db, app)
        if user is None:
            async with every_cell(db, settings) as cells:
                others = [database for cell, database in await cells.all() if cell is not None]
                return await set_app_policy(db, found, wanted, cells=others)
        there, owner = await owner_at_home(db, user, app)
        return await set_user_policy(there, found, owner, wanted, directory=db)

    _print(with_database(work), as_json=as_json)


def _print(found: Policies, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    print_table(
        ["kind", "what counts", "service", "app", "user"],
        [
            [kind, counts, found.service[kind], found.app[kind], found.own[kind] if found.own is not None else ""]
            for kind, counts in found.applied.items()
        ],
    )
