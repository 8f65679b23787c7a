"""Runs the tasks of sleep mode: page by page, each page in one transaction.

A run that was killed or paused continues after its last page. Two processes never run the same user's tasks at the same
time. A task that fails does not keep the others from running. The book of runs: ``memsvc.sleep.runs``; which tasks
there are: ``memsvc.sleep.registry``; when sleep begins before its time: ``memsvc.sleep.waking``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import structlog
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, owner_of
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import (
    InvalidRequestError,
    JobFailedError,
    LlmBudgetError,
    MemsvcError,
    SleepBusyError,
    UserUnknownError,
)
from memsvc.extract.run import Extractors
from memsvc.llm.calls import OF_WORK, metered
from memsvc.queue.execution import OF_THE_DATABASE, Steps
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings
from memsvc.sleep.registry import named, offers, tasks_of
from memsvc.sleep.reread import messages_wait
from memsvc.sleep.runs import UNBOUNDED, Budget, Cause, Opened, Run, Writer, get_run, open_run, tell_ended
from memsvc.sleep.tasks import Page, Scope, Task

GIVE_WAY_S = 1.0
"""How long a job waits for new messages before it goes behind other jobs."""
SLICE_S = 60.0
"""Time after which a job lets other users' jobs run; it is long, because finding the work again costs seconds."""
CALM = frozenset({"messages", "sitting", "importance"})
"""Causes of runs in the user's day: their tasks let new messages go first, after each page."""
NOT_OF_TASKS = (*OF_THE_DATABASE, UserUnknownError)
"""Errors that end the whole night and not a task alone; the run stays open and is continued."""
log = structlog.get_logger()
Progress = Callable[[Run, int], None]
"""Called after each page with the run so far and the total number of items."""


async def ask(
    db: Database,
    owner: Owner,
    names: Sequence[str],
    scope: Scope | None = None,
    *,
    settings: Settings | None = None,
    budget: Budget = UNBOUNDED,
) -> tuple[UUID, list[Run]]:
    """Request runs in the background; return the job's id and the runs. An open run of a task is continued.

    ``names`` and ``settings`` as in ``sleep``.

    Raises:
        InvalidRequestError: there is no such task, it is switched off, or it cannot keep to one node.
    """
    runs = [
        (await open_run(db, owner, task.name, cause="asked", scope=scope, budget=budget)).run
        for task in await _wanted(db, owner, names, scope, settings=settings)
    ]

    async def job(connection: AsyncConnection) -> UUID:
        job_id: UUID = (await connection.execute(query("ask_sleep"), {"user_id": owner.user_id})).scalar_one()
        return job_id

    job_id = await db.attempt(owner.user_id, job)
    announce_jobs(db)
    return job_id, runs


async def sleep(
    db: Database,
    owner: Owner,
    names: Sequence[str] = (),
    scope: Scope | None = None,
    *,
    settings: Settings | None = None,
    extractors: Extractors | None = None,
    budget: Budget = UNBOUNDED,
    progress: Progress = lambda _run, _total: None,
) -> list[Run]:
    """Run tasks in this process, each until it is done or its budget is used up; open runs are continued.

    Args:
        db: the database.
        owner: whose memory.
        names: of tasks; empty: all that the settings and the user have switched on.
        scope: what they look at.
        settings: of this process; None: only the task that reads no messages and asks no language model.
        extractors: those of this process; None: new ones by the settings.
        budget: of each task.
        progress: called after each page.

    Raises:
        InvalidRequestError: there is no such task, it is switched off, or it cannot keep to one node.
        SleepBusyError: another process runs this user's tasks.
        MemsvcError: a task failed, which its run says, too; raised after all tasks have run.
    """
    runs, failed = [], None
    async with db.holding(lock_of(owner.user_id)) as mine:
        if not mine:
            raise SleepBusyError
        for task in await _wanted(db, owner, names, scope, settings=settings, extractors=extractors):
            opened = await open_run(db, owner, task.name, cause="asked", scope=scope, budget=budget)
            try:
                await _work(db, owner, task, opened, progress)
            except NOT_OF_TASKS:
                raise
            except MemsvcError as error:
                failed = failed or error
            runs.append(await get_run(db, owner.user_id, opened.run.run_id))
        await tell_ended(db, owner.user_id)
    if failed is not None:
        raise failed
    return runs


async def dry_run(
    db: Database,
    owner: Owner,
    names: Sequence[str] = (),
    scope: Scope | None = None,
    *,
    settings: Settings | None = None,
) -> AsyncGenerator[tuple[str, Page]]:
    """Yield what tasks would do, page by page; nothing is stored. ``names`` and ``settings`` as in ``sleep``.

    Raises:
        InvalidRequestError: there is no such task, it is switched off, or it cannot keep to one node.
    """
    dry = msgspec.structs.replace(scope or Scope(), dry=True)
    for task in await _wanted(db, owner, names, scope, settings=settings):
        async with aclosing(task.pages(db, owner, dry, None)) as pages:
            async for page in pages:
                yield task.name, page


async def _wanted(
    db: Database,
    owner: Owner,
    names: Sequence[str],
    scope: Scope | None,
    *,
    settings: Settings | None,
    extractors: Extractors | None = None,
) -> list[Task]:
    """Return the named tasks, or all that are switched on, in the order in which they run.

    Where a run is about one node, these are tasks that can keep to one.
    """
    chosen, tasks = named(names, settings), tasks_of(settings, extractors)
    if scope is not None and scope.from_node is not None:
        able = [name for name, offer in offers().items() if offer.of_node]
        if unable := [name for name in chosen if name not in able]:
            raise InvalidRequestError(
                f"The task {unable[0]} cannot keep to one node.", hint=f"These can: {', '.join(able)}.", field="tasks"
            )
        tasks = {name: task for name, task in tasks.items() if name in able}
    if not chosen:
        async with db.transaction(owner.user_id) as connection:
            row = (await connection.execute(query("tasks_off"), {"user_id": owner.user_id})).one_or_none()
        chosen = [name for name in tasks if row is None or name not in row.tasks_off]
    return [tasks[name] for name in chosen if name in tasks]


