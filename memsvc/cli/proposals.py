"""``memsvc proposals``: review links, names, splits and changes of core memory that sleep proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, as_uuid, for_owner
from memsvc.cli.deciding import Cursor, Most, chosen, show_page, show_undo

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.db.paging import Page
    from memsvc.sleep.proposals import Decision, Proposed

proposals = typer.Typer(
    help="Review links, names, splits and changes of core memory that sleep proposes.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Id = typer.Argument(help="Id of the proposal, as listed.", metavar="PROPOSAL")


def _told(one: Proposed) -> str:
    match one.kind:
        case "link":
            return f"{one.label or one.node_id} and {one.other_label or one.other_id} belong together"
        case "alias":
            return f'{one.label or one.node_id} is also called "{one.text}"'
        case "split":
            sources = " ".join(map(str, one.sources))
            return f"{one.label or one.node_id} is two; the other one is in {sources}"
        case "outdated" if one.text is None:
            return "a line of core memory that was changed meanwhile"
        case "outdated":
            instead = f'is to be "{one.instead}"' if one.instead is not None else "is to go"
            return f'"{one.text}" in {one.block} {instead}'
        case _:
            return f"keep in mind: {one.text}"


def _lines(one: Proposed) -> list[str]:
    return [f"{one.score:.2f}  {one.kind:8}  {_told(one)}", str(one.proposal_id)]


@proposals.command("list")
def list_proposals(
    status: str = typer.Option("open", "--status", help="open, accepted, rejected or withdrawn."),
    kind: str | None = typer.Option(None, "--kind", help="link, alias, split, core or outdated; default: all."),
    limit: int = Most,
    cursor: str | None = Cursor,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List proposals, most likely first."""

    async def act(db: Database, owner: Owner) -> Page[Proposed]:
        from memsvc.sleep.proposals import Kind, State, proposals

        wanted, only = chosen(status, State, "status"), chosen(kind, Kind, "kind")
        return await proposals(db, owner, state=wanted, kind=only, cursor=cursor, limit=limit)

    show_page(for_owner(user, app, act), "proposals", status, _lines, as_json=as_json)


@proposals.command("accept")
def accept_proposal(proposal: str = Id, user: str | None = UserRef, app: str = AppName) -> None:
    """Do what is proposed."""
    wanted = as_uuid(proposal, "proposal")

    async def act(db: Database, owner: Owner) -> Decision:
        from memsvc.sleep.proposals import accept

        return await accept(db, owner, wanted)

    decision = for_owner(user, app, act)
    print("Done.")
    show_undo(decision.change_id, "takes it back")
    if decision.block is not None:
        print(f"'memsvc profile history {decision.block}' shows what the block said before.")


@proposals.command("reject")
def reject_proposal(proposal: str = Id, user: str | None = UserRef, app: str = AppName) -> None:
    """Reject a proposal, so that it is never made again."""
    wanted = as_uuid(proposal, "proposal")

    async def act(db: Database, owner: Owner) -> Decision:
        from memsvc.sleep.proposals import reject

        return await reject(db, owner, wanted)

    for_owner(user, app, act)
    print("It is not proposed again.")
