"""Ways into memsvc that several benches use: users, batches of messages, and the background work that follows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from bench.harness import Bench
from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append

BATCH = 500


async def new_user(db: Database, name: str) -> Owner:
    """A user without memories."""
    return (await add_user(db, await app_id(db, "bench"), name=name)).owner


async def store(
    db: Database,
    owner: Owner,
    messages: Sequence[MessageIn],
    settings: Settings,
    *,
    batch: int = BATCH,
    done: Callable[[int], None] = lambda _count: None,
) -> None:
    """Store messages in order, so many a transaction."""
    for start in range(0, len(messages), batch):
        stored = await append(db, owner, messages[start : start + batch], settings)
        done(len(stored))


@contextmanager
def worker(bench: Bench, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process while the block runs; ended by SIGKILL where it does not end by itself.

    Args:
        bench: its database.
        **settings: further MEMSVC_ variables, in lower case; without an extractor nothing is read for facts.
    """
    mine = {
        "data_dir": str(bench.settings.data_dir),
        "database_url": bench.admin_url,
        "log_level": "warning",
        "extractor": "none",
    }
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMSVC_")}
    environment |= {f"MEMSVC_{name.upper()}": value for name, value in {**mine, **settings}.items()}
    process = subprocess.Popen(
        [sys.executable, "-m", "memsvc.cli", "worker"],
        env=environment, cwd=bench.settings.data_dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
