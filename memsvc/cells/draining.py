"""Empties a cell: no new users come, and its users are moved to other cells one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memsvc.access.users import HOME
from memsvc.cells.managing import admin_url_of, find_cell, list_states, read_cells, users_of_cell, weigh_cell
from memsvc.cells.moving import move_user
from memsvc.errors import InvalidRequestError, MemsvcError
from memsvc.settings import Settings


@dataclass(slots=True)
class Drained:
    """What draining a cell did."""

    moved: int = 0
    failed: int = 0
    """Users who are still there; a repeated call tries again."""


def drain_cell(
    admin_url: str,
    settings: Settings,
    name: str,
    to: str | None = None,
    report: Callable[[str], None] = lambda _line: None,
) -> Drained:
    """Give a cell no new users, and move all its users away; a repeated call continues.

    Args:
        admin_url: the home, with an administrator's login.
        settings: the secrets, and MEMSVC_CELL_URLS.
        name: the cell to empty.
        to: the only cell to move them to; None: each goes to the cell that has the fewest users for its weight.
        report: called with a line for each user.

    Raises:
        NotFoundError: there is no such cell.
        InvalidRequestError: no other cell takes users.
    """
    source, cells = find_cell(admin_url, name), read_cells(admin_url)
    wanted = [find_cell(admin_url, to)] if to is not None else [cell for cell in cells if cell.weight > 0]
    targets = [cell for cell in wanted if cell.cell_id != source.cell_id]
    if not targets:
        raise InvalidRequestError("No other cell takes users.", hint="Give one a weight, or name one with --to.")
    weigh_cell(admin_url, name, 0)
    users = {state.name: state.users for state in list_states(admin_url, settings)}
    logins = {cell.name: admin_url_of(cell, admin_url, settings) for cell in cells if cell.cell_id != HOME.cell_id}
    done = Drained()
    for app, user_id in users_of_cell(admin_url, source):
        target = min(targets, key=lambda cell: users[cell.name] / max(cell.weight, 1))
        try:
            moved = move_user(admin_url, settings, app, str(user_id), target.name, logins=logins)
        except MemsvcError as error:
            report(f"{user_id} stays: {error.message}")
            done.failed += 1
        else:
            report(f"{user_id} is in {target.name}, stopped for {moved.stopped_s:.1f} s")
            users[target.name] += 1
            done.moved += 1
    return done
