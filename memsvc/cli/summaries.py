"""``memsvc summaries``: what sleep mode tells of conversations, days, weeks, months and years."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, for_owner, note, plain, print_json
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.db.paging import Page
    from memsvc.summaries.periods import Level
    from memsvc.summaries.stored import Summary


def summaries(
    level: str | None = typer.Option(None, "--level", help="One of: conversation, day, week, month, year."),
    begins: str | None = typer.Option(None, "--from", help="Only periods that end after this time (ISO 8601)."),
    ends: str | None = typer.Option(None, "--to", help="Only periods that begin before this time (ISO 8601)."),
    node: str | None = typer.Option(None, "--about", help="Only about this person or thing: its id, name or label."),
    limit: int = typer.Option(10, "--limit", "-k", min=1, max=1000, help="Most summaries to show."),
    cursor: str | None = typer.Option(None, "--cursor", help="next_cursor of the page before."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List summaries, the latest period first. 'memsvc sleep --tasks summaries' writes them now."""

    async def act(db: Database, owner: Owner) -> Page[Summary]:
        from memsvc.graph.find import find_node
        from memsvc.sources.moments import read_moment
        from memsvc.summaries.stored import list_summaries

        first, last = read_moment(begins, owner, "from"), read_moment(ends, owner, "to")
        wanted = cast("Level | None", level)  # checked there
        about = await find_node(db, owner, node) if node is not None else None
        span = {"begins": first, "ends": last}
        return await list_summaries(db, owner, level=wanted, **span, node=about, cursor=cursor, limit=limit)

    found = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    for one in found.items:
        print(plain(f"{one.label} ({one.level}, {counted(one.messages, 'message')})"))
        for line in one.text.split("\n"):
            print(plain(f"  {line}"))
    if not found.items:
        print("There are no summaries yet." if node is None else "There are no summaries about it.")
    if found.next_cursor is not None:
        note(f"There is more: --cursor {found.next_cursor}")
