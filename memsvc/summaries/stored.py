"""Summaries as they are stored: nodes of the type Summary, which ``memsvc.graph.history`` writes and everything reads.

A node's text is the summary, a line for each thing told. Its data say which period it is about, which messages each
line quotes (also as evidence, so that they open), and of what it was made. Edges SUMMARIZES lead to the summaries that
it rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, Page, check_page, read_cursor, write_cursor
from memsvc.errors import InvalidRequestError
from memsvc.graph.operations import MAX_EVIDENCE, Edge, Evidence, Node, Operation
from memsvc.summaries.extractive import Line, Quoted
from memsvc.summaries.periods import LEVELS, Level, Period

WRITER = "summaries"
"""Who asserts them."""
TYPE, EDGE = "Summary", "SUMMARIZES"


class Data(msgspec.Struct, frozen=True, kw_only=True):
    """What a node's data say of a summary."""

    level: Level
    key: str
    """Of its period."""
    digest: str
    """Of all that it rests on: with another one it is told anew."""
    period_start: Annotated[datetime, msgspec.Meta(tz=True)]
    period_end: Annotated[datetime, msgspec.Meta(tz=True)]
    messages: int
    """Messages in its period."""
    lines: list[list[tuple[UUID, int, int]]]
    """Line -> quotes: a message's passage and a range of characters in it."""
    times: list[Annotated[datetime, msgspec.Meta(tz=True)]]
    """Line -> when the first of them was said."""
    worths: list[float]
    """Line -> what its source is worth beside other sentences."""
    by: str = ""
    """The language model that wrote it; empty: none, these are people's own words."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary of a period."""

    node_id: UUID
    version_id: UUID
    level: Level
    label: str
    """What the node is called: "Summary of the week of 19 January 2026"."""
    period_start: datetime
    period_end: datetime
    """Of a conversation the time of its last message; else the first moment after the period."""
    text: str
    """A line for each thing told."""
    importance: float
    """1 to 10."""
    messages: int
    """Messages in its period."""
    sources: list[list[UUID]]
    """Of each line the messages that it rests on, which open by their ids."""
    by: str
    """The language model that wrote it; empty: none."""


def operations(
    node_id: UUID, period: Period, lines: Sequence[Line], beneath: Sequence[tuple[UUID, Period]], by: str = ""
) -> Iterator[Operation]:
    """What writes a summary, and the edges to those that it rests on.

    Args:
        node_id: its node; made where there is none.
        period: what it is about.
        lines: what it says; at least one, which together quote ``MAX_EVIDENCE`` passages at most.
        beneath: summaries of its parts.
        by: the language model that wrote it.
    """
    data = Data(
        level=period.level, key=period.key, digest=period.digest, period_start=period.begin, period_end=period.end,
        messages=period.messages,
        lines=[[(one.passage_id, one.begin, one.end) for one in line.quoted] for line in lines],
        times=[line.at for line in lines], worths=[line.worth for line in lines], by=by,
    )  # fmt: skip
    text = "\n".join(_day_of(period.level, line.at) + line.text for line in lines)
    quoted = dict.fromkeys((one.passage_id, one.begin, one.end) for line in lines for one in line.quoted)
    yield Node(
        node=node_id, make=True, type=TYPE, label=period.label, description=text,
        data=msgspec.to_builtins(data), importance=importance_of(period, lines), valid_from=period.last_at,
        evidence=[Evidence(passage_id=passage, span=(begin, end)) for passage, begin, end in quoted][:MAX_EVIDENCE],
    )  # fmt: skip
    for below, part in beneath:
        yield Edge(from_node=node_id, type=EDGE, to_node=below, fact=f"{period.label} rests on: {part.label}")


def importance_of(period: Period, lines: Sequence[Line]) -> float:
    """How important a summary is, 1 to 10: longer periods more, and those whose lines are worth more."""
    worth = sum(line.worth for line in lines) / len(lines)
    return round(min(10.0, 3 + LEVELS.index(period.level) / 2 + 2 * min(worth, 2.0)), 1)


