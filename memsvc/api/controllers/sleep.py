"""The user's sleep mode: asking for its tasks and seeing what they did."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import AfterParameter, CursorParameter, PageSize, begin_of
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.sleep.runner import Run, ask, get_run, list_runs
from memsvc.sleep.tasks import Scope
from memsvc.sources.moments import read_moment


class SleepIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which tasks of sleep mode to run."""

    tasks: Annotated[list[str], msgspec.Meta(max_length=20)] = []
    """Names of tasks. Empty: all."""
    from_node: UUID | None = None
    """Only what involves this node."""
    since: str | None = None
    """Only what was learnt since then (ISO 8601; without an offset in the user's time zone)."""
    budget_s: Annotated[float, msgspec.Meta(gt=0, le=86_400)] | None = None
    """The longest time that each task works, in seconds."""


class SleepAsked(msgspec.Struct, frozen=True, kw_only=True):
    """The job and the runs that will do it."""

    job_id: UUID
    """The job that runs the tasks."""
    runs: list[Run]
    """One run for each task."""


class SleepController(Controller):
    """Sleep."""

    path = "/sleep"
    tags = ("jobs",)

    @post(
        status_code=202,
        operation_id="sleep",
        summary="Run sleep mode now",
        description="Runs tasks of sleep mode in the background now, in addition to their nightly run. The task "
        "duplicates finds people and things that are in the graph twice. It merges those that are certainly the same "
        "(each merge can be undone) and leaves the rest to a person. The task reread lets a new version of an "
        "extractor read again what an older one has read. The task reviews, if it is switched on, lets a language "
        "model judge facts that wait for review. If a task has an open run, it continues that run.",
        response_description="The job and its runs.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def ask(
        self,
        data: Annotated[SleepIn, BodyKwarg(examples=[Example(value={"tasks": ["duplicates"], "budget_s": 60})])],
        writer: NamedDependency[Caller],
    ) -> SleepAsked:
        """Ask for it."""
        scope = Scope(from_node=data.from_node, since=read_moment(data.since, writer.owner, "since"))
        job_id, runs = await ask(
            writer.db, writer.owner, data.tasks, scope, settings=writer.settings, budget_s=data.budget_s
        )
        return SleepAsked(job_id=job_id, runs=runs)

    @get(
        "/runs",
        operation_id="listSleepRuns",
        summary="List runs of sleep mode",
        description="Lists runs of tasks, newest first: what they examined, did and proposed, and what it cost.",
        response_description="One page of runs.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        cursor: CursorParameter = None,
        after: AfterParameter = None,
        limit: PageSize = 50,
    ) -> Page[Run]:
        """Return one page."""
        runs = await list_runs(reader.db, reader.owner.user_id, after=begin_of(cursor, after), limit=limit)
        return Page(items=runs, next_cursor=str(runs[-1].run_id) if len(runs) == limit else None)

    @get(
        "/runs/{run_id:uuid}",
        operation_id="getSleepRun",
        summary="Get a run of sleep mode",
        description="Returns the run's progress or its result.",
        response_description="The run.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(self, reader: NamedDependency[Caller], run_id: FromPath[UUID]) -> Run:
        """Return it."""
        return await get_run(reader.db, reader.owner.user_id, run_id)
