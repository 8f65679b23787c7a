"""``memsvc proposals``: review links, names, splits and lines of core memory that sleep proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, as_uuid, for_owner, note, plain, print_json

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.db.paging import Page
    from memsvc.sleep.proposals import Decision, Proposed

proposals = typer.Typer(
    help="Review links, names, splits and lines of core memory that sleep proposes.",
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
        case _:
            return f"keep in mind: {one.text}"


@proposals.command("list")
def list_proposals(
    status: str = typer.Option("open", "--status", help="open, accepted, rejected or withdrawn."),
    kind: str | None = typer.Option(None, "--kind", help="link, alias, split or core; default: all."),
    limit: int = typer.Option(20, "--limit", min=1, max=1_000, help="Most proposals to list."),
    cursor: str | None = typer.Option(None, "--cursor", help="next_cursor of the previous page."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List proposals, most likely first."""

    async def act(db: Database, owner: Owner) -> Page[Proposed]:
        import msgspec

        from memsvc.errors import InvalidRequestError
        from memsvc.sleep.proposals import Kind, State, proposals

        try:
            wanted, only = msgspec.convert(status, State), msgspec.convert(kind, Kind | None)
        except msgspec.ValidationError as error:
            raise InvalidRequestError(
                "--status is open, accepted, rejected or withdrawn; --kind is link, alias, split or core.",
                field="status",
            ) from error
        return await proposals(db, owner, state=wanted, kind=only, cursor=cursor, limit=limit)

    found = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    for one in found.items:
        print(f"{one.score:.2f}  {one.kind:5}  {plain(_told(one))}")
        print(f"      {one.proposal_id}")
    if found.next_cursor:
        note(f"There are more: --cursor {found.next_cursor}")
    if not found.items:
        note(f"No proposals have the status {status}.")


@proposals.command("accept")
def accept_proposal(proposal: str = Id, user: str | None = UserRef, app: str = AppName) -> None:
    """Do what is proposed."""
    wanted = as_uuid(proposal, "proposal")

    async def act(db: Database, owner: Owner) -> Decision:
        from memsvc.sleep.proposals import accept

        return await accept(db, owner, wanted)

    decision = for_owner(user, app, act)
    print("Done.")
    if decision.change_id is not None:
        print(f"'memsvc undo {decision.change_id}' takes it back.")


@proposals.command("reject")
def reject_proposal(proposal: str = Id, user: str | None = UserRef, app: str = AppName) -> None:
    """Reject a proposal, so that it is never made again."""
    wanted = as_uuid(proposal, "proposal")

    async def act(db: Database, owner: Owner) -> Decision:
        from memsvc.sleep.proposals import reject

        return await reject(db, owner, wanted)

    for_owner(user, app, act)
    print("It is not proposed again.")
