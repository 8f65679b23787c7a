"""Runs the tasks of sleep mode: recorded in ``memsvc.sleep_runs``, page by page, each page in one transaction.

A run that was killed or paused continues after its last page. Two processes never run the same user's tasks at the same
time. The tasks themselves: ``memsvc.sleep.tasks``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple
from uuid import UUID

import msgspec
import structlog
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, owner_of
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import (
    ContendedError,
    ExtractorError,
    InvalidRequestError,
    LlmError,
    MemsvcError,
    NotFoundError,
    SleepBusyError,
)
from memsvc.extract.run import Extractors
from memsvc.queue.execution import OF_THE_DATABASE, Steps
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings
from memsvc.sleep.duplicates import Duplicates
from memsvc.sleep.reread import Reread, messages_wait
from memsvc.sleep.reviews import NAME as REVIEWS
from memsvc.sleep.reviews import Reviews
from memsvc.sleep.tasks import Applied, Page, Place, Scope, Task

GIVE_WAY_S = 1.0
"""How long a job waits for new messages before it goes behind other jobs."""
SLICE_S = 60.0
"""Time after which a job lets other users' jobs run; it is long, because finding the work again costs seconds."""
MAX_PAGE = 1_000
log = structlog.get_logger()
Progress = Callable[["Run", int], None]
"""Called after each page with the run so far and the total number of items."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run of one task for one user."""

    run_id: UUID
    task: str
    state: Literal["open", "done", "failed"]
    from_node: UUID | None
    """Only what concerns this node."""
    since: datetime | None
    """Only what was learnt since then."""
    budget_s: float | None
    examined: int
    """Items that it examined; for duplicates: pairs and cards that were compared."""
    applied: int
    """Changes that it made; for duplicates: merges."""
    proposed: int
    """Decisions that it left to a person; for duplicates: pairs to review."""
    seconds: float
    """Working time, without pauses."""
    within_budget: bool
    """False: its budget was used up before the work was done."""
    error_code: str | None
    started_at: datetime
    finished_at: datetime | None


class _Opened(NamedTuple):
    """A run, the position that it reached, and whether it is recurring work."""

    run: Run
    place: Place | None
    nightly: bool


def tasks_of(settings: Settings | None, extractors: Extractors | None = None) -> Mapping[str, Task]:
    """Return the tasks that are switched on by name, in the order in which they run.

    Args:
        settings: of this process; None: only the task that reads no messages and asks no language model.
        extractors: those of this process; None: new ones by the settings.
    """
    tasks: list[Task] = [Duplicates()]
    if settings is not None:
        tasks.append(Reread(extractors or Extractors(settings), settings))
        if settings.llm_model and settings.llm_reviews_per_night:
            tasks.append(Reviews(settings))
    return {task.name: task for task in tasks}


def known_tasks(
    names: Sequence[str], settings: Settings | None = None, extractors: Extractors | None = None
) -> list[Task]:
    """Return tasks by their names, each once, in the order in which they run; all tasks if none is named.

    Raises:
        InvalidRequestError: there is no such task, or it is switched off.
    """
    tasks = tasks_of(settings, extractors)
    wanted = {name.strip() for name in names if name.strip()}
    unknown = sorted(wanted - tasks.keys())
    if unknown == [REVIEWS]:
        hint = "Set MEMSVC_LLM_MODEL and MEMSVC_LLM_REVIEWS_PER_NIGHT."
        raise InvalidRequestError(f"The task {REVIEWS} is switched off.", hint=hint, field="tasks")
    if unknown:
        raise InvalidRequestError(
            f"There is no task {unknown[0][:60]!r}.", hint=f"One of: {', '.join(tasks)}.", field="tasks"
        )
    return [task for name, task in tasks.items() if not wanted or name in wanted]


def _run(row: Row[Any]) -> Run:
    return Run(**{name: row._mapping[name] for name in Run.__struct_fields__})  # noqa: SLF001 - the public name


