"""Anomalies: facts that exclude each other, dates that cannot be right, and sudden volume.

SQL finds them (``sql/functions/analysis/20_anomalies.sql``); of weeks in which much was said of one thing, what is
sudden is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from math import log10
from typing import Any
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.analysis.chance import poisson
from memsvc.analysis.findings import MOST_FINDINGS, TIMEOUT, Finding, Found
from memsvc.db.engine import Database
from memsvc.db.files import query

LEAST_MESSAGES = 20
"""Fewer in a day are never sudden."""
DISTANCE = 4.5
"""From the usual, in units of its spread: from where a day is sudden."""
LEAST_SAID = 10
"""Fewer messages in a week about one thing are never sudden."""
LEAST_WEEKS = 4
"""In so many other weeks must it have been spoken of: what is new comes with much talk."""
TIMES = 3.0
"""So many times as much as in the best other week must be said."""
SURE = 6.0
"""-log10 of the chance, for all things of a run together. What people talk about comes in waves, so chance alone is no
measure: the bar is high, and ``TIMES`` stands beside it."""


def sudden_weeks(rows: Sequence[Any]) -> Iterator[Finding]:
    """Weeks in which far more was said of a thing than in all others (``memsvc.busiest_weeks``)."""
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
            yield Finding(what="busy_week", score=_beyond(row.said, usual), nodes=[row.node_id], figures=figures)


def _beyond(seen: float, usual: float) -> float:
    """The share of what was seen that is beyond the usual, 0 to 1."""
    return round(1 - min(usual / seen, 1.0), 3)


def _day(day: date | None) -> dict[str, str]:
    return {"day": day.isoformat()} if day is not None else {}


async def anomalies(db: Database, owner: Owner, _seeds: Sequence[UUID]) -> Found:
    """A user's anomalies: contradictions, then dates, then volume; of each the surest first.

    The score is the confidence of the facts, or the share of messages that is beyond the usual.
    """
    user = {"user_id": owner.user_id}
    async with db.transaction(owner.user_id) as connection:
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
                what="busy_day", score=_beyond(row.messages, row.usual),
                figures={
                    **_day(row.day), "messages": row.messages, "usual": round(row.usual, 1),
                    "distance": round(row.distance, 1), "around": row.around,
                },
            )
            for row in await connection.execute(query("busy_days"), values)
        ]  # fmt: skip
        weeks = (await connection.execute(query("busiest_weeks"), {**user, "least": LEAST_SAID})).all()
    found += sudden_weeks(weeks)
    order = {what: place for place, what in enumerate(dict.fromkeys(one.what for one in found))}
    found.sort(key=lambda one: (order[one.what], -one.score))
    return Found(findings=found[:MOST_FINDINGS], total=len(found))
