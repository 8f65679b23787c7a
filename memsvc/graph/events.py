"""Events of a user's memory, in order, and what each of them means to a client that draws the graph.

Events are rows of ``outbox``, written in the transaction of the change that they report. A reader's ``Place`` records
the transactions whose events the reader has received; new events are all visible ones of other transactions. So a late
commit neither delays readers nor is skipped (``sql/functions/live/10_live.sql``). ``GET /v1/events`` returns
``EventPage``; sockets send the results of ``frames_behind``: small messages with the current state of what changed,
read under row security as that user.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import LongNumber, UnixTime, check_page, read_cursor, write_cursor
from memsvc.errors import BadCursorError, CursorExpiredError
from memsvc.graph.traverse import GraphEdge, GraphNode, drawn_edges, drawn_nodes

Kind = Literal[
    "passages.added", "source.completed", "memory.erased", "graph.changed", "memory.recalled", "profile.changed"
]
NOTHING = UUID(int=0)
NOW = "now"
MOST_TOUCHED = 1_000
"""Most versions in one ``GRAPH_UPDATE``; if there are more, it is marked as not complete."""
PAGE = 50
DAY_S = 86_400
NO_CURSOR = '"cursor":""'
"""Replaced by each client's own cursor: the first field of a message after its type, so it cannot be quoted text."""
Running = Annotated[list[LongNumber], msgspec.Meta(max_length=10_000)]
"""Most transactions that a cursor may name: far more than a server runs at the same time."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The transactions that had ended at a moment of the database: those below ``end``, except ``running``."""

    end: int
    running: tuple[int, ...] = ()

    @classmethod
    def read(cls, snapshot: str) -> Seen:
        """Read a snapshot that PostgreSQL writes as ``xmin:xmax:xip,xip``."""
        _, end, running = snapshot.split(":")
        return cls(int(end), tuple(map(int, running.split(","))) if running else ())


