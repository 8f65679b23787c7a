"""Erases users who are in a cell in which they are not, as the directory says.

There are such users in a cell that was restored to a time before they left it, and after somebody was killed between
adding a user to a cell and to the directory. They are refused by their epoch, or nobody knows them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import UUID

from memsvc.access.users import HOME
from memsvc.cells.directory import Cell, open_cell
from memsvc.cells.managing import find_strays, read_cells
from memsvc.erasing.users import erase_user
from memsvc.settings import Settings


def erase_strays(
    admin_url: str, settings: Settings, report: Callable[[str], None] = lambda _line: None, *, unknown: bool = False
) -> dict[str, int]:
    """Erase the users who have left a cell, in all cells but the home; return how many, by the cells' names.

    Args:
        admin_url: the home, with an administrator's login.
        settings: the secrets, and MEMSVC_CELL_URLS.
        report: called with a line for each user.
        unknown: also those whom the directory does not know. After a restore of the home, they may be all that there
            is of a user.

    Raises:
        DatabaseUnavailableError: the directory or a cell does not answer.
    """
    done = {}
    for cell in read_cells(admin_url):
        if cell.cell_id == HOME.cell_id:
            continue
        strays = find_strays(cell, admin_url, settings)
        found = [one for one in strays if one.why == "left" or (unknown and one.why == "unknown")]
        for one in found:
            report(f"{cell.name}: erasing {one.user_id}")
            asyncio.run(_erase(cell, settings, one.app_id, one.user_id))
        if found:
            done[cell.name] = len(found)
    return done


async def _erase(cell: Cell, settings: Settings, app_id: UUID, user_id: UUID) -> None:
    db = open_cell(cell, settings, pool_size=3)
    try:
        await erase_user(db, app_id, str(user_id), requested_by="cells")
    finally:
        await db.close()
