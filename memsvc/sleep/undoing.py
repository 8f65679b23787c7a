"""Undoes what one run of a task wrote, as one operation.

Whatever a page changes in the graph belongs to its run (``memsvc.changes.sleep_run_id``). These changes are undone, the
last one first; a task that writes more takes that back itself (``memsvc.sleep.tasks.Undoing``). What stays is named:
changes that somebody has built upon since, and what is not undone by its nature. An undo that was killed goes on when
it is asked for again, and what is undone already is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import EVENTS, Database
from memsvc.db.files import query
from memsvc.errors import ChangeBuiltUponError, MergeCycleError, SleepBusyError, SleepUndoError
from memsvc.graph.history import undo_in
from memsvc.settings import Settings
from memsvc.sleep.registry import offers, tasks_of
from memsvc.sleep.runner import lock_of
from memsvc.sleep.runs import Run, get_run
from memsvc.sleep.tasks import Undoing
from memsvc.text.characters import flat
from memsvc.text.counts import counted

TOGETHER = 20
"""Changes that one transaction undoes."""
NAMED = 3
"""Things of a change that is left that are named."""


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """Something of a run that was not undone."""

    what: str
    """What it is, in words."""
    code: str
    """change_built_upon, merge_cycle: something that it altered was altered again; stays: it is not undone by its
    nature."""
    change_id: UUID | None
    """The change that stays whole; None: it is none."""


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """What became of undoing a run."""

    run: Run
    changes: int
    """Changes of the graph that were undone now."""
    other: int
    """What the task itself took back."""
    left: list[Left]


async def undo_run(db: Database, owner: Owner, run_id: UUID, settings: Settings) -> Undone:
    """Undo what a run wrote. Undoing it again undoes only what was left before.

    Raises:
        NotFoundError: this user has no such run; runs are kept as long as jobs.
        SleepUndoError: it is still open, or its task writes nothing that can be undone.
        SleepBusyError: another process runs this user's tasks.
    """
    async with db.holding(lock_of(owner.user_id)) as mine:
        if not mine:
            raise SleepBusyError
        run = await get_run(db, owner.user_id, run_id)
        if run.state == "open":
            raise SleepUndoError(
                f"The run of {run.task} has not ended.", hint="Let it end first: 'memsvc sleep' continues it."
            )
        undone, left = await _changes(db, owner, run)
        task: object = tasks_of(settings).get(run.task)
        other = await _rest(db, owner, task, run) if isinstance(task, Undoing) else 0
        known = await _has_changes(db, owner, run)
        left += _staying(run, known=known or isinstance(task, Undoing))
        return Undone(run=await get_run(db, owner.user_id, run_id), changes=undone, other=other, left=left)


async def _changes(db: Database, owner: Owner, run: Run) -> tuple[int, list[Left]]:
    """Undo the changes of a run, the last one first, some at a time; return how many, and which stay."""
    undone, left = 0, list[Left]()
    last: datetime | None = None

    async def some(connection: AsyncConnection) -> tuple[int, list[Left], datetime | None]:
        await connection.execute(query("write_facts_alone"), {"user_id": owner.user_id})
        values = {"user_id": owner.user_id, "run_id": run.run_id, "before": last, "limit": TOGETHER}
        rows = (await connection.execute(query("changes_of_sleep"), values)).all()
        done, stay = 0, list[Left]()
        for row in rows:
            try:
                async with connection.begin_nested():
                    await undo_in(connection, owner, row.change_id, "user")
            except (ChangeBuiltUponError, MergeCycleError) as error:
                what = await _told(connection, owner, row.recorded_at)
                stay.append(Left(what=what, code=error.code, change_id=row.change_id))
            else:
                done += 1
        if rows:
            await connection.execute(query("note_sleep_undone"), {"user_id": owner.user_id, "run_id": run.run_id})
        return done, stay, rows[-1].recorded_at if rows else None

    while True:
        done, stay, reached = await db.attempt(owner.user_id, some)
        undone, left = undone + done, left + stay
        if reached is None:
            break
        last = reached
    if undone:
        db.notify(EVENTS)
    return undone, left


async def _told(connection: AsyncConnection, owner: Owner, at: datetime) -> str:
    """Say in words what a change wrote."""
    values = {"user_id": owner.user_id, "at": at, "limit": NAMED + 1}
    told: Sequence[str] = (await connection.execute(query("change_in_words"), values)).scalars().all()
    return "; ".join(flat(one) for one in told[:NAMED]) + ("; and more" if len(told) > NAMED else "")


async def _rest(db: Database, owner: Owner, task: Undoing, run: Run) -> int:
    async def work(connection: AsyncConnection) -> int:
        taken = await task.undo(connection, owner, run.run_id)
        await connection.execute(query("note_sleep_undone"), {"user_id": owner.user_id, "run_id": run.run_id})
        return taken

    return await db.attempt(owner.user_id, work)


async def _has_changes(db: Database, owner: Owner, run: Run) -> bool:
    values = {"user_id": owner.user_id, "run_id": run.run_id}
    async with db.transaction(owner.user_id) as connection:
        return bool((await connection.execute(query("sleep_changed"), values)).scalar_one())


def _staying(run: Run, *, known: bool) -> list[Left]:
    """Name what of a run is not undone by its nature.

    Raises:
        SleepUndoError: all that it did is of that sort, or nobody knows how to undo it.
    """
    offer = offers().get(run.task)
    stays = offer.stays if offer is not None else {}
    left = [
        Left(what=f"{run.counts[kind]:,} {what}", code="stays", change_id=None)
        for kind, what in stays.items()
        if run.counts.get(kind)
    ]
    if run.applied and not known:
        if offer is None:
            raise SleepUndoError(f"The task {run.task} of this run is not installed, and it changed no facts.")
        named = "; ".join(one.what for one in left) or f"{counted(run.applied, 'change')} of the task {run.task}"
        raise SleepUndoError(f"This run of {run.task} cannot be undone: {named}.")
    return left
