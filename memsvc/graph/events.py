"""The events of a user's memory, in order, and what each means to a client that draws the graph.

Events are rows of ``outbox``, written in the transaction that they describe. A reader's ``Position`` records which
transactions the reader has read; its unread events are the visible events of all other transactions. So a reader does
not wait for a late commit and does not miss it (``sql/functions/live/10_live.sql``). ``GET /v1/events`` returns an
``EventPage``. Sockets send the messages of ``frames_after``: small messages with the current state of what changed,
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
from memsvc.db.epochs import epoch_of
from memsvc.db.files import query
from memsvc.db.paging import LongNumber, UnixTime, check_page, read_cursor, write_cursor
from memsvc.errors import BadCursorError, CursorExpiredError
from memsvc.graph.traverse import GraphEdge, GraphNode, drawn_edges, drawn_nodes

Kind = Literal[
    "passages.added", "source.completed", "memory.erased", "graph.changed", "memory.recalled", "profile.changed",
    "ingest.changed", "sleep.finished",
]  # fmt: skip
NOTHING = UUID(int=0)
NOW = "now"
MOST_TOUCHED = 1_000
"""The most versions that one ``GRAPH_UPDATE`` holds; a larger change sends a message with ``complete`` false."""
PAGE = 50
DAY_S = 86_400
NO_CURSOR = '"cursor":""'
"""Each client's own cursor replaces this. It is the first field of a message after its type, so no user text can
precede it and be replaced instead."""
Running = Annotated[list[LongNumber], msgspec.Meta(max_length=10_000)]
"""Transactions that a cursor may name: far more than a server can run at the same time."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The transactions that had ended at one moment: those below ``end``, except those in ``running``."""

    end: int
    running: tuple[int, ...] = ()

    @classmethod
    def read(cls, snapshot: str) -> Seen:
        """Read PostgreSQL's text form of a snapshot, ``xmin:xmax:xip,xip``."""
        _, end, running = snapshot.split(":")
        return cls(int(end), tuple(map(int, running.split(","))) if running else ())


@dataclass(frozen=True, slots=True)
class Position:
    """A reader's position: it has read the transactions below ``end``, except those in ``running``.

    It may also have read part of one more, up to ``event``: that ``transaction`` is ``end`` or one of ``running``.
    """

    end: int
    running: tuple[int, ...]
    transaction: int
    event: UUID
    at: int = field(compare=False)
    """Unix time; shows whether a cursor is older than the events that are kept."""

    @classmethod
    def of(cls, seen: Seen) -> Position:
        """The position of a reader that has read everything visible in a snapshot."""
        return cls(seen.end, seen.running, seen.end, NOTHING, int(time.time()))

    def covers(self, transaction: int, event: UUID) -> bool:
        """Whether the reader has read an event."""
        if transaction == self.transaction:
            return event <= self.event
        return transaction < self.end and transaction not in self.running

    def after(self, transaction: int, event: UUID, at: int, seen: Seen) -> Position:
        """The position after one more event; events come in the order of ``memsvc.live_events``.

        Args:
            transaction: transaction of the event.
            event: id of the event.
            at: when the event was recorded, Unix time.
            seen: the transactions that had ended when the event was read.
        """
        if transaction == self.transaction:
            return replace(self, event=event, at=at)
        end, running = self.end, self.running
        if self.event != NOTHING:  # another transaction follows, so that one has been read to its end
            end = end + 1 if self.transaction == end else end
            running = tuple(one for one in running if one != self.transaction)
        if transaction >= end:  # late transactions have been read too, and all that began before this one and ended
            still_running = tuple(one for one in seen.running if one < transaction)
            return Position(transaction, still_running, transaction, event, at)
        late = tuple(one for one in running if one >= transaction or one in seen.running)
        return Position(end, late, transaction, event, at)

    @property
    def cursor(self) -> str:
        """The position as clients send it back; without running transactions, in the short form of older releases."""
        short = (self.transaction, self.event, self.at)
        if self.transaction == self.end and not self.running:
            return write_cursor(short)
        return write_cursor((*short, self.end, [self.end - one for one in self.running]))

    @classmethod
    def read(cls, cursor: str) -> Position:
        """The position that a cursor names.

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
        """The position as parameters of statements.

        Without a partly read transaction, ``transaction`` is 0, which no transaction has: the rest of a partly read one
        comes before those that ended late, and the transaction ``end`` must come after them.
        """
        running = f"{{{','.join(map(str, self.running))}}}"
        transaction = "0" if self.event == NOTHING else str(self.transaction)
        return {"seen_end": str(self.end), "running": running, "transaction": transaction, "event": self.event}


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened."""

    event_id: UUID
    kind: Kind
    """passages.added: messages came in; source.completed: the background work of a source is done; memory.erased;
    graph.changed; memory.recalled: somebody asked; profile.changed: a block says something else; ingest.changed: an
    ingest began, went on or ended; sleep.finished: tasks of sleep ran, and none is left to run."""
    subject_id: UUID
    """The source, the erasure, the change (GET /v1/changes/{id}), the recall, the block, the ingest (GET
    /v1/ingests/{id}) or the last run (GET /v1/sleep/runs/{id})."""
    recorded_at: datetime
    cursor: str
    """Send it to go on after this event."""


