"""Sleep mode, as its owner sees it."""

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
    """What is to be done."""

    tasks: Annotated[list[str], msgspec.Meta(max_length=20)] = []
    """Names of tasks; none: all."""
    from_node: UUID | None = None
    """Only what concerns this node."""
    since: str | None = None
    """Only what was learnt since then: ISO 8601, without an offset on the user's clock."""
    budget_s: Annotated[float, msgspec.Meta(gt=0, le=86_400)] | None = None
    """Each task ends after so many seconds of work."""


class SleepAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for."""

    job_id: UUID
    """The job that does it."""
    runs: list[Run]
    """One for each task."""


class SleepController(Controller):
    """Sleep."""

    path = "/sleep"
    tags = ("jobs",)

    @post(
        status_code=202,
        operation_id="sleep",
        summary="Ask for the night's work now",
        description="Runs tasks of sleep mode in the background, beside their nightly time. duplicates: finds who and "
        "what stands in the graph twice; merges (each can be undone) what is surely the same, and leaves the rest to a "
        "person. A task whose run is still open goes on with that one.",
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
        job_id, runs = await ask(writer.db, writer.owner, data.tasks, scope, budget_s=data.budget_s)
        return SleepAsked(job_id=job_id, runs=runs)

    @get(
        "/runs",
        operation_id="listSleepRuns",
        summary="List what ran in sleep mode",
        description="Runs of tasks, newest first: what they looked at, did and proposed, and what that cost.",
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
        """One page of them."""
        runs = await list_runs(reader.db, reader.owner.user_id, after=begin_of(cursor, after), limit=limit)
        return Page(items=runs, next_cursor=str(runs[-1].run_id) if len(runs) == limit else None)

    @get(
        "/runs/{run_id:uuid}",
        operation_id="getSleepRun",
        summary="Look at a run of sleep mode",
        description="How far it is, or what it did.",
        response_description="The run.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(self, reader: NamedDependency[Caller], run_id: FromPath[UUID]) -> Run:
        """Look at it."""
        return await get_run(reader.db, reader.owner.user_id, run_id)
