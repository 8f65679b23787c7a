"""The user's background jobs."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import AfterParameter, CursorParameter, begin_of
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.queue.jobs import MAX_PAGE, Job, State, cancel_job, get_job, list_jobs, retry_job


class JobsController(Controller):
    """Jobs."""

    path = "/jobs"
    tags = ("jobs",)

    @get(
        operation_id="listJobs",
        summary="List jobs",
        description="Lists the user's background jobs, newest first. Recall never waits for them.",
        response_description="One page of jobs.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        in_state: Annotated[State | None, QueryParameter(name="state", description="Only jobs in this state.")] = None,
        cursor: CursorParameter = None,
        after: AfterParameter = None,
        limit: Annotated[int, QueryParameter(ge=1, le=MAX_PAGE, description="The most items on this page.")] = 50,
    ) -> Page[Job]:
        """Return one page."""
        jobs = await list_jobs(
            reader.db, reader.owner.user_id, state=in_state, after=begin_of(cursor, after), limit=limit
        )
        return Page(items=jobs, next_cursor=str(jobs[-1].job_id) if len(jobs) == limit else None)

    @get(
        "/{job_id:uuid}",
        operation_id="getJob",
        summary="Get a job",
        description="Returns the state, the attempts and the last error of a job.",
        response_description="The job.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(self, reader: NamedDependency[Caller], job_id: FromPath[UUID]) -> Job:
        """Return it."""
        return await get_job(reader.db, reader.owner.user_id, job_id)

    @post(
        "/{job_id:uuid}/retry",
        status_code=200,
        operation_id="retryJob",
        summary="Retry a job",
        description="Makes a failed or cancelled job pending again.",
        response_description="The job, pending.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def retry(self, writer: NamedDependency[Caller], job_id: FromPath[UUID]) -> Job:
        """Retry it."""
        return await retry_job(writer.db, writer.owner.user_id, job_id)

    @post(
        "/{job_id:uuid}/cancel",
        status_code=200,
        operation_id="cancelJob",
        summary="Cancel a job",
        description="Cancels a pending job. The text that it would have processed is kept and can still be recalled.",
        response_description="The job, cancelled.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def cancel(self, writer: NamedDependency[Caller], job_id: FromPath[UUID]) -> Job:
        """Cancel it."""
        return await cancel_job(writer.db, writer.owner.user_id, job_id)
