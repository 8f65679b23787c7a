"""``memsvc jobs``: show and retry a user's background jobs; for operators, those of all users and dead letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    as_uuid,
    embedders,
    note,
    print_json,
    print_table,
    user_at_home,
    with_database,
)
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.settings import Settings

jobs = typer.Typer(help="Show and control background jobs.", rich_markup_mode=None)
ALL = "all"


@jobs.callback(invoke_without_command=True)
def list_jobs_of_user(
    context: typer.Context,
    user: str | None = UserRef,
    state: str | None = typer.Option(None, help="pending, done, failed or cancelled."),
    limit: int = typer.Option(20, min=1, max=1000, help="Most jobs to list, newest first."),
    watch: bool = typer.Option(False, "--watch", "-w", help="Watch the jobs of all users instead, until Ctrl-C."),
    every: float = typer.Option(2.0, min=0.1, max=3600, help="With --watch: seconds between refreshes."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List the jobs of a user, newest first."""
    if context.invoked_subcommand is not None:
        return
    if watch:
        from memsvc.cli.watch import watch_work

        watch_work(every, as_json=as_json)
        return

    async def work(db: Database, _settings: Settings) -> Any:
        from memsvc.queue.jobs import list_jobs

        db, owner = await user_at_home(db, user, app)
        return await list_jobs(db, owner.user_id, state=state, limit=limit)

    found = with_database(work)
    if as_json:
        print_json(found)
    else:
        print_table(
            ["job", "kind", "state", "attempts", "created", "started", "error"],
            [
                [j.job_id, j.kind, j.state, j.attempts, _clock(j.created_at), _clock(j.started_at), j.error]
                for j in found
            ],
        )


def _clock(moment: Any) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment is not None else ""


@jobs.command("retry")
def retry(
    job_id: str | None = typer.Argument(None),
    all_failed: bool = typer.Option(False, "--all-failed", help="Retry all jobs of the user that have failed."),
    everybody: bool = typer.Option(False, "--everybody", help="With --all-failed: for all users; for operators."),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Make a failed or cancelled job pending again; with --all-failed, all failed jobs.

    If several jobs of one conversation have failed, one is retried and does all their work; the others are cancelled.
    """
    if (job_id is None) != all_failed:
        raise typer.BadParameter("Give either a job id or --all-failed.", param_hint="JOB_ID")
    if everybody and not all_failed:
        raise typer.BadParameter("This option needs --all-failed.", param_hint="--everybody")
    if job_id is not None:
        _change(job_id, user, app, retry=True)
        return

    async def work(db: Database, _settings: Settings) -> int:
        from memsvc.queue.jobs import retry_failed, retry_failed_of_all

        if everybody:
            return await retry_failed_of_all(db)
        db, owner = await user_at_home(db, user, app)
        return await retry_failed(db, owner.user_id)

    print(f"{counted(with_database(work), 'job is', 'jobs are')} pending again.")


@jobs.command("cancel")
def cancel(job_id: str = typer.Argument(), user: str | None = UserRef, app: str = AppName) -> None:
    """Cancel a pending job; its messages stay stored and can be recalled."""
    _change(job_id, user, app, retry=False)


def _change(job_id: str, user: str | None, app: str, *, retry: bool) -> None:
    async def work(db: Database, _settings: Settings) -> Any:
        from memsvc.queue.jobs import cancel_job, retry_job

        db, owner = await user_at_home(db, user, app)
        return await (retry_job if retry else cancel_job)(db, owner.user_id, as_uuid(job_id, "job"))

    job = with_database(work)
    print(f"{job.job_id} is {job.state}.")


@jobs.command("run")
def run() -> None:
    """Run all jobs that are due, for all users, then exit."""

    async def work(db: Database, settings: Settings) -> int:
        from jobs.steps import all_steps
        from memsvc.queue.execution import run_due

        with embedders(settings) as models:
            return await run_due(db, all_steps(settings, models))

    print(f"{counted(with_database(work), 'job')} done.")


@jobs.command("dead")
def dead(
    retry: str | None = typer.Option(None, metavar="ID", help="Put this message back into the queue; 'all': all."),
    drop: str | None = typer.Option(None, metavar="ID", help="Delete this message."),
    as_json: bool = AsJson,
) -> None:
    """List, retry or drop dead letters: queue messages of all users that no worker could handle. For operators.

    Dead letters are deleted after 30 days. A pending job whose message is dead or dropped sends a new one.
    """
    if retry is not None and drop is not None:
        raise typer.BadParameter("This option cannot be combined with --retry.", param_hint="--drop")

    async def work(db: Database, _settings: Settings) -> Any:
        from memsvc.queue.dead import drop_dead, list_dead, retry_dead

        if retry is not None:
            return await retry_dead(db, None if retry == ALL else as_uuid(retry, "message"))
        if drop is not None:
            return await drop_dead(db, as_uuid(drop, "message"))
        return await list_dead(db)

    found = with_database(work)
    if retry is not None:
        print(f"{counted(found, 'message is', 'messages are')} in the queue again.")
    elif drop is not None:
        print(f"{drop} was dropped.")
    elif as_json:
        print_json(found)
    else:
        print_table(
            ["message", "queue", "actor", "rejected", "error"],
            [[d.message_id, d.queue, d.actor, _clock(d.rejected_at), d.error] for d in found],
        )
        if not found:
            note("No dead letters.")
