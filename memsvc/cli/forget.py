"""``memsvc forget``: erase memories, or a whole user, permanently."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    every_cell,
    note,
    owner_at_home,
    print_json,
    print_table,
    with_database,
)
from memsvc.cli.references import id_of

if TYPE_CHECKING:
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.cells.directory import Cells
    from memsvc.cli.references import Kind as Meant
    from memsvc.db.engine import Database
    from memsvc.erasing.memories import Kind, Receipt
    from memsvc.settings import Settings

BY = "cli"
NOT_DONE = 1
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Wish:
    """What to forget, as given on the command line."""

    kind: str
    """message, passage, source, fact, node or user."""
    name: str
    user: str | None
    app: str
    only_count: bool
    yes: bool


def forget(
    message: str | None = typer.Option(None, "--message", metavar="ID", help="A message with all its passages."),
    passage: str | None = typer.Option(None, "--passage", metavar="ID", help="One passage of a long message."),
    source: str | None = typer.Option(
        None, "--source", metavar="ID", help="A conversation by id or identifier, or a document by id or path."
    ),
    fact: str | None = typer.Option(None, "--fact", metavar="ID", help="A fact with all its versions."),
    node: str | None = typer.Option(None, "--node", metavar="ID", help="A node with its facts, by id or name."),
    everything: bool = typer.Option(False, "--everything", help="The user with all data; needs --user."),
    preview: bool = typer.Option(False, "--preview", help="Only show what would be erased."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask for confirmation."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Erase memories permanently, with the facts that only they support, and print the receipt.

    Ids may be short, as a context or recall shows them (m:…, f:…, n:…). Shows what would be erased and asks for
    confirmation first. May be interrupted and run again.
    """
    from memsvc.errors import InvalidRequestError, UserRequiredError

    named = {"message": message, "passage": passage, "source": source, "fact": fact, "node": node}
    chosen = [(kind, name) for kind, name in named.items() if name is not None]
    if len(chosen) + everything != 1:
        raise InvalidRequestError(
            "Give exactly one thing to forget.",
            hint="Use one of --message, --passage, --source, --fact, --node and --everything; see --help.",
        )
    if everything and user is None:
        raise UserRequiredError("The user to forget is missing.", hint="Give the user with --user.")
    if not (preview or yes or sys.stdin.isatty()):
        raise InvalidRequestError(
            "Cannot ask for confirmation without a terminal.", hint="Add --yes to erase, or --preview to look."
        )
    kind, name = chosen[0] if chosen else ("user", user or "")
    _print(_carry_out(Wish(kind, name, user, app, preview, yes)), as_json=as_json)


def _carry_out(wish: Wish) -> Receipt | dict[str, int]:
    """Return the counts for a preview; otherwise ask, erase, and return the receipt."""

    async def work(db: Database, settings: Settings) -> Receipt | dict[str, int]:
        if wish.kind != "user":
            return await _memory(db, wish)
        async with every_cell(db, settings) as cells:
            return await _whole_user(cells, wish)

    return with_database(work)


async def _whole_user(cells: Cells, wish: Wish) -> Receipt | dict[str, int]:
    from memsvc.access.users import find_app
    from memsvc.cells.people import erase_user_anywhere, preview_user_anywhere
    from memsvc.errors import UserUnknownError

    app = await find_app(cells.home, wish.app)
    try:
        counts = await preview_user_anywhere(cells, app, wish.name)
    except UserUnknownError:
        if wish.only_count:
            raise
        counts = {}  # an erasure may have been interrupted: erase_user resumes it
    if wish.only_count:
        return counts
    if counts:
        _ask(wish, f"the user {wish.name!r} with all data", counts)
    with _progress("erasing") as advance:
        return await erase_user_anywhere(cells, app, wish.name, requested_by=BY, on_progress=advance)


async def _memory(db: Database, wish: Wish) -> Receipt | dict[str, int]:
    from memsvc.erasing.memories import erase, preview

    db, owner = await owner_at_home(db, wish.user, wish.app)
    subject = await _subject(db, owner, wish.kind, wish.name)
    kind = cast("Kind", wish.kind)
    counts = await preview(db, owner, kind, subject)
    if wish.only_count:
        return counts
    _ask(wish, f"the {kind} {wish.name!r} of {owner.name}", counts)
    with _progress("erasing") as advance:
        return await erase(db, owner, kind, subject, requested_by=BY, on_progress=advance)


async def _subject(db: Database, owner: Owner, kind: str, name: str) -> UUID:
    """Return the id of what to forget; conversations, documents and nodes can also be given by name.

    Raises:
        NotFoundError: nothing has this id or name.
        NodeAmbiguousError: several nodes have this name.
    """
    from memsvc.errors import (
        ConversationUnknownError,
        DocumentUnknownError,
        NotFoundError,
    )
    from memsvc.graph.find import find_node
    from memsvc.sources.document_reads import find_document
    from memsvc.sources.read import find_conversation

    if kind == "source":
        async with db.transaction(owner.user_id) as connection:
            try:
                return await find_conversation(connection, owner, name)
            except ConversationUnknownError:
                with suppress(DocumentUnknownError):
                    return await find_document(connection, owner, name)
                raise
    meant: Meant = "message" if kind == "passage" else cast("Meant", kind)
    try:
        return await id_of(db, owner, name, meant, kind)
    except NotFoundError:
        if kind != "node":
            raise
    return await find_node(db, owner, name)


def _ask(wish: Wish, what: str, counts: dict[str, int]) -> None:
    """Show what would be erased, and end the command unless the user confirms."""
    if wish.yes:
        return
    note(f"This permanently erases {what}:")
    for table, rows in sorted(counts.items()):
        note(f"  {table:20} {rows:>12,}")
    if not typer.confirm("Erase it?", err=True):
        note("Nothing was erased.")
        raise typer.Exit(NOT_DONE)


@contextmanager
def _progress(label: str) -> Iterator[Progress]:
    """Show a progress bar on a terminal; yield a callback that takes the erased and the total number of rows."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _print(result: Receipt | dict[str, int], *, as_json: bool) -> None:
    """Print counts or a receipt; exit with code 1 if the receipt has leftovers."""
    if isinstance(result, dict):
        if as_json:
            print_json(result)
        else:
            print_table(["table", "rows to erase"], sorted(result.items()))
        return
    if as_json:
        print_json(result)
    else:
        print_table(["table", "rows erased"], sorted(result.counts.items()))
        print(f"\n{result.kind} {result.subject_id}: {result.state}, receipt {result.erasure_id}.")
        if result.verified:
            print("Verified in all tables: nothing is left.")
    if result.leftovers:
        note("Not erased: " + ", ".join(f"{table} {rows:,}" for table, rows in sorted(result.leftovers.items())))
        raise typer.Exit(NOT_DONE)
