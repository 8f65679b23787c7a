"""Who acts: the door and the key of what is being done, for the audit log.

A door says it once for each request or command (``act_as``). Functions that do what the log records call ``sign`` in
the transaction of the act, and ``memsvc.audit`` reads it there (``sql/functions/accounts``). Workers say nothing.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

Door = Literal["api", "page", "cli"]
ACTS = Literal["memory.export", "memory.import", "schedule.set", "job.retry"]
NOTE = text("SELECT memsvc.note_act(:action, :user_id, :subject, CAST(:details AS jsonb))")
SIGN = text("SELECT set_config('memsvc.acting', :acting, true)")
_acting: ContextVar[str] = ContextVar("memsvc.acting", default="")


def act_as(door: Door, key_id: str | None = None) -> None:
    """Say who acts from now on, in this task and those that it starts."""
    _acting.set(f"{door} {key_id or ''}".rstrip())


async def sign(connection: AsyncConnection) -> None:
    """Tell the running transaction who acts. Without a door, it costs nothing."""
    if acting := _acting.get():
        await connection.execute(SIGN, {"acting": acting})


async def note_act(connection: AsyncConnection, action: ACTS, user_id: UUID, subject: str = "", **details: Any) -> None:
    """Record an act on a user's memory in the running transaction, which is bound to that user.

    Args:
        connection: the transaction of the act.
        action: what is done.
        user_id: whose memory.
        subject: the id of what it is done to.
        **details: kinds and numbers; no text.
    """
    await sign(connection)
    values = {"action": action, "user_id": user_id, "subject": subject, "details": json.dumps(details)}
    await connection.execute(NOTE, values)