def lines_of(text: str, data: Mapping[str, Any]) -> list[Line]:
    """The lines of a stored summary; none where its data are not ours."""
    try:
        return _lines(text, msgspec.convert(data, Data, strict=False))
    except msgspec.ValidationError:
        return []


def _lines(text: str, told: Data) -> list[Line]:
    rows = text.split("\n")
    if not len(rows) == len(told.lines) == len(told.times) == len(told.worths):
        return []
    return [
        Line(
            text=row.removeprefix(_day_of(told.level, at)), at=at, worth=worth,
            quoted=tuple(Quoted(passage_id=one, begin=begin, end=end) for one, begin, end in quotes),
        )
        for row, quotes, at, worth in zip(rows, told.lines, told.times, told.worths, strict=True)
        if quotes
    ]  # fmt: skip


def _day_of(level: Level, at: datetime) -> str:
    """What stands in front of a line of a period of several days."""
    return "" if level in {"conversation", "day"} else f"{at.day} {at:%B}, "


def _summary(row: Row[Any]) -> Summary | None:
    try:
        data = msgspec.convert(row.data, Data, strict=False)
    except msgspec.ValidationError:
        return None
    return Summary(
        node_id=row.node_id, version_id=row.version_id, level=data.level, label=row.label,
        period_start=data.period_start, period_end=data.period_end, text=row.text, importance=row.importance,
        messages=data.messages, sources=[list(dict.fromkeys(quote[0] for quote in line)) for line in data.lines],
        by=data.by,
    )  # fmt: skip


def asked(
    owner: Owner, levels: Sequence[Level] | None, span: tuple[datetime | None, datetime | None], *, limit: int,
    as_of: datetime | None = None, after: tuple[datetime, UUID] | None = None, node: UUID | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The parameters of the statement ``list_summaries``."""
    return {
        "user_id": owner.user_id, "writer": WRITER, "levels": list(levels) if levels else None, "begins": span[0],
        "ends": span[1], "as_of": as_of, "after_end": after[0] if after else None,
        "after_node": after[1] if after else None, "limit": limit, "node": node,
    }  # fmt: skip


def summaries_in(rows: Sequence[Row[Any]]) -> list[Summary]:
    """The summaries of the statement's rows; rows that somebody else wrote in our name are passed over."""
    return [one for one in map(_summary, rows) if one is not None]


async def list_summaries(
    db: Database,
    owner: Owner,
    *,
    level: Level | None = None,
    begins: datetime | None = None,
    ends: datetime | None = None,
    node: UUID | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Summary]:
    """Return summaries, the latest period first.

    Args:
        db: the database.
        owner: whose.
        level: conversation, day, week, month or year; None: all.
        begins: only of periods that end after this moment.
        ends: only of periods that begin before this moment.
        node: only those that quote a message from which something about this node is known, or a merged one.
        cursor: of the previous page.
        limit: 1 to 1,000.

    Raises:
        InvalidRequestError, BadCursorError: there is no such level, or the limit or cursor is none.
    """
    check_page(limit)
    if level is not None and level not in LEVELS:
        raise InvalidRequestError(
            f"There is no level {level[:60]!r}.", hint=f"One of: {', '.join(LEVELS)}.", field="level"
        )
    after = read_cursor(cursor, tuple[Moment, UUID]) if cursor is not None else None
    values = asked(owner, [level] if level else None, (begins, ends), limit=limit + 1, after=after, node=node)
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(query("list_summaries"), values)).all()
    more = rows[limit - 1] if len(rows) > limit else None
    cursor = write_cursor((more.period_end, more.node_id)) if more is not None else None
    return Page(items=summaries_in(rows[:limit]), next_cursor=cursor)


class Known(msgspec.Struct, frozen=True):
    """A summary that is or was stored."""

    node_id: UUID
    digests: frozenset[str]
    """Of all its versions."""
    stands: bool


async def known_summaries(connection: AsyncConnection, owner: Owner) -> dict[str, Known]:
    """What of a user's periods was told before, by the period's key; of what was imported twice one of the nodes."""
    rows = await connection.execute(query("summary_versions"), {"user_id": owner.user_id, "writer": WRITER})
    return {row.key: Known(row.node_id, frozenset(filter(None, row.digests)), row.stands) for row in rows if row.key}
