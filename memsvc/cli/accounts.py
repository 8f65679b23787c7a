"""``memsvc user`` and ``memsvc key``: manage users and API keys."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    as_uuid,
    chosen_user,
    every_cell,
    owner_at_home,
    print_json,
    print_table,
    with_database,
)
from memsvc.cli.moving import move
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.erasing.anonymising import Anonymised, Figure
    from memsvc.settings import Settings

PerMinute = typer.Option(None, min=1, max=1_000_000_000, help="Most requests in a minute; default: no limit.")
PerDay = typer.Option(None, min=1, max=1_000_000_000, help="Most messages in a day (UTC); default: no limit.")

users = typer.Typer(help="Manage users, the owners of memories.", no_args_is_help=True, rich_markup_mode=None)
keys = typer.Typer(help="Manage the API keys of an app.", no_args_is_help=True, rich_markup_mode=None)
users.command("move")(move)


@users.command("add")
def add(
    name: str = typer.Option(..., help="The user's name, as people say it."),
    alias: list[str] = typer.Option([], help="Another name of the user; repeatable."),
    external_id: str | None = typer.Option(None, help="The app's own id for the user; default: the name."),
    zone: str = typer.Option("UTC", help="IANA time zone for times without an offset."),
    language: str = typer.Option("english", help="Language of the user's messages, as PostgreSQL names it."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Add a user and a node with the user's names, so that "I" and every alias refer to that node from the start."""

    async def work(db: Database, settings: Settings) -> Any:
        from memsvc.access.users import app_id, own_names
        from memsvc.cells.people import add_user_somewhere

        async with every_cell(db, settings) as cells:
            user = await add_user_somewhere(
                cells,
                await app_id(db, app),
                name=name,
                external_id=external_id,
                aliases=alias,
                time_zone=zone,
                language=language,
            )
            return user, await own_names(await cells.find(user.user_id), user.owner)

    user, node = with_database(work)
    if as_json:
        print_json({"user": user, "node": node})
    else:
        print(f"{user.name} ({user.user_id}), known as {', '.join(node.aliases)}.")
        print(
            f"Next: memsvc ingest FILE --user {user.external_id!r}, or memsvc key create --user {user.external_id!r}."
        )


