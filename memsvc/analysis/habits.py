"""Habits: what recurs on the same days of the week, and people who are mentioned together.

Days come from SQL (``memsvc.days_of_facts``, ``memsvc.days_of_people``). This module decides whether they are a habit,
by their probability without one. The threshold covers all tests of a run (Bonferroni): a memory without habits gives a
false one in one run of a hundred.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from math import log10
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.analysis.chance import binomial, together
from memsvc.analysis.findings import MOST_FINDINGS, REPLICA_WAIT_S, TIMEOUT, Finding, Found
from memsvc.db.engine import Database
from memsvc.db.files import query

SURE = 2.0
"""Least -log10 of the probability that a run gives a finding for a memory without habits."""
LEAST_WEEKS = 4
"""A habit needs at least this many weeks."""
LEAST_SHARE = 0.5
"""Least share of the weeks between the first and the last time in which the day must occur."""
LEAST_TOGETHER = 0.4
"""Least share of the days of the person mentioned less often on which both must be mentioned."""
WEEK = 7


class Days(NamedTuple):
    """The days of a relation, or of two people."""

    nodes: tuple[UUID, ...]
    type: str
    days: Sequence[date]
    """In order, each once."""
    facts: Sequence[UUID] = ()


def monday(day: date) -> int:
    """Return the number of a day's week."""
    return (day.toordinal() - 1) // WEEK


def weekly(relations: Sequence[Days], active: Mapping[int, int]) -> Iterator[Finding]:
    """Yield relations that recur on the same weekdays.

    Args:
        relations: relations with their days.
        active: for each weekday (1: Monday), the number of days with any message.
    """
    all_days = sum(active.values()) or 1
    bar = SURE + log10(max(len(relations), 1) * WEEK)
    for one in relations:
        counts = Counter(day.isoweekday() for day in one.days)
        kept: list[int] = []
        surprise = share = 0.0
        for weekday, count in counts.items():
            # Days of messages are among the days with any message; moments of facts can be on any day.
            chance = max(active.get(weekday, 0) / all_days, 1 / WEEK)
            weeks = [monday(day) for day in one.days if day.isoweekday() == weekday]
            regular = count / (weeks[-1] - weeks[0] + 1)
            unlikely = binomial(count, len(one.days), chance)
            if count >= LEAST_WEEKS and regular >= LEAST_SHARE and unlikely >= bar:
                kept.append(weekday)
                surprise, share = max(surprise, unlikely - bar + SURE), max(share, regular)
        if kept:
            figures: dict[str, Any] = {
                "type": one.type, "weekdays": sorted(kept), "days": len(one.days),
                "by_weekday": [counts.get(weekday, 0) for weekday in range(1, WEEK + 1)],
                "share_of_weeks": round(share, 3), "first": one.days[0].isoformat(), "last": one.days[-1].isoformat(),
            }  # fmt: skip
            yield Finding(what="weekly", score=round(surprise, 2), nodes=one.nodes, facts=one.facts, figures=figures)


def come_together(pairs: Sequence[Days], people: Mapping[UUID, Sequence[date]]) -> Iterator[Finding]:
    """Yield people who are mentioned together far more often than the days of each would give by chance.

    Only the time in which both are mentioned counts, and only days on which any person is mentioned.
    """
    bar = SURE + log10(max(len(people) * (len(people) - 1) / 2, 1))
    anybody = sorted({day for days in people.values() for day in days})
    for pair in pairs:
        one, other = (people[node] for node in pair.nodes)
        first, last = max(one[0], other[0]), min(one[-1], other[-1])

        def within(days: Sequence[date], first: date = first, last: date = last) -> int:
            return bisect_right(days, last) - bisect_left(days, first)

        alone, others, both = within(one), within(other), len(pair.days)
        weeks = len({monday(day) for day in pair.days})
        unlikely = together(both, alone, others, within(anybody))
        if weeks >= LEAST_WEEKS and both >= LEAST_TOGETHER * min(len(one), len(other)) and unlikely >= bar:
            figures = {
                "days": both, "days_of_each": [len(one), len(other)], "weeks": weeks,
                "expected": round(alone * others / within(anybody), 2),
                "first": pair.days[0].isoformat(), "last": pair.days[-1].isoformat(),
            }  # fmt: skip
            yield Finding(what="together", score=round(unlikely - bar + SURE, 2), nodes=pair.nodes, figures=figures)


async def habits(db: Database, owner: Owner, _seeds: Sequence[UUID]) -> Found:
    """Find a user's habits, the surest first; score: -log10 of the probability that this run finds it by chance."""
    user = {"user_id": owner.user_id}

    async def work(connection: AsyncConnection) -> tuple[dict[int, int], list[Days], Sequence[Row[Any]]]:
        await connection.exec_driver_sql(TIMEOUT)
        active = {row.weekday: row.days for row in await connection.execute(query("active_weekdays"), user)}
        values = {**user, "zone": owner.time_zone, "least": LEAST_WEEKS}
        relations = [
            Days((row.from_node, row.to_node), row.type, row.days, row.facts)
            for row in await connection.execute(query("days_of_facts"), values)
        ]
        rows = (await connection.execute(query("days_of_people"), {**user, "least": LEAST_WEEKS})).all()
        return active, relations, rows

    active, relations, rows = await db.read(owner.user_id, work, wait_s=REPLICA_WAIT_S)
    people = {row.node_id: row.days for row in rows if row.other_id is None}
    pairs = [Days((row.node_id, row.other_id), "", row.days) for row in rows if row.other_id is not None]
    found = sorted([*weekly(relations, active), *come_together(pairs, people)], key=lambda one: -one.score)
    return Found(
        findings=found[:MOST_FINDINGS], total=len(found), figures={"relations": len(relations), "people": len(people)}
    )
