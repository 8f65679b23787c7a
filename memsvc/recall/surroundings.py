"""Reads what stands around recalled memories in a context: profile, last turns, neighbours, instructions, last meeting.

Statements: ``sql/queries/context.sql``; of the profile ``profiles.sql``. Each is asked once for a context, whatever it
holds. A function here adds what it asks to a round trip (``memsvc.db.together``), and gives a function that tells what
came of it once that is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from memsvc.access.users import Owner
from memsvc.db.clock import on_clock
from memsvc.db.files import query
from memsvc.db.short_ids import short_id
from memsvc.db.together import Together
from memsvc.profiles.blocks import Tier, as_block
from memsvc.profiles.read import blocks_asked
from memsvc.recall.items import Item
from memsvc.recall.options import Filters
from memsvc.recall.results import Memory
from memsvc.recall.times_in_words import SITTING, day
from memsvc.times.conditions import Occasion, holds, read_when, why

USER = "user"
"""Who asserts what the owner of a memory, or a person with the owner's key, wrote."""
MOST_INSTRUCTIONS = 100
MOST_SOURCES = 5
LAST_PART = 32_767
"""No part of a message has a higher number."""


def moments(now: datetime, known_at: datetime | None) -> dict[str, Any]:
    """Both times as parameters."""
    return {"now": now, "known_at": known_at}


def last_turns(
    trip: Together, owner: Owner, source_id: UUID, limit: int, times: dict[str, Any], *, said: str | None = None
) -> Callable[[], list[Item]]:
    """The last turns of a conversation to the letter, newest first; no traces, no context blocks.

    Without the message that has the client's id ``said``.
    """
    most = limit if said is None else limit + 1
    parameters = {"user_id": owner.user_id, "source_id": source_id, "limit": most, **times}
    rows = trip.ask(query("context_turns"), parameters)
    return lambda: [
        Item(
            id=f"m:{short_id(row.passage_id)}",
            kind="turn",
            memory_id=row.passage_id,
            text=row.text,
            why="one of the last turns",
            conversation_id=source_id,
            conversation=row.identifier,
            **_said(row),
        )
        for row in rows
        if said is None or row.client_id != said
    ][:limit]


def neighbours(
    trip: Together,
    owner: Owner,
    memories: Sequence[Memory],
    filters: Filters,
    times: dict[str, Any],
    *,
    reach: int = 1,
    said: tuple[UUID | None, str | None] = (None, None),
) -> Callable[[], dict[UUID, list[Item]]]:
    """What stands around each message among the memories and may be recalled, by the memory's id.

    The turn before and the turn after it. With a reach of 2 and more: so many passages on each side, other parts of the
    same message among them. Never the message ``said``: its conversation, and the client's id of it.
    """
    messages = [memory for memory in memories if memory.kind != "fact" and memory.conversation_id is not None]
    if not messages:
        return dict
    parameters = {
        "user_id": owner.user_id,
        "sources": [memory.conversation_id for memory in messages],
        "sessions": [memory.session for memory in messages],
        "ordinals": [memory.ordinal for memory in messages],
        "first_parts": [memory.part if reach > 1 else 0 for memory in messages],
        "last_parts": [memory.part if reach > 1 else LAST_PART for memory in messages],
        "reach": reach,
        "kinds": filters.searched,
        **times,
    }
    rows = trip.ask(query("context_neighbours"), parameters)

    def told() -> dict[UUID, list[Item]]:
        found: dict[UUID, list[Item]] = {}
        for row in rows:
            memory = messages[row.place - 1]
            if filters.in_time(row.said_at) and (None in said or (row.source_id, row.client_id) != said):
                found.setdefault(memory.memory_id, []).append(_neighbour(row, memory))
        return found

    return told


def _neighbour(row: Row[Any], memory: Memory) -> Item:
    where = "before" if (row.ordinal, row.part) < (memory.ordinal, memory.part) else "after"
    return Item(
        id=f"m:{short_id(row.passage_id)}",
        kind="neighbour",
        memory_id=row.passage_id,
        text=row.text,
        why=f"said just {where} m:{short_id(memory.memory_id)}",
        conversation_id=row.source_id,
        conversation=memory.conversation,
        part=row.part,
        **_said(row),
    )


