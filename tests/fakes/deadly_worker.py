"""A worker process that ends at once, with nothing cleaned up, whenever it works on one subject: DEADLY names it."""

from __future__ import annotations

import asyncio
import os
from uuid import UUID

from jobs import worker
from memsvc.db.engine import Database
from memsvc.queue import broker, targets
from memsvc.server.locate import app_url
from memsvc.settings import settings


async def step(_db: Database, _user_id: UUID, subject_id: UUID) -> bool:
    """Nothing, or the end."""
    if str(subject_id) == os.environ["DEADLY"]:
        os._exit(9)
    return False


async def main() -> None:
    """Work until the end."""
    chosen = settings()
    assert chosen.database_url is not None
    setattr(worker, "all_steps", lambda _settings, _models: {"process": [step]})  # noqa: B010 - it is not exported
    broker.HEARTBEAT_S, broker.SILENCE_S, broker.UPKEEP_S, broker.POLL_S = 0.2, 1.0, 0.2, 0.1
    targets.REDIS_SILENCE_MS = 2_000
    async with worker.working(chosen, app_url(chosen.database_url.get_secret_value(), chosen), None):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
