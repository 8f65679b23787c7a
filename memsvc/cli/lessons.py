"""``memsvc lessons``: wrong answers, and instructions that they propose. ``memsvc plan``: steps and outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    as_uuid,
    clock,
    for_owner,
    for_owner_shown,
    note,
    plain,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.db.paging import Page
    from memsvc.lessons.critiques import Critique
    from memsvc.lessons.plans import Plan

lessons = typer.Typer(
    help="Correct answers, and decide which lessons become instructions.", no_args_is_help=True, rich_markup_mode=None
)
plans = typer.Typer(help="Plans with their outcomes.", no_args_is_help=True, rich_markup_mode=None)
Limit = typer.Option(20, "--limit", "-n", min=1, max=1000, help="Most to list, newest first.")
Cursor = typer.Option(None, "--cursor", help="next_cursor of the page before.")
CritiqueId = typer.Argument(help="An id from 'memsvc lessons list'.", metavar="ID")
PlanId = typer.Argument(help="An id from 'memsvc plan list'.", metavar="ID")


@lessons.command("add")
def add_lesson(
    question: str = typer.Argument(help="What was asked."),
    correction: str = typer.Argument(help="What is right."),
    answer: str = typer.Option("", "--answer", "-a", help="What was answered wrongly."),
    source: str | None = typer.Option(None, "--source", help="Id of the memory that says what is right."),
    lesson: str = typer.Option("", "--lesson", help="An instruction that would prevent the mistake."),
    client_id: str | None = typer.Option(None, "--id", help="Your own id, which makes repeating safe."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Correct an answer; recall gives the correction when the question comes again."""

    async def act(db: Database, owner: Owner) -> Critique:
        from memsvc.lessons.critiques import NewCritique, add_critique

        given = NewCritique(
            question=question, correction=correction, answer=answer, source=source, lesson=lesson, id=client_id
        )
        return await add_critique(db, owner, given)

    _show_critique(for_owner(user, app, act), as_json=as_json)


