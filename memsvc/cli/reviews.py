"""``memsvc review``: decide on facts that were found but not written automatically."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, as_uuid, for_owner, note, plain, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.extract.review import Decided, Edit, Review

review = typer.Typer(
    help="Decide on facts that were found but not written.", no_args_is_help=True, rich_markup_mode=None
)
ALL, BY = "all", "user"
QUOTE_CHARS = 60
Which = typer.Argument(help="Ids from 'memsvc review list'.", metavar="ID…")


@review.command("list")
def list_(
    state: str = typer.Option("doubtful", help="doubtful, refused, accepted, edited, rejected, or all."),
    conversation: str | None = typer.Option(None, help="Only from this conversation, by name or id."),
    limit: int = typer.Option(20, "--limit", "-n", min=1, max=1000, help="Most facts to list, newest first."),
    after: str | None = typer.Option(None, help="Continue after the fact with this id."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List facts that wait for a decision, newest first, each with its quote and the reason it was not written."""

    async def do(db: Database, owner: Owner) -> list[Review]:
        from memsvc.extract.review import list_reviews
        from memsvc.sources.read import find_conversation

        source = None
        if conversation is not None:
            async with db.transaction(owner.user_id) as connection:
                source = await find_conversation(connection, owner, conversation)
        last = as_uuid(after, "review") if after is not None else None
        wanted: Any = None if state == ALL else state
        return await list_reviews(db, owner, state=wanted, source=source, after=last, limit=limit)

    found = for_owner(user, app, do)
    if as_json:
        print_json(found)
        return
    from memsvc.extract.validation import REASONS

    print_table(
        ["id", "state", "fact", "type", "quote", "said", "why"],
        [
            [
                one.review_id, one.state, one.proposal.sentence,
                f"{one.proposal.subject.name} {one.proposal.type} {one.proposal.object.name}",
                f"“{_short(one.proposal.quote)}”", f"{one.said_at:%Y-%m-%d}", REASONS.get(one.reason, one.reason),
            ]
            for one in found
        ],
    )  # fmt: skip
    if not found:
        note("No facts wait for a decision." if state == "doubtful" else "No facts found.")
    if len(found) == limit:
        note(f"There may be more: --after {found[-1].review_id}")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= QUOTE_CHARS else line[: QUOTE_CHARS - 1] + "…"


@review.command("accept")
def accept(which: list[str] = Which, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Write facts as they were proposed; refused facts can be accepted too."""
    ids = [as_uuid(one, "review") for one in which]

    async def do(db: Database, owner: Owner) -> None:
        from memsvc.extract.review import accept

        await _each(ids, lambda one: accept(db, owner, one, by=BY), as_json=as_json)

    for_owner(user, app, do)


@review.command("reject")
def reject(which: list[str] = Which, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Reject facts permanently: they are never proposed again from the same message."""
    ids = [as_uuid(one, "review") for one in which]

    async def do(db: Database, owner: Owner) -> None:
        from memsvc.extract.review import reject

        await _each(ids, lambda one: reject(db, owner, one, by=BY), as_json=as_json)

    for_owner(user, app, do)


@review.command("edit")
def edit(
    which: str = typer.Argument(help="An id from 'memsvc review list'.", metavar="ID"),
    subject: str | None = typer.Option(None, help="Name of the node where it starts."),
    fact_type: str | None = typer.Option(None, "--type", "-t", help="An edge type, such as LIVES_IN."),
    object_: str | None = typer.Option(None, "--object", help="Name of the node where it ends."),
    sentence: str | None = typer.Option(
        None, help="The fact as a sentence; default: the old sentence with the new names put in."
    ),
    since: str | None = typer.Option(None, help="When it became true (ISO 8601); '' if unknown."),
    until: str | None = typer.Option(None, help="When it stopped being true (ISO 8601); '' if it still is."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Correct a fact and write it; what is not given here stays as it was proposed."""
    given = {"subject": subject, "type": fact_type, "object": object_, "sentence": sentence}
    words = {name: value for name, value in given.items() if value is not None}
    times = {name: value for name, value in (("since", since), ("until", until)) if value is not None}
    if not words and not times:
        raise typer.BadParameter("Give at least one change, or write the fact unchanged with 'memsvc review accept'.")

    async def do(db: Database, owner: Owner) -> list[Decided]:
        from memsvc.extract.review import accept

        return [await accept(db, owner, as_uuid(which, "review"), by=BY, edit=_edit(words, times, owner))]

    _show(for_owner(user, app, do), as_json=as_json)


def _edit(words: dict[str, Any], times: dict[str, str], owner: Owner) -> Edit:
    from memsvc.extract.review import Edit
    from memsvc.sources.moments import read_moment

    moments: dict[str, Any] = {name: read_moment(value or None, owner, f"--{name}") for name, value in times.items()}
    return Edit(**words, **moments)


async def _each(ids: list[UUID], decide: Callable[[UUID], Awaitable[Decided]], *, as_json: bool) -> None:
    """Decide one after the other; print the decisions made, even if one of them fails."""
    decided: list[Decided] = []
    try:
        for one in ids:
            decided += [await decide(one)]
    finally:
        if decided:
            _show(decided, as_json=as_json)


def _show(decided: list[Decided], *, as_json: bool) -> None:
    if as_json:
        print_json(decided)
        return
    for one in decided:
        written = f", by change {one.change.change_id}" if one.change is not None else ""
        print(f"{one.review.state}: {plain(one.review.proposal.sentence)}{written}")
