"""What happened when: messages, documents, events, beginnings and ends of facts, and changes.

``counts`` says how much there is in each day, week, month or year, over all time or a span. ``entries`` lists what
happened in a span, the latest first; the messages of a conversation on one day are one entry, and so are all changes of
a day. Days are those of the user's clock. Statements: ``sql/queries/timeline.sql``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

import msgspec

from memsvc.access.users import Owner, valid_zone
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, Page, check_page, read_cursor, write_cursor
from memsvc.errors import InvalidIntervalError
from memsvc.graph.read import resolve

Kind = Literal["message", "document", "event", "began", "ended", "change"]
Step = Literal["day", "week", "month", "year"]
KINDS: tuple[Kind, ...] = get_args(Kind)
EXCERPT = 300
"""Characters of a text that an entry shows."""
MOST_CONVERSATIONS = 100
MOST_COUNTS = 6_000
"""Most counts of an answer; one is of a period and a kind."""


class TimelinePeriod(msgspec.Struct, frozen=True, kw_only=True):
    """How much happened in a period."""

    begins: datetime
    """Its first moment, on the user's clock."""
    counts: dict[Kind, int]
    """By kind; kinds of which there is nothing are left out."""


class TimelineCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How much happened in each period that has anything, the latest first."""

    step: Step
    items: list[TimelinePeriod]
    truncated: bool
    """There are earlier periods: ask for longer ones, or for a span."""


class TimelineEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened."""

    kind: Kind
    """message: messages of a conversation on one day; document: it was stored; event: an event or a task begins; began,
    ended: a fact; change: changes of the graph on one day."""
    at: datetime
    """When, on the user's clock; of several the last."""
    since: datetime
    """Of several the first; else the same as ``at``."""
    count: int
    """Messages or changes."""
    title: str
    """The conversation's, the document's or the node's name, or the fact's sentence; empty: changes."""
    text: str
    """How the first message or the node's description begins; else empty."""
    speaker: str
    """Who said the first message."""
    memory_id: UUID | None
    """Opens it: the first message, the node, or the fact's version; None: documents and changes."""
    source_id: UUID | None
    """The conversation or the document."""
    node_id: UUID | None
    """The node of an event, or the one where a fact starts."""
    edge_id: UUID | None
    """The fact."""


class NewMessages(msgspec.Struct, frozen=True, kw_only=True):
    """Messages of a conversation that were stored since a moment."""

    source_id: UUID
    title: str
    """The conversation's name."""
    count: int
    memory_id: UUID
    """The first of them."""


class TimelineNews(msgspec.Struct, frozen=True, kw_only=True):
    """What was stored since a moment."""

    since: datetime
    until: datetime
    """Now, by the service's clock: ask from here the next time."""
    counts: dict[Literal["message", "document", "node", "fact", "change"], int]
    """How much of each kind is new; 0 is not left out."""
    conversations: list[NewMessages]
    """A hundred at most, those that were written to last."""


async def counts(
    db: Database,
    owner: Owner,
    step: Step,
    *,
    begins: datetime | None = None,
    ends: datetime | None = None,
    kinds: Sequence[Kind] | None = None,
    node: UUID | None = None,
) -> TimelineCounts:
    """How much happened in each period.

    Args:
        db: the database.
        owner: whose memory.
        step: the length of a period.
        begins: aware; None: from the beginning.
        ends: after it; None: to the end, also in the future.
        kinds: only these; None: all.
        node: only what is about this node: its facts, the messages that support them, itself.

    Raises:
        InvalidIntervalError: the span ends before it begins.
        NodeUnknownError: there is no such node.
    """
    asked = await _asked(db, owner, (begins, ends), kinds, node)
    async with db.transaction(owner.user_id) as connection:
        values = asked | {"step": step, "limit": MOST_COUNTS + 1}
        rows = (await connection.execute(query("timeline_counts"), values)).all()
    truncated = len(rows) > MOST_COUNTS
    zone = valid_zone(owner.time_zone)
    found: dict[datetime, dict[Kind, int]] = {}
    for row in rows:
        found.setdefault(row.begins, {})[row.kind] = row.moments
    if truncated:
        del found[rows[-1].begins]  # some of its kinds may be missing
    items = [TimelinePeriod(begins=begin.astimezone(zone), counts=counted) for begin, counted in found.items()]
    return TimelineCounts(step=step, items=items, truncated=truncated)


