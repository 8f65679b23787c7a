"""``memsvc sleep``: run the nightly maintenance now."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    as_uuid,
    for_owner,
    for_owner_with,
    note,
    plain,
    print_json,
    print_table,
)
from memsvc.cli.references import id_of
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.extract.run import Extractors
    from memsvc.settings import Settings
    from memsvc.sleep.preview import Would
    from memsvc.sleep.registry import Known
    from memsvc.sleep.report import SleepReport
    from memsvc.sleep.runs import Budget, Run
    from memsvc.sleep.tasks import Scope
    from memsvc.sleep.undoing import Undone

SHOWN = 200
"""Most proposals that a dry run prints; --json prints all."""


def sleep(
    tasks: str = typer.Option("", "--tasks", help="Tasks to run, separated by commas; default: all that are on."),
    from_node: str | None = typer.Option(None, "--from", help="Only what concerns this node (its id); see --list."),
    since: str | None = typer.Option(None, "--since", help="Only what was recorded since then (ISO 8601)."),
    budget: float | None = typer.Option(None, "--budget", min=1, help="Stop each task after this many seconds."),
    budget_tokens: int | None = typer.Option(
        None, "--budget-tokens", min=1, help="Stop each task after this many tokens of the language model."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Print the proposals; change nothing."),
    listed: bool = typer.Option(False, "--list", help="List the tasks, and which are on, instead."),
    runs: bool = typer.Option(False, "--runs", help="List past runs, newest first, instead."),
    undo: str | None = typer.Option(None, "--undo", metavar="RUN", help="Undo what a run wrote, instead."),
    report: bool = typer.Option(False, "--report", help="Print the report of the last night, instead."),
    date: str | None = typer.Option(None, "--date", help="With --report: the day of the morning (YYYY-MM-DD)."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Run a user's nightly maintenance now; a worker runs it each night at 03:00 in the user's time zone.

    A worker also runs it in the day, when enough is new and the user is not talking. 'memsvc sleep --list' says what
    each task does; 'memsvc schedule off sleep --task TASK' switches one off. Ctrl-C pauses; the same command resumes.
    """
    what = [listed, runs, undo is not None, report]
    if sum(what) > 1:
        raise typer.BadParameter("Use one of --list, --runs, --undo and --report.")
    if listed:
        _show_tasks(for_owner_with(user, app, _tasks), as_json=as_json)
    elif runs:
        _show(for_owner(user, app, _runs), as_json=as_json)
    elif undo is not None:
        _show_undone(for_owner_with(user, app, lambda db, owner, found: _undo(db, owner, found, undo)), as_json=as_json)
    elif report:
        _show_report(user, app, date, as_json=as_json)
    else:
        _run(user, app, tasks.split(","), (from_node, since), (budget, budget_tokens), dry_run=dry_run, as_json=as_json)


