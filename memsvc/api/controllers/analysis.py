"""Analyses of the user's graph."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, PathParameter, QueryParameter

from memsvc.analysis.findings import Kind
from memsvc.analysis.runs import MOST_SEEDS, AnalysisResult, AnalysisRun, ask, get_run, list_runs, results
from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page


class AnalysisIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Options of an analysis."""

    seeds: Annotated[list[UUID], msgspec.Meta(max_length=MOST_SEEDS)] = []
    """For pagerank: the nodes where it starts. Empty: the user's own node."""


class AnalysisAsked(msgspec.Struct, frozen=True, kw_only=True):
    """The job and the run that will do it."""

    job_id: UUID
    """The job that runs the analysis."""
    run: AnalysisRun


class AnalysisController(Controller):
    """Analyses."""

    path = "/analysis"
    tags = ("graph",)

    @post(
        "/{kind:str}",
        status_code=202,
        operation_id="analyse",
        summary="Start an analysis of the graph",
        description="Runs an analysis in the background and keeps its results with the run. hubs: nodes with the "
        "strongest facts. communities: groups of closely connected nodes (Leiden). orphans: nodes that no fact "
        "connects with another. anomalies: facts that exclude each other, dates that cannot be right, days and weeks "
        "of sudden volume. habits: what recurs on the same weekdays, and people who appear together. pagerank: what is "
        "near the given nodes. If a run of this kind is already waiting, it is returned instead of a second one. The "
        "last 3 runs of each kind are kept.",
        response_description="The job and its run.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def ask(
        self,
        kind: Annotated[Kind, PathParameter(description="The kind of analysis.")],
        data: Annotated[AnalysisIn, BodyKwarg(examples=[Example(value={})])],
        writer: NamedDependency[Caller],
    ) -> AnalysisAsked:
        """Ask for it."""
        job_id, run = await ask(writer.db, writer.owner, kind, data.seeds)
        return AnalysisAsked(job_id=job_id, run=run)

    @get(
        "/runs",
        operation_id="listAnalyses",
        summary="List analyses",
        description="Lists runs, newest first: their progress, how much they found, and what it cost.",
        response_description="One page of runs.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        kind: Annotated[Kind | None, QueryParameter(description="Only this analysis.")] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[AnalysisRun]:
        """Return one page."""
        return await list_runs(reader.db, reader.owner.user_id, kind=kind, cursor=cursor, limit=limit)

    @get(
        "/runs/{run_id:uuid}",
        operation_id="getAnalysis",
        summary="Get an analysis",
        description="Returns the state of a run and its totals.",
        response_description="The run.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(self, reader: NamedDependency[Caller], run_id: FromPath[UUID]) -> AnalysisRun:
        """Return it."""
        return await get_run(reader.db, reader.owner.user_id, run_id)

    @get(
        "/runs/{run_id:uuid}/results",
        operation_id="listAnalysisResults",
        summary="List the results of an analysis",
        description="Lists the results, best first, with current labels and sentences. Empty while the run is open. "
        "Results never contain what was erased since.",
        response_description="One page of results.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def found(
        self, reader: NamedDependency[Caller], run_id: FromPath[UUID], cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[AnalysisResult]:  # fmt: skip
        """Return one page."""
        return await results(reader.db, reader.owner.user_id, run_id, cursor=cursor, limit=limit)
