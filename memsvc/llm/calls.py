"""Calls of the language model by user and task, their costs, and daily budgets. See ``sql/functions/models``.

``model_calls`` has a row for each call: counts, times and the outcome, never a text. A budget counts tokens from
midnight UTC. It is checked before a call, so calls in progress may exceed it by a call or two.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import text

from memsvc.db.clock import midnight
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Page, check_page, read_cursor, write_cursor
from memsvc.errors import InvalidRequestError, LlmBudgetError
from memsvc.llm.answers import Outcome, Task
from memsvc.llm.chat import Reply
from memsvc.settings import Settings

MAX_DAYS = 3_650
BUDGETS = text("SELECT * FROM memsvc.model_budgets(:user_id)")
SPENDING_OF_ALL = text("SELECT * FROM memsvc.model_spending(:since)")
SPENDING_OF_APP = text("SELECT * FROM memsvc.model_spending_of_app(:app, :since)")


class ModelCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of the language model."""

    call_id: UUID
    at: datetime
    task: str
    model: str
    prompt_version: str
    outcome: Outcome
    tokens_in: int
    tokens_out: int
    ms: int
    cost: Decimal | None
    """In the server's currency; None: the server does not report it."""
    tries: int


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """Cost of a task on a day (UTC)."""

    day: date
    task: str
    model: str
    calls: int
    answered: int
    tokens_in: int
    tokens_out: int
    ms: int
    cost: Decimal | None


class Meter:
    """Counts the calls of one piece of work, and refuses them once its tokens are used up."""

    def __init__(self, most: int | None = None, *, spent: int = 0) -> None:
        """Set the budget in tokens, questions and answers together (None: none), and what is spent of it already."""
        self._most, self._spent = most, spent
        self._calls = self._in = self._out = 0

    def check(self) -> None:
        """Allow a call.

        Raises:
            LlmBudgetError: the budget is used up; ``budget`` in its details is ``work``.
        """
        if self._most is not None and self._spent >= self._most:
            raise LlmBudgetError(
                f"The {self._most:,} tokens of this work are used up.",
                hint="Work continues with the next run, or with a larger budget.",
                budget=OF_WORK,
            )

    def add(self, reply: Reply) -> None:
        """Count a call."""
        self._calls += 1
        self._in += reply.tokens_in
        self._out += reply.tokens_out
        self._spent += reply.tokens_in + reply.tokens_out

    def take(self) -> tuple[int, int, int]:
        """Return calls, tokens of questions and tokens of answers since the last time."""
        taken = self._calls, self._in, self._out
        self._calls = self._in = self._out = 0
        return taken


OF_WORK = "work"
_meter: ContextVar[Meter | None] = ContextVar("memsvc.llm.meter", default=None)


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """Count the calls of the block, by whomever they are made, and keep to the meter's budget."""
    before = _meter.set(meter)
    try:
        yield
    finally:
        _meter.reset(before)