class EventPage(msgspec.Struct, frozen=True, kw_only=True):
    """Events after a cursor, oldest first."""

    items: list[Event]
    next_cursor: str
    """After the last item; always given: later events come after it."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """The fields that all messages to live clients have."""

    cursor: str
    """Connect again with it to go on after this message."""


class Ready(Message, frozen=True, kw_only=True, tag="READY"):
    """The first message: from its cursor on, no event is left out."""


class _Happening(Message, frozen=True, kw_only=True):
    event_id: UUID
    at: datetime


class GraphUpdate(_Happening, frozen=True, kw_only=True, tag="GRAPH_UPDATE"):
    """What a change touched, as it is now.

    Insert or replace nodes (by node_id) and edges (by edge_id), and remove gone_nodes and gone_edges.
    """

    change_id: UUID | None
    """None for an erasure."""
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    gone_nodes: list[UUID]
    """Merged into another node."""
    gone_edges: list[UUID]
    """Facts that no longer hold."""
    complete: bool
    """False: more has changed than this message says (an erasure, or a very large change); load the graph again."""


class NodeFocus(_Happening, frozen=True, kw_only=True, tag="NODE_FOCUS"):
    """The node that the best memory of a search is about."""

    recall_id: UUID
    node: GraphNode


class ProfileUpdate(_Happening, frozen=True, kw_only=True, tag="PROFILE_UPDATE"):
    """A block of the profile, as it is now."""

    block_id: UUID
    name: str
    kind: str
    """core, working or archival."""
    version: int
    text: str
    node_id: UUID | None
    """The node that it describes."""
    conversation_id: UUID | None
    """The conversation that working memory belongs to."""
    live: bool
    """False: it expired or was displaced, and is no longer read."""


class SourceUpdate(_Happening, frozen=True, kw_only=True, tag="SOURCE_UPDATE"):
    """A source has new messages, or its background work is done."""

    kind: Kind
    source_id: UUID


class IngestUpdate(_Happening, frozen=True, kw_only=True, tag="INGEST_UPDATE"):
    """An ingest has begun, gone on or ended: GET /v1/ingests/{id} says how far it is."""

    ingest_id: UUID


class SleepFinished(_Happening, frozen=True, kw_only=True, tag="SLEEP_FINISHED"):
    """Tasks of sleep ran, and none is left to run: GET /v1/sleep/report says what they did."""

    run_id: UUID
    """The last of the runs."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A message for several clients, each with a position of its own."""

    transaction: int
    event: UUID
    at: int
    seen: Seen
    """The transactions that had ended when the event was read."""
    message: str | None
    """JSON without a cursor; None: the event has nothing to show."""

    def after(self, position: Position) -> Position:
        """The position of a client after this message."""
        return position.after(self.transaction, self.event, self.at, self.seen)

    def text(self, position: Position) -> str:
        """The message to a client whose position is ``position`` after it; empty if there is nothing to show."""
        return (self.message or "").replace(NO_CURSOR, f'"cursor":"{position.cursor}"', 1)


@dataclass(frozen=True, slots=True)
class Frames:
    """Messages, and the position of a reader that has read all of them."""

    items: list[Frame]
    end: Position
    more: bool
    """Whether there may be more."""


