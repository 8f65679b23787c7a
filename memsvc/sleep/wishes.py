"""Which tasks of sleep mode a user wants: kept in ``memsvc.schedules``, with the time of the night."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import NotFoundError
from memsvc.settings import Settings
from memsvc.sleep.registry import Known, known, offers


async def list_tasks(db: Database, user_id: UUID, settings: Settings) -> list[Known]:
    """Return the tasks of this installation, in the order in which they run, and whether they run for a user."""
    async with db.transaction(user_id) as connection:
        row = (await connection.execute(query("tasks_off"), {"user_id": user_id})).one_or_none()
    return known(settings, row.tasks_off if row is not None else ())


async def switch_task(db: Database, user_id: UUID, settings: Settings, task: str, *, on: bool) -> Known:
    """Say whether a user wants a task; one that is off still runs where it is asked for by its name.

    Raises:
        NotFoundError: there is no such task, or the user has no schedule of sleep.
    """
    if task not in offers():
        raise NotFoundError(f"There is no task {task[:60]!r}.", hint=f"One of: {', '.join(offers())}.")

    async def change(connection: AsyncConnection) -> bool:
        values = {"user_id": user_id, "task": task, "wanted": on}
        return (await connection.execute(query("switch_task"), values)).one_or_none() is not None

    if not await db.attempt(user_id, change):
        raise NotFoundError(
            "This user has no schedule 'sleep'.", hint="Set one: 'memsvc schedule set sleep --at 03:00'."
        )
    return next(one for one in await list_tasks(db, user_id, settings) if one.name == task)
