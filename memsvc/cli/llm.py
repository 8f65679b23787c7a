"""``memsvc llm``: whether the language model works, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, chosen_user, note, print_json, print_table, with_database

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.llm.calls import Spending
    from memsvc.settings import Settings

llm = typer.Typer(
    help="The language model: whether it works, and what it cost.", no_args_is_help=True, rich_markup_mode=None
)


@llm.command("check")
def check(as_json: bool = AsJson) -> None:
    """Ask the configured model one short question: whether it answers, how fast, and whether it keeps to a JSON schema.

    Costs some hundred tokens, which are no user's and are written down nowhere.
    """
    import asyncio

    from memsvc.llm.capability import try_model
    from memsvc.settings import settings

    tried = asyncio.run(try_model(settings()))
    if as_json:
        print_json(tried)
        return
    print(f"{tried.model} at {tried.url} answers: the first sign after {tried.first_ms:,.0f} ms, ", end="")
    print(f"all of it after {tried.ms:,.0f} ms, {tried.tokens_in:,} tokens in, {tried.tokens_out:,} out.")
    if tried.strict:
        print("It accepts a strict JSON schema.", end="")
    else:
        print(f"It accepts no strict JSON schema; it is asked for {tried.form}, and answers are checked here.", end="")
    print(
        " The first answer did not have the form, the second one did."
        if tried.repaired
        else " The answer had the form."
    )


@llm.command("calls")
def calls(
    days: int = typer.Option(7, "--days", min=1, max=3_650, help="So many days, today included."),
    user: str | None = typer.Option(None, "--user", "-u", help="Of this user alone, by id or external id."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show what the model cost by day (UTC) and task: calls, tokens, time and, where the server tells it, money."""

    async def work(db: Database, _settings: Settings) -> list[Spending]:
        from memsvc.access.users import find_app
        from memsvc.llm.calls import spending

        chosen = (await chosen_user(db, await find_app(db, app), user)).owner.user_id if user is not None else None
        return await spending(db, chosen, days=days)

    spent = with_database(work)
    if as_json:
        print_json(spent)
        return
    print_table(
        ["day", "task", "model", "calls", "answered", "tokens in", "tokens out", "seconds", "cost"],
        [
            [s.day, s.task, s.model, s.calls, s.answered, s.tokens_in, s.tokens_out, f"{s.ms / 1000:.1f}", s.cost]
            for s in spent
        ],
    )
    if not spent:
        note("The language model was not asked.")