@dataclass(frozen=True, slots=True)
class Place:
    """The transactions whose events a reader has received: those below ``end``, except ``running``.

    Of one more transaction, which is ``end`` or one of ``running``, the reader may have received the first events, up
    to ``event``.
    """

    end: int
    running: tuple[int, ...]
    transaction: int
    event: UUID
    at: int = field(compare=False)
    """Unix time; a cursor that is older than the stored events is recognised by it."""

    @classmethod
    def of(cls, seen: Seen) -> Place:
        """Return the position of a reader who has received everything that was visible."""
        return cls(seen.end, seen.running, seen.end, NOTHING, int(time.time()))

    def covers(self, transaction: int, event: UUID) -> bool:
        """Whether the reader has received an event."""
        if transaction == self.transaction:
            return event <= self.event
        return transaction < self.end and transaction not in self.running

    def after(self, transaction: int, event: UUID, at: int, seen: Seen) -> Place:
        """Return the position after one more event; events come in the order of ``memsvc.live_events``.

        Args:
            transaction: of the event.
            event: its id.
            at: when it was recorded.
            seen: the transactions that had ended when it was read.
        """
        if transaction == self.transaction:
            return replace(self, event=event, at=at)
        end, running = self.end, self.running
        if self.event != NOTHING:  # all events of that transaction were received
            end = end + 1 if self.transaction == end else end
            running = tuple(one for one in running if one != self.transaction)
        if transaction >= end:  # so were those of transactions that ended late, and of earlier ones that have ended
            return Place(transaction, tuple(one for one in seen.running if one < transaction), transaction, event, at)
        late = tuple(one for one in running if one >= transaction or one in seen.running)
        return Place(end, late, transaction, event, at)

    @property
    def cursor(self) -> str:
        """The position as clients send it back; without lists it has the earlier, shorter form."""
        short = (self.transaction, self.event, self.at)
        if self.transaction == self.end and not self.running:
            return write_cursor(short)
        return write_cursor((*short, self.end, [self.end - one for one in self.running]))

    @classmethod
    def read(cls, cursor: str) -> Place:
        """Return the position in a cursor.

        Raises:
            BadCursorError: the cursor is not one of ours.
        """
        try:
            transaction, event, at = read_cursor(cursor, tuple[LongNumber, UUID, UnixTime])
            end, below = transaction, list[int]()
        except BadCursorError:
            transaction, event, at, end, below = read_cursor(
                cursor, tuple[LongNumber, UUID, UnixTime, LongNumber, Running]
            )
        running = tuple(end - one for one in below)
        if transaction not in {end, *running} or not all(0 <= one < end for one in running):
            raise BadCursorError(field="cursor")
        return cls(end, running, transaction, event, at)

    @property
    def values(self) -> dict[str, str | UUID]:
        """The position as parameters of a statement."""
        running = f"{{{','.join(map(str, self.running))}}}"
        transaction = str(self.transaction)
        return {"seen_end": str(self.end), "running": running, "transaction": transaction, "event": self.event}


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the memory."""

    event_id: UUID
    kind: Kind
    """passages.added: messages were stored; source.completed: the background has caught up with a source;
    memory.erased; graph.changed; memory.recalled: somebody asked; profile.changed: a block has a new version or
    ended."""
    subject_id: UUID
    """The source, the erasure, the change (GET /v1/changes/{id}), the recall or the block."""
    recorded_at: datetime
    cursor: str
    """Send it as ``cursor`` to continue after this event."""


class EventPage(msgspec.Struct, frozen=True, kw_only=True):
    """Events after a cursor, oldest first."""

    items: list[Event]
    next_cursor: str
    """The cursor after the last item; always present, because later events come after it."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """The common fields of all messages to live clients."""

    cursor: str
    """Send it when you connect again, to continue after this message."""


class Ready(Message, frozen=True, kw_only=True, tag="READY"):
    """The first message: from here on, no event is left out."""


class _Happening(Message, frozen=True, kw_only=True):
    event_id: UUID
    at: datetime


class GraphUpdate(_Happening, frozen=True, kw_only=True, tag="GRAPH_UPDATE"):
    """What a change touched, in its current state: put nodes (by node_id) and edges (by edge_id), remove gone ones."""

    change_id: UUID | None
    """None: an erasure."""
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    gone_nodes: list[UUID]
    """Nodes that were merged into another node."""
    gone_edges: list[UUID]
    """Facts that are not true any more."""
    complete: bool
    """False: more has changed than this message holds (an erasure, or a very large change): load the graph again."""


class NodeFocus(_Happening, frozen=True, kw_only=True, tag="NODE_FOCUS"):
    """The node that the best memory of a search is about."""

    recall_id: UUID
    node: GraphNode


class ProfileUpdate(_Happening, frozen=True, kw_only=True, tag="PROFILE_UPDATE"):
    """A block of the profile, in its current state."""

    block_id: UUID
    name: str
    kind: str
    """core, working or archival."""
    version: int
    text: str
    node_id: UUID | None
    """The node that it describes."""
    conversation_id: UUID | None
    """Working memory: its conversation."""
    live: bool
    """False: it expired or was evicted, and is not read any more."""


class SourceUpdate(_Happening, frozen=True, kw_only=True, tag="SOURCE_UPDATE"):
    """A source has new messages, or the background has caught up with it."""

    kind: Kind
    source_id: UUID


@dataclass(frozen=True, slots=True)
class Frame:
    """A message for clients, each of which has a position of its own."""

    transaction: int
    event: UUID
    at: int
    seen: Seen
    """The transactions that had ended when it was read."""
    message: str | None
    """Without a cursor; None: the event has nothing to show."""

    def after(self, place: Place) -> Place:
        """Return a client's position after this message."""
        return place.after(self.transaction, self.event, self.at, self.seen)

    def text(self, place: Place) -> str:
        """Return the message for a client at ``place``, with the cursor after it; empty if there is nothing to show."""
        return (self.message or "").replace(NO_CURSOR, f'"cursor":"{place.cursor}"', 1)


@dataclass(frozen=True, slots=True)
class Frames:
    """Messages, and the position of a reader who has received all of them."""

    items: list[Frame]
    end: Place
    more: bool
    """Whether there may be more."""


async def end_of(db: Database) -> Place:
    """Return the position at the end: every later event comes after it."""
    async with db.transaction() as connection:
        return Place.of(Seen.read((await connection.execute(query("live_end"))).scalar_one()))


async def place_of(db: Database, cursor: str | None, keep_days: int) -> Place:
    """Return the position that a client names.

    Args:
        db: the database.
        cursor: of an event or a message; ``now``; None: the oldest stored event.
        keep_days: how long events are stored.

    Raises:
        BadCursorError: the cursor is not one of ours.
        CursorExpiredError: events after it may be deleted already, or it comes from another database.
    """
    if cursor is None:
        return Place.of(Seen(0))
    end = await end_of(db)
    if cursor == NOW:
        return end
    place = Place.read(cursor)
    if place.end > end.end or place.at < end.at - keep_days * DAY_S:
        raise CursorExpiredError
    return place


async def _read(
    connection: AsyncConnection, user_id: UUID, place: Place, limit: int
) -> tuple[list[Row[Any]], list[Place], Seen]:
    """Return new events, the position after each, and the transactions that had ended when they were read."""
    found = (await connection.execute(query("live_events"), {"user_id": user_id, "limit": limit, **place.values})).all()
    seen, rows, places = Seen.read(found[0].seen), [row for row in found if row.event_id is not None], []
    for row in rows:
        place = place.after(row.transaction_id, row.event_id, int(row.recorded_at.timestamp()), seen)
        places.append(place)
    return rows, places, seen


