"""Summaries: what sleep mode tells of sittings, days, weeks, months and years."""

from __future__ import annotations

from typing import Annotated

from litestar import Controller, get
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import QueryParameter

from memsvc.api.callers import READER, Caller
from memsvc.api.controllers.agenda import ISO
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.graph.find import find_node
from memsvc.sources.moments import read_moment
from memsvc.summaries.periods import Level
from memsvc.summaries.stored import Summary, list_summaries


class SummariesController(Controller):
    """Summaries."""

    path = "/summaries"
    tags = ("recall",)
    dependencies = READER

    @get(
        operation_id="listSummaries",
        summary="List summaries",
        description="Returns what sleep mode tells of conversations, days, weeks, months and years, the latest period "
        "first. Each line of a text has its sources: ids of messages, which GET /v1/memories/{memory_id} opens.",
        response_description="One page.",
        responses=documented(400, 401, 403, 404, 409, 503),
    )
    async def list_all(
        self,
        *,
        reader: NamedDependency[Caller],
        level: Annotated[Level | None, QueryParameter(description="Only of this level; without it, of all.")] = None,
        begins: Annotated[
            str | None,
            QueryParameter(
                name="from",
                description=f"Only periods that end after this moment ({ISO}).",
                examples=[Example(value="2026-03-01")],
            ),
        ] = None,
        ends: Annotated[
            str | None,
            QueryParameter(
                name="to",
                description=f"Only periods that begin before this moment ({ISO}).",
                examples=[Example(value="2026-04-01")],
            ),
        ] = None,
        node: Annotated[
            str | None,
            QueryParameter(
                description="Only summaries about this person or thing, by its id, name or label: those that quote a "
                "message from which something about it is known.",
                examples=[Example(value="Ines Albrecht")],
            ),
        ] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Summary]:
        """Return one page."""
        return await list_summaries(
            reader.db,
            reader.owner,
            level=level,
            begins=read_moment(begins, reader.owner, "from"),
            ends=read_moment(ends, reader.owner, "to"),
            node=await find_node(reader.db, reader.owner, node) if node is not None else None,
            cursor=cursor,
            limit=limit,
        )
