"""Ingests: what became of files that were sent."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, Response, delete, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.controllers.documents import accepted
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page, read_id
from memsvc.sources.ingests import Ingest, IngestEnded, IngestShown, end, go_on, list_ingests, look


class AnswerIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which of the speakers is the user."""

    me: list[str] = []
    """Names or ids of the speaker who is the user."""
    not_me: bool = False
    """The user is none of the speakers."""


class IngestsController(Controller):
    """Ingests."""

    path = "/ingests"
    tags = ("documents",)

    @get(
        operation_id="listIngests",
        summary="List ingests",
        description="Lists what was sent to POST /v1/documents, newest first, with its state and counts.",
        response_description="One page of ingests.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self, reader: NamedDependency[Caller], cursor: CursorParameter = None, limit: PageSize = 50
    ) -> Page[Ingest]:
        """Return one page."""
        return await list_ingests(reader.db, reader.owner, after=read_id(cursor), limit=limit)

    @get(
        "/{ingest_id:uuid}",
        operation_id="getIngest",
        summary="Get an ingest",
        description="Returns how far an ingest is, and what became of each file: its kind, outcome, code, counts and a "
        "preview with its speakers.",
        response_description="The ingest with its files.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(self, reader: NamedDependency[Caller], ingest_id: FromPath[UUID]) -> IngestShown:
        """Return it."""
        return await look(reader.db, reader.owner, ingest_id)

    @post(
        "/{ingest_id:uuid}/continue",
        status_code=202,
        operation_id="continueIngest",
        summary="Continue an ingest",
        description="Stores files of an ingest that has ended and that are still kept: those with the outcome "
        "owner_required, with the answer who the user is; those that a dry run looked at; and those that a failed "
        "ingest did not reach. They need not be sent again.",
        response_description="The ingest, which waits or runs.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def go_on(
        self,
        data: Annotated[AnswerIn, BodyKwarg(examples=[Example(value={"me": ["Jo"]})])],
        writer: NamedDependency[Caller],
        ingest_id: FromPath[UUID],
    ) -> Response[Ingest]:
        """Request the job again."""
        return accepted(await go_on(writer.db, writer.owner, ingest_id, me=data.me, not_me=data.not_me))

    @delete(
        "/{ingest_id:uuid}",
        status_code=200,
        operation_id="endIngest",
        summary="Cancel or delete an ingest",
        description="Cancels an ingest that waits or runs, and removes its files. Of an ingest that has ended, deletes "
        "the record with the names of files and speakers. Messages that it stored stay in both cases.",
        response_description="The ingest, and whether its record is deleted.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def end(self, writer: NamedDependency[Caller], ingest_id: FromPath[UUID]) -> IngestEnded:
        """Cancel or delete it."""
        return await end(writer.db, writer.owner, ingest_id)
