"""Sleep's task ``summaries``: tells sittings, days, weeks, months and years in a few lines, each with its sources.

Each page writes the summaries of some periods as one change, shorter periods first, so that ``memsvc undo`` takes it
back as a whole. A summary is told anew only when what it rests on has changed; one that was undone stays so until then.
What is no period any more, because a sitting went on or was erased, is taken back. Rules: ``memsvc.summaries``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_zone
from memsvc.db.clock import on_clock
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.graph.history import write_in
from memsvc.graph.operations import Operation, Retract, Thread, new_id
from memsvc.settings import Settings
from memsvc.sleep.recalled import ordered, sources_first
from memsvc.sleep.tasks import Applied, Offer, Page, Place, Scope
from memsvc.summaries import abstractive
from memsvc.summaries.extractive import SHORTENS, SHORTENS_SUMMARIES, Line, Message, lines_of, summary, words_in
from memsvc.summaries.periods import (
    BUDGETS,
    CONTENT_WORDS,
    LEVELS,
    MOST_MESSAGES,
    MOST_WORDS,
    PAUSE,
    Period,
    Sitting,
    periods,
)
from memsvc.summaries.stored import WRITER, Known, known_summaries, operations
from memsvc.summaries.stored import lines_of as stored_lines

NAME = "summaries"
AT_ONCE = 40
"""Periods of a page: so many are one change."""
T = TypeVar("T")


class _Plan(NamedTuple):
    due: list[Period]
    """In the order in which they are told."""
    known: Mapping[str, Known]
    over: list[UUID]
    """Nodes of summaries of what is no period any more."""


class _Written(NamedTuple):
    period: Period
    node_id: UUID
    lines: Sequence[Line]
    by: str


class Summaries:
    """See ``memsvc.sleep.tasks.Task``; its ``place`` is how many periods the run has told."""

    name = NAME
    gives_way = True

    def __init__(self, settings: Settings) -> None:
        """Take the language model's settings, where one writes them."""
        self._settings = settings

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether a period is over and not told, or told and not any more what it was."""
        plan = await self._plan(db, owner, Scope(nightly=True))
        return bool(plan.due or plan.over)

    async def _plan(self, db: Database, owner: Owner, scope: Scope) -> _Plan:
        user = {"user_id": owner.user_id}
        rules = {
            "pause": PAUSE, "most": MOST_MESSAGES, "most_words": MOST_WORDS, "content": CONTENT_WORDS,
            "left_out": self._settings.kinds_of("summaries_skip"),
        }  # fmt: skip
        async with db.transaction(owner.user_id) as connection:
            rows = (await connection.execute(query("summary_sittings"), user | rules)).all()
            known = await known_summaries(connection, owner)
            looked = await connection.scalar(query("summaries_looked"), user) if scope.nightly else None
        sittings = [Sitting(**{name: getattr(row, name) for name in Sitting.__struct_fields__}) for row in rows]
        told = await asyncio.to_thread(periods, sittings, valid_zone(owner.time_zone), datetime.now(UTC))
        since = None if scope.nightly else scope.since

        def is_due(one: Period) -> bool:
            if one.key in known:
                return one.digest not in known[one.key].digests and (since is None or one.recorded_at >= since)
            newest = max(one.recorded_at, one.end + PAUSE)  # nothing was found to say in what was looked at then
            return (looked is None or newest >= looked) and (since is None or one.recorded_at >= since)

        keys = {one.key for one in told}
        over = [one.node_id for key, one in known.items() if key not in keys and one.stands]
        return _Plan([one for one in told if is_due(one)], known, over)

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield periods, told; first what is to be taken back. For one node there is nothing to do."""
        if scope.from_node is not None:
            return
        plan, done = await self._plan(db, owner, scope), int(place.get("told", 0)) if place else 0
        hot = set(await sources_first(db, owner, None))
        left = len(plan.due)
        if scope.dry:
            yield Page(place={}, examined=left, left=0)
            return
        writer = abstractive.Writer(db, owner, self._settings, wanted=self._settings.summaries == "model")
        for nodes in _batches(plan.over):
            work: list[Operation] = [Retract(thread=Thread(node=node)) for node in nodes]
            yield Page(place={"told": done}, examined=0, left=left, work=work)
        told: dict[str, _Written] = {}
        for level in LEVELS:
            due = [one for one in plan.due if one.level == level]
            for some in _batches(ordered(due, lambda one: one.sitting is not None and one.sitting.source_id in hot)):
                written = await self._tell(writer, some, plan.known, told)
                told |= {one.period.key: one for one in written}
                done, left = done + len(some), left - len(some)
                yield Page(
                    place={"told": done}, examined=len(some), left=left,
                    work=[step for one in written for step in _steps(one, plan.known, told)],
                )  # fmt: skip
        writer.end()

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Write a page's summaries as one change."""
        if not page.work:
            return Applied()
        change = await write_in(connection, owner, page.work, asserted_by=WRITER)
        changed = [one for one in change.results if one.node_id is not None and one.edge_id is None]
        return Applied(applied=sum(one.outcome in {"written", "closed"} for one in changed))

    @staticmethod
    async def _tell(
        writer: abstractive.Writer, some: Sequence[Period], known: Mapping[str, Known], told: Mapping[str, _Written]
    ) -> list[_Written]:
        """Tell periods of one level."""
        db, owner = writer.db, writer.owner
        given = await _given(db, owner, some, known, told)
        words = sorted(await asyncio.to_thread(lambda: words_in([line for lines in given for line in lines])))
        async with db.transaction(owner.user_id) as connection:
            rows = (await connection.execute(query("summary_words"), {"user_id": owner.user_id, "words": words})).all()
        counts = {row.term: int(row.passages) for row in rows if row.term is not None}
        messages = next(int(row.passages) for row in rows if row.term is None)
        written = []
        for period, lines in zip(some, given, strict=True):
            budget = BUDGETS[period.level]
            share = SHORTENS if period.sitting is not None else SHORTENS_SUMMARIES
            chosen: Sequence[Line] = await asyncio.to_thread(summary, lines, budget, counts, messages, share=share)
            by = ""
            if chosen and writer.writes:
                shown = await asyncio.to_thread(summary, lines, abstractive.SHOWN * budget, counts, messages, share=1.0)
                chosen, by = await writer.told(shown, chosen, budget)
            node = known[period.key].node_id if period.key in known else new_id()
            written.append(_Written(period, node, chosen, by))
        return written


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))


