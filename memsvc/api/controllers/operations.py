"""How the service is doing, for the administrator of an app: components, queues, jobs, models and costs.

Each database of the deployment (``memsvc.cells``) has its own; a parameter says which one is asked.
What concerns the whole service has counts, ages and codes of all users together, as ``/metrics`` has. Jobs and costs
are those of the app's users. Changing models needs the command line, because it concerns every app.
"""

from __future__ import annotations

import platform
from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from memsvc import __version__
from memsvc.api.callers import ADMINISTRATOR, Administrator
from memsvc.api.parameters import CursorParameter, PageSize, begin_of
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.llm.calls import MAX_DAYS, Spending, spending
from memsvc.llm.embedders.registry import ModelProgress, list_models
from memsvc.queue.backlog import Backlog, WorkNow, backlog, work_now
from memsvc.queue.dead import DeadLetter, drop_dead, list_dead, retry_dead
from memsvc.queue.jobs import Job, JobOfUser, State, jobs_of_app, retry_job_of_app
from memsvc.server.health import database_health
from memsvc.server.state import DatabaseState, database_state

PATIENCE = documented(400, 401, 403, 503)
CellParameter = Annotated[
    str | None,
    QueryParameter(description="The name of the cell that is asked (GET /v1/operations/cells). Default: the home."),
]


class CellNamed(msgspec.Struct, frozen=True, kw_only=True):
    """A database of the deployment."""

    name: str
    """home: the one with the keys."""
    weight: int
    """Its share of new users, relative to the others."""


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the service that can be configured."""

    name: str
    """embedder, extractor, language_model, reranker, chat_server or cypher."""
    value: str | None
    """Which one is configured, by its name; null: none, and the service works without."""


class Operations(msgspec.Struct, frozen=True, kw_only=True):
    """How the service is doing now."""

    version: str
    python: str
    revision: str | None
    """The revision of the database."""
    current: bool
    """False: run 'memsvc db upgrade', or restart this process if it started before the upgrade."""
    extensions: dict[str, str]
    """The database's extensions with their versions."""
    components: list[Component]
    backlog: Backlog
    work: WorkNow
    database: DatabaseState


class Models(msgspec.Struct, frozen=True, kw_only=True):
    """The embedding models of the database."""

    configured: str | None
    """The one in MEMSVC_EMBEDDING_MODEL; null: none."""
    models: list[ModelProgress]


