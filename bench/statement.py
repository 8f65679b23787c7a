"""The one statement of recall, for benches that time it by itself: as ``memsvc.recall.search.recall`` gives it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Row

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query as named
from memsvc.llm.embedders.residents import QueryVector
from memsvc.recall import search
from memsvc.recall.options import DEFAULT, Weights
from memsvc.times.reading import read_times


def parameters(
    owner: Owner,
    question: str,
    *,
    limit: int,
    weights: Weights = DEFAULT,
    vector: QueryVector | None = None,
) -> dict[str, Any]:
    """What the statement ``recall`` is given for a question; no filters.

    Args:
        owner: whose memory is asked.
        question: the query.
        limit: most memories.
        weights: what each arm and factor counts.
        vector: the query's; None: by words alone.
    """
    times = read_times(question, datetime.now(UTC), ZoneInfo(owner.time_zone))
    return search.parameters(owner, question, limit=limit, weights=weights, vectors=(vector, None), times=times)


async def timed(db: Database, owner: Owner, asked: dict[str, Any]) -> tuple[Sequence[Row[Any]], float]:
    """Rows of the statement in a transaction that is bound to its user, and the milliseconds until all were there."""
    async with db.transaction(owner.user_id, keep_plans=True) as connection:
        start = time.perf_counter()
        rows = (await connection.execute(named("recall"), asked)).all()
        return rows, (time.perf_counter() - start) * 1_000
