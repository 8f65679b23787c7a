"""``memsvc reflections``: what sleep mode found to follow from several memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, for_owner, note, plain, print_json

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.db.paging import Page
    from memsvc.lessons.reflections import Reflection, ReflectionKind


def reflections(
    kind: str | None = typer.Option(
        None, "--kind", help="One of: habit, changed_mind, contradiction, open_loop, insight."
    ),
    limit: int = typer.Option(20, "--limit", "-k", min=1, max=1000, help="Most reflections to show."),
    cursor: str | None = typer.Option(None, "--cursor", help="next_cursor of the page before."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List reflections, the latest first. 'memsvc sleep --tasks reflection' writes them now."""

    async def act(db: Database, owner: Owner) -> Page[Reflection]:
        from memsvc.lessons.reflections import list_reflections

        wanted = cast("ReflectionKind | None", kind)  # checked there
        return await list_reflections(db, owner, kind=wanted, cursor=cursor, limit=limit)

    found = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    for one in found.items:
        print(plain(f"{one.kind.replace('_', ' ')}: {one.text}"))
    if not found.items:
        print("There are no reflections yet.")
    if found.next_cursor is not None:
        note(f"There is more: --cursor {found.next_cursor}")
