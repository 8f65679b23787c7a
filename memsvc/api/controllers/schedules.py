"""The user's schedules of recurring work."""

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
    """When recurring work runs."""

    at: str
    """Time of day in the user's time zone, HH:MM or HH:MM:SS."""
    weekdays: Annotated[list[str | int], msgspec.Meta(min_length=1, max_length=7)] | None = None
    """Days on which it runs: mon to sun, or 1 (Monday) to 7. Default: every day."""
    enabled: bool = True
    """false: it does not run."""


class SchedulesController(Controller):
    """Schedules."""

    path = "/schedules"
    tags = ("jobs",)

    @get(
        operation_id="listSchedules",
        summary="List recurring work",
        description="Lists the user's schedules, each with its next and last run. Times of day follow the user's time "
        "zone, including daylight saving time.",
        response_description="All schedules.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(self, reader: NamedDependency[Caller]) -> Page[Schedule]:
        """Return all schedules."""
        return Page(items=await list_schedules(reader.db, reader.owner.user_id), next_cursor=None)

    @put(
        "/{kind:str}",
        operation_id="setSchedule",
        summary="Set recurring work",
        description="Sets when recurring work runs, and whether it runs. tidy: maintenance. sleep: the tasks of sleep "
        "mode, such as finding duplicates.",
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
