"""Ways into memsvc that several benches use: users, and batches of messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
