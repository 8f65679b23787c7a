"""``memsvc llm``: check the language model, and show what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, chosen_user, note, print_json, print_table, with_database

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.llm.calls import Spending
    from memsvc.settings import Settings

llm = typer.Typer(help="Check the language model, and show what it cost.", no_args_is_help=True, rich_markup_mode=None)


@llm.command("check")
def check(as_json: bool = AsJson) -> None:
    """Ask the configured model a short question to check its answer, its speed, and its support for JSON schemas.

    This uses a few hundred tokens, which are not recorded and count for no user.
    """
    import asyncio

    from memsvc.llm.capability import try_model
    from memsvc.settings import settings

    tried = asyncio.run(try_model(settings()))
    if as_json:
        print_json(tried)
        return
    print(f"{tried.model} at {tried.url} answers: first token after {tried.first_ms:,.0f} ms,  ", end="")
    print(f"complete after {tried.ms:,.0f} ms,  {tried.tokens_in:,} tokens in, {tried.tokens_out:,} out.")
    if tried.strict:
        print("It accepts a strict JSON schema.", end="")
    else:
        print(f"It does not accept a strict JSON schema; memsvc asks for {tried.form} and checks the answers.", end="")
    print(
        " The first answer did not match the schema; the second one did."
        if tried.repaired
        else " The answer matched the schema."
    )


@llm.command("calls")
def calls(
    days: int = typer.Option(7, "--days", min=1, max=3_650, help="Number of days, including today."),
    user: str | None = typer.Option(None, "--user", "-u", help="Only this user, by id or external id."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show what the model cost by day (UTC) and task: calls, tokens, time and, if the server reports it, money."""

    async def work(db: Database, _settings: Settings) -> list[Spending]:
        from memsvc.access.users import find_app
        from memsvc.llm.calls import spending

        chosen = (await chosen_user(db, await find_app(db, app), user)).user_id if user is not None else None
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
        note("There were no calls to the language model.")