async def list_runs(db: Database, user_id: UUID, *, after: UUID | None = None, limit: int = 50) -> list[Run]:
    """Return a user's runs, newest first; ``after`` is the last run of the previous page.

    Raises:
        InvalidRequestError: a limit outside 1 to 1,000.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidRequestError(f"limit must be between 1 and {MAX_PAGE:,}.", field="limit")
    async with db.transaction(user_id) as connection:
        values = {"user_id": user_id, "run_id": None, "after": after, "limit": limit}
        return [_run(row) for row in await connection.execute(query("list_sleep_runs"), values)]


async def get_run(db: Database, user_id: UUID, run_id: UUID) -> Run:
    """Return one run.

    Raises:
        NotFoundError: this user has no such run.
    """
    async with db.transaction(user_id) as connection:
        values = {"user_id": user_id, "run_id": run_id, "after": None, "limit": 1}
        row = (await connection.execute(query("list_sleep_runs"), values)).one_or_none()
    if row is None:
        raise NotFoundError("There is no run with this id.")
    return _run(row)


async def _opened(
    db: Database, owner: Owner, task: str, scope: Scope, budget_s: float | None, *, nightly: bool
) -> _Opened:
    """Return the open run of a task; open one if there is none."""
    values = {
        "user_id": owner.user_id, "task": task, "from_node": scope.from_node, "since": scope.since,
        "budget_s": budget_s, "nightly": nightly,
    }  # fmt: skip

    async def work(connection: AsyncConnection) -> _Opened:
        row = (await connection.execute(query("open_sleep_run"), values)).one_or_none()
        if row is None:  # another process opened or ended it while the statement ran
            raise ContendedError
        return _Opened(_run(row), row.place, row.nightly)

    return await db.attempt(owner.user_id, work)


async def ask(
    db: Database,
    owner: Owner,
    names: Sequence[str],
    scope: Scope | None = None,
    *,
    settings: Settings | None = None,
    budget_s: float | None = None,
) -> tuple[UUID, list[Run]]:
    """Request runs in the background; return the job's id and the runs. An open run of a task is continued.

    ``settings`` as in ``tasks_of``.

    Raises:
        InvalidRequestError: there is no such task.
    """
    runs = [
        (await _opened(db, owner, task.name, scope or Scope(), budget_s, nightly=False)).run
        for task in known_tasks(names, settings)
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
    budget_s: float | None = None,
    progress: Progress = lambda _run, _total: None,
) -> list[Run]:
    """Run tasks in this process, each until it is done or its budget is used up; open runs are continued.

    ``settings`` and ``extractors`` as in ``tasks_of``.

    Raises:
        InvalidRequestError: there is no such task.
        SleepBusyError: another process runs this user's tasks.
    """
    runs = []
    async with db.holding(_lock(owner.user_id)) as mine:
        if not mine:
            raise SleepBusyError
        for task in known_tasks(names, settings, extractors):
            opened = await _opened(db, owner, task.name, scope or Scope(), budget_s, nightly=False)
            await _work(db, owner, task, opened, progress)
            runs.append(await get_run(db, owner.user_id, opened.run.run_id))
    return runs


async def dry_run(
    db: Database,
    owner: Owner,
    names: Sequence[str] = (),
    scope: Scope | None = None,
    *,
    settings: Settings | None = None,
) -> AsyncGenerator[tuple[str, Page]]:
    """Yield what tasks would do, page by page; nothing is stored.

    Raises:
        InvalidRequestError: there is no such task.
    """
    dry = msgspec.structs.replace(scope or Scope(), dry=True)
    for task in known_tasks(names, settings):
        async with aclosing(task.pages(db, owner, dry, None)) as pages:
            async for page in pages:
                yield task.name, page


def _lock(user_id: UUID) -> str:
    return f"memsvc.sleep {user_id}"


async def _work(
    db: Database, owner: Owner, task: Task, opened: _Opened, progress: Progress, *, until: float | None = None
) -> bool:
    """Continue a run where it stopped; return True if the time ``until`` came before its end, or new messages wait."""
    run = opened.run
    if until is not None and await _gives_way(db, owner, task):
        await asyncio.sleep(GIVE_WAY_S)
        return True
    scope = Scope(from_node=run.from_node, since=run.since, nightly=opened.nightly)
    spent, began = run.seconds, time.monotonic()
    try:
        async with aclosing(task.pages(db, owner, scope, opened.place)) as pages:
            async for page in pages:
                now = time.monotonic()
                done = await _apply(db, owner, task, run, page, seconds=now - began)
                spent, began = spent + now - began, now
                run = msgspec.structs.replace(
                    run, examined=run.examined + page.examined, applied=run.applied + done.applied,
                    proposed=run.proposed + done.proposed, seconds=spent,
                )  # fmt: skip
                progress(run, run.examined + page.left)
                if run.budget_s is not None and spent >= run.budget_s:
                    await _end(db, owner, run, within_budget=False)
                    return False
                if until is not None and (time.monotonic() >= until or await _gives_way(db, owner, task)):
                    return True
    except OF_THE_DATABASE:
        raise
    except MemsvcError as error:
        await _end(db, owner, run, error_code=error.code)
        raise
    await _end(db, owner, run)
    return False


async def _gives_way(db: Database, owner: Owner, task: Task) -> bool:
    return task.gives_way and await messages_wait(db, owner)


async def _apply(db: Database, owner: Owner, task: Task, run: Run, page: Page, *, seconds: float) -> Applied:
    """Apply the proposals of a page and record them, in one transaction."""

    async def work(connection: AsyncConnection) -> Applied:
        done = await task.apply(connection, owner, page)
        values = {
            "user_id": owner.user_id, "run_id": run.run_id, "place": msgspec.json.encode(page.place).decode(),
            "examined": page.examined, "applied": done.applied, "proposed": done.proposed, "seconds": seconds,
        }  # fmt: skip
        await connection.execute(query("note_sleep_page"), values)
        return done

    return await db.attempt(owner.user_id, work)


async def _end(
    db: Database, owner: Owner, run: Run, *, within_budget: bool = True, error_code: str | None = None
) -> None:
    values = {
        "user_id": owner.user_id, "run_id": run.run_id, "within_budget": within_budget, "error_code": error_code,
    }  # fmt: skip

    async def work(connection: AsyncConnection) -> None:
        await connection.execute(query("end_sleep_run"), values)

    await db.attempt(owner.user_id, work)


def sleep_steps(settings: Settings, extractors: Extractors | None = None) -> Steps:
    """Return the step of the job ``sleep``: it continues requested runs; if there are none, it does the nightly ones.

    Args:
        settings: give how long runs are kept, which is as long as jobs, and which tasks are switched on.
        extractors: those of this process; None: new ones.
    """
    tasks = tasks_of(settings, extractors)
    kept = timedelta(days=settings.keep_jobs_days)

    async def step(db: Database, user_id: UUID, _subject: UUID) -> bool:
        until = time.monotonic() + SLICE_S
        async with db.transaction(user_id) as connection:
            names = (await connection.execute(query("open_sleep_tasks"), {"user_id": user_id})).scalars().all()
        owner = await owner_of(db, user_id)
        async with db.holding(_lock(user_id)) as mine:
            if not mine:
                raise SleepBusyError
            asked = [name for name in names if name in tasks]
            for name in asked or [name for name, task in tasks.items() if await task.has_work(db, owner)]:
                opened = await _opened(db, owner, name, Scope(), None, nightly=True)
                try:
                    if await _work(db, owner, tasks[name], opened, lambda _run, _total: None, until=until):
                        return True
                except (ExtractorError, LlmError) as error:  # the run says so, and the next night tries again
                    log.warning("a task of sleep mode failed", task=name, code=error.code)
        await _forget(db, user_id, kept)
        return False

    return {"sleep": [step]}


async def _forget(db: Database, user_id: UUID, kept: timedelta) -> None:
    """Delete old runs; the last two of each task are kept."""

    async def work(connection: AsyncConnection) -> None:
        await connection.execute(query("delete_sleep_runs"), {"user_id": user_id, "kept": kept})

    await db.attempt(user_id, work)
