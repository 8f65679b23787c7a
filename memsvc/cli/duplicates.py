"""``memsvc duplicates``: review pairs of nodes that may be the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, as_uuid, for_owner, print_json
from memsvc.cli.deciding import Cursor, Most, chosen, show_page, show_undo
from memsvc.cli.references import id_of
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.db.paging import Page
    from memsvc.identity.review import Decision, Pair, Side
    from memsvc.identity.splitting import Split

duplicates = typer.Typer(
    help="Review pairs of nodes that may be the same; split a node that represents two things.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
One = typer.Argument(help="Id of one node of the pair, as listed.", metavar="NODE")
Other = typer.Argument(help="Id of the other node.", metavar="OTHER")


def _side(side: Side) -> str:
    names = ", ".join(side.names[:4]) or "(without a name)"
    return f"{names} ({side.type or 'unknown'}; {counted(side.facts, 'fact')}, {counted(len(side.sources), 'source')})"


def _lines(pair: Pair) -> list[str]:
    ids = f"{pair.a.node_id} {pair.b.node_id}  found by {pair.found_by}"
    return [f"{pair.score:.2f}  {_side(pair.a)}", _side(pair.b), ids]


@duplicates.command("list")
def list_pairs(
    status: str = typer.Option("open", "--status", help="open, merged, rejected or split."),
    limit: int = Most,
    cursor: str | None = Cursor,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List pairs, most likely first."""

    async def act(db: Database, owner: Owner) -> Page[Pair]:
        from memsvc.identity.review import State, pairs

        return await pairs(db, owner, state=chosen(status, State, "status"), cursor=cursor, limit=limit)

    show_page(for_owner(user, app, act), "pairs", status, _lines, as_json=as_json)


@duplicates.command("accept")
def accept_pair(node: str = One, other: str = Other, user: str | None = UserRef, app: str = AppName) -> None:
    """Merge two nodes that are the same."""

    async def act(db: Database, owner: Owner) -> Decision:
        from memsvc.identity.review import accept

        one, two = [await id_of(db, owner, each, "node") for each in (node, other)]
        return await accept(db, owner, one, two)

    decision = for_owner(user, app, act)
    print(f"{decision.canonical_id} now represents both.")
    show_undo(decision.change_id, "separates them again")


@duplicates.command("reject")
def reject_pair(node: str = One, other: str = Other, user: str | None = UserRef, app: str = AppName) -> None:
    """Record that two nodes are different, so that the pair is never proposed again."""

    async def act(db: Database, owner: Owner) -> Decision:
        from memsvc.identity.review import reject

        one, two = [await id_of(db, owner, each, "node") for each in (node, other)]
        return await reject(db, owner, one, two)

    for_owner(user, app, act)
    print("They stay separate.")


@duplicates.command("split")
def split_node(
    node: str = typer.Argument(help="Id, name or label of the node.", metavar="NODE"),
    source: list[str] = typer.Option(..., "--source", help="Id of a source that is about the other one; repeatable."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Split a node that represents two things, by the sources that are about the other one."""
    sources = [as_uuid(one, "source") for one in source]

    async def act(db: Database, owner: Owner) -> Split:
        from memsvc.graph.find import find_node
        from memsvc.identity.splitting import split

        return await split(db, owner, await find_node(db, owner, node), sources)

    divided = for_owner(user, app, act)
    if as_json:
        print_json(divided)
        return
    how = (
        "is a node of its own again"
        if divided.unmerged
        else f"is new, with {counted(divided.facts, 'fact')} and {counted(divided.names, 'name')}"
    )
    print(f"{divided.other_id} {how}; 'memsvc undo {divided.change_id}' joins them again.")