def lock_of(user_id: UUID) -> str:
    """The name of the lock that whoever runs or undoes a user's tasks holds."""
    return f"memsvc.sleep {user_id}"


async def _work(
    db: Database, owner: Owner, task: Task, opened: Opened, progress: Progress, *, until: float | None = None
) -> bool:
    """Continue a run where it stopped; return True if the time ``until`` came before its end, or new messages wait.

    Raises:
        MemsvcError: the run failed, and says so; or, of ``NOT_OF_TASKS``, stays open.
    """
    run = opened.run

    async def gives_way() -> bool:
        return (task.gives_way or run.cause in CALM) and await messages_wait(db, owner)

    if until is not None and await gives_way():
        await asyncio.sleep(GIVE_WAY_S)
        return True
    writer = Writer(db, owner, task, offers()[task.name].done, opened)
    scope = Scope(from_node=run.from_node, since=run.since, nightly=opened.nightly)
    began = time.monotonic()
    try:
        with metered(writer.meter):
            async with aclosing(task.pages(db, owner, scope, opened.place)) as pages:
                async for page in pages:
                    now = time.monotonic()
                    await writer.apply(page, seconds=now - began)
                    began = now
                    progress(writer.run, writer.run.examined + page.left)
                    if run.budget_s is not None and writer.run.seconds >= run.budget_s:
                        await writer.end(within_budget=False)
                        return False
                    if until is not None and (time.monotonic() >= until or await gives_way()):
                        return True
    except NOT_OF_TASKS:
        raise
    except LlmBudgetError as error:
        if error.details.get("budget") != OF_WORK:
            await writer.end(error_code=error.code)
            raise
        await writer.end(within_budget=False)
        return False
    except Exception as error:
        raise await _failed(writer, error) from error
    await writer.end()
    return False


async def _failed(writer: Writer, error: Exception) -> MemsvcError:
    """Record that a run failed, and return the error for whoever asked; a fault of a task's code is logged."""
    if not isinstance(error, MemsvcError):
        log.error("a task of sleep mode is faulty", task=writer.run.task, exc_info=error)
        error = JobFailedError(f"The task {writer.run.task} failed with {type(error).__name__}: see the log.")
    await writer.end(error_code=error.code)
    return error


def sleep_steps(settings: Settings, extractors: Extractors | None = None) -> Steps:
    """Return the step of the job ``sleep``: it continues requested runs; if there are none, it does the recurring ones.

    Args:
        settings: give how long runs are kept, which is as long as jobs, what a night may cost, and which tasks are
            switched on.
        extractors: those of this process; None: new ones.
    """
    kept = timedelta(days=settings.keep_jobs_days)
    budget = Budget(settings.sleep_seconds or None, settings.sleep_tokens or None)

    async def step(db: Database, user_id: UUID, _subject: UUID) -> bool:
        tasks = tasks_of(settings, extractors)
        until = time.monotonic() + SLICE_S
        owner = await owner_of(db, user_id, refuses=False)
        async with db.holding(lock_of(user_id)) as mine:
            if not mine:
                raise SleepBusyError
            async with db.transaction(user_id) as connection:
                plan = (await connection.execute(query("sleep_plan"), {"user_id": user_id})).one()
            for task in _planned(plan, tasks):
                if await _recur(db, owner, task, plan, budget=budget, until=until):
                    return True
            await tell_ended(db, user_id)
        await _forget(db, user_id, kept)
        return False

    return {"sleep": [step]}


def _planned(plan: Row[Any], tasks: Mapping[str, Task]) -> list[Task]:
    """Return the tasks that the job is to run, in their order: requested ones, or all of this night that are left."""
    opened = [name for name in tasks if name in plan.open_tasks]
    if opened and not plan.nightly:
        return [tasks[name] for name in opened]
    rest = {*plan.done_tasks, *plan.tasks_off} - {*opened}
    return [task for name, task in tasks.items() if name not in rest]


async def _recur(db: Database, owner: Owner, task: Task, plan: Row[Any], *, budget: Budget, until: float) -> bool:
    """Run a task of the job as far as the time goes; return whether it goes on later. Its failure is in its run."""
    cause: Cause = plan.woken_for or "night"
    try:
        if task.name not in plan.open_tasks and not await _has_work(db, owner, task, cause):
            return False
        opened = await open_run(db, owner, task.name, cause=cause, budget=budget)
        return await _work(db, owner, task, opened, lambda _run, _total: None, until=until)
    except NOT_OF_TASKS:
        raise
    except MemsvcError as error:  # the run says so, and the next night tries again
        log.warning("a task of sleep mode failed", task=task.name, code=error.code)
        return False


async def _has_work(db: Database, owner: Owner, task: Task, cause: Cause) -> bool:
    """Whether a task has work.

    Raises:
        MemsvcError: it cannot tell; a run says so.
    """
    try:
        return await task.has_work(db, owner)
    except NOT_OF_TASKS:
        raise
    except Exception as error:
        opened = await open_run(db, owner, task.name, cause=cause)
        raise await _failed(Writer(db, owner, task, "", opened), error) from error


async def _forget(db: Database, user_id: UUID, kept: timedelta) -> None:
    """Delete old runs; the last two of each task are kept."""

    async def work(connection: AsyncConnection) -> None:
        await connection.execute(query("delete_sleep_runs"), {"user_id": user_id, "kept": kept})

    await db.attempt(user_id, work)