async def end_of(db: Database) -> Position:
    """The position after all events that are visible now."""
    async with db.transaction() as connection:
        return Position.of(Seen.read((await connection.execute(query("live_end"))).scalar_one()))


async def position_of(
    db: Database, cursor: str | None, keep_days: int, user_id: UUID | None = None
) -> Position:  # fmt: skip
    """The position that a client names.

    Args:
        db: the database.
        cursor: the cursor of an event or a message; ``now``; None: the oldest event that is kept.
        keep_days: how long events are kept.
        user_id: whose events. Cursors of a user who has come from another cell since are found out.

    Raises:
        BadCursorError: the cursor is not one of ours.
        CursorExpiredError: events after it may be deleted by now, or it comes from another database.
    """
    if cursor is None:
        return Position.of(Seen(0))
    end = await end_of(db)
    if cursor == NOW:
        return end
    position = Position.read(cursor)
    if position.end > end.end or position.at < end.at - keep_days * DAY_S:
        raise CursorExpiredError
    if user_id is not None and epoch_of(user_id) > 0:
        async with db.transaction(user_id) as connection:
            arrived = (await connection.execute(query("arrival"), {"user_id": user_id})).scalar_one_or_none()
        if arrived is not None and position.at < int(arrived.timestamp()):
            raise CursorExpiredError
    return position


async def _read(
    connection: AsyncConnection, user_id: UUID, position: Position, limit: int
) -> tuple[list[Row[Any]], list[Position], Seen]:
    """Unread events, the position after each, and the transactions that had ended when they were read."""
    values = {"user_id": user_id, "limit": limit, **position.values}
    found = (await connection.execute(query("live_events"), values)).all()
    seen, rows, positions = Seen.read(found[0].seen), [row for row in found if row.event_id is not None], []
    for row in rows:
        position = position.after(row.transaction_id, row.event_id, int(row.recorded_at.timestamp()), seen)
        positions.append(position)
    return rows, positions, seen


async def users_with_news(
    connection: AsyncConnection, positions: Mapping[UUID, Position]
) -> tuple[list[UUID], Position]:
    """The users who have events after their position, and the current position of the others.

    Args:
        connection: a connection in a transaction that belongs to no user.
        positions: a position for each user.
    """
    given = [position.values for position in positions.values()]
    values = {
        "ends": [one["seen_end"] for one in given],
        "running": [one["running"] for one in given],
        "transactions": [one["transaction"] for one in given],
        "events": [one["event"] for one in given],
    }
    row = (await connection.execute(query("users_with_news"), {"users": list(positions), **values})).one()
    return row.users, Position.of(Seen.read(row.seen))


async def page_after(db: Database, user_id: UUID, position: Position, limit: int) -> EventPage:
    """Read the events after a position.

    Args:
        db: the database.
        user_id: whose events.
        position: the reader's position.
        limit: the most events to return, 1 to 1,000.

    Raises:
        InvalidRequestError: the limit is out of range.
    """
    check_page(limit)
    async with db.transaction(user_id) as connection:
        rows, positions, seen = await _read(connection, user_id, position, limit)
    items = [
        Event(
            event_id=row.event_id,
            kind=row.kind,
            subject_id=row.subject_id,
            recorded_at=row.recorded_at,
            cursor=reached.cursor,
        )
        for row, reached in zip(rows, positions, strict=True)
    ]
    end = positions[-1] if len(rows) == limit else Position.of(seen)
    return EventPage(items=items, next_cursor=end.cursor)


async def frames_after(db: Database, user_id: UUID, position: Position, limit: int = PAGE) -> Frames:
    """Messages for the events after a position, one for each event, oldest first."""
    async with db.transaction(user_id) as connection:
        rows, positions, seen = await _read(connection, user_id, position, limit)
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
    return Frames(frames, positions[-1] if more else Position.of(seen), more)


def _message(row: Row[Any], shown: Row[Any] | None, focus: str | None) -> Message | None:
    """The message of an event to a live client, with an empty cursor; None: the event has nothing to show."""
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
        case "ingest.changed":
            return IngestUpdate(**same, ingest_id=row.subject_id)
        case "sleep.finished":
            return SleepFinished(**same, run_id=row.subject_id)
    return None
