"""Recurring work, as its owner sees it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Controller, get, put
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.queue.schedule import Schedule, list_schedules, set_schedule


class ScheduleIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """When something recurs."""

    at: str
    """Time of day on the user's clock, HH:MM or HH:MM:SS."""
    weekdays: Annotated[list[str | int], msgspec.Meta(min_length=1, max_length=7)] | None = None
    """Days on which it runs: mon to sun, or 1 (Monday) to 7; every day when not given."""
    enabled: bool = True
    """False: it does not run."""


class SchedulesController(Controller):
    """Schedules."""

    path = "/schedules"
    tags = ("jobs",)

    @get(
        operation_id="listSchedules",
        summary="List recurring work",
        description="What recurs for the user, with its next and its last run. Times of day are those of the user's "
        "time zone, across changes of the clock.",
        response_description="All schedules.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(self, reader: NamedDependency[Caller]) -> Page[Schedule]:
        """All of them."""
        return Page(items=await list_schedules(reader.db, reader.owner.user_id), next_cursor=None)

    @put(
        "/{kind:str}",
        operation_id="setSchedule",
        summary="Set recurring work",
        description="Says when something recurs, and whether it does. tidy: upkeep; sleep: the night's work, such as "
        "finding duplicates.",
        response_description="The schedule.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def set(
        self,
        data: Annotated[
            ScheduleIn,
            BodyKwarg(
                examples=[
                    Example(value={"at": "03:30"}),
                    Example(value={"at": "04:15:30", "weekdays": ["mon", "thu"], "enabled": False}),
                ]
            ),
        ],
        writer: NamedDependency[Caller],
        kind: FromPath[str],
    ) -> Schedule:
        """Set it."""
        return await set_schedule(
            writer.db, writer.owner.user_id, kind, at=data.at, weekdays=data.weekdays, enabled=data.enabled
        )
