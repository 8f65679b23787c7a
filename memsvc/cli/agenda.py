"""``memsvc agenda``: what falls into a span of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, for_owner, note, plain, print_json
from memsvc.cli.memories import AskedAt

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.recall.agenda import AgendaPage


def agenda(
    begin: str | None = typer.Option(None, "--from", help="From this time on (ISO 8601); default: today."),
    end: str | None = typer.Option(None, "--to", help="Before this time (ISO 8601); default: --days later."),
    days: int = typer.Option(7, "--days", min=1, max=3650, help="Length of the span in days, without --to."),
    user: str | None = UserRef,
    asked_at: str | None = AskedAt,
    limit: int = typer.Option(100, "--limit", "-k", min=1, max=1000, help="Most items to show."),
    cursor: str | None = typer.Option(None, "--cursor", help="next_cursor of the page before."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List reminders, appointments, tasks, events and birthdays in a span of time: the next 7 days, if not told."""

    async def act(db: Database, owner: Owner) -> AgendaPage:
        from datetime import UTC, datetime, timedelta

        from memsvc.access.users import valid_zone
        from memsvc.recall.agenda import agenda, midnight
        from memsvc.sources.moments import need_moment, read_asked_at

        zone, now = valid_zone(owner.time_zone), read_asked_at(asked_at) or datetime.now(UTC)
        first = need_moment(begin, owner, "from") if begin else midnight(now.astimezone(zone).date(), zone)
        last = need_moment(end, owner, "to") if end else first.astimezone(zone) + timedelta(days)
        return await agenda(
            db, owner, first, last, asked_at=now if asked_at is not None else None, limit=limit, cursor=cursor
        )

    found = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    from memsvc.recall.agenda import when
    from memsvc.recall.dated import without_dates

    for item in found.items:
        said = f"[{item.id}] {when(item)}, {item.kind}: {without_dates(item.what)}"
        remark = f" ({item.remark})" if item.remark else ""
        print(plain(" ".join(said.split()) + remark))
    if not found.items:
        print("Nothing falls into it.")
    if found.truncated:
        note("There was too much to look at: something may be missing. Ask for a shorter span.")
    if found.next_cursor is not None:
        note(f"There is more: --cursor {found.next_cursor}")