@lessons.command("list")
def list_lessons(
    state: str = typer.Option("proposed", "--state", help="proposed, accepted, rejected, none (no lesson), or all."),
    limit: int = Limit,
    cursor: str | None = Cursor,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List lessons that wait for a decision, newest first, each with the mistake that it comes from."""

    async def act(db: Database, owner: Owner) -> Page[Critique]:
        from memsvc.lessons.critiques import list_critiques

        wanted: Any = None if state == "all" else state
        return await list_critiques(db, owner, state=wanted, cursor=cursor, limit=limit)

    found = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    print_table(
        ["id", "state", "lesson", "question", "right"],
        [[one.critique_id, one.state, one.lesson, one.question, one.correction] for one in found.items],
    )
    if not found.items:
        note("No lessons wait for a decision." if state == "proposed" else "No critiques found.")
    _tell_more(found.next_cursor)


@lessons.command("accept")
def accept(
    which: str = CritiqueId,
    text: str | None = typer.Option(None, "--text", help="The instruction in other words than proposed."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Make a lesson an instruction, which is part of contexts from now on."""
    _decide(which, user, app, accepted=True, text=text, as_json=as_json)


@lessons.command("reject")
def reject(which: str = CritiqueId, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Reject a lesson; the correction stays."""
    _decide(which, user, app, accepted=False, text=None, as_json=as_json)


def _decide(which: str, user: str | None, app: str, *, accepted: bool, text: str | None, as_json: bool) -> None:
    wanted = as_uuid(which, "critique")

    async def act(db: Database, owner: Owner) -> Critique:
        from memsvc.lessons.critiques import decide_lesson

        return await decide_lesson(db, owner, wanted, accept=accepted, text=text)

    _show_critique(for_owner(user, app, act), as_json=as_json)


def _show_critique(found: Critique, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    print(plain(f"{found.question}\n  right: {found.correction}"))
    if found.lesson:
        print(plain(f"  lesson ({found.state}): {found.lesson}"))
    print(f"critique {found.critique_id}")


@plans.command("add")
def add_plan_(
    task: str = typer.Argument(help="What is to be done."),
    step: list[str] = typer.Option([], "--step", "-s", help="A step; repeatable, in order."),
    client_id: str | None = typer.Option(None, "--id", help="Your own id, which makes repeating safe."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Store a plan; recall gives it, with its outcome, when the task comes up again."""

    async def act(db: Database, owner: Owner) -> Plan:
        from memsvc.lessons.plans import add_plan

        return await add_plan(db, owner, task, step, id=client_id)

    _show_plan(*for_owner_shown(user, app, act), as_json=as_json)


@plans.command("list")
def list_plans_(
    state: str | None = typer.Option(None, "--state", help="Only open, done, failed or abandoned ones."),
    limit: int = Limit,
    cursor: str | None = Cursor,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List plans, newest first."""

    async def act(db: Database, owner: Owner) -> Page[Plan]:
        from memsvc.lessons.plans import list_plans

        wanted: Any = state
        return await list_plans(db, owner, state=wanted, cursor=cursor, limit=limit)

    found = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    print_table(
        ["id", "state", "task", "steps", "outcome"],
        [
            [one.plan_id, one.state, one.task, f"{_tried(one)} of {len(one.steps)}", one.outcome]
            for one in found.items
        ],
    )  # fmt: skip
    _tell_more(found.next_cursor)


@plans.command("show")
def show_plan(plan: str = PlanId, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Show a plan and how it changed."""
    wanted = as_uuid(plan, "plan")

    async def act(db: Database, owner: Owner) -> Plan:
        from memsvc.lessons.plans import get_plan

        return await get_plan(db, owner, wanted)

    _show_plan(*for_owner_shown(user, app, act), as_json=as_json)


@plans.command("change")
def change(
    plan: str = PlanId,
    step: int | None = typer.Option(None, "--step", help="Number of a step of which something came.", min=1),
    state: str | None = typer.Option(
        None, "--state", help="Of the step: open, done, failed, skipped; without --step of the plan: … abandoned."
    ),
    outcome: str | None = typer.Option(None, "--outcome", "-o", help="What came of the step, or of the whole plan."),
    steps: list[str] = typer.Option([], "--new-step", help="All steps, in place of the old ones; repeatable."),
    reason: str = typer.Option("", "--reason", help="Why the plan changes."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Note what came of a step or of the plan, or replace its steps; earlier versions stay."""
    wanted = as_uuid(plan, "plan")

    async def act(db: Database, owner: Owner) -> Plan:
        import msgspec

        from memsvc.errors import InvalidRequestError
        from memsvc.lessons.plans import PlanChange, change_plan

        given: dict[str, Any] = {"reason": reason, "steps": [{"text": one} for one in steps] or None}
        if step is None:
            given |= {"state": state, "outcome": outcome}
        else:
            given["results"] = [{"step": step, "state": state or "done", "outcome": outcome or ""}]
        try:
            what = msgspec.convert(given, PlanChange)
        except msgspec.ValidationError as error:
            raise InvalidRequestError(f"{error}.", field="state") from error
        return await change_plan(db, owner, wanted, what)

    _show_plan(*for_owner_shown(user, app, act), as_json=as_json)


def _show_plan(found: Plan, owner: Owner, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    print(plain(f"{found.task} ({found.state}{f': {found.outcome}' if found.outcome else ''})"))
    for number, one in enumerate(found.steps, 1):
        told = ": ".join(filter(None, (one.state, one.outcome)))
        print(plain(f"  {number}. {one.text} ({told})"))
    print(f"plan {found.plan_id} | revision {len(found.revisions)} | since {clock(found.recorded_from, owner)}")


def _tried(found: Plan) -> int:
    """Of how many steps something came."""
    return sum(one.state != "open" for one in found.steps)


def _tell_more(cursor: str | None) -> None:
    if cursor is not None:
        note(f"There is more: --cursor {cursor}")
