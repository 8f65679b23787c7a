"""``memsvc budget``: what an app and its users may use in a day."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import AppName, AsJson, every_cell, print_json, print_table, with_database

if TYPE_CHECKING:
    from memsvc.access.budgets import Whose
    from memsvc.db.engine import Database
    from memsvc.settings import Settings

MOST = 10**15
budgets = typer.Typer(
    help="Manage what an app and its users may use in a day (UTC).", no_args_is_help=True, rich_markup_mode=None
)
User = typer.Option(None, help="Only this user: id or external id.")


def _cost(given: str | None) -> Decimal | None:
    if given is None:
        return None
    try:
        return Decimal(given)
    except InvalidOperation as error:
        message = f"{given!r} is not a number."
        raise typer.BadParameter(message, param_hint="--cost") from error


@budgets.command("set")
def set_(
    user: str | None = User,
    each: bool = typer.Option(False, "--each", help="Every user of the app who has no limit of their own."),
    messages: int | None = typer.Option(None, min=1, max=MOST, help="Most messages in a day."),
    bytes_: int | None = typer.Option(None, "--bytes", min=1, max=MOST, help="Most bytes of texts and documents."),
    tokens: int | None = typer.Option(None, min=1, max=MOST, help="Most tokens of the language model in a day."),
    cost: str | None = typer.Option(None, help="Highest cost of the language model in a day."),
    app: str = AppName,
) -> None:
    """Set a budget: of the whole app, of --each user, or of one --user; a limit that is not given is removed."""
    from memsvc.access.budgets import Limits

    limits = Limits(messages_per_day=messages, bytes_per_day=bytes_, tokens_per_day=tokens, cost_per_day=_cost(cost))
    if user is not None and each:
        message = "name a user, or all of them"
        raise typer.BadParameter(message, param_hint="--each")

    async def work(db: Database, settings: Settings) -> None:
        from memsvc.access.users import find_app
        from memsvc.cells.budgets import set_budget_everywhere

        whose: Whose = "user" if user is not None else "each" if each else "app"
        async with every_cell(db, settings) as cells:
            await set_budget_everywhere(cells, await find_app(db, app), whose, limits, user=user)

    with_database(work)
    named = {"messages": messages, "bytes": bytes_, "tokens": tokens, "of cost": limits.cost_per_day}
    said = " and ".join(f"{limit:,} {name}" for name, limit in named.items() if limit is not None)
    whom = user if user is not None else "each user" if each else f"the app {app}"
    print(f"{whom}: {f'{said} a day' if said else 'no budget'}.")


@budgets.command("show")
def show(user: str | None = User, app: str = AppName, as_json: bool = AsJson) -> None:
    """Show budgets, and what was used of them today."""

    async def work(db: Database, settings: Settings) -> Any:
        from memsvc.access.users import find_app, find_user
        from memsvc.cells.budgets import list_budgets_everywhere
        from memsvc.db.paging import MAX_PAGE

        owner, found, cursor = await find_app(db, app), [], None
        user_id = (await find_user(db, owner, user)).user_id if user is not None else None
        async with every_cell(db, settings) as cells:
            while True:
                page = await list_budgets_everywhere(cells, owner, user_id=user_id, cursor=cursor, limit=MAX_PAGE)
                found += page.items
                cursor = page.next_cursor
                if cursor is None:
                    return found

    found = with_database(work)
    if as_json:
        print_json(found)
        return
    rows = [
        [
            one.user_name or ("each user" if one.whose == "each" else "the app"),
            *(
                f"{used:,} of {most:,}" if most is not None else f"{used:,}"
                for used, most in (
                    (one.used.messages, one.limits.messages_per_day),
                    (one.used.bytes, one.limits.bytes_per_day),
                    (one.used.tokens, one.limits.tokens_per_day),
                    (one.used.cost, one.limits.cost_per_day),
                )
            ),
        ]
        for one in found
    ]
    print_table(["whose", "messages", "bytes", "tokens", "cost"], rows)
