"""The report of a night: what sleep did and learnt since the night before, what waits for a person, what is due today.

A report is of a day on the user's clock: of the runs of sleep that began on it, and of those in between since the night
before. It is read from the runs, the graph and its history each time, and stored nowhere; so what was erased since is
not in it. As text: ``memsvc.sleep.report_text``. Statements: ``sql/queries/sleep_report.sql``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_zone
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.short_ids import short_id
from memsvc.errors import InvalidTimeError
from memsvc.recall.agenda import AgendaItem, agenda, midnight
from memsvc.sleep.runs import Run, run_of
from memsvc.times.dates import DAY

SHOWN = 5
"""Things of each sort that a report names; it counts the others."""
DUE = 20
EARLIEST = datetime(1970, 1, 2, tzinfo=UTC)
TOLD = frozenset({"merged", "summarised", "archived", "proposed", "unsure"})
"""Kinds of changes that have a section of their own."""


class Learnt(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that is new."""

    id: str
    """Opens it."""
    fact: str


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that holds no longer."""

    id: str
    fact: str
    ended_at: datetime | None
    """Until when it held; None: it never did."""
    now: Learnt | None
    """The fact that is in its place; None: none that was learnt in this time."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """Two nodes that are one now."""

    label: str
    canonical_label: str
    """What the node is called that stands for both."""
    node_id: UUID
    canonical_id: UUID
    run_id: UUID
    """The run whose undoing separates them again."""


class Summarised(msgspec.Struct, frozen=True, kw_only=True):
    """A summary that was written."""

    passage_id: UUID
    text: str


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """A run that did not do its work."""

    run_id: UUID
    task: str
    error_code: str | None
    """None: its budget was used up."""


class Did(msgspec.Struct, frozen=True, kw_only=True):
    """How many changes of a kind a task made."""

    task: str
    kind: str
    number: int


class SleepReport(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in a night. Each list names the first few; the number beside it counts all."""

    date: date
    """The day on whose morning it is read."""
    since: datetime | None
    """When the night before ended; None: there was none."""
    until: datetime | None
    """When this night ended; None: sleep has never run."""
    runs: list[Run]
    """In their order."""
    summarised: int
    summaries: list[Summarised]
    merged: int
    merges: list[Merged]
    learnt: int
    facts: list[Learnt]
    """New facts, those first that matter most."""
    ended: int
    changes_of_mind: list[Ended]
    archived: int
    other: list[Did]
    """Changes of other kinds."""
    facts_to_review: int
    """They wait for a person, now."""
    duplicates_to_review: int
    """They wait for a person, now."""
    lessons_to_review: int
    """Proposed instructions that wait for a person, now."""
    proposals_to_review: int
    """Links, names, splits and lines of core memory: they wait for a person, now."""
    due: list[AgendaItem]
    """What falls on the date."""
    failed: list[Failed]


class _Span(NamedTuple):
    """The runs that a report is about."""

    day: date
    since: datetime | None
    until: datetime | None
    runs: list[Run]


def read_day(value: str) -> date:
    """Read a day, YYYY-MM-DD.

    Raises:
        InvalidTimeError: it is none.
    """
    try:
        day = date.fromisoformat(value)
    except ValueError:
        day = None
    if day is None or str(day) != value:  # ISO 8601 has other forms, such as 20260131
        raise InvalidTimeError(f"{value[:60]!r} is not a day.", hint="Use YYYY-MM-DD.", field="date")
    return day


async def report(db: Database, owner: Owner, day: date | None = None, *, now: datetime | None = None) -> SleepReport:
    """Return the report of a day.

    Args:
        db: the database.
        owner: whose memory.
        day: on the user's clock; None: of the last night, or of the last day with a run, if there was no night.
        now: the moment of asking; None: now.

    Raises:
        InvalidTimeError: the day has not come yet.
    """
    now = now or datetime.now(UTC)
    today = now.astimezone(valid_zone(owner.time_zone)).date()
    if day is not None and day > today:
        raise InvalidTimeError("This day has not come yet.", hint=f"Today is {today}.", field="date")
    async with db.transaction(owner.user_id) as connection:
        span = await _span(connection, owner, day, now)
        found = await _found(connection, owner, span)
        waiting = (await connection.execute(query("decisions_wait"), {"user_id": owner.user_id})).one()
    due = await _due(db, owner, span, now, today)
    counts, by_task = Counter[str](), Counter[tuple[str, str]]()
    for run in span.runs:
        if run.undone_at is not None:
            continue  # what was undone is not in the report
        counts.update(run.counts)
        by_task.update({(run.task, kind): number for kind, number in run.counts.items() if kind not in TOLD})
    return SleepReport(
        date=span.day, since=span.since, until=span.until, runs=span.runs,
        summarised=max(counts["summarised"], _number(found.summaries)),
        summaries=[Summarised(passage_id=row.passage_id, text=row.text) for row in found.summaries],
        merged=_number(found.merges), merges=[_merged(row) for row in found.merges],
        learnt=_number(found.learnt), facts=[_learnt(row.version_id, row.fact) for row in found.learnt],
        ended=_number(found.ended), changes_of_mind=[_ended(row) for row in found.ended],
        archived=counts["archived"],
        other=[Did(task=task, kind=kind, number=number) for (task, kind), number in sorted(by_task.items())],
        facts_to_review=waiting.facts, duplicates_to_review=waiting.pairs,
        lessons_to_review=waiting.lessons, proposals_to_review=waiting.proposals, due=due,
        failed=[
            Failed(run_id=run.run_id, task=run.task, error_code=run.error_code)
            for run in span.runs
            if run.state == "failed" or not run.within_budget
        ],
    )  # fmt: skip


