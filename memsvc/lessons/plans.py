"""Plans: what is to be done in steps, what came of each step and of the whole, and how the plan changed.

A plan is a node of type Plan, written through ``memsvc.graph.history``: each revision is a version of the node. As a
passage of the kind ``plan`` it is recalled, with its outcome, when its task comes up again. Statements:
``sql/queries/lessons.sql``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Page
from memsvc.errors import IdempotencyConflictError, InvalidRequestError, TextTooLongError
from memsvc.graph.history import write_in
from memsvc.graph.operations import MAX_TEXT_CHARS, Correct, Node
from memsvc.lessons.nodes import client_id, data_of, label_of, node_called, node_of, page_of
from memsvc.text.characters import is_visible, plain_lines
from memsvc.text.storable import check_storable

TYPE: Literal["Plan"] = "Plan"
PlanState = Literal["open", "done", "failed", "abandoned"]
StepState = Literal["open", "done", "failed", "skipped"]
PLAN_STATES: tuple[PlanState, ...] = ("open", "done", "failed", "abandoned")
MOST_STEPS, MOST_TASK, MOST_TEXT, MOST_REVISIONS = 50, 1_000, 500, 200
"""Of a plan; characters of its task; of a step, an outcome or a reason; revisions that are shown."""


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A step of a plan."""

    text: str
    """What is to be done: 1 to 500 characters."""
    state: StepState = "open"
    """open, done, failed or skipped."""
    outcome: str = ""
    """What came of it: up to 500 characters."""


