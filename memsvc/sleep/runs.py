"""The book of sleep mode: each run of a task is a row of ``memsvc.sleep_runs``, with what it did and cost, and no text.

A page is recorded in the transaction that applies it; so a run that was killed continues after its last page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

import msgspec
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import EVENTS, Database
from memsvc.db.files import query
from memsvc.errors import ContendedError, InvalidRequestError, NotFoundError
from memsvc.llm.calls import Meter
from memsvc.sleep.tasks import Applied, Page, Place, Scope, Task

MAX_PAGE = 1_000
KIND = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
PROPOSED = "proposed"
WRITE_AS = text("SELECT set_config('memsvc.sleep_run', :run_id, true)")
"""What the transaction changes from now on belongs to a run."""
Cause = Literal["night", "asked", "messages", "sitting", "importance"]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run of one task for one user."""

    run_id: UUID
    task: str
    state: Literal["open", "done", "failed"]
    cause: Cause
    """night: its time had come; asked: somebody asked; messages, sitting, importance: so much was new that it began
    before its time."""
    from_node: UUID | None
    """Only what concerns this node."""
    since: datetime | None
    """Only what was learnt since then."""
    budget_s: float | None
    budget_tokens: int | None
    """Tokens of the language model, questions and answers together."""
    examined: int
    """Items that it examined; for duplicates: pairs and cards that were compared."""
    applied: int
    """Changes that it made; for duplicates: merges."""
    proposed: int
    """Decisions that it left to a person; for duplicates: pairs to review."""
    counts: dict[str, int]
    """How many changes and proposals there were of each kind, such as merged, accepted or proposed."""
    seconds: float
    """Working time, without pauses."""
    model_calls: int
    """Calls of the language model."""
    tokens_in: int
    """Tokens of its questions."""
    tokens_out: int
    """Tokens of its answers."""
    within_budget: bool
    """False: its budget was used up before the work was done."""
    error_code: str | None
    """Why it failed."""
    started_at: datetime
    finished_at: datetime | None
    undone_at: datetime | None
    """When its changes were last undone."""


class Budget(NamedTuple):
    """What a run may cost; None: no limit."""

    seconds: float | None = None
    tokens: int | None = None


UNBOUNDED = Budget()


class Opened(NamedTuple):
    """A run, the position that it reached, and whether it is recurring work."""

    run: Run
    place: Place | None
    nightly: bool


def run_of(row: Row[Any]) -> Run:
    """Return a run from its row."""
    return Run(**{name: row._mapping[name] for name in Run.__struct_fields__})  # noqa: SLF001 - the public name


