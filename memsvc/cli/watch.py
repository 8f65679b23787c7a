"""``memsvc jobs --watch``: show the background work of all users, refreshed until Ctrl-C.

On a terminal it is a live table. Otherwise it is a few lines each time, fit for ``grep``, or one JSON document a line.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING

from memsvc.cli.common import note, with_database

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memsvc.db.engine import Database
    from memsvc.queue.backlog import WorkNow
    from memsvc.settings import Settings

COUNTS = (
    ("waiting", "waiting"), ("running", "running"), ("retrying", "retrying"), ("failed", "failed"), ("dead", "dead"),
    ("done_last_minute", "done/min"), ("failed_last_hour", "failed/h"),
)  # fmt: skip


def watch_work(every: float, *, as_json: bool) -> None:
    """Show the waiting, running and failed jobs every ``every`` seconds; Ctrl-C or SIGTERM ends it with exit code 0."""

    async def work(db: Database, _settings: Settings) -> None:
        snapshots = _snapshots(db, every)
        if as_json:
            import msgspec

            async for now in snapshots:
                print(msgspec.json.encode(now).decode(), flush=True)
        elif sys.stdout.isatty():
            await _live(snapshots)
        else:
            async for now in snapshots:
                print("\n".join(lines(now)), flush=True)

    with_database(work)


async def _snapshots(db: Database, every: float) -> AsyncIterator[WorkNow]:
    """Yield a snapshot every ``every`` seconds; after the first one, wait while the database is unavailable.

    Raises:
        MemsvcError: the first snapshot fails.
    """
    from memsvc.errors import MemsvcError
    from memsvc.queue.backlog import work_now

    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    seen = False
    while not stopping.is_set():
        try:
            now = await work_now(db)
        except MemsvcError as error:
            if not seen:
                raise
            note(error.message)
        else:
            seen = True
            yield now
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), every)


async def _live(snapshots: AsyncIterator[WorkNow]) -> None:
    """Draw on a terminal; the last table remains at the end."""
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(), auto_refresh=False) as live:
        async for now in snapshots:
            live.update(picture(now), refresh=True)


def age(seconds: float | None) -> str:
    """Format a duration for people."""
    if seconds is None:
        return ""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


def lines(now: WorkNow) -> list[str]:
    """Return a snapshot as lines for scripts: one for each kind, one for each error code, and a summary."""
    stamp = f"{now.at:%Y-%m-%dT%H:%M:%SZ}"
    shown = [
        f"{stamp} {kind.queue}/{kind.kind}: "
        + ", ".join(f"{label} {getattr(kind, name)}" for name, label in COUNTS)
        + (f", oldest {age(kind.oldest_seconds)}" if kind.oldest_seconds is not None else "")
        for kind in now.kinds
    ]
    shown += [
        f"{stamp} error {error.error_code}: retrying {error.retrying}, failed/h {error.failed_last_hour}, "
        f"last {age(error.last_seconds)} ago"
        for error in now.errors
    ]
    return [*shown, f"{stamp} {summary(now)}"]


def summary(now: WorkNow) -> str:
    """Return the totals over all kinds of job as one line."""
    sums = ", ".join(f"{label} {sum(getattr(kind, name) for kind in now.kinds)}" for name, label in COUNTS)
    silent = f" (silent for {age(max(w.silent_seconds for w in now.workers))} at most)" if now.workers else ""
    return (
        f"all: {sums}, oldest {age(now.oldest_seconds)}, embedding lag {age(now.embedding_lag_seconds)}, "
        f"workers {len(now.workers)}{silent}"
    )


def picture(now: WorkNow) -> RenderableType:
    """Return a snapshot as tables for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    kinds = Table("queue", "kind", *(label for _, label in COUNTS), "oldest", box=None, pad_edge=False)
    for column in kinds.columns[2:]:
        column.justify = "right"
    for kind in now.kinds:
        counts = [
            Text(f"{count:,}", "bold red" if count and name in {"failed", "dead", "failed_last_hour"} else "")
            for name, count in ((name, getattr(kind, name)) for name, _ in COUNTS)
        ]
        kinds.add_row(kind.queue, kind.kind, *counts, age(kind.oldest_seconds))
    parts: list[RenderableType] = [Text(f"{now.at.astimezone():%H:%M:%S}  {summary(now)}"), Text(), kinds]
    if now.workers:
        workers = Table("worker", "last heartbeat", "running jobs", box=None, pad_edge=False)
        for worker in now.workers:
            workers.add_row(str(worker.worker_id)[:8], f"{age(worker.silent_seconds)} ago", str(worker.running))
        parts += [Text(), workers]
    if now.errors:
        errors = Table("error", "retrying", "failed/h", "last", box=None, pad_edge=False)
        for error in now.errors:
            ago = f"{age(error.last_seconds)} ago" if error.last_seconds is not None else ""
            errors.add_row(error.error_code, str(error.retrying), str(error.failed_last_hour), ago)
        parts += [Text(), errors]
    return Group(*parts)