class Account:
    """A user's book: records calls, and refuses those beyond the budgets. See ``memsvc.llm.answers.Book``."""

    def __init__(self, db: Database, user_id: UUID, settings: Settings) -> None:
        """Set the user and the budgets."""
        self._db, self._user_id = db, user_id
        self._model = settings.llm_model or ""
        self._of_all, self._of_user = settings.llm_tokens_per_day, settings.llm_tokens_per_user

    async def open(self) -> None:
        """Check the budgets: of this piece of work, of the user, of the app, and of all.

        Raises:
            LlmBudgetError: one is used up; details have ``budget`` (its setting) and ``again_at``, or are a meter's.
        """
        if (meter := _meter.get()) is not None:
            meter.check()
        await self._check_shared()
        if not (self._of_all or self._of_user):
            return
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        values = {"user_id": self._user_id, "since": midnight, "everybody": bool(self._of_all)}
        async with self._db.transaction(self._user_id) as connection:
            spent = (await connection.execute(query("tokens_spent"), values)).one()
        for name, whose, limit, used in (
            ("MEMSVC_LLM_TOKENS_PER_USER", "this user's", self._of_user, spent.mine),
            ("MEMSVC_LLM_TOKENS_PER_DAY", "all users'", self._of_all, spent.everybody),
        ):
            if limit and used >= limit:
                again_at = midnight + timedelta(days=1)
                raise LlmBudgetError(
                    f"Today's {limit:,} tokens of {whose} budget ({name}) are used up.",
                    hint=f"Work continues at {again_at:%Y-%m-%d %H:%M} UTC by itself, or with a larger budget.",
                    budget=name.removeprefix("MEMSVC_").lower(),
                    again_at=again_at.isoformat(),
                )

    async def _check_shared(self) -> None:
        """Check the budgets of the user and of the app, which are in the database.

        Raises:
            LlmBudgetError: one is used up.
        """
        async with self._db.transaction(self._user_id) as connection:
            rows = (await connection.execute(BUDGETS, {"user_id": self._user_id})).all()
        for row in rows:
            if row.used >= row.most:
                again_at = midnight()
                whose = "the app's users" if row.whose == "app" else "this user"
                what = "tokens" if row.what == "tokens" else "of cost"
                raise LlmBudgetError(
                    f"Today's budget of {row.most:,} {what} of {whose} is used up.",
                    hint=f"Work continues at {again_at:%Y-%m-%d %H:%M} UTC by itself, or with a larger budget "
                    "('memsvc budget set').",
                    budget=f"{row.what}_per_day",
                    again_at=again_at.isoformat(),
                )

    async def enter(self, task: Task[Any], outcome: Outcome, reply: Reply) -> None:
        """Record a call in a transaction of its own, because it costs the same whatever happens to its answer."""
        if (meter := _meter.get()) is not None:
            meter.add(reply)
        values = {
            "user_id": self._user_id,
            "task": task.name,
            "model": self._model,
            "prompt_version": task.version,
            "outcome": outcome,
            "tokens_in": reply.tokens_in,
            "tokens_out": reply.tokens_out,
            "ms": round(reply.ms),
            "cost": None if reply.cost is None else Decimal(str(reply.cost)),
            "tries": reply.tries,
        }
        async with self._db.transaction(self._user_id) as connection:
            await connection.execute(query("record_model_call"), values)


async def list_calls(db: Database, user_id: UUID, *, cursor: str | None = None, limit: int = 50) -> Page[ModelCall]:
    """Return a user's calls, newest first.

    Raises:
        InvalidRequestError: a limit outside 1 to 1,000, or a cursor that is not one of ours.
    """
    check_page(limit)
    after = read_cursor(cursor, tuple[UUID])[0] if cursor is not None else None
    values = {"user_id": user_id, "after": after, "limit": limit + 1}
    async with db.transaction(user_id) as connection:
        rows = (await connection.execute(query("model_calls_of_user"), values)).all()
    calls = [ModelCall(**row._mapping) for row in rows[:limit]]  # noqa: SLF001 - the public name of a row's mapping
    return Page(items=calls, next_cursor=write_cursor((calls[-1].call_id,)) if len(rows) > limit else None)


async def spending(
    db: Database, user_id: UUID | None = None, *, app: UUID | None = None, days: int = 7
) -> list[Spending]:
    """Return the costs of the last days, today included, by day (UTC), task and model; newest day first.

    Args:
        db: the database.
        user_id: the user; None: all users together.
        app: without a user: the users of this app; None: of all apps, for operators.
        days: from 1 to 3,650.

    Raises:
        InvalidRequestError: another number of days.
    """
    if not 1 <= days <= MAX_DAYS:
        raise InvalidRequestError(f"days must be between 1 and {MAX_DAYS:,}.", field="days")
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    since = midnight - timedelta(days=days - 1)
    async with db.transaction(user_id) as connection:
        if user_id is not None:
            rows = await connection.execute(query("model_spending_of_user"), {"user_id": user_id, "since": since})
        elif app is not None:
            rows = await connection.execute(SPENDING_OF_APP, {"app": app, "since": since})
        else:
            rows = await connection.execute(SPENDING_OF_ALL, {"since": since})
        return [Spending(**row._mapping) for row in rows]  # noqa: SLF001