def _run(
    user: str | None,
    app: str,
    names: list[str],
    asked: tuple[str | None, str | None],
    budget: tuple[float | None, int | None],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run tasks, or show what they would do."""
    from_node, since = asked

    async def act(db: Database, owner: Owner, settings: Settings) -> Any:
        from memsvc.sleep.runs import Budget
        from memsvc.sleep.tasks import Scope
        from memsvc.sources.moments import read_moment

        scope = Scope(
            from_node=await id_of(db, owner, from_node, "node") if from_node is not None else None,
            since=read_moment(since, owner, "since"),
        )
        if dry_run:
            from memsvc.sleep.preview import preview_sleep

            return (await preview_sleep(db, owner, names, scope, settings=settings)).items
        return await work(db, owner, settings, names, scope, budget=Budget(*budget))

    done = for_owner_with(user, app, act)
    if not dry_run:
        _show(done, as_json=as_json)
    elif as_json:
        print_json([_columns(one) for one in done])
    else:
        print_table(["task", "would", "one", "other", "score", "because"], [_columns(one) for one in done[:SHOWN]])
        note(
            f"{counted(len(done), 'proposal')}; nothing was changed."
            + (f" {SHOWN} are shown." if len(done) > SHOWN else "")
        )


def _columns(one: Would) -> list[Any]:
    score = "" if one.score is None else one.score
    return [one.task, one.action, plain(one.one), plain(one.other), score, one.reason]


async def _tasks(db: Database, owner: Owner, settings: Settings) -> list[Known]:
    from memsvc.sleep.wishes import list_tasks

    return await list_tasks(db, owner.user_id, settings)


async def _undo(db: Database, owner: Owner, settings: Settings, run: str) -> Undone:
    from memsvc.sleep.undoing import undo_run

    return await undo_run(db, owner, as_uuid(run, "run"), settings)


async def _runs(db: Database, owner: Owner) -> list[Run]:
    from memsvc.sleep.runs import list_runs

    return await list_runs(db, owner.user_id)


async def work(
    db: Database,
    owner: Owner,
    settings: Settings,
    names: list[str],
    scope: Scope | None = None,
    *,
    extractors: Extractors | None = None,
    budget: Budget | None = None,
) -> list[Run]:
    """Run tasks in this process, with a progress bar on a terminal; see ``memsvc.sleep.runner.sleep``."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from memsvc.sleep import runner
    from memsvc.sleep.runs import Budget

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        line = bar.add_task("looking for work", total=None)

        def show(run: Run, total: int) -> None:
            bar.update(line, description=run.task, completed=min(run.examined, total), total=total)

        return await runner.sleep(
            db, owner, names, scope, settings=settings, extractors=extractors, budget=budget or Budget(), progress=show
        )


def _show(done: list[Run], *, as_json: bool) -> None:
    if as_json:
        print_json(done)
        return
    print_table(
        ["run", "task", "state", "cause", "examined", "changes", "seconds", "calls", "tokens", "began"],
        [
            [
                run.run_id, run.task, _state(run), run.cause, f"{run.examined:,}", _counts(run), f"{run.seconds:.1f}",
                f"{run.model_calls:,}", f"{run.tokens_in + run.tokens_out:,}", f"{run.started_at:%Y-%m-%d %H:%M}",
            ]
            for run in done
        ],
    )  # fmt: skip


def _state(run: Run) -> str:
    if run.undone_at is not None:
        return "undone"
    if run.error_code is not None:
        return f"{run.state}: {run.error_code}"
    return run.state if run.within_budget else "budget used up"


def _counts(run: Run) -> str:
    return ", ".join(f"{number:,} {kind.replace('_', ' ')}" for kind, number in sorted(run.counts.items())) or "none"


def _show_tasks(tasks: list[Known], *, as_json: bool) -> None:
    if as_json:
        print_json(tasks)
        return
    rows = [
        [one.name, "on" if one.on else "off", "yes" if one.of_node else "no", one.help, one.why_off or ""]
        for one in tasks
    ]
    print_table(["task", "", "--from", "what it does", "to have it"], rows)


def _show_undone(undone: Undone, *, as_json: bool) -> None:
    if as_json:
        print_json(undone)
        return
    other = f", and {undone.other:,} more things of the task {undone.run.task}" if undone.other else ""
    print(f"{counted(undone.changes, 'change was', 'changes were')} undone{other}.")
    for one in undone.left:
        change = f" (change {one.change_id}: {one.code})" if one.change_id is not None else ""
        print(plain(f"Not undone: {one.what}{change}"))


def _show_report(user: str | None, app: str, date: str | None, *, as_json: bool) -> None:
    async def act(db: Database, owner: Owner) -> tuple[SleepReport, str]:
        from memsvc.access.users import valid_zone
        from memsvc.sleep.report import read_day
        from memsvc.sleep.report import report as read
        from memsvc.sleep.report_text import markdown

        found = await read(db, owner, read_day(date) if date is not None else None)
        return found, markdown(found, valid_zone(owner.time_zone), asked=date is not None)

    found, page = for_owner(user, app, act)
    if as_json:
        print_json(found)
    else:
        print(plain(page), end="")