def _steps(one: _Written, known: Mapping[str, Known], told: Mapping[str, _Written]) -> Iterator[Operation]:
    """What writes a summary; nothing where it has nothing to say."""
    beneath = []
    for part in one.period.parts:
        if part.key in told:
            beneath += [(told[part.key].node_id, part)] if told[part.key].lines else []
        elif part.key in known and known[part.key].stands:
            beneath.append((known[part.key].node_id, part))
    if one.lines:
        yield from operations(one.node_id, one.period, one.lines, beneath, one.by)


async def _given(
    db: Database, owner: Owner, some: Sequence[Period], known: Mapping[str, Known], told: Mapping[str, _Written]
) -> list[list[Line]]:
    """What each period's summary may say: lines of its parts' summaries, sentences of sittings that have none."""
    parts = {part.key: part for one in some for part in one.parts}
    stored = {key: known[key].node_id for key in parts if key not in told and key in known and known[key].stands}
    spoken = [one for one in some if one.sitting is not None]
    spoken += [one for key, one in parts.items() if one.sitting is not None and key not in told and key not in stored]
    async with db.transaction(owner.user_id) as connection:
        texts = await _texts(connection, owner, list(stored.values()))
        said = await _messages(connection, owner, [one.sitting for one in spoken if one.sitting is not None])
    found: dict[str, list[Line]] = {key: texts.get(node, []) for key, node in stored.items()}
    found |= {key: list(told[key].lines) for key in parts if key in told}
    for one, messages in zip(spoken, said, strict=True):
        found[one.key] = await asyncio.to_thread(lines_of, messages)
    return [
        sorted((line for part in one.parts or (one,) for line in found.get(part.key, ())), key=lambda line: line.at)
        for one in some
    ]


async def _texts(connection: AsyncConnection, owner: Owner, nodes: Sequence[UUID]) -> dict[UUID, list[Line]]:
    if not nodes:
        return {}
    rows = await connection.execute(query("summary_texts"), {"user_id": owner.user_id, "nodes": nodes})
    return {row.node_id: stored_lines(row.description, row.data) for row in rows}


async def _messages(connection: AsyncConnection, owner: Owner, sittings: Sequence[Sitting]) -> list[list[Message]]:
    """The messages of each sitting."""
    found: list[list[Message]] = [[] for _ in sittings]
    if not sittings:
        return found
    values = {
        "user_id": owner.user_id, "sources": [one.source_id for one in sittings],
        "sessions": [one.session for one in sittings], "firsts": [one.first_ordinal for one in sittings],
        "lasts": [one.last_ordinal for one in sittings],
    }  # fmt: skip
    for row in await connection.execute(query("summary_messages"), values):
        found[row.place - 1].append(
            Message(
                passage_id=row.passage_id, speaker=row.speaker, role=row.role, text=row.text,
                said_at=on_clock(row.said_at, row.said_offset), centrality=row.centrality, facts=row.facts,
            )
        )  # fmt: skip
    return found


OFFER = Offer(
    make=lambda means: Summaries(means.settings),
    help="tells sittings, days, weeks, months and years in a few lines",
    order=400,
    done="summarised",
    of_node=False,
    on=lambda settings: settings.summaries != "off",
    switch="Set MEMSVC_SUMMARIES to words or model.",
)
