"""``memsvc user move``: moves a user to another cell, while the user goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, note, opened, print_json, print_table
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from memsvc.cells.moving import Moved, Preview


def move(
    user: str = typer.Argument(help="User id or external id."),
    to: str | None = typer.Option(None, "--to", help="The cell to move to, as 'memsvc cells list' names it."),
    resume: bool = typer.Option(False, "--resume", help="Continue a move that was interrupted."),
    abort: bool = typer.Option(False, "--abort", help="Give a move up: the user stays, and what was copied is erased."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Check, and show what would be copied; change nothing."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Move a user's memory to another cell. The user goes on, and waits only for the last moment of it.

    Everything keeps its id. All rows of both sides are compared before the user is sent to the new cell; afterwards the
    old cell's are erased. Interrupted moves continue with --resume, or go back with --abort.
    """
    from memsvc.cells.moving import abort_move, move_user, preview_move
    from memsvc.errors import InvalidRequestError

    if (to is not None) + resume + abort != 1 or (dry_run and to is None):
        raise InvalidRequestError(
            "Give one of --to, --resume and --abort, and --dry-run only with --to.", hint="memsvc user move --help"
        )
    with opened() as (home_url, settings):
        if abort:
            abort_move(home_url, settings, app, user, report=note)
            if as_json:
                print_json({"aborted": True})
        elif dry_run and to is not None:
            _show(preview_move(home_url, settings, app, user, to), as_json=as_json)
        else:
            _told(move_user(home_url, settings, app, user, to, report=note), as_json=as_json)


def _show(preview: Preview, *, as_json: bool) -> None:
    if as_json:
        print_json(preview)
        return
    print_table(["table", "rows", "bytes"], [[name, rows, preview.bytes[name]] for name, rows in preview.rows.items()])
    rows, size = sum(preview.rows.values()), sum(preview.bytes.values())
    print(
        f"{counted(rows, 'row')}, {size / 1e6:,.1f} MB without indexes, from {preview.from_cell} to {preview.to_cell}."
    )


def _told(moved: Moved, *, as_json: bool) -> None:
    if as_json:
        print_json(moved)
        return
    print(
        f"From {moved.from_cell} to {moved.to_cell} in {moved.seconds:,.1f} s: {counted(moved.copied, 'row')} copied, "
        f"{sum(moved.rows.values()):,} erased in {moved.from_cell}."
    )
    if moved.pause is None:
        print(f"The user was stopped for {moved.stopped_s:.2f} s.")
        return
    parts = ("closing", "waiting", "copying", "comparing", "switching")
    told = ", ".join(f"{name} {getattr(moved.pause, name):.2f}" for name in parts)
    print(f"The user was stopped for {moved.pause.total:.2f} s ({told}).")
