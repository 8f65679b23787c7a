"""``memsvc schedule``: show and set a user's recurring work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    for_owner_with,
    note,
    print_json,
    print_table,
    user_at_home,
    with_database,
)

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.queue.schedule import Schedule
    from memsvc.settings import Settings
    from memsvc.sleep.registry import Known

schedule = typer.Typer(help="Show and set a user's recurring work.", rich_markup_mode=None)
Kind = typer.Argument(help="The recurring task: tidy or sleep.", metavar="KIND")
Task = typer.Option(None, "--task", help="Only this task of sleep, as 'memsvc sleep --list' names it.")


def _for_user(user: str | None, app: str, act: Callable[[Database, UUID], Awaitable[Any]]) -> Any:
    async def work(db: Database, _settings: Settings) -> Any:
        db, chosen = await user_at_home(db, user, app)
        return await act(db, chosen.user_id)

    return with_database(work)


def _show(found: list[Schedule]) -> None:
    from zoneinfo import ZoneInfo

    def local(moment: datetime | None, zone: str) -> str:
        return f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}" if moment else ""

    print_table(
        ["kind", "at", "days", "zone", "state", "next", "last"],
        [
            [
                s.kind, s.at, ",".join(s.weekdays or ["every day"]), s.time_zone, "on" if s.enabled else "off",
                local(s.next_at, s.time_zone), local(s.last_at, s.time_zone) or "never",
            ]
            for s in found
        ],
    )  # fmt: skip


@schedule.callback(invoke_without_command=True)
def list_schedules_of_user(
    context: typer.Context, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson
) -> None:
    """List the recurring tasks, in the user's time zone."""
    if context.invoked_subcommand is not None:
        return

    async def act(db: Database, user_id: UUID) -> list[Schedule]:
        from memsvc.queue.schedule import list_schedules

        return await list_schedules(db, user_id)

    found = _for_user(user, app, act)
    if as_json:
        print_json(found)
    else:
        _show(found)


@schedule.command("set")
def set_time(
    kind: str = Kind,
    at: str = typer.Option(..., "--at", help="Time of day in the user's time zone, HH:MM or HH:MM:SS."),
    days: str | None = typer.Option(None, "--days", help="Weekdays, such as mon,thu or 1,4; default: every day."),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Set when a task runs, and turn it on."""

    async def act(db: Database, user_id: UUID) -> Schedule:
        from memsvc.queue.schedule import set_schedule

        return await set_schedule(db, user_id, kind, at=at, weekdays=days.split(",") if days is not None else None)

    _show([_for_user(user, app, act)])


def _switch(kind: str, user: str | None, app: str, *, enabled: bool) -> None:
    async def act(db: Database, user_id: UUID) -> Schedule:
        from memsvc.queue.schedule import switch_schedule

        return await switch_schedule(db, user_id, kind, enabled=enabled)

    _show([_for_user(user, app, act)])


def _switch_task(kind: str, task: str, user: str | None, app: str, *, on: bool) -> None:
    """Switch one task of sleep."""
    if kind != "sleep":
        raise typer.BadParameter(f"{kind} has no tasks; sleep has.")

    async def act(db: Database, owner: Owner, settings: Settings) -> Known:
        from memsvc.sleep.wishes import switch_task

        return await switch_task(db, owner.user_id, settings, task, on=on)

    found = for_owner_with(user, app, act)
    print_table(["task", "", "what it does"], [[found.name, "on" if found.on else "off", found.help]])
    if on and found.why_off:
        note(found.why_off)


@schedule.command("off")
def off(kind: str = Kind, task: str | None = Task, user: str | None = UserRef, app: str = AppName) -> None:
    """Turn recurring work off, or one task of sleep."""
    if task is not None:
        _switch_task(kind, task, user, app, on=False)
    else:
        _switch(kind, user, app, enabled=False)


@schedule.command("on")
def on(kind: str = Kind, task: str | None = Task, user: str | None = UserRef, app: str = AppName) -> None:
    """Turn recurring work on again, or one task of sleep; missed runs are not made up for."""
    if task is not None:
        _switch_task(kind, task, user, app, on=True)
    else:
        _switch(kind, user, app, enabled=True)


@schedule.command("run")
def run(kind: str = Kind, user: str | None = UserRef, app: str = AppName) -> None:
    """Queue one run now, in addition to the scheduled ones; a worker or 'memsvc jobs run' does it."""

    async def act(db: Database, user_id: UUID) -> UUID:
        from memsvc.queue.schedule import run_now

        return await run_now(db, user_id, kind)

    print(f"{_for_user(user, app, act)} is pending.")
