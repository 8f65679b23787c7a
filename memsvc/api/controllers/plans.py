"""Plans: steps, what came of them, and revisions."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, QueryParameter

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.lessons.plans import Plan, PlanChange, PlanState, add_plan, change_plan, get_plan, list_plans


class PlanIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A plan to store."""

    task: str
    """What is to be done: 1 to 1,000 characters."""
    steps: list[str] = []
    """In their order: up to 50, of 1 to 500 characters."""
    id: str | None = None
    """Your own id, 1 to 200 characters. Sent again with the same task, the stored plan is returned as it is."""


class PlansController(Controller):
    """Plans."""

    path = "/plans"
    tags = ("lessons",)

    @post(
        operation_id="addPlan",
        summary="Store a plan",
        description="Stores a task and its steps. Recall and contexts give the plan, with its outcome, when the task "
        "comes up again.",
        response_description="The plan.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def add(
        self,
        data: Annotated[
            PlanIn,
            BodyKwarg(
                examples=[
                    Example(
                        value={
                            "task": "Renew the passport before the trip to Lisbon",
                            "steps": [
                                "Have a photo taken",
                                "Make an appointment at the town hall",
                                "Fetch the passport",
                            ],
                            "id": "passport-2026",
                        }
                    )
                ]
            ),
        ],
        writer: NamedDependency[Caller],
    ) -> Plan:
        """Store it."""
        return await add_plan(
            writer.db, writer.owner, data.task, data.steps, id=data.id, asserted_by=writer.asserted_by
        )

    @get(
        operation_id="listPlans",
        summary="List plans",
        description="Lists plans, newest first, without their revisions.",
        response_description="One page.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        *,
        reader: NamedDependency[Caller],
        of: Annotated[PlanState | None, QueryParameter(name="state", description="Only plans in this state.")] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Plan]:
        """Return one page."""
        return await list_plans(reader.db, reader.owner, state=of, cursor=cursor, limit=limit)

    @get(
        "/{plan_id:uuid}",
        operation_id="getPlan",
        summary="Read a plan",
        description="Returns a plan with all its revisions, the oldest first.",
        response_description="The plan.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def read(self, reader: NamedDependency[Caller], plan_id: FromPath[UUID]) -> Plan:
        """Return it."""
        return await get_plan(reader.db, reader.owner, plan_id)

    @patch(
        "/{plan_id:uuid}",
        operation_id="changePlan",
        summary="Note results, or revise a plan",
        description="Notes what came of steps or of the whole, or replaces the steps. What the plan was before stays "
        "among its revisions.",
        response_description="The plan, with its revisions.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def change(
        self,
        data: Annotated[
            PlanChange,
            BodyKwarg(
                examples=[Example(value={"results": [{"step": 1, "state": "done", "outcome": "Two photos, 12 euros"}]})]
            ),
        ],
        writer: NamedDependency[Caller],
        plan_id: FromPath[UUID],
    ) -> Plan:
        """Change it."""
        return await change_plan(writer.db, writer.owner, plan_id, data, asserted_by=writer.asserted_by)
