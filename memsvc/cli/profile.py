"""``memsvc profile``: core, working and archival memory, which an assistant can edit itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, clock, for_owner_shown, note, plain, print_json, print_table
from memsvc.cli.references import id_of
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.erasing.memories import Receipt
    from memsvc.profiles.blocks import Block, Profile
    from memsvc.profiles.changes import Change

profile = typer.Typer(
    help="Core memory (part of every context), working memory of conversations, and archival memory.",
    rich_markup_mode=None,
)
BY = "cli"
NOT_DONE = 1
Name = typer.Argument(help="Name of the block: fixed_traits, preferences, current_state, or another.", metavar="NAME")
InConversation = typer.Option(
    None, "--conversation", help="The conversation of the working memory, by id or identifier."
)
OfNode = typer.Option(None, "--node", metavar="ID", help="The person, project or other node that the block describes.")
Expected = typer.Option(None, "--expect", min=0, help="Change it only if it has this version; 0: if it does not exist.")
Evidence = typer.Option([], "--evidence", metavar="ID", help="A passage that supports the new lines; repeatable.")


def show_block(block: Block, owner: Owner) -> None:
    """Print a block for people."""
    about = f" of {block.node}" if block.node else ""
    print(plain(f"{block.name}{about}  ({block.kind}, version {block.version}, {block.tokens} tokens)"))
    for line in block.text.split("\n"):
        print(f"    {plain(line)}")
    print(f"{block.id} | since {clock(block.recorded_from, owner)} | by {plain(block.asserted_by)}")


async def _about(db: Database, owner: Owner, node: str | None) -> UUID | None:
    return await id_of(db, owner, node, "node") if node is not None else None


def _text_of(text: str) -> str:
    return sys.stdin.read() if text == "-" else text


@profile.command("show")
def show(
    name: str | None = typer.Argument(None, help="Only this block.", metavar="NAME"),
    conversation: str | None = InConversation,
    node: str | None = OfNode,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show the profile, or one block of it."""

    async def act(db: Database, owner: Owner) -> Profile | Block:
        from memsvc.profiles.read import read_block, read_profile

        about = await _about(db, owner, node)
        if name is None:
            return await read_profile(db, owner, conversation=conversation, node=about)
        return await read_block(db, owner, name, conversation=conversation, node=about)

    shown: tuple[Any, Owner] = for_owner_shown(user, app, act)
    found, owner = shown
    if as_json:
        print_json(found)
    elif name is not None:
        show_block(found, owner)
    else:
        for block in found.blocks:
            show_block(block, owner)
        if found.working_truncated:
            note("Older blocks of working memory are left out; --conversation shows all blocks of one conversation.")
        if not found.blocks:
            note('The profile is empty. Start it with: memsvc profile append preferences "…"')


