"""The agenda: what falls into a span of time."""

from __future__ import annotations

from typing import Annotated

from litestar import Controller, get
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import QueryParameter

from memsvc.api.callers import READER, Caller
from memsvc.api.parameters import AskedAtParameter, CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.recall.agenda import AgendaPage, agenda
from memsvc.sources.moments import need_moment, read_asked_at

ISO = "ISO 8601; without an offset in the user's time zone"


class AgendaController(Controller):
    """The agenda."""

    path = "/agenda"
    tags = ("recall",)
    dependencies = READER

    @get(
        operation_id="readAgenda",
        summary="List what falls into a span of time",
        description="Returns plans that people told in the sixty days before the span ('remind me to buy milk "
        "tomorrow', an appointment on Friday at 9), by what their words meant when they were said; facts that begin, "
        "end or hold in it; tasks and events with a time; birthdays and anniversaries, which recur each year. In the "
        "order of their times. At most ten years. 'truncated' says that there was too much to look at.",
        response_description="One page.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def read(
        self,
        *,
        reader: NamedDependency[Caller],
        begin: Annotated[
            str,
            QueryParameter(
                name="from", description=f"From this moment on ({ISO}).", examples=[Example(value="2026-03-01")]
            ),
        ],
        end: Annotated[
            str,
            QueryParameter(
                name="to", description=f"Before this moment ({ISO}).", examples=[Example(value="2026-04-01")]
            ),
        ],
        asked_at: AskedAtParameter = None,
        cursor: CursorParameter = None,
        limit: PageSize = 100,
    ) -> AgendaPage:
        """Return one page."""
        return await agenda(
            reader.db,
            reader.owner,
            need_moment(begin, reader.owner, "from"),
            need_moment(end, reader.owner, "to"),
            asked_at=read_asked_at(asked_at),
            limit=limit,
            cursor=cursor,
        )
