"""``memsvc graph rebuild`` and ``memsvc graph verify``: the graph for Cypher, on servers with Apache AGE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, chosen_user, note, on_database, opened, print_json, print_table

if TYPE_CHECKING:
    from uuid import UUID

    from memsvc.db.engine import Database
    from memsvc.settings import Settings

Whose = typer.Option(None, "--user", "-u", help="Only this user, by id or external id; default: all users.")


def _user_id(admin_url: str, chosen: Settings, user: str | None, app: str) -> UUID | None:
    if user is None:
        return None

    async def find(db: Database, _settings: Settings) -> UUID:
        from memsvc.access.users import find_app

        return (await chosen_user(db, await find_app(db, app), user)).user_id

    return on_database(admin_url, chosen, find)


def rebuild(user: str | None = Whose, app: str = AppName) -> None:
    """Rebuild the graph for Cypher from the tables, user by user, while the service runs."""
    import psycopg

    from memsvc.db.files import head_revision
    from memsvc.server import projection

    with opened() as (admin_url, chosen):
        user_id = _user_id(admin_url, chosen, user, app)
        with psycopg.connect(admin_url, autocommit=True) as connection:
            projection.bring_up(connection, chosen, head_revision(), note)
            if not projection.state(connection).there:
                raise projection.missing()
            projection.rebuild(connection, chosen, user_id, report=note)
    print("Rebuilt.")


def verify(user: str | None = Whose, app: str = AppName, as_json: bool = AsJson) -> None:
    """Compare the graph for Cypher with the tables; 'memsvc graph rebuild' repairs it. Exit code 1: they differ."""
    import psycopg

    from memsvc.server import projection

    with opened() as (admin_url, chosen):
        user_id = _user_id(admin_url, chosen, user, app)
        with psycopg.connect(admin_url, autocommit=True) as connection:
            if not projection.state(connection).there:
                raise projection.missing()
            found = list(projection.compare(connection, chosen, user_id))
    wrong = [line for line in found if line.wrong]
    if as_json:
        print_json({"ok": not wrong, "differences": wrong})
    else:
        print_table(
            ["user", "kind", "stored", "missing", "surplus", "different"],
            [[line.user_id, line.kind, line.stored, line.missing, line.surplus, line.different] for line in wrong],
        )
        print(f"{sum(line.stored for line in found)} vertices and edges; {len(wrong)} differences.")
    if wrong:
        raise typer.Exit(1)
