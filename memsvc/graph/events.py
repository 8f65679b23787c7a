"""What happened to a user's memory, in order, and what each of it means to somebody who draws the graph.

Events are rows of ``outbox``, written in the transaction of what they tell of. They are read in the order of
(transaction, event) and only below the oldest transaction that still runs, so that a cursor never passes by a late
commit (``sql/functions/live/10_live.sql``). ``Page`` is what ``GET /v1/events`` gives; ``frames_behind`` is what
sockets send: small messages that hold the present state of what changed, read under row security as that user.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import check_page, read_cursor, write_cursor
from memsvc.errors import CursorExpiredError, InvalidRequestError
from memsvc.graph.traverse import GraphEdge, GraphNode, drawn_edges, drawn_nodes

Kind = Literal[
    "passages.added", "source.completed", "memory.erased", "graph.changed", "memory.recalled", "profile.changed"
]
NOTHING = UUID(int=0)
NOW = "now"
MOST_TOUCHED = 1_000
"""Most versions that one ``GRAPH_UPDATE`` tells of; beyond, it says that it is not complete."""
PAGE = 50
DAY_S = 86_400
LAST_TRANSACTION = 2**63 - 1


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Up to where events were read."""

    transaction: int
    event: UUID
    at: int = field(compare=False)
    """Unix time, so that a cursor can be told to be older than the events that are kept."""

    @property
    def cursor(self) -> str:
        """The place as clients send it back."""
        return write_cursor((self.transaction, self.event, self.at))


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened."""

    event_id: UUID
    kind: Kind
    """passages.added: messages came in; source.completed: the background has caught up with a source; memory.erased;
    graph.changed; memory.recalled: somebody asked; profile.changed: a block says something else."""
    subject_id: UUID
    """The source, the erasure, the change (GET /v1/changes/{id}), the recall or the block."""
    recorded_at: datetime
    cursor: str
    """Send it to go on behind this event."""


class EventPage(msgspec.Struct, frozen=True, kw_only=True):
    """Events behind a cursor, oldest first."""

    items: list[Event]
    next_cursor: str
    """Behind the last item; always there: what comes later is behind it."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What all messages to live clients have."""

    cursor: str
    """Connect again with it and go on behind this message."""


class Ready(Message, frozen=True, kw_only=True, tag="READY"):
    """The first message: from here on, nothing is left out."""


class _Happening(Message, frozen=True, kw_only=True):
    event_id: UUID
    at: datetime


class GraphUpdate(_Happening, frozen=True, kw_only=True, tag="GRAPH_UPDATE"):
    """What a change touched, as it is now: put nodes (by node_id) and edges (by edge_id) in, take what is gone out."""

    change_id: UUID | None
    """None: an erasure."""
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    gone_nodes: list[UUID]
    """Merged into another node."""
    gone_edges: list[UUID]
    """Facts that do not hold any more."""
    complete: bool
    """False: more is different than this message says (an erasure, or a very large change): load the graph anew."""


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
    """What it describes."""
    conversation_id: UUID | None
    """Of working memory: whose."""
    live: bool
    """False: it expired or made room, and is not read any more."""


class SourceUpdate(_Happening, frozen=True, kw_only=True, tag="SOURCE_UPDATE"):
    """A source has new messages, or the background has caught up with it."""

    kind: Kind
    source_id: UUID


@dataclass(frozen=True, slots=True)
class Frame:
    """A message on its way, behind which a client goes on; without text where the event has nothing to show."""

    place: Place
    text: str | None


async def end_of(db: Database) -> Place:
    """The place behind which everything is yet to come."""
    async with db.transaction() as connection:
        transaction: int = (await connection.execute(query("live_end"))).scalar_one()
    return Place(transaction, NOTHING, int(time.time()))


async def place_of(db: Database, cursor: str | None, keep_days: int) -> Place:
    """The place that a client names.

    Args:
        db: the database.
        cursor: of an event or a message; ``now``; None: the beginning of what is kept.
        keep_days: how long events are kept.

    Raises:
        InvalidRequestError: the cursor is not one of ours.
        CursorExpiredError: events behind it may be deleted by now, or it comes from another database.
    """
    if cursor is None:
        return Place(0, NOTHING, int(time.time()))
    end = await end_of(db)
    if cursor == NOW:
        return end
    place = Place(*read_cursor(cursor, tuple[int, UUID, int]))
    if not 0 <= place.transaction <= LAST_TRANSACTION:
        raise InvalidRequestError("The cursor is not one of ours.", field="cursor")
    if place.transaction > end.transaction or place.at < end.at - keep_days * DAY_S:
        raise CursorExpiredError
    return place


async def _read(
    connection: AsyncConnection, user_id: UUID, place: Place, limit: int
) -> tuple[Sequence[Row[Any]], list[Place]]:
    values = {"user_id": user_id, "transaction": str(place.transaction), "event": place.event, "limit": limit}
    rows = (await connection.execute(query("live_events"), values)).all()
    return rows, [Place(row.transaction_id, row.event_id, int(row.recorded_at.timestamp())) for row in rows]


async def page_behind(db: Database, user_id: UUID, place: Place, limit: int) -> EventPage:
    """Events behind a place.

    Args:
        db: the database.
        user_id: whose.
        place: where to begin.
        limit: at most so many, 1 to 1,000.

    Raises:
        InvalidRequestError: the limit cannot be used.
    """
    check_page(limit)
    async with db.transaction(user_id) as connection:
        rows, places = await _read(connection, user_id, place, limit)
    items = [
        Event(
            event_id=row.event_id,
            kind=row.kind,
            subject_id=row.subject_id,
            recorded_at=row.recorded_at,
            cursor=reached.cursor,
        )
        for row, reached in zip(rows, places, strict=True)
    ]
    return EventPage(items=items, next_cursor=items[-1].cursor if items else place.cursor)


async def frames_behind(db: Database, user_id: UUID, place: Place, limit: int = PAGE) -> list[Frame]:
    """Messages for the events behind a place, one each, oldest first; fewer than ``limit``: these were all."""
    async with db.transaction(user_id) as connection:
        rows, places = await _read(connection, user_id, place, limit)
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
    return [
        Frame(reached, msgspec.json.encode(message).decode() if message is not None else None)
        for row, reached in zip(rows, places, strict=True)
        for message in [_message(row, reached.cursor, shown.get(row.subject_id), focused.get(row.subject_id))]
    ]


def _message(row: Row[Any], cursor: str, shown: Row[Any] | None, focus: str | None) -> Message | None:
    """What an event means to a live client; None: it has nothing to show."""
    same = {"cursor": cursor, "event_id": row.event_id, "at": row.recorded_at}
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