async def _span(connection: AsyncConnection, owner: Owner, day: date | None, now: datetime) -> _Span:
    zone = valid_zone(owner.time_zone)
    about = {"user_id": owner.user_id}
    end = midnight(day + DAY, zone) if day is not None else None
    last = (await connection.execute(query("last_sleep"), about | {"before": end})).one()
    reached = last.night or last.run
    if day is None:
        day = (reached or now).astimezone(zone).date()
    begin = midnight(day, zone)
    if reached is None or reached < begin:  # sleep did nothing on this day
        reached = last.run if last.run is not None and last.run >= begin else None
    prior = (await connection.execute(query("last_sleep"), about | {"before": begin})).one()
    first = prior.night or prior.run
    since = None
    if first is not None:
        since = (await connection.execute(query("sleep_ended"), about | {"last": first})).scalar_one() or first
    if reached is None:
        return _Span(day, since, None if since is None else min(midnight(day + DAY, zone), now), [])
    rows = await connection.execute(query("sleep_runs_between"), about | {"first": first, "last": reached})
    runs = [run_of(row) for row in rows]
    return _Span(day, since, max([reached, *(run.finished_at or now for run in runs)]), runs)


class _Found(NamedTuple):
    summaries: Sequence[Row[Any]] = ()
    merges: Sequence[Row[Any]] = ()
    learnt: Sequence[Row[Any]] = ()
    ended: Sequence[Row[Any]] = ()


async def _found(connection: AsyncConnection, owner: Owner, span: _Span) -> _Found:
    if span.until is None:
        return _Found()
    own = (await connection.execute(query("own_node"), {"user_id": owner.user_id})).one_or_none()
    about = {
        "user_id": owner.user_id, "since": span.since or EARLIEST, "until": span.until, "limit": SHOWN,
        "own": own.node_id if own is not None else None, "runs": [run.run_id for run in span.runs],
    }  # fmt: skip

    async def rows(name: str) -> Sequence[Row[Any]]:
        statement = query(name)
        wanted = statement.compile().params.keys()
        return (await connection.execute(statement, {key: about[key] for key in wanted})).all()

    return _Found(
        await rows("summaries_made"),
        await rows("merged_by_runs"),
        await rows("facts_learnt"),
        await rows("facts_ended"),
    )


async def _due(db: Database, owner: Owner, span: _Span, now: datetime, today: date) -> list[AgendaItem]:
    """Return what falls on the day, as it was known then."""
    zone = valid_zone(owner.time_zone)
    asked_at = now if span.day == today else midnight(span.day, zone)
    page = await agenda(
        db, owner, midnight(span.day, zone), midnight(span.day + DAY, zone), asked_at=asked_at, limit=DUE
    )
    return page.items


def _number(rows: Sequence[Row[Any]]) -> int:
    return int(rows[0].number) if rows else 0


def _learnt(version_id: UUID, fact: str) -> Learnt:
    return Learnt(id=f"f:{short_id(version_id)}", fact=fact)


def _ended(row: Row[Any]) -> Ended:
    return Ended(
        id=f"f:{short_id(row.version_id)}", fact=row.fact, ended_at=row.ended_at,
        now=_learnt(row.new_id, row.new_fact) if row.new_id is not None else None,
    )  # fmt: skip


def _merged(row: Row[Any]) -> Merged:
    return Merged(
        label=row.label, canonical_label=row.canonical_label, node_id=row.node_id, canonical_id=row.canonical_id,
        run_id=row.sleep_run_id,
    )  # fmt: skip
