"""Analyses of the graph, as its owner sees it."""

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
    """From where."""

    seeds: Annotated[list[UUID], msgspec.Meta(max_length=MOST_SEEDS)] = []
    """Of pagerank: the nodes from which it walks; none: the user's own."""


class AnalysisAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for."""

    job_id: UUID
    """The job that does it."""
    run: AnalysisRun


class AnalysisController(Controller):
    """Analyses."""

    path = "/analysis"
    tags = ("graph",)

    @post(
        "/{kind:str}",
        status_code=202,
        operation_id="analyse",
        summary="Ask for an analysis of the graph",
        description="Computes in the background and keeps what it finds with the run. hubs: nodes with the strongest "
        "facts. communities: groups that hang together (Leiden). orphans: nodes that no fact joins to anything. "
        "anomalies: facts that exclude each other, dates that cannot be right, days and weeks of sudden volume. "
        "habits: what comes again on the same weekdays, people who come together. pagerank: what is near to given "
        "nodes. A run that waits already is given instead of a second one. The last 3 runs of each kind are kept.",
        response_description="The job and its run.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def ask(
        self,
        kind: Annotated[Kind, PathParameter(description="Which analysis.")],
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
        description="Runs, newest first: how far they are, how much they found, and what that cost.",
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
        """One page of them."""
        return await list_runs(reader.db, reader.owner.user_id, kind=kind, cursor=cursor, limit=limit)

    @get(
        "/runs/{run_id:uuid}",
        operation_id="getAnalysis",
        summary="Look at an analysis",
        description="Whether it is done, and its numbers of the whole.",
        response_description="The run.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(self, reader: NamedDependency[Caller], run_id: FromPath[UUID]) -> AnalysisRun:
        """Look at it."""
        return await get_run(reader.db, reader.owner.user_id, run_id)

    @get(
        "/runs/{run_id:uuid}/results",
        operation_id="listAnalysisResults",
        summary="Read what an analysis found",
        description="The best first, with labels and sentences as they are now; empty while the run is open. What was "
        "erased since is in no result.",
        response_description="One page of results.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def found(
        self, reader: NamedDependency[Caller], run_id: FromPath[UUID], cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[AnalysisResult]:  # fmt: skip
        """One page of them."""
        return await results(reader.db, reader.owner.user_id, run_id, cursor=cursor, limit=limit)
