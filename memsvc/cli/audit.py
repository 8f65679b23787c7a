"""``memsvc audit``: who did what, and how often keys were used."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import AppName, AsJson, as_uuid, note, print_json, print_table, with_database

if TYPE_CHECKING:
    from memsvc.access.audit import Act
    from memsvc.db.engine import Database
    from memsvc.settings import Settings

Day = ["%Y-%m-%d"]


def audit(
    actor: str | None = typer.Option(None, help="Only acts by this key, or through this door: api, page, cli."),
    action: str | None = typer.Option(None, help="Only this action, such as key.revoke, or its first word: key."),
    since: datetime | None = typer.Option(None, formats=Day, help="The first day (UTC)."),
    until: datetime | None = typer.Option(None, formats=Day, help="The last day (UTC)."),
    before: str | None = typer.Option(None, help="Id of the last act of the previous page."),
    limit: int = typer.Option(50, min=1, max=1_000, help="Most acts to list, newest first."),
    use: bool = typer.Option(False, "--use", help="List how often keys were used on each of the last 30 days instead."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List who did what to users, keys, memories and models, newest first. The log has ids and no text."""

    async def work(db: Database, _settings: Settings) -> Any:
        from datetime import UTC

        from memsvc.access.audit import key_use, list_acts
        from memsvc.access.users import find_app

        owner = await find_app(db, app)
        if use:
            return await key_use(db, owner)
        page = await list_acts(
            db,
            owner,
            actor=actor,
            action=action,
            since=since.replace(tzinfo=UTC) if since else None,
            until=until.replace(tzinfo=UTC) + timedelta(days=1) if until else None,
            before=as_uuid(before, "act") if before else None,
            limit=limit,
        )
        return page.items

    found = with_database(work)
    if as_json:
        print_json(found)
    elif use:
        print_table(["day", "key", "requests", "last"], [[u.day, u.key_id, u.requests, u.last_at] for u in found])
    else:
        print_table(
            ["time", "act", "about", "user", "by"],
            [[a.recorded_at, a.action, a.subject, a.user_id, _by(a)] for a in found],
        )
    if not found and not as_json:
        note("Nothing was found.")


def _by(act: Act) -> str:
    """Who acted: the door and the key; for others, the login of the database."""
    return " ".join(part for part in (act.door, act.key_id) if part) or act.login