class StepResult(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What came of a step."""

    step: int
    """Its number, from 1."""
    state: StepState = "done"
    """open, done, failed or skipped."""
    outcome: str = ""
    """What came of it: up to 500 characters."""


class Data(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a node's data say of a plan."""

    task: str
    steps: list[Step] = []
    state: PlanState = "open"
    outcome: str = ""
    reason: str = ""
    """Why it was changed to what this version says."""
    id: str = ""


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """A plan as it was from some moment on."""

    revision: int
    """From 1."""
    task: str
    steps: list[Step]
    state: PlanState
    outcome: str
    reason: str
    """Why the plan was changed to this."""
    asserted_by: str
    """Who wrote it: user, app, or the name of a program."""
    recorded_from: datetime


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan as it is now."""

    plan_id: UUID
    """Its node."""
    version_id: UUID
    task: str
    steps: list[Step]
    state: PlanState
    """open, done, failed or abandoned."""
    outcome: str
    """What came of the whole; empty: nothing is said."""
    asserted_by: str
    """Who wrote this version: user, app, or the name of a program."""
    recorded_from: datetime
    """When this version was recorded."""
    revisions: list[Revision] = []
    """All versions, the oldest first, at most 200; empty in lists."""


class PlanChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What changes; fields that are left out stay as they are."""

    task: str | None = None
    """1 to 1,000 characters."""
    steps: list[Step] | None = None
    """All steps, in place of the old ones: up to 50."""
    results: list[StepResult] = []
    """What came of some steps, by their numbers in the new list."""
    state: PlanState | None = None
    """open, done, failed or abandoned."""
    outcome: str | None = None
    """What came of the whole: up to 500 characters."""
    reason: str = ""
    """Why it changes: up to 500 characters."""


async def add_plan(
    db: Database,
    owner: Owner,
    task: str,
    steps: Sequence[str] = (),
    *,
    id: str | None = None,  # noqa: A002 - as in the request
    asserted_by: str = "user",
) -> Plan:
    """Store a plan, once for each id of the client.

    Args:
        db: the database.
        owner: whose memory.
        task: what is to be done: 1 to 1,000 characters.
        steps: in their order: up to 50, of 1 to 500 characters.
        id: the client's own, 1 to 200 characters: sent again with the same task, the stored plan is returned as it is.
        asserted_by: who writes: user, app, or the name of a program.

    Raises:
        InvalidRequestError, TextTooLongError, InvalidTextError: a text is empty, too long, or cannot be stored.
        IdempotencyConflictError: this id came with another task.
    """
    data = _checked(Data(task=task, steps=[Step(text=step) for step in steps], id=client_id(id)))

    async def work(connection: AsyncConnection) -> UUID:
        await connection.execute(query("write_facts_alone"), {"user_id": owner.user_id})
        if data.id and (row := await node_called(connection, owner, TYPE, data.id)) is not None:
            if _data(row).task != data.task:
                raise IdempotencyConflictError("A plan with this id and another task is stored.", field="id")
            known: UUID = row.node_id
            return known
        node = Node(
            type=TYPE, label=label_of(data.task), description=_text(data), data=msgspec.to_builtins(data), importance=6
        )
        made = (await write_in(connection, owner, [node], asserted_by=asserted_by)).results[0].node_id
        assert made is not None  # noqa: S101 - it was just written
        return made

    return await get_plan(db, owner, await db.attempt(owner.user_id, work))


async def change_plan(
    db: Database, owner: Owner, plan_id: UUID, change: PlanChange, *, asserted_by: str = "user"
) -> Plan:
    """Note results, or revise a plan; what it was stays among its revisions. A change without news writes nothing.

    Raises:
        NodeUnknownError: there is no such plan.
        InvalidRequestError, TextTooLongError, InvalidTextError: a value cannot be, or there is no step of a number.
    """

    async def work(connection: AsyncConnection) -> None:
        await connection.execute(query("write_facts_alone"), {"user_id": owner.user_id})
        row = await node_of(connection, owner, TYPE, plan_id)
        before = _data(row)
        after = _checked(_changed(before, change))
        if msgspec.structs.replace(after, reason=before.reason) == before:
            return
        content = {
            "label": label_of(after.task), "description": _text(after), "data": msgspec.to_builtins(after)
        }  # fmt: skip
        await write_in(connection, owner, [Correct(version=row.version_id, content=content)], asserted_by=asserted_by)

    await db.attempt(owner.user_id, work)
    return await get_plan(db, owner, plan_id)


async def get_plan(db: Database, owner: Owner, plan_id: UUID) -> Plan:
    """Return a plan with its revisions.

    Raises:
        NodeUnknownError: there is no such plan.
    """
    async with db.transaction(owner.user_id) as connection:
        row = await node_of(connection, owner, TYPE, plan_id)
        values = {"user_id": owner.user_id, "node_id": plan_id, "limit": MOST_REVISIONS}
        rows = (await connection.execute(query("plan_revisions"), values)).all()
    revisions = [
        Revision(
            revision=number, asserted_by=one.asserted_by, recorded_from=one.recorded_from, **_shown(data := _data(one)),
            reason=data.reason,
        )
        for number, one in enumerate(rows, 1)
    ]  # fmt: skip
    return msgspec.structs.replace(_plan(row), revisions=revisions)


async def list_plans(
    db: Database, owner: Owner, *, state: PlanState | None = None, cursor: str | None = None, limit: int = 50
) -> Page[Plan]:
    """Return plans without their revisions, newest first.

    Args:
        db: the database.
        owner: whose.
        state: only those in this state; None: all.
        cursor: of the page before.
        limit: 1 to 1,000.

    Raises:
        InvalidRequestError, BadCursorError: there is no such state, or the limit or cursor is none.
    """
    return await page_of(db, owner, TYPE, _plan, states=PLAN_STATES, state=state, cursor=cursor, limit=limit)


def _changed(before: Data, change: PlanChange) -> Data:
    steps = list(before.steps if change.steps is None else change.steps)
    for one in change.results:
        if not 1 <= one.step <= len(steps):
            raise InvalidRequestError(f"There is no step {one.step}.", field="results")
        steps[one.step - 1] = Step(text=steps[one.step - 1].text, state=one.state, outcome=one.outcome)
    return Data(
        task=before.task if change.task is None else change.task, steps=steps, state=change.state or before.state,
        outcome=before.outcome if change.outcome is None else change.outcome, reason=change.reason, id=before.id,
    )  # fmt: skip


def _checked(data: Data) -> Data:
    """A plan with plain texts.

    Raises:
        InvalidRequestError, TextTooLongError, InvalidTextError: it cannot be stored.
    """
    if len(data.steps) > MOST_STEPS:
        raise InvalidRequestError(f"A plan has {MOST_STEPS} steps at most.", field="steps")
    made = msgspec.structs.replace(
        data, task=_line(data.task, "task", MOST_TASK), outcome=_line(data.outcome, "outcome", empty=True),
        reason=_line(data.reason, "reason", empty=True),
        steps=[
            Step(text=_line(one.text, "steps"), state=one.state, outcome=_line(one.outcome, "steps", empty=True))
            for one in data.steps
        ],
    )  # fmt: skip
    if len(_text(made)) > MAX_TEXT_CHARS:
        raise TextTooLongError(f"The plan has more than {MAX_TEXT_CHARS:,} characters.", field="steps")
    return made


def _line(value: str, field: str, most: int = MOST_TEXT, *, empty: bool = False) -> str:
    check_storable(value, field)
    line = " ".join(plain_lines(value).split())
    if not empty and not is_visible(line):
        raise InvalidRequestError(f"{field}: a text is empty.", field=field)
    if len(line) > most:
        raise TextTooLongError(f"{field}: a text has more than {most:,} characters.", field=field)
    return line


def _text(data: Data) -> str:
    """What recall finds: the task, what came of it, and the steps with what came of each."""
    whole = {"open": "is open", "done": "was done", "failed": "failed", "abandoned": "was abandoned"}[data.state]
    lines = [f"Plan for: {data.task}", f"It {whole}{f': {data.outcome}' if data.outcome else ''}."]
    for number, one in enumerate(data.steps, 1):
        result = one.outcome if one.state == "open" else ": ".join(filter(None, (one.state, one.outcome)))
        lines.append(f"{number}. {one.text}{f' ({result})' if result else ''}")
    return "\n".join(lines)


def _data(row: Row[Any]) -> Data:
    return data_of(row.data, Data) or Data(task=row.label)


def _shown(data: Data) -> dict[str, Any]:
    return {"task": data.task, "steps": data.steps, "state": data.state, "outcome": data.outcome}


def _plan(row: Row[Any]) -> Plan:
    return Plan(
        plan_id=row.node_id, version_id=row.version_id, asserted_by=row.asserted_by, recorded_from=row.recorded_from,
        **_shown(_data(row)),
    )  # fmt: skip
