"""The user's sleep mode: asking for its tasks and seeing what they did."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from litestar import Controller, Request, Response, get, post, put
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, QueryParameter

from memsvc.access.users import valid_zone
from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import AfterParameter, CursorParameter, PageSize, begin_of
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.sleep.preview import SleepPreview, preview_sleep
from memsvc.sleep.registry import Known
from memsvc.sleep.report import SleepReport, read_day, report
from memsvc.sleep.report_text import markdown
from memsvc.sleep.runner import ask
from memsvc.sleep.runs import Budget, Run, get_run, list_runs
from memsvc.sleep.tasks import Scope
from memsvc.sleep.undoing import Undone, undo_run
from memsvc.sleep.wishes import list_tasks, switch_task
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
    budget_tokens: Annotated[int, msgspec.Meta(ge=1, le=10**12)] | None = None
    """The most tokens of the language model for each task, questions and answers together."""


class SleepPreviewIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which tasks of sleep mode to preview."""

    tasks: Annotated[list[str], msgspec.Meta(max_length=20)] = []
    """Names of tasks. Empty: all that are on."""
    from_node: UUID | None = None
    """Only what involves this node."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 200
    """The most things to name."""


class SleepAsked(msgspec.Struct, frozen=True, kw_only=True):
    """The job and the runs that will do it."""

    job_id: UUID
    """The job that runs the tasks."""
    runs: list[Run]
    """One run for each task."""


class WishIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Whether the user wants a task."""

    on: bool
    """false: it does not run at night, nor when sleep begins before its time."""


MARKDOWN = "text/markdown"
PREVIEW_S = 20
Form = Annotated[
    Literal["json", "markdown"] | None,
    QueryParameter(name="format", description="Default: what the Accept header asks for, else json."),
]


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
        "model judge facts that wait for review. The task forgetting, if it is on for the user, archives what nobody "
        "recalls. The task salience rates what is on the user's mind; promotion, links and aliases propose what a "
        "person decides (`GET /v1/proposals`). With `from_node` only tasks run that can keep to one node. If a task "
        "has an open run, it continues that run.",
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
            writer.db, writer.owner, data.tasks, scope, settings=writer.settings,
            budget=Budget(data.budget_s, data.budget_tokens),
        )  # fmt: skip
        return SleepAsked(job_id=job_id, runs=runs)

    @post(
        "/preview",
        status_code=200,
        operation_id="previewSleep",
        summary="Preview a run of sleep mode",
        description="Returns what tasks would do now, and changes nothing: who would be merged, what would be "
        "proposed, archived or rated, each with its reason. Tasks that write texts, such as summaries, only say how "
        f"much they would look at. It stops looking after {PREVIEW_S} seconds; `complete` is false then, or if there "
        "is more than `limit`. The task reviews, where it is on, asks the language model.",
        response_description="What the tasks would do.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def preview(
        self,
        data: Annotated[SleepPreviewIn, BodyKwarg(examples=[Example(value={"tasks": ["duplicates"], "limit": 50})])],
        writer: NamedDependency[Caller],
    ) -> SleepPreview:
        """Preview it."""
        return await preview_sleep(
            writer.db, writer.owner, data.tasks, Scope(from_node=data.from_node), settings=writer.settings,
            most=data.limit, seconds=PREVIEW_S,
        )  # fmt: skip

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

    @post(
        "/runs/{run_id:uuid}/undo",
        status_code=200,
        operation_id="undoSleepRun",
        summary="Undo a run of sleep mode",
        description="Undoes, as one operation, what the run changed in the graph, the last change first, and what its "
        "task can take back besides. What stays is named: a change that something was built upon since stays whole. "
        "Repeating the request undoes only what was left. A run whose work cannot be undone at all is refused "
        "(sleep_undo).",
        response_description="What was undone, and what was not.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def undo(self, writer: NamedDependency[Caller], run_id: FromPath[UUID]) -> Undone:
        """Undo it."""
        return await undo_run(writer.db, writer.owner, run_id, writer.settings)

    @get(
        "/report",
        operation_id="readSleepReport",
        summary="Read the report of a night",
        description="Returns what sleep mode did since the night before: what was summarised, merged and archived, "
        "what was learnt and which facts hold no longer, what waits for a person, what is due, and what failed. "
        "As Markdown it is a page for people, in which sections without content are left out.",
        response_description="The report, as JSON or as Markdown.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def report(
        self,
        request: Request[Any, Any, Any],
        reader: NamedDependency[Caller],
        date: Annotated[
            str | None,
            QueryParameter(
                description="The day of the morning, YYYY-MM-DD, on the user's clock. Default: the last night's.",
                examples=[Example(value="2026-03-01")],
            ),
        ] = None,
        form: Form = None,
    ) -> Response[SleepReport]:
        """Return it."""
        found = await report(reader.db, reader.owner, read_day(date) if date is not None else None)
        chosen = form or (
            "markdown"
            if request.accept.best_match(["application/json", "text/markdown"]) == "text/markdown"
            else "json"
        )
        headers = {"Vary": "Accept", "X-Content-Type-Options": "nosniff"}
        if chosen == "json":
            return Response(found, headers=headers)
        text = markdown(found, valid_zone(reader.owner.time_zone), asked=date is not None)
        page: Response[Any] = Response(text.encode(), media_type=MARKDOWN, headers=headers)
        return page

    @get(
        "/tasks",
        operation_id="listSleepTasks",
        summary="List the tasks of sleep mode",
        description="Lists the tasks of this installation in the order in which they run, whether they run for this "
        "user, and what to do if one is wanted that does not.",
        response_description="All tasks.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def tasks(self, reader: NamedDependency[Caller]) -> Page[Known]:
        """Return all tasks."""
        return Page(items=await list_tasks(reader.db, reader.owner.user_id, reader.settings), next_cursor=None)

    @put(
        "/tasks/{task:str}",
        operation_id="switchSleepTask",
        summary="Switch a task of sleep mode on or off",
        description="Says whether this user wants a task. One that is off still runs when it is asked for by its name.",
        response_description="The task.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def switch(
        self,
        data: Annotated[WishIn, BodyKwarg(examples=[Example(value={"on": False})])],
        writer: NamedDependency[Caller],
        task: FromPath[str],
    ) -> Known:
        """Switch it."""
        return await switch_task(writer.db, writer.owner.user_id, writer.settings, task, on=data.on)
