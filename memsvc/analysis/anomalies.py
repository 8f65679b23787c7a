"""Anomalies: facts that exclude each other, dates that cannot be right, and sudden volume.

SQL finds them (``sql/functions/analysis/20_anomalies.sql``); this module decides which of the busiest weeks are sudden.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from math import log10
from typing import Any
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.analysis.chance import poisson
from memsvc.analysis.findings import MOST_FINDINGS, REPLICA_WAIT_S, TIMEOUT, Finding, Found
from memsvc.db.engine import Database
from memsvc.db.files import query

LEAST_MESSAGES = 20
"""A day with fewer messages is never sudden."""
DISTANCE = 4.5
"""Distance from the usual volume, in units of its spread, from which a day is sudden."""
LEAST_SAID = 10
"""A week with fewer messages about a thing is never sudden."""
LEAST_WEEKS = 4
"""The thing must have been mentioned in this many other weeks: new topics come with much talk anyway."""
TIMES = 3.0
"""The week must have this many times the messages of the best other week."""
SURE = 6.0
"""Least -log10 of the probability by chance, for all things of a run together. Topics come in waves, so chance alone is
a poor measure: the threshold is high, and ``TIMES`` is required as well."""


def sudden_weeks(rows: Sequence[Any]) -> Iterator[Finding]:
    """Yield weeks with far more messages about a thing than all other weeks (``memsvc.busiest_weeks``)."""
    bar = SURE + log10(max(len(rows), 1))
    for row in rows:
        if row.weeks < LEAST_WEEKS or row.said < TIMES * row.best_other or not row.other_total:
            continue
        usual = row.said_other * row.week_total / row.other_total
        if poisson(row.said, usual) >= bar:
            figures = {
                "messages": row.said, "usual": round(usual, 2), "first": row.week.isoformat(),
                "last": (row.week + timedelta(days=6)).isoformat(),
            }  # fmt: skip
            yield Finding(what="busy_week", score=_excess(row.said, usual), nodes=[row.node_id], figures=figures)


def _excess(seen: float, usual: float) -> float:
    """Return the share of the observed count above the usual one, 0 to 1."""
    return round(1 - min(usual / seen, 1.0), 3)


def _day(day: date | None) -> dict[str, str]:
    return {"day": day.isoformat()} if day is not None else {}


async def anomalies(db: Database, owner: Owner, _seeds: Sequence[UUID]) -> Found:
    """Find a user's anomalies: contradictions, then dates, then volume, each sorted by score.

    The score is the confidence of the facts, or the share of messages above the usual number.
    """
    user = {"user_id": owner.user_id}

    async def work(connection: AsyncConnection) -> tuple[list[Finding], Sequence[Row[Any]]]:
        await connection.exec_driver_sql(TIMEOUT)
        found = [
            Finding(what=row.what, score=round(row.confidence, 3), nodes=row.nodes, facts=row.facts)
            for row in await connection.execute(query("contradictions"), user)
        ]
        found += [
            Finding(
                what=row.what, score=round(row.confidence, 3), nodes=row.nodes, facts=row.facts,
                passages=row.passages, figures=_day(row.day),
            )
            for row in await connection.execute(query("impossible_dates"), user)
        ]  # fmt: skip
        values = {**user, "least": LEAST_MESSAGES, "distance": DISTANCE}
        found += [
            Finding(
                what="busy_day", score=_excess(row.messages, row.usual),
                figures={
                    **_day(row.day), "messages": row.messages, "usual": round(row.usual, 1),
                    "distance": round(row.distance, 1), "around": row.around,
                },
            )
            for row in await connection.execute(query("busy_days"), values)
        ]  # fmt: skip
        return found, (await connection.execute(query("busiest_weeks"), {**user, "least": LEAST_SAID})).all()

    found, weeks = await db.read(owner.user_id, work, wait_s=REPLICA_WAIT_S)
    found += sudden_weeks(weeks)
    order = {what: rank for rank, what in enumerate(dict.fromkeys(one.what for one in found))}
    found.sort(key=lambda one: (order[one.what], -one.score))
    return Found(findings=found[:MOST_FINDINGS], total=len(found))
