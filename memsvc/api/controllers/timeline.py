"""The timeline: what happened when."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from litestar import Controller, get
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import QueryParameter

from memsvc.api.callers import READER, Caller
from memsvc.api.controllers.agenda import ISO
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.recall.timeline import (
    Kind,
    Step,
    TimelineCounts,
    TimelineEntry,
    TimelineNews,
    counts,
    entries,
    news,
)
from memsvc.sources.moments import need_moment, read_moment

Begin = Annotated[
    str | None,
    QueryParameter(
        name="from",
        description=f"From this moment on ({ISO}). Default: from the beginning.",
        examples=[Example(value="2026-03-01")],
    ),
]
End = Annotated[
    str | None,
    QueryParameter(
        name="to",
        description=f"Before this moment ({ISO}). Default: to the end, also in the future.",
        examples=[Example(value="2026-04-01")],
    ),
]
Kinds = Annotated[
    list[Kind] | None,
    QueryParameter(name="kind", max_items=6, description="Only this kind. May be repeated. Default: all."),
]
AboutNode = Annotated[
    UUID | None,
    QueryParameter(
        name="node", description="Only what is about this node: its facts, the messages that support them, itself."
    ),
]


class TimelineController(Controller):
    """The timeline."""

    path = "/timeline"
    tags = ("recall",)
    dependencies = READER

    @get(
        operation_id="readTimeline",
        summary="List what happened",
        description="Returns what happened in a span of time, the latest first: messages (those of a conversation on "
        "one day are one entry), documents that were stored, events and tasks that begin, facts that begin or end, and "
        "changes of the graph (all of a day are one entry). Days are those of the user's clock. Summaries are in GET "
        "/v1/summaries, plans and birthdays in GET /v1/agenda.",
        response_description="One page.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def read(
        self,
        *,
        reader: NamedDependency[Caller],
        begin: Begin = None,
        end: End = None,
        kinds: Kinds = None,
        node: AboutNode = None,
        cursor: CursorParameter = None,
        limit: PageSize = 100,
    ) -> Page[TimelineEntry]:
        """Return one page."""
        return await entries(
            reader.db,
            reader.owner,
            begins=read_moment(begin, reader.owner, "from"),
            ends=read_moment(end, reader.owner, "to"),
            kinds=kinds,
            node=node,
            cursor=cursor,
            limit=limit,
        )

    @get(
        "/counts",
        operation_id="countTimeline",
        summary="Count what happened by periods",
        description="Returns for each day, week, month or year that has anything how much of each kind GET "
        "/v1/timeline has, the latest first. Messages and changes count one by one.",
        response_description="The counts.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def count(
        self,
        *,
        reader: NamedDependency[Caller],
        step: Annotated[Step, QueryParameter(description="The length of a period. A week begins on Monday.")] = "month",
        begin: Begin = None,
        end: End = None,
        kinds: Kinds = None,
        node: AboutNode = None,
    ) -> TimelineCounts:
        """Return them."""
        return await counts(
            reader.db,
            reader.owner,
            step,
            begins=read_moment(begin, reader.owner, "from"),
            ends=read_moment(end, reader.owner, "to"),
            kinds=kinds,
            node=node,
        )

    @get(
        "/news",
        operation_id="readNews",
        summary="Count what was stored since a moment",
        description="Returns how many messages, documents, nodes, facts and changes were stored since a moment, and in "
        "which conversations the messages are: what came in while somebody was away. Its 'until' is the moment to ask "
        "from the next time.",
        response_description="The counts.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def news(
        self,
        *,
        reader: NamedDependency[Caller],
        since: Annotated[
            str,
            QueryParameter(description=f"Stored after this moment ({ISO}).", examples=[Example(value="2026-03-01")]),
        ],
    ) -> TimelineNews:
        """Return them."""
        return await news(reader.db, reader.owner, need_moment(since, reader.owner, "since"))