@profile.command("set")
def set_(
    name: str = Name,
    text: str = typer.Argument(help="The new text; - reads standard input."),
    kind: str | None = typer.Option(
        None, "--kind", help="core, working or archival; default: unchanged, core for a new block."
    ),
    limit: int | None = typer.Option(None, "--limit", help="Most tokens of the block, 1 to 2,000."),
    hours: float = typer.Option(24.0, "--hours", help="For working memory: hours until it expires."),
    expect: int | None = Expected,
    evidence: list[str] = Evidence,
    conversation: str | None = InConversation,
    node: str | None = OfNode,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Replace the whole text of a block; create the block if it does not exist."""
    from memsvc.profiles.changes import Set

    more = {"kind": kind, "limit_tokens": limit, "hours": hours}
    _change((name, conversation, node), Set(text=_text_of(text)), expect, evidence, user, app, as_json=as_json, **more)


@profile.command("append")
def append(
    name: str = Name,
    text: str = typer.Argument(help="Lines to add; - reads standard input."),
    expect: int | None = Expected,
    evidence: list[str] = Evidence,
    conversation: str | None = InConversation,
    node: str | None = OfNode,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Add lines to a block; create the block if it does not exist."""
    from memsvc.profiles.changes import Append

    _change((name, conversation, node), Append(text=_text_of(text)), expect, evidence, user, app, as_json=as_json)


@profile.command("replace")
def replace(
    name: str = Name,
    old: str = typer.Argument(help="The text to replace; it must occur exactly once."),
    new: str = typer.Argument(help="The new text; may be empty."),
    expect: int | None = Expected,
    evidence: list[str] = Evidence,
    conversation: str | None = InConversation,
    node: str | None = OfNode,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Replace a part of a block's text."""
    from memsvc.profiles.changes import Replace

    _change((name, conversation, node), Replace(old=old, new=new), expect, evidence, user, app, as_json=as_json)


def _change(
    where: tuple[str, str | None, str | None],
    change: Change,
    expect: int | None,
    evidence: list[str],
    user: str | None,
    app: str,
    *,
    as_json: bool,
    **more: Any,
) -> None:
    """Change the block with this name, conversation and node."""

    async def act(db: Database, owner: Owner) -> Block:
        from memsvc.profiles.blocks import Place
        from memsvc.profiles.write import Wish, change_block
        from memsvc.settings import settings

        name, conversation, node = where
        place = Place(name, conversation, await _about(db, owner, node))
        passages = [await id_of(db, owner, passage, "message", "passage") for passage in evidence]
        window = settings().passage_tokens
        wish = Wish(change=change, expected_version=expect, evidence=passages, passage_tokens=window, **more)
        return await change_block(db, owner, place, wish)

    _print(*for_owner_shown(user, app, act), as_json=as_json)


def _print(block: Block, owner: Owner, *, as_json: bool) -> None:
    if as_json:
        print_json(block)
    else:
        show_block(block, owner)


@profile.command("history")
def history(
    name: str = Name,
    limit: int = typer.Option(50, "--limit", "-k", min=1, max=1000, help="Most versions to show."),
    conversation: str | None = InConversation,
    node: str | None = OfNode,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show the versions of a block, newest first."""

    async def act(db: Database, owner: Owner) -> list[Block]:
        from memsvc.profiles.read import history

        about = await _about(db, owner, node)
        return await history(db, owner, name, conversation=conversation, node=about, limit=limit)

    found, owner = for_owner_shown(user, app, act)
    if as_json:
        print_json(found)
    else:
        print_table(
            ["version", "since", "kind", "by", "text"],
            [[b.version, clock(b.recorded_from, owner), b.kind, b.asserted_by, b.text] for b in found],
        )


@profile.command("move")
def move(
    name: str = Name,
    kind: str = typer.Argument(help="The new tier: core, working or archival."),
    expect: int | None = Expected,
    hours: float = typer.Option(24.0, "--hours", help="For working memory: hours until it expires."),
    conversation: str | None = typer.Option(
        None, "--conversation", help="The conversation whose working memory it leaves or enters."
    ),
    node: str | None = OfNode,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Move a block to another tier; it keeps its history."""

    async def act(db: Database, owner: Owner) -> Block:
        from memsvc.profiles.write import move
        from memsvc.settings import settings

        tier: Any = kind
        about = await _about(db, owner, node)
        return await move(
            db, owner, name, tier, conversation=conversation, node=about, expected_version=expect, hours=hours,
            passage_tokens=settings().passage_tokens,
        )  # fmt: skip

    _print(*for_owner_shown(user, app, act), as_json=as_json)


@profile.command("forget")
def forget(
    name: str = Name,
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask for confirmation."),
    conversation: str | None = InConversation,
    node: str | None = OfNode,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Erase a block permanently, with all its versions, and print the receipt."""
    from memsvc.errors import InvalidRequestError

    if not yes:
        if not sys.stdin.isatty():
            raise InvalidRequestError("Cannot ask for confirmation without a terminal.", hint="Add --yes to erase.")
        if not typer.confirm(f"Permanently erase {name} with all its versions?", err=True):
            note("Nothing was erased.")
            raise typer.Exit(NOT_DONE)

    async def act(db: Database, owner: Owner) -> Receipt:
        from memsvc.profiles.write import forget_block

        about = await _about(db, owner, node)
        return await forget_block(db, owner, name, conversation=conversation, node=about, requested_by=BY)

    receipt, _owner = for_owner_shown(user, app, act)
    if as_json:
        print_json(receipt)
    else:
        versions = receipt.counts.get("profile_versions", 0)
        print(f"{name}: {counted(versions, 'version')} erased, receipt {receipt.erasure_id}.")
