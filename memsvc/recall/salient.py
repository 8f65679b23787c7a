"""Memories without a query: what is on somebody's mind anyway, and one by chance.

A context reserves a few places for them. Both are SQL functions of ``sql/functions/recall/90_salient.sql``, which look
at a bounded number of rows whatever the size of the memory. What they give is not recorded as recalled: otherwise what
is salient would stay so by being shown.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Row

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import InvalidRequestError, InvalidTimeError
from memsvc.recall.results import Memory
from memsvc.recall.rows import memory_of
from memsvc.recall.times_in_words import age

MAX_SALIENT = 200
FACTORS = ("recency", "importance", "strength", "usefulness", "pinned", "salience")
SHOWN = ("message", "note", "card")
"""Kinds of passages; of notes and cards those that somebody pinned, judged or had recalled, and of salient nodes."""
TIMES = {1: "once", 2: "twice"}
SEEDS = 1 << 63


async def top_of_mind(
    db: Database,
    owner: Owner,
    *,
    limit: int = 10,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    traces: bool = False,
    facts: bool = True,
) -> list[Memory]:
    """What is salient without a query, best first: new, important, often recalled, useful, pinned, or of salient nodes.

    Args:
        db: the database.
        owner: whose mind it is.
        limit: at most so many, 1 to 200.
        as_of: messages said by then, facts valid then, ages counted from then; None: now.
        known_at: what was recorded by then; None: now. Signals are those of today, so none of them counts there.
        traces: also what system, tool and thinking roles said.
        facts: facts too.

    Returns:
        Memories with ``why``, the points of each factor, and their sum as the score; none where nothing was said.

    Raises:
        InvalidRequestError: the limit cannot be used.
        InvalidTimeError: a time has no zone.
    """
    if not 1 <= limit <= MAX_SALIENT:
        raise InvalidRequestError(f"limit must lie between 1 and {MAX_SALIENT}.", field="limit")
    now = _asked_about(as_of, known_at)
    values = {
        "user_id": owner.user_id,
        "limit": limit,
        "as_of": as_of,
        "known_at": known_at,
        "kinds": [*SHOWN, *(["trace"] if traces else [])],
        "facts": facts,
    }
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(query("top_of_mind"), values)).all()
    return [
        memory_of(
            row,
            score=row.score,
            why=_why(row, now, ZoneInfo(owner.time_zone)),
            factors={name: points for name in FACTORS if (points := getattr(row, name))},
            now=now,
        )
        for row in rows
    ]


async def random_memory(
    db: Database, owner: Owner, *, seed: int, as_of: datetime | None = None, known_at: datetime | None = None
) -> Memory | None:
    """A message by chance, the same for the same seed and data.

    Args:
        db: the database.
        owner: whose memory it is.
        seed: any whole number; days since an epoch give one memory a day.
        as_of: said by then; None: at any time.
        known_at: recorded by then; None: now.

    Returns:
        The memory, with the score 0; None where there is no message.

    Raises:
        InvalidTimeError: a time has no zone.
    """
    now = _asked_about(as_of, known_at)
    values = {"user_id": owner.user_id, "seed": seed % SEEDS, "as_of": as_of, "known_at": known_at}
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("random_memory"), values)).one_or_none()
    if row is None:
        return None
    return memory_of(row, score=0.0, why="by chance", factors={}, now=now)


def _asked_about(as_of: datetime | None, known_at: datetime | None) -> datetime:
    for field, moment in (("as_of", as_of), ("known_at", known_at)):
        if moment is not None and moment.tzinfo is None:
            raise InvalidTimeError(f"{field} has no zone.", field=field)
    return as_of or known_at or datetime.now(UTC)


def _why(row: Row[Any], now: datetime, zone: ZoneInfo) -> str:
    """The reason for people: "salient: said yesterday, recalled 5 times, used twice"."""
    reasons = ["pinned"] if row.pinned else []
    reasons.append(f"{'said' if row.kind in {'message', 'trace'} else 'learnt'} {age(row.at, now.astimezone(zone))}")
    if row.judged is not None:
        reasons.append(f"importance {row.judged} of 10")
    reasons += [
        f"{what} {TIMES.get(count, f'{count} times')}"
        for what, count in (("recalled", row.recalls), ("used", row.used), ("irrelevant", row.irrelevant))
        if count
    ]
    if row.salience:
        reasons.append("about what is near to you")
    return f"salient: {', '.join(reasons)}"
