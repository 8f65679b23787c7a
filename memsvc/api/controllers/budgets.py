"""What an app and its users may use in a day."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

import msgspec
from litestar import Controller, get, put
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, QueryParameter

from memsvc.access.budgets import MOST, Budget, Limits, Whose
from memsvc.access.users import find_user
from memsvc.api.callers import ADMINISTRATOR, Administrator
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.cells.budgets import list_budgets_everywhere, set_budget_everywhere
from memsvc.db.paging import Page

Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST)] | None


class BudgetIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What may be used in a day (UTC), and by whom."""

    whose: Whose = "app"
    """app: all users of the app together; each: every user who has no limit of their own; user: one user."""
    user: str | None = None
    """Id or external id, for whose: user."""
    messages_per_day: Limit = None
    """The most messages to store; null or left out: no limit. Repeated messages count again."""
    bytes_per_day: Limit = None
    """The most bytes of messages' texts and of documents."""
    tokens_per_day: Limit = None
    """The most tokens of the language model, questions and answers together."""
    cost_per_day: Annotated[float, msgspec.Meta(ge=0.000001, le=1e9)] | None = None
    """The highest cost of the language model, in its server's currency, where the server reports it."""

    def limits(self) -> Limits:
        """Return the limits."""
        return Limits(
            messages_per_day=self.messages_per_day,
            bytes_per_day=self.bytes_per_day,
            tokens_per_day=self.tokens_per_day,
            cost_per_day=None if self.cost_per_day is None else Decimal(str(self.cost_per_day)),
        )


class BudgetsController(Controller):
    """Budgets of an app."""

    path = "/budgets"
    tags = ("account",)
    dependencies = ADMINISTRATOR

    @get(
        operation_id="listBudgets",
        summary="List budgets",
        description="Lists what the app, each of its users, and single users may use in a day (UTC), with what was "
        "used today. Needs the scope admin.",
        response_description="One page of budgets.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def list(
        self,
        administrator: NamedDependency[Administrator],
        user: Annotated[str | None, QueryParameter(description="Only that of this user: id or external id.")] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 100,
    ) -> Page[Budget]:
        """Return one page."""
        cells, app = administrator.cells, administrator.app_id
        user_id = (await find_user(cells.home, app, user)).user_id if user is not None else None
        return await list_budgets_everywhere(cells, app, user_id=user_id, cursor=cursor, limit=limit)

    @put(
        operation_id="setBudget",
        summary="Set a budget",
        description="Sets what may be used in a day (UTC), at all doors together: of the whole app, of each of its "
        "users, or of one user. Above it, storing answers 429 budget_exceeded with limit, used, resets_at and "
        "Retry-After, and the language model's background work waits until the next day; no message is lost. A limit "
        "that is left out is removed. Needs the scope admin.",
        response_description="The budget is set.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        status_code=204,
    )
    async def set(
        self,
        data: Annotated[BudgetIn, BodyKwarg(examples=[Example(value={"whose": "each", "messages_per_day": 5_000})])],
        administrator: NamedDependency[Administrator],
    ) -> None:
        """Set it."""
        cells, app = administrator.cells, administrator.app_id
        await set_budget_everywhere(cells, app, data.whose, data.limits(), user=data.user)
