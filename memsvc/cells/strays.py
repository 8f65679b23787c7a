"""Erases users who are in a cell in which they are not, as the directory says.

There are such users after somebody was killed between adding a user to a cell and to the directory, and in a cell that
was restored to a time before users left it. The directory is right: a cell that holds such a user refuses by the epoch.
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
    admin_url: str, settings: Settings, report: Callable[[str], None] = lambda _line: None
) -> dict[str, int]:
    """Erase all such users in all cells but the home; return how many, by the cells' names.

    Raises:
        DatabaseUnavailableError: the directory or a cell does not answer.
    """
    done = {}
    for cell in read_cells(admin_url):
        if cell.cell_id == HOME.cell_id:
            continue
        found = find_strays(cell, admin_url, settings)
        for app_id, user_id in found:
            report(f"{cell.name}: erasing {user_id}")
            asyncio.run(_erase(cell, settings, app_id, user_id))
        if found:
            done[cell.name] = len(found)
    return done


async def _erase(cell: Cell, settings: Settings, app_id: UUID, user_id: UUID) -> None:
    db = open_cell(cell, settings, pool_size=3)
    try:
        await erase_user(db, app_id, str(user_id), requested_by="cells")
    finally:
        await db.close()
