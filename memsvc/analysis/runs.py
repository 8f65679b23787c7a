"""Runs of analyses: requested, done in the background or directly, stored with their findings, listed and read.

A run reads in transactions of its own, computes outside of any, and stores all findings together with its end in one
transaction: a killed run stays open and is done again. The last ``KEPT`` runs of each kind are kept.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc import observe
from memsvc.access.users import Owner, owner_of
from memsvc.analysis import structure
from memsvc.analysis.anomalies import anomalies
from memsvc.analysis.findings import KINDS, Analysis, Kind
from memsvc.analysis.habits import habits
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Number, Page, check_page, read_cursor, write_cursor
from memsvc.errors import (
    ContendedError,
    InvalidRequestError,
    JobFailedError,
    JobTimeoutError,
    MemsvcError,
    NodeUnknownError,
    NotFoundError,
)
from memsvc.queue.execution import OF_THE_DATABASE, Steps
from memsvc.queue.jobs import announce_jobs

ANALYSES: Mapping[Kind, Analysis] = {
    "hubs": structure.hubs, "communities": structure.communities, "orphans": structure.orphans,
    "anomalies": anomalies, "habits": habits, "pagerank": structure.near,
}  # fmt: skip
MOST_SEEDS = 20
KEPT = 3
LIMIT_S = 240.0
"""A run that takes longer fails."""
SHOWN = 20
"""Most nodes of a result that are shown with labels, and most facts that are shown with sentences."""


class AnalysisRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run of one analysis for one user."""

    run_id: UUID
    kind: Kind
    seeds: list[UUID]
    """For pagerank: the nodes at which it starts; empty: the user's own node."""
    state: Literal["open", "done", "failed"]
    found: int
    """Number of findings; the best 1,000 are stored."""
    figures: dict[str, Any]
    """Numbers about the whole memory: nodes and facts that were read, modularity of the communities."""
    seconds: float
    error_code: str | None
    started_at: datetime
    finished_at: datetime | None


class ShownNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node of a result: now the canonical one, if it was merged."""

    node_id: UUID
    type: str | None
    label: str | None


class AnalysisResult(msgspec.Struct, frozen=True, kw_only=True):
    """One finding of a run."""

    place: int
    what: str
    """hub, community, orphan, near; two_values, opposites, both_ways, of_itself; before_birth, after_death, long_ago,
    far_ahead, said_ahead, said_at_zero; busy_day, busy_week; weekly, together."""
    score: float
    """Strength; comparable only with results of the same ``what``."""
    nodes: list[ShownNode]
    """The first 20 nodes that it is about."""
    facts: list[UUID]
    """Versions of the facts that it is about."""
    sentences: list[str]
    """Sentences of the first 20 of these facts."""
    passages: list[UUID]
    figures: dict[str, Any]
    """Its numbers and days."""


def _run(row: Row[Any]) -> AnalysisRun:
    return AnalysisRun(**{name: row._mapping[name] for name in AnalysisRun.__struct_fields__})  # noqa: SLF001 - public


def known_kind(name: str) -> Kind:
    """Check the name of an analysis.

    Raises:
        InvalidRequestError: there is no analysis of this name.
    """
    for kind in KINDS:
        if kind == name:
            return kind
    raise InvalidRequestError(f"There is no analysis {name[:60]!r}.", hint=f"One of: {', '.join(KINDS)}.", field="kind")


async def open_run(db: Database, owner: Owner, kind: str, seeds: Sequence[UUID] = ()) -> AnalysisRun:
    """Return an open run: the one that is waiting already, or a new one.

    Raises:
        InvalidRequestError: there is no such analysis, it takes no seeds, or there are too many seeds.
        NodeUnknownError: a seed is not a node of this user.
    """
    chosen = known_kind(kind)
    starts = sorted(set(seeds))
    if starts and chosen != "pagerank":
        raise InvalidRequestError("Only pagerank starts at nodes.", field="seeds")
    if len(starts) > MOST_SEEDS:
        raise InvalidRequestError(f"At most {MOST_SEEDS} seeds.", field="seeds")
    values = {"user_id": owner.user_id, "kind": chosen, "seeds": starts}

    async def work(connection: AsyncConnection) -> AnalysisRun:
        asked = {"user_id": owner.user_id, "nodes": starts}
        known = set((await connection.execute(query("known_nodes"), asked)).scalars())
        for seed in starts:
            if seed not in known:
                raise NodeUnknownError(f"There is no node {seed}.")
        row = (await connection.execute(query("open_analysis"), values)).one_or_none()
        if row is None:  # another process opened or ended it while the statement ran
            raise ContendedError
        return _run(row)

    return await db.attempt(owner.user_id, work)


async def ask(db: Database, owner: Owner, kind: str, seeds: Sequence[UUID] = ()) -> tuple[UUID, AnalysisRun]:
    """Request a run in the background; return the job's id and the run.

    Raises:
        InvalidRequestError, NodeUnknownError: as ``open_run``.
    """
    run = await open_run(db, owner, kind, seeds)

    async def job(connection: AsyncConnection) -> UUID:
        job_id: UUID = (await connection.execute(query("ask_analysis"), {"user_id": owner.user_id})).scalar_one()
        return job_id

    job_id = await db.attempt(owner.user_id, job)
    announce_jobs(db)
    return job_id, run


async def analyse(db: Database, owner: Owner, kind: str, seeds: Sequence[UUID] = ()) -> AnalysisRun:
    """Run an analysis in this process, and return the finished run.

    Raises:
        InvalidRequestError, NodeUnknownError: as ``open_run``.
    """
    run = await open_run(db, owner, kind, seeds)
    await _work(db, owner, run)
    return await get_run(db, owner.user_id, run.run_id)


async def _work(db: Database, owner: Owner, run: AnalysisRun) -> None:
    """Do a run and store its findings, unless another process has finished it in the meantime."""
    began = time.monotonic()
    values: dict[str, Any] = {"user_id": owner.user_id, "run_id": run.run_id}
    try:
        async with asyncio.timeout(LIMIT_S):
            found = await ANALYSES[run.kind](db, owner, run.seeds)
        results = [{"place": position, **msgspec.to_builtins(one)} for position, one in enumerate(found.findings)]
        values |= {
            "found": found.total, "figures": msgspec.json.encode(found.figures).decode(),
            "results": msgspec.json.encode(results).decode(), "seconds": time.monotonic() - began,
        }  # fmt: skip
        statement = query("end_analysis")
    except OF_THE_DATABASE:
        raise  # the run stays open and is done again
    except (MemsvcError, TimeoutError) as error:
        code = error.code if isinstance(error, MemsvcError) else JobTimeoutError.code
        values |= {"error_code": code, "seconds": time.monotonic() - began}
        statement = query("fail_analysis")
    except Exception as error:  # noqa: BLE001 - an open run would block all runs requested after it
        observe.logger().error("analysis failed", kind=run.kind, error=type(error).__name__, exc_info=error)
        values |= {"error_code": JobFailedError.code, "seconds": time.monotonic() - began}
        statement = query("fail_analysis")

    async def end(connection: AsyncConnection) -> None:
        await connection.execute(statement, values)
        kept = {"user_id": owner.user_id, "kept": KEPT}
        await connection.execute(query("delete_old_results"), kept)
        await connection.execute(query("delete_old_analyses"), kept)

    await db.attempt(owner.user_id, end)


async def list_runs(
    db: Database, user_id: UUID, *, kind: str | None = None, cursor: str | None = None, limit: int = 50
) -> Page[AnalysisRun]:
    """Return a user's runs, newest first.

    Raises:
        InvalidRequestError: the kind, the cursor or the limit is not valid.
    """
    check_page(limit)
    values = {
        "user_id": user_id, "run_id": None, "kind": known_kind(kind) if kind is not None else None,
        "after": read_cursor(cursor, tuple[UUID])[0] if cursor is not None else None, "limit": limit + 1,
    }  # fmt: skip
    async with db.transaction(user_id) as connection:
        rows = (await connection.execute(query("list_analyses"), values)).all()
    more = len(rows) > limit
    return Page(
        items=[_run(row) for row in rows[:limit]], next_cursor=write_cursor((rows[limit - 1].run_id,)) if more else None
    )


async def get_run(db: Database, user_id: UUID, run_id: UUID) -> AnalysisRun:
    """Return one run.

    Raises:
        NotFoundError: this user has no such run.
    """
    async with db.transaction(user_id) as connection:
        return await _look(connection, user_id, run_id)


async def _look(connection: AsyncConnection, user_id: UUID, run_id: UUID) -> AnalysisRun:
    values = {"user_id": user_id, "run_id": run_id, "kind": None, "after": None, "limit": 1}
    row = (await connection.execute(query("list_analyses"), values)).one_or_none()
    if row is None:
        raise NotFoundError("There is no run with this id.")
    return _run(row)


async def results(
    db: Database, user_id: UUID, run_id: UUID, *, cursor: str | None = None, limit: int = 50
) -> Page[AnalysisResult]:
    """Return the findings of a run, the best first; none while it is open.

    Raises:
        NotFoundError: this user has no such run.
        InvalidRequestError: the cursor or the limit is not valid.
    """
    check_page(limit)
    after = read_cursor(cursor, tuple[Number])[0] if cursor is not None else -1
    values = {"user_id": user_id, "run_id": run_id, "after": after, "most": SHOWN, "limit": limit + 1}
    async with db.transaction(user_id) as connection:
        await _look(connection, user_id, run_id)
        rows = (await connection.execute(query("analysis_results"), values)).all()
    items = [
        AnalysisResult(
            place=row.place, what=row.what, score=row.score,
            nodes=msgspec.json.decode(row.shown, type=list[ShownNode]), facts=row.facts, sentences=row.sentences,
            passages=row.passages, figures=msgspec.json.decode(row.figures, type=dict[str, Any]),
        )
        for row in rows[:limit]
    ]  # fmt: skip
    return Page(items=items, next_cursor=write_cursor((rows[limit - 1].place,)) if len(rows) > limit else None)


def analysis_steps() -> Steps:
    """Return the step of the job ``analyse``: it does the oldest open run; if there are more, other jobs run first."""

    async def step(db: Database, user_id: UUID, _subject: UUID) -> bool:
        async with db.transaction(user_id) as connection:
            runs = [_run(row) for row in await connection.execute(query("open_analyses"), {"user_id": user_id})]
        if runs:
            await _work(db, await owner_of(db, user_id), runs[0])
        return len(runs) > 1

    return {"analyse": [step]}
