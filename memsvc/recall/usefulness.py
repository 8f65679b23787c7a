"""How useful recalls are: what was given, what feedback said of it, and what came back in answers.

What an answer echoes is a rough sign (``memsvc.chat.echoing``), so it is counted apart and never changes an order.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query

MOST_DAYS = 366


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """Memories of one kind that one door gave."""

    door: str
    """recall, context, hooks, chat, mcp, cli …"""
    kind: str
    """message, fact, note, card, block …; erased: erased since."""
    given: int
    """How often one was given."""
    used: int
    """Of them, how often feedback said that it was used."""
    irrelevant: int
    """How often feedback said that it was irrelevant."""
    seen: int
    """How often the answer that followed was seen."""
    echoed: int
    """Of these, how often the answer had words of the memory."""
    share_used: float | None
    """used / (used + irrelevant), 0 to 1; null: no feedback."""
    share_echoed: float | None
    """echoed / seen, 0 to 1; null: no answer was seen."""


class Usefulness(msgspec.Struct, frozen=True, kw_only=True):
    """What became of what recall gave."""

    since: datetime
    recalls: int
    """Recalls since then that are still recorded."""
    judged: int
    """Of them, those with feedback."""
    answered: int
    """Of them, those whose answer was seen."""
    by_door_and_kind: list[Used]
    """Most given first."""


async def usefulness(db: Database, owner: Owner, days: int) -> Usefulness:
    """Count what became of the memories that recalls of the last ``days`` days (1 to 366) gave."""
    since = datetime.now(UTC) - timedelta(days=days)
    values = {"user_id": owner.user_id, "since": since}
    async with db.transaction(owner.user_id) as connection:
        whole = (await connection.execute(query("recalls_judged"), values)).one()
        rows = (await connection.execute(query("usefulness"), values)).all()
    return Usefulness(
        since=since,
        recalls=whole.recalls,
        judged=whole.judged,
        answered=whole.answered,
        by_door_and_kind=[
            Used(
                door=row.door,
                kind=row.kind,
                given=row.given,
                used=row.used,
                irrelevant=row.irrelevant,
                seen=row.seen,
                echoed=row.echoed,
                share_used=_share(row.used, row.used + row.irrelevant),
                share_echoed=_share(row.echoed, row.seen),
            )
            for row in rows
        ],
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


async def note_echoes(db: Database, owner: Owner, recall_id: UUID, echoes: Iterable[UUID]) -> None:
    """Note for a recorded recall which of its memories the answer echoes; the others of it are noted as not echoed."""
    values = {"user_id": owner.user_id, "recall_id": recall_id, "echoed": list(echoes)}
    async with db.transaction(owner.user_id) as connection:
        await connection.execute(query("note_echoes"), values)
