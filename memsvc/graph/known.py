"""What is known as passages: the step of the nightly job ``tidy`` that files what has none yet.

Triggers file what is written (``sql/functions/recall/12_known.sql``). Versions from before they existed are filed here,
in transactions of bounded size; the step may be killed at any point and run again.
"""

from __future__ import annotations

import time
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.engine import Database
from memsvc.queue.execution import SLICE_S, Steps

BATCH = 500
"""Most versions that one transaction files."""
HOLD = text("SELECT pg_advisory_xact_lock(hashtextextended('memsvc memories of ' || CAST(:user_id AS text), 0))")
"""Every change of the graph takes this lock, shared. What is filed beside a change that supersedes it would stand on,
and two that file for one fact or node would give the same place."""
FILE = text("SELECT memsvc.file_known(:user_id, ARRAY(SELECT memsvc.unfiled_known(:user_id, :limit)))")


def known_steps() -> Steps:
    """Return the step of a user's job ``tidy`` that files facts, notes, instructions and cards without passages."""

    async def file(db: Database, user_id: UUID, _user: UUID) -> bool:
        async def take(connection: AsyncConnection) -> int:
            await connection.execute(HOLD, {"user_id": user_id})
            return int((await connection.execute(FILE, {"user_id": user_id, "limit": BATCH})).scalar_one())

        until = time.monotonic() + SLICE_S
        while await db.attempt(user_id, take):
            if time.monotonic() >= until:
                return True
        return False

    return {"tidy": [file]}