async def list_runs(db: Database, user_id: UUID, *, after: UUID | None = None, limit: int = 50) -> list[Run]:
    """Return a user's runs, newest first; ``after`` is the last run of the previous page.

    Raises:
        InvalidRequestError: a limit outside 1 to 1,000.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidRequestError(f"limit must be between 1 and {MAX_PAGE:,}.", field="limit")
    async with db.transaction(user_id) as connection:
        values = {"user_id": user_id, "run_id": None, "after": after, "limit": limit}
        return [run_of(row) for row in await connection.execute(query("list_sleep_runs"), values)]


async def get_run(db: Database, user_id: UUID, run_id: UUID) -> Run:
    """Return one run.

    Raises:
        NotFoundError: this user has no such run.
    """
    async with db.transaction(user_id) as connection:
        values = {"user_id": user_id, "run_id": run_id, "after": None, "limit": 1}
        row = (await connection.execute(query("list_sleep_runs"), values)).one_or_none()
    if row is None:
        raise NotFoundError("There is no run with this id.")
    return run_of(row)


async def open_run(
    db: Database, owner: Owner, task: str, *, cause: Cause, scope: Scope | None = None, budget: Budget = UNBOUNDED
) -> Opened:
    """Return the open run of a task; open one if there is none. What nobody asked for is recurring work."""
    scope = scope or Scope()
    values = {
        "user_id": owner.user_id, "task": task, "from_node": scope.from_node, "since": scope.since, "cause": cause,
        "budget_s": budget.seconds, "budget_tokens": budget.tokens, "nightly": cause != "asked",
    }  # fmt: skip

    async def work(connection: AsyncConnection) -> Opened:
        row = (await connection.execute(query("open_sleep_run"), values)).one_or_none()
        if row is None:  # another process opened or ended it while the statement ran
            raise ContendedError
        return Opened(run_of(row), row.place, row.nightly)

    return await db.attempt(owner.user_id, work)


class Writer:
    """Writes what one run does, in this process."""

    def __init__(self, db: Database, owner: Owner, task: Task, done: str, opened: Opened) -> None:
        """Go on with an open run; ``done``: the kind of changes that the task does not count by kind."""
        self._db, self._owner, self._task, self._done = db, owner, task, done
        self.run = opened.run
        spent = opened.run.tokens_in + opened.run.tokens_out
        self.meter = Meter(opened.run.budget_tokens, spent=spent)

    def _cost(self) -> dict[str, int]:
        """What the language model has cost since the last call of this function."""
        calls, tokens_in, tokens_out = self.meter.take()
        return {"calls": calls, "tokens_in": tokens_in, "tokens_out": tokens_out}

    async def apply(self, page: Page, *, seconds: float) -> None:
        """Apply the proposals of a page and record them, in one transaction."""
        cost = self._cost()

        async def work(connection: AsyncConnection) -> tuple[Applied, Mapping[str, int]]:
            await connection.execute(WRITE_AS, {"run_id": str(self.run.run_id)})
            done = await self._task.apply(connection, self._owner, page)
            counts = _counts(done, self._done)
            values = cost | {
                "user_id": self._owner.user_id, "run_id": self.run.run_id,
                "place": msgspec.json.encode(page.place).decode(), "examined": page.examined, "applied": done.applied,
                "proposed": done.proposed, "seconds": seconds, "counts": msgspec.json.encode(counts).decode(),
            }  # fmt: skip
            await connection.execute(query("note_sleep_page"), values)
            return done, counts

        done, counts = await self._db.attempt(self._owner.user_id, work)
        run = self.run
        self.run = msgspec.structs.replace(
            run, examined=run.examined + page.examined, applied=run.applied + done.applied,
            proposed=run.proposed + done.proposed, seconds=run.seconds + seconds,
            counts={kind: run.counts.get(kind, 0) + counts.get(kind, 0) for kind in [*run.counts, *counts]},
        )  # fmt: skip

    async def end(self, *, within_budget: bool = True, error_code: str | None = None) -> None:
        """End the run."""
        values = self._cost() | {
            "user_id": self._owner.user_id, "run_id": self.run.run_id, "within_budget": within_budget,
            "error_code": error_code,
        }  # fmt: skip

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(query("end_sleep_run"), values)

        await self._db.attempt(self._owner.user_id, work)


def _counts(done: Applied, kind: str) -> dict[str, int]:
    """Return the changes of a page by kind, without zeros.

    Raises:
        ValueError: a task counts by something that is no kind.
    """
    given = done.counts or {kind: done.applied, PROPOSED: done.proposed}
    wrong = next((True for name, count in given.items() if not KIND.fullmatch(name) or count < 0), False)
    if wrong:
        raise ValueError("A kind of change has lower-case letters, digits and _, and is counted from 0.")
    return {name: count for name, count in given.items() if count}


async def tell_ended(db: Database, user_id: UUID) -> None:
    """Record that nothing is left to do, and tell live clients of runs that ended since they were last told."""

    async def work(connection: AsyncConnection) -> bool:
        row = (await connection.execute(query("tell_sleep_ended"), {"user_id": user_id})).one()
        return bool(row.told)

    if await db.attempt(user_id, work):
        db.notify(EVENTS)
