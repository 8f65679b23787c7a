"""What commands have in common that list what waits for a person and decide on it: 'duplicates' and 'proposals'."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from memsvc.cli.common import note, plain, print_json

if TYPE_CHECKING:
    from uuid import UUID

    from memsvc.db.paging import Page

T = TypeVar("T")

Most = typer.Option(20, "--limit", min=1, max=1_000, help="Most to list.")
Cursor = typer.Option(None, "--cursor", help="next_cursor of the previous page.")


def chosen(given: str | None, form: Any, option: str) -> Any:
    """Return the value of an option that has one of some words.

    Args:
        given: what was given; None: nothing.
        form: a Literal of the words.
        option: its name, for the error.

    Raises:
        InvalidRequestError: it is none of these words.
    """
    from typing import get_args

    from memsvc.errors import InvalidRequestError

    words = get_args(form)
    if given is not None and given not in words:
        *most, last = words
        raise InvalidRequestError(f"--{option} is {', '.join(most)} or {last}.", field=option)
    return given


def show_page(found: Page[T], what: str, status: str, lines: Callable[[T], Iterable[str]], *, as_json: bool) -> None:
    """Print a page: each item in lines, the first of which is not indented, and where the page goes on.

    Args:
        found: the page.
        what: what its items are called, in the plural.
        status: that was asked for.
        lines: of an item.
        as_json: print the page as JSON instead.
    """
    if as_json:
        print_json(found)
        return
    for item in found.items:
        first, *rest = lines(item)
        print(plain(first))
        for line in rest:
            print(plain(f"      {line}"))
    if found.next_cursor:
        note(f"There are more: --cursor {found.next_cursor}")
    if not found.items:
        note(f"No {what} have the status {status}.")


def show_undo(change_id: UUID | None, does: str) -> None:
    """Say how a decision is undone, if it changed the graph."""
    if change_id is not None:
        print(f"'memsvc undo {change_id}' {does}.")