async def entries(
    db: Database,
    owner: Owner,
    *,
    begins: datetime | None = None,
    ends: datetime | None = None,
    kinds: Sequence[Kind] | None = None,
    node: UUID | None = None,
    cursor: str | None = None,
    limit: int = 100,
) -> Page[TimelineEntry]:
    """What happened in a span, the latest first.

    Args:
        db: the database.
        owner: whose memory.
        begins: aware; None: from the beginning.
        ends: after it; None: to the end, also in the future.
        kinds: only these; None: all.
        node: only what is about this node: its facts, the messages that support them, itself.
        cursor: next_cursor of the page before.
        limit: entries of a page, 1 to 1,000.

    Raises:
        InvalidRequestError, BadCursorError: the limit or the cursor is none.
        InvalidIntervalError: the span ends before it begins.
        NodeUnknownError: there is no such node.
    """
    check_page(limit)
    after = read_cursor(cursor, tuple[Moment, Kind, UUID]) if cursor is not None else (None, None, None)
    asked = await _asked(db, owner, (begins, ends), kinds, node)
    place = dict(zip(("after_at", "after_kind", "after_id"), after, strict=True))
    async with db.transaction(owner.user_id) as connection:
        values = asked | place | {"limit": limit + 1, "excerpt": EXCERPT}
        rows = (await connection.execute(query("timeline_entries"), values)).all()
    zone = valid_zone(owner.time_zone)
    items = [
        TimelineEntry(
            kind=row.kind, at=row.at.astimezone(zone), since=row.since.astimezone(zone), count=row.moments,
            title=row.title, text=row.text, speaker=row.speaker, source_id=row.source_id, node_id=row.node_id,
            edge_id=row.edge_id,
            memory_id={"document": None, "change": None, "event": row.node_id}.get(row.kind, row.id),
        )
        for row in rows[:limit]
    ]  # fmt: skip
    last = rows[limit - 1] if len(rows) > limit else None
    return Page(items=items, next_cursor=write_cursor((last.at, last.kind, last.id)) if last is not None else None)


async def news(db: Database, owner: Owner, since: datetime) -> TimelineNews:
    """What was stored since a moment, whenever it was said or happened.

    Args:
        db: the database.
        owner: whose memory.
        since: aware.
    """
    async with db.transaction(owner.user_id) as connection:
        until = (await connection.execute(query("moment"), {"user_id": owner.user_id})).scalar_one()
        values = {"user_id": owner.user_id, "since": since, "limit": MOST_CONVERSATIONS}
        rows = (await connection.execute(query("timeline_news"), values)).all()
    return TimelineNews(
        since=since,
        until=until,
        counts={row.kind: row.stored for row in rows if row.thing_id is None},
        conversations=[
            NewMessages(source_id=row.thing_id, title=row.title, count=row.stored, memory_id=row.id)
            for row in rows
            if row.thing_id is not None
        ],
    )


async def _asked(
    db: Database,
    owner: Owner,
    span: tuple[datetime | None, datetime | None],
    kinds: Sequence[Kind] | None,
    node: UUID | None,
) -> dict[str, Any]:
    """The parameters that both statements share."""
    begins, ends = span
    if begins is not None and ends is not None and ends <= begins:
        raise InvalidIntervalError(field="to")
    if node is not None:
        await resolve(db, owner, [node])
    return {
        "user_id": owner.user_id, "zone": owner.time_zone, "begins": begins, "ends": ends,
        "kinds": list(kinds or KINDS), "node": node,
    }  # fmt: skip
