"""The one statement of recall, for benches that time it by itself: as ``memsvc.recall.search.recall`` gives it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query as named
from memsvc.db.together import Together
from memsvc.llm.embedders.residents import QueryVector
from memsvc.recall import search
from memsvc.recall.options import LEARNT, Filters, Weights
from memsvc.times.reading import read_times


def parameters(
    owner: Owner,
    question: str,
    *,
    limit: int,
    weights: Weights = LEARNT,
    vector: QueryVector | None = None,
    filters: Filters | None = None,
    page: int | None = None,
) -> dict[str, Any]:
    """What the statement ``recall`` is given for a question.

    Args:
        owner: whose memory is asked.
        question: the query.
        limit: most memories.
        weights: what each arm and factor counts.
        vector: the query's; None: by words alone.
        filters: what may be recalled, but conversations.
        page: memories that are wanted, where more rows are; None: all rows are.
    """
    times = read_times(question, datetime.now(UTC), ZoneInfo(owner.time_zone))
    prepared = search.Prepared(vectors=(vector, None), times=times, page=page)
    return search.parameters(owner, question, prepared, limit=limit, weights=weights, filters=filters)


async def timed(db: Database, owner: Owner, asked: dict[str, Any]) -> tuple[Sequence[Any], float]:
    """Rows of the statement, and the milliseconds of its round trip: who asks is proved in it, and it commits."""
    start = time.perf_counter()
    trip = Together(db, owner.user_id, keep_plans=True)
    rows = trip.ask(named("recall"), asked)
    await trip.send()
    return rows, (time.perf_counter() - start) * 1_000