async def users_with_news(connection: AsyncConnection, places: Mapping[UUID, Place]) -> tuple[list[UUID], Place]:
    """Return those of some users who have events after their position, and the position of the others now.

    Args:
        connection: of a transaction that belongs to no user.
        places: positions by user.
    """
    given = [place.values for place in places.values()]
    values = {
        "ends": [one["seen_end"] for one in given],
        "running": [one["running"] for one in given],
        "transactions": [one["transaction"] for one in given],
        "events": [one["event"] for one in given],
    }
    row = (await connection.execute(query("users_with_news"), {"users": list(places), **values})).one()
    return row.users, Place.of(Seen.read(row.seen))


async def page_behind(db: Database, user_id: UUID, place: Place, limit: int) -> EventPage:
    """Return events after a position.

    Args:
        db: the database.
        user_id: the user.
        place: the position.
        limit: most events, 1 to 1,000.

    Raises:
        InvalidRequestError: the limit is out of range.
    """
    check_page(limit)
    async with db.transaction(user_id) as connection:
        rows, places, seen = await _read(connection, user_id, place, limit)
    items = [
        Event(
            event_id=row.event_id,
            kind=row.kind,
            subject_id=row.subject_id,
            recorded_at=row.recorded_at,
            cursor=position.cursor,
        )
        for row, position in zip(rows, places, strict=True)
    ]
    end = places[-1] if len(rows) == limit else Place.of(seen)
    return EventPage(items=items, next_cursor=end.cursor)


async def frames_behind(db: Database, user_id: UUID, place: Place, limit: int = PAGE) -> Frames:
    """Return messages for the events after a position, one for each event, oldest first."""
    async with db.transaction(user_id) as connection:
        rows, places, seen = await _read(connection, user_id, place, limit)
        changes = [row.subject_id for row in rows if row.kind == "graph.changed"]
        recalls = [row.subject_id for row in rows if row.kind == "memory.recalled"]
        blocks = [row.subject_id for row in rows if row.kind == "profile.changed"]
        shown: dict[UUID, Row[Any]] = {}
        focused: dict[UUID, str] = {}
        if changes:
            asked = {"user_id": user_id, "changes": changes, "most": MOST_TOUCHED}
            shown = {row.change_id: row for row in await connection.execute(query("changes_shown"), asked)}
        if recalls:
            asked = {"user_id": user_id, "recalls": recalls}
            focused = {row.recall_id: row.node for row in await connection.execute(query("nodes_in_focus"), asked)}
        if blocks:
            asked = {"user_id": user_id, "blocks": list(set(blocks))}
            shown |= {row.block_id: row for row in await connection.execute(query("blocks_shown"), asked)}
    frames = [
        Frame(
            row.transaction_id,
            row.event_id,
            int(row.recorded_at.timestamp()),
            seen,
            msgspec.json.encode(message).decode() if message is not None else None,
        )
        for row in rows
        for message in [_message(row, shown.get(row.subject_id), focused.get(row.subject_id))]
    ]
    more = len(rows) == limit
    return Frames(frames, places[-1] if more else Place.of(seen), more)


def _message(row: Row[Any], shown: Row[Any] | None, focus: str | None) -> Message | None:
    """Return the message of an event, with room for a cursor; None: it has nothing to show."""
    same = {"cursor": "", "event_id": row.event_id, "at": row.recorded_at}
    match row.kind:
        case "graph.changed" if shown is not None:
            return GraphUpdate(
                **same,
                change_id=row.subject_id,
                nodes=drawn_nodes(shown.nodes),
                edges=drawn_edges(shown.edges),
                gone_nodes=shown.gone_nodes,
                gone_edges=shown.gone_edges,
                complete=shown.complete,
            )
        case "memory.erased":
            return GraphUpdate(**same, change_id=None, nodes=[], edges=[], gone_nodes=[], gone_edges=[], complete=False)
        case "memory.recalled" if focus is not None:
            return NodeFocus(**same, recall_id=row.subject_id, node=msgspec.json.decode(focus, type=GraphNode))
        case "profile.changed" if shown is not None:
            return ProfileUpdate(
                **same,
                block_id=row.subject_id,
                name=shown.name,
                kind=shown.kind,
                version=shown.version,
                text=shown.text,
                node_id=shown.node_id,
                conversation_id=shown.source_id,
                live=shown.live,
            )
        case "passages.added" | "source.completed":
            return SourceUpdate(**same, kind=row.kind, source_id=row.subject_id)
    return None
