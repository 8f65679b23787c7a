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
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.extract.run import Extractors
    from memsvc.settings import Settings
    from memsvc.sleep.runner import Run
    from memsvc.sleep.tasks import Scope

SHOWN = 200
"""Most proposals that a dry run prints; --json prints all."""


def sleep(
    tasks: str = typer.Option(
        "", "--tasks", help="Tasks to run, separated by commas: duplicates, reread, reviews; default: all."
    ),
    from_node: str | None = typer.Option(None, "--from", help="Only proposals for this node (its id)."),
    since: str | None = typer.Option(None, "--since", help="Only what was recorded since then (ISO 8601)."),
    budget: float | None = typer.Option(None, "--budget", min=1, help="Stop each task after this many seconds."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Print the proposals; change nothing."),
    runs: bool = typer.Option(False, "--runs", help="List past runs, newest first, instead."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Run a user's nightly maintenance now; a worker runs it each night at 03:00 in the user's time zone.

    duplicates: finds nodes that represent the same thing. Certain duplicates are merged ('memsvc unmerge' undoes it);
    the rest wait for review in 'memsvc duplicates'. reread: a new version of an extractor reads again what an older one
    has read ('memsvc reread' shows and undoes it). reviews (off by default): a language model judges facts that wait in
    'memsvc review'. Ctrl-C pauses; the same command resumes.
    """
    if runs:
        _show(for_owner(user, app, _runs), as_json=as_json)
        return

    async def act(db: Database, owner: Owner, settings: Settings) -> Any:
        from memsvc.sleep.tasks import Scope
        from memsvc.sources.moments import read_moment

        scope = Scope(
            from_node=as_uuid(from_node, "node") if from_node is not None else None,
            since=read_moment(since, owner, "since"),
        )
        names = tasks.split(",")
        if dry_run:
            return await _proposals(db, owner, names, scope, settings)
        return await work(db, owner, settings, names, scope, budget_s=budget)

    done = for_owner_with(user, app, act)
    if not dry_run:
        _show(done, as_json=as_json)
    elif as_json:
        print_json(done)
    else:
        print_table(["task", "would", "one", "other", "score", "because"], done[:SHOWN])
        note(f"{len(done):,} proposals; nothing was changed." + (f" {SHOWN} are shown." if len(done) > SHOWN else ""))


async def _runs(db: Database, owner: Owner) -> list[Run]:
    from memsvc.sleep.runner import list_runs

    return await list_runs(db, owner.user_id)


async def _proposals(db: Database, owner: Owner, names: list[str], scope: Scope, settings: Settings) -> list[list[Any]]:
    from memsvc.sleep.duplicates import preview
    from memsvc.sleep.runner import dry_run

    found: list[list[Any]] = []
    async for task, page in dry_run(db, owner, names, scope, settings=settings):
        found += [
            [task, shown.action, *shown.labels, round(shown.score, 3), shown.reason]
            for shown in map(preview, page.proposals)
        ]
        found += [[task, one.action, one.sentence, "", "", one.reason] for one in page.judgements]
    return found


async def work(
    db: Database,
    owner: Owner,
    settings: Settings,
    names: list[str],
    scope: Scope | None = None,
    *,
    extractors: Extractors | None = None,
    budget_s: float | None = None,
) -> list[Run]:
    """Run tasks in this process, with a progress bar on a terminal; see ``memsvc.sleep.runner.sleep``."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from memsvc.sleep import runner

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        line = bar.add_task("looking for work", total=None)

        def show(run: Run, total: int) -> None:
            bar.update(line, description=run.task, completed=min(run.examined, total), total=total)

        return await runner.sleep(
            db, owner, names, scope, settings=settings, extractors=extractors, budget_s=budget_s, progress=show
        )


def _show(done: list[Run], *, as_json: bool) -> None:
    if as_json:
        print_json(done)
        return
    print_table(
        ["run", "task", "state", "examined", "done", "to review", "seconds", "began"],
        [
            [
                run.run_id, run.task, run.state if run.within_budget else "budget used up", f"{run.examined:,}",
                f"{run.applied:,}", f"{run.proposed:,}", f"{run.seconds:.1f}", f"{run.started_at:%Y-%m-%d %H:%M}",
            ]
            for run in done
        ],
    )  # fmt: skip