class OperationsController(Controller):
    """Operations."""

    path = "/operations"
    tags = ("administration",)
    dependencies = ADMINISTRATOR

    @get(
        operation_id="getOperations",
        summary="Get how the service is doing",
        description="Returns versions, components, lags, queues, workers and the size of the database: counts and ages "
        "over all users, as in /metrics. Needs the scope admin.",
        response_description="The service now.",
        responses=PATIENCE,
    )
    async def look(self, administrator: NamedDependency[Administrator], cell: CellParameter = None) -> Operations:
        """Look."""
        db, settings = await administrator.at(cell), administrator.settings
        health = await database_health(db)
        parts = {
            "embedder": settings.embedding_model,
            "extractor": settings.extractor,
            "language_model": settings.llm_model,
            "reranker": settings.reranker,
            "chat_server": settings.chat_model if settings.chat_url else None,
            "cypher": settings.cypher,
        }
        return Operations(
            version=__version__,
            python=platform.python_version(),
            revision=health.revision,
            current=health.current,
            extensions=health.extensions,
            components=[Component(name=name, value=value or None) for name, value in parts.items()],
            backlog=await backlog(db),
            work=await work_now(db),
            database=await database_state(db),
        )

    @get(
        "/cells",
        operation_id="listCells",
        summary="List the cells",
        description="Lists the databases of this deployment, the home first; there is often no other. Each has its own "
        "users, jobs and workers, so the other operations ask one of them. Needs the scope admin.",
        response_description="The cells.",
        responses=PATIENCE,
    )
    async def cells(self, administrator: NamedDependency[Administrator]) -> Page[CellNamed]:
        """List them."""
        cells = await administrator.cells.known()
        return Page(items=[CellNamed(name=cell.name, weight=cell.weight) for cell in cells], next_cursor=None)

    @get(
        "/models",
        operation_id="listEmbeddingModels",
        summary="List the embedding models",
        description="Returns the embedding models with their states, and how many messages have and lack their "
        "vectors, over all users. 'memsvc models' changes them. Needs the scope admin.",
        response_description="The models, oldest first.",
        responses=PATIENCE,
    )
    async def models(self, administrator: NamedDependency[Administrator], cell: CellParameter = None) -> Models:
        """Count."""
        found = await list_models(await administrator.at(cell), patient=False)
        return Models(configured=administrator.settings.embedding_model or None, models=found)

    @get(
        "/costs",
        operation_id="listCosts",
        summary="List the costs of the language model",
        description="Returns calls, tokens, time and money of the language model by day (UTC), task and model, over "
        "the app's users, newest day first. Needs the scope admin.",
        response_description="The costs.",
        responses=documented(400, 401, 403, 503),
    )
    async def costs(
        self,
        administrator: NamedDependency[Administrator],
        days: Annotated[int, QueryParameter(ge=1, le=MAX_DAYS, description="How many days, today included.")] = 30,
        cell: CellParameter = None,
    ) -> Page[Spending]:
        """Sum up."""
        found = await spending(await administrator.at(cell), app=administrator.app_id, days=days)
        return Page(items=found, next_cursor=None)

    @get(
        "/jobs",
        operation_id="listAllJobs",
        summary="List the jobs of all users",
        description="Lists the background jobs of the app's users, newest first, with their last errors. Needs the "
        "scope admin.",
        response_description="One page of jobs.",
        responses=documented(400, 401, 403, 503),
    )
    async def jobs(
        self,
        administrator: NamedDependency[Administrator],
        in_state: Annotated[State | None, QueryParameter(name="state", description="Only jobs in this state.")] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
        cell: CellParameter = None,
    ) -> Page[JobOfUser]:
        """Return one page."""
        db = await administrator.at(cell)
        return await jobs_of_app(db, administrator.app_id, state=in_state, after=begin_of(cursor, None), limit=limit)

    @post(
        "/jobs/{job_id:uuid}/retry",
        status_code=200,
        operation_id="retryAnyJob",
        summary="Retry a job of any user",
        description="Makes a failed or cancelled job of one of the app's users pending again. Needs the scope admin.",
        response_description="The job, pending.",
        responses=documented(400, 401, 403, 404, 409, 503),
    )
    async def retry(
        self, administrator: NamedDependency[Administrator], job_id: FromPath[UUID], cell: CellParameter = None
    ) -> Job:
        """Retry it."""
        return await retry_job_of_app(await administrator.at(cell), administrator.app_id, job_id)

    @get(
        "/dead-letters",
        operation_id="listDeadLetters",
        summary="List dead letters",
        description="Lists messages of the queue that no worker could read, newest first. They hold ids, and belong to "
        "no user. No job is lost with them: a pending job without a message gets a new one. Needs the scope admin.",
        response_description="At most 1,000 messages.",
        responses=PATIENCE,
    )
    async def dead(self, administrator: NamedDependency[Administrator], cell: CellParameter = None) -> Page[DeadLetter]:
        """List them."""
        return Page(items=await list_dead(await administrator.at(cell)), next_cursor=None)

    @post(
        "/dead-letters/{message_id:uuid}/retry",
        status_code=204,
        operation_id="retryDeadLetter",
        summary="Retry a dead letter",
        description="Puts a dead letter back into the queue. Needs the scope admin.",
        response_description="It is in the queue again.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def retry_dead(
        self, administrator: NamedDependency[Administrator], message_id: FromPath[UUID], cell: CellParameter = None
    ) -> None:
        """Retry it."""
        await retry_dead(await administrator.at(cell), message_id)

    @delete(
        "/dead-letters/{message_id:uuid}",
        operation_id="dropDeadLetter",
        summary="Drop a dead letter",
        description="Deletes a dead letter. A job that is still pending gets a new message. Needs the scope admin.",
        response_description="It is gone.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def drop_dead(
        self, administrator: NamedDependency[Administrator], message_id: FromPath[UUID], cell: CellParameter = None
    ) -> None:
        """Drop it."""
        await drop_dead(await administrator.at(cell), message_id)