def profile(
    trip: Together, owner: Owner, source_id: UUID | None, known_at: datetime | None
) -> Callable[[], list[Item]]:
    """Core memory, then the working memory of the conversation, as they were known at a time (None: now)."""
    kinds: Sequence[Tier] = ("core",) if source_id is None else ("core", "working")
    rows = trip.ask(*blocks_asked(owner, kinds=kinds, source_id=source_id, known_at=known_at))
    return lambda: [
        Item(
            id=block.id,
            kind="block",
            memory_id=block.block_id,
            name=f"{block.node}, {block.name}" if block.node else block.name,
            text=block.text,
            why="core: always here" if block.kind == "core" else "working: of this conversation",
            sources=[f"m:{short_id(support.passage_id)}" for support in block.evidence[:MOST_SOURCES]],
        )
        for block in map(as_block, rows)
        if block.text
    ]


def instructions(
    trip: Together,
    owner: Owner,
    categories: Sequence[str] | None,
    *,
    core: bool,
    asked: tuple[str, datetime],
    times: dict[str, Any],
    spoken: Callable[[], list[datetime]],
) -> Callable[[], tuple[list[Item], list[Item]]]:
    """Core items (pinned, or of the category core) and instructions of some categories (None: of all).

    Those with a condition count where it holds for what is asked, and when on the user's clock
    (``memsvc.times.conditions``). What the user wrote, or a proposal that a person accepted, is a rule; what an app, an
    extractor or an import wrote is quoted.
    """
    parameters = {
        "user_id": owner.user_id,
        "categories": None if categories is None else list(categories),
        "core": core,
        "limit": MOST_INSTRUCTIONS,
        **times,
    }
    rows = trip.ask(query("context_instructions"), parameters)
    return lambda: _counting(rows, Occasion(*asked, _begins(spoken(), asked[1])), core=core)


def _counting(rows: Sequence[Row[Any]], occasion: Occasion, *, core: bool) -> tuple[list[Item], list[Item]]:
    """Core items, and the other instructions, that count on an occasion."""
    always: list[Item] = []
    others: list[Item] = []
    conditions = {row.node_id: read_when(row.conditions) for row in rows if row.conditions is not None}
    for row in rows:
        when = conditions.get(row.node_id)
        if row.node_id in conditions and (when is None or not holds(when, occasion)):
            continue
        says = f"{row.label}: {row.description}" if row.label and row.description else row.label or row.description
        given = core and row.core
        item = Item(
            id=f"n:{short_id(row.node_id)}",
            kind="node",
            memory_id=row.node_id,
            text=says,
            why=(why(when, occasion) if when is not None else "")
            or ("always given" if given else f"an instruction on {row.category}" if row.category else "an instruction"),
            validity=row.category,
            rule=row.asserted_by == USER,
            rule_since=f"set on {day(row.recorded_from.astimezone(occasion.now.tzinfo))}"
            if row.asserted_by == USER
            else "",
        )
        (always if given else others).append(item)
    return always, others


def spoken(trip: Together, owner: Owner, times: dict[str, Any]) -> Callable[[], list[datetime]]:
    """When the user spoke last, and last before the present sitting, newest first, on the clock of then.

    Looked for among the latest 200 passages.
    """
    parameters = {"user_id": owner.user_id, "sitting": SITTING, **times}
    rows = trip.ask(query("context_spoken"), parameters)
    return lambda: [on_clock(row.said_at, row.said_offset) for row in rows]


def _begins(moments: Sequence[datetime], now: datetime) -> bool:
    """Whether a sitting begins: the user has not spoken for a while."""
    return not moments or now - moments[0] > SITTING


def _said(row: Row[Any]) -> dict[str, Any]:
    return {
        "speaker": row.speaker or row.role,
        "role": row.role,
        "caption": row.caption,
        "session": row.session,
        "ordinal": row.ordinal,
        "said_at": on_clock(row.said_at, row.said_offset),
    }