@users.command("list")
def list_all(
    after: str | None = typer.Option(None, help="Id of the last user on the previous page."),
    limit: int = typer.Option(100, min=1, max=1000, help="Page size."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List users in the order in which they were added."""

    async def work(db: Database, _settings: Settings) -> Any:
        from memsvc.access.users import find_app, list_users

        last = as_uuid(after, "user") if after else None
        return await list_users(db, await find_app(db, app), after=last, limit=limit)

    found = with_database(work)
    if as_json:
        print_json(found)
    else:
        print_table(
            ["id", "external id", "name", "zone", "language"],
            [[u.user_id, u.external_id, u.name, u.time_zone, u.language] for u in found],
        )


@users.command("pause")
def pause(
    user: str | None = UserRef,
    hours: int | None = typer.Option(None, min=1, max=87_600, help="For so many hours; default: until 'user resume'."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Store no message of a user for a while, whichever way it comes in. Recall goes on."""

    async def work(db: Database, _settings: Settings) -> Any:
        from memsvc.access.pausing import pause

        db, owner = await owner_at_home(db, user, app)
        return await pause(db, owner, datetime.now(UTC) + timedelta(hours=hours) if hours else None)

    made = with_database(work)
    if as_json:
        print_json(made)
    else:
        print(f"Messages are not stored {f'until {made.until:%Y-%m-%d %H:%M} UTC' if made.until else 'for now'}.")
        print("'memsvc user resume' ends that. Facts, notes and instructions can still be added.")


@users.command("anonymise")
def anonymise(
    name: str = typer.Argument(help="External id or id of the user."),
    preview: bool = typer.Option(False, "--preview", help="Only show what would stay."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask for confirmation."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Erase a user for good, and keep numbers by month that name nobody. Prints the receipt.

    Names, texts, vectors, documents and ids go, as text about people cannot be made anonymous. May be interrupted and
    run again.
    """
    from memsvc.errors import InvalidRequestError, UserUnknownError

    if not (preview or yes or sys.stdin.isatty()):
        raise InvalidRequestError(
            "Cannot ask for confirmation without a terminal.", hint="Add --yes to anonymise, or --preview to look."
        )

    async def work(db: Database, settings: Settings) -> Any:
        from memsvc.access.users import find_app
        from memsvc.cells.people import anonymise_user_anywhere, preview_anonymising_anywhere

        home = await find_app(db, app)
        async with every_cell(db, settings) as cells:
            if preview:
                return await preview_anonymising_anywhere(cells, home, name)
            if not yes:
                with suppress(UserUnknownError):  # an erasure may have been interrupted: it goes on
                    _show_figures(await preview_anonymising_anywhere(cells, home, name))
                typer.confirm(f"Keep these numbers, and erase all else of {name!r}?", err=True, abort=True)
            return await anonymise_user_anywhere(cells, home, name, requested_by="cli")

    made = with_database(work)
    if as_json:
        print_json(made)
    elif preview:
        _show_figures(made)
    else:
        _show_receipt(made)
    if not preview and made.receipt.leftovers:
        raise typer.Exit(1)


def _show_receipt(made: Anonymised) -> None:
    print_table(["table", "rows erased"], sorted(made.receipt.counts.items()))
    print(f"\n{made.receipt.subject_id}: {made.receipt.state}, receipt {made.receipt.erasure_id}.")
    print(f"{made.added:,} numbers were added to those of the app: 'memsvc user figures'.")


@users.command("figures")
def figures(app: str = AppName, as_json: bool = AsJson) -> None:
    """List the numbers that stayed of users of the app who were anonymised, by month."""

    async def work(db: Database, settings: Settings) -> Any:
        from memsvc.access.users import find_app
        from memsvc.cells.people import figures_of_app_everywhere

        async with every_cell(db, settings) as cells:
            return await figures_of_app_everywhere(cells, await find_app(db, app))

    found = with_database(work)
    print_json(found) if as_json else _show_figures(found)


def _show_figures(found: Sequence[Figure]) -> None:
    print_table(["month", "what", "kind", "number"], [[f"{f.month:%Y-%m}", f.what, f.kind, f.number] for f in found])


@users.command("resume")
def resume(user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Store a user's messages again."""

    async def work(db: Database, _settings: Settings) -> Any:
        from memsvc.access.pausing import resume

        db, owner = await owner_at_home(db, user, app)
        return await resume(db, owner)

    made = with_database(work)
    print_json(made) if as_json else print("Messages are stored again.")


@keys.command("create")
def create(
    scope: list[str] = typer.Option(
        ["read", "write"], help="read, write, forget, enroll (add users on first use) or admin; repeatable."
    ),
    user: str | None = typer.Option(
        None, "--user", "-u", help="The only user that the key may act for; default: all users of the app."
    ),
    label: str = typer.Option("", help="What the key is for."),
    days: int | None = typer.Option(None, min=1, max=36_500, help="Days until the key expires; default: never."),
    requests_per_minute: int | None = PerMinute,
    messages_per_day: int | None = PerDay,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Create a key and print it. It is shown only once: memsvc stores only its hash."""

    async def work(db: Database, _settings: Settings) -> str:
        from memsvc.access.keys import Limits, create_key
        from memsvc.access.users import app_id

        owner = await app_id(db, app)
        bound = (await chosen_user(db, owner, user)).user_id if user else None
        ttl = timedelta(days=days) if days else None
        limits = Limits(requests_per_minute, messages_per_day)
        return await create_key(db, owner, scopes=scope, user_id=bound, label=label, ttl=ttl, limits=limits)

    key = with_database(work)
    print_json({"key": key}) if as_json else print(key)


@keys.command("list")
def list_keys_of_app(app: str = AppName, as_json: bool = AsJson) -> None:
    """List keys, without their secrets."""

    async def work(db: Database, _settings: Settings) -> Any:
        from memsvc.access.keys import list_keys
        from memsvc.access.users import find_app
        from memsvc.db.paging import MAX_PAGE

        owner, found, cursor = await find_app(db, app), [], None
        while True:
            page = await list_keys(db, owner, cursor=cursor, limit=MAX_PAGE)
            found += page.items
            cursor = page.next_cursor
            if cursor is None:
                return found

    found = with_database(work)
    if as_json:
        print_json(found)
    else:
        print_table(
            ["key", "user", "scopes", "label", "expires", "revoked", "requests/minute", "messages/day", "today"],
            [
                [
                    k.key_id, k.user_id, ",".join(k.scopes), k.label, k.expires_at, k.revoked_at,
                    k.requests_per_minute, k.messages_per_day, k.messages_today,
                ]
                for k in found
            ],
        )  # fmt: skip


@keys.command("limit")
def limit(
    key_id: str = typer.Argument(help="The part of the key before the dot."),
    requests_per_minute: int | None = PerMinute,
    messages_per_day: int | None = PerDay,
    app: str = AppName,
) -> None:
    """Set a key's limits; a limit that is not given is removed."""

    async def work(db: Database, _settings: Settings) -> None:
        from memsvc.access.keys import Limits, limit_key
        from memsvc.access.users import find_app

        await limit_key(db, await find_app(db, app), key_id, Limits(requests_per_minute, messages_per_day))

    with_database(work)
    limits = [f"{requests_per_minute:,} requests a minute"] if requests_per_minute else []
    limits += [f"{counted(messages_per_day, 'message')} a day"] if messages_per_day else []
    print(f"{key_id.split('.', 1)[0]}: {' and '.join(limits) or 'no limits'}.")


@keys.command("scopes")
def scopes(
    key_id: str = typer.Argument(help="The part of the key before the dot."),
    scope: list[str] = typer.Option(..., help="read, write, forget, enroll or admin; repeatable."),
    app: str = AppName,
) -> None:
    """Set what a key may do, with immediate effect; a scope that is not given is taken away."""

    async def work(db: Database, _settings: Settings) -> None:
        from memsvc.access.keys import rescope_key
        from memsvc.access.users import find_app

        await rescope_key(db, await find_app(db, app), key_id, scope)

    with_database(work)
    print(f"{key_id.split('.', 1)[0]} may {', '.join(sorted(set(scope)))}.")


@keys.command("revoke")
def revoke(
    key_id: str = typer.Argument(help="The part of the key before the dot."),
    app: str = AppName,
) -> None:
    """Revoke a key, with immediate effect."""

    async def work(db: Database, _settings: Settings) -> None:
        from memsvc.access.keys import revoke_key
        from memsvc.access.users import find_app

        await revoke_key(db, await find_app(db, app), key_id)

    with_database(work)
    print(f"{key_id.split('.', 1)[0]} is revoked.")
