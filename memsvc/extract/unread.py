"""Turns of a source that are to be read next, from ``passages``: one window at a time, with what stands before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.clock import on_clock
from memsvc.db.files import query
from memsvc.extract.window import Turn

MOST_TURNS = 12
MOST_CHARS = 6_000
"""A window ends where the next turn would take it past one of these; a single turn may be longer."""
TURNS_BEFORE = 6
NOTHING = UUID(int=0)
"""How far somebody has read who has read nothing."""
ASSISTANT, SOMEBODY = "assistant", "somebody"
"""What speakers without a name are called."""


class Turns(msgspec.Struct, frozen=True, kw_only=True):
    """A window's turns, in the order in which they arrived; ``grounding`` puts them in that in which they were said."""

    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]
    upto: UUID
    """How far the source had been read when they were taken."""
    over: tuple[UUID, ...] = ()
    """Passages between that place and the first turn that cannot be read; they are tried again by themselves."""
    again: bool = False
    """One turn that was passed over and is tried again; ``upto`` does not count."""
    rereading: UUID | None = None
    """The re-reading that they are a part of: an older version of the extractor has read them."""

    @property
    def passages(self) -> list[UUID]:
        """Ids of those that are to be read."""
        return [turn.passage_id for turn in self.turns]


def turn_of(row: Any, opening: str = "") -> Turn:
    """A passage as a turn. Roles that are nobody's but a person's are ``user``; speakers without a name get one."""
    role = "user" if row.role == "other" else row.role
    speaker = row.speaker or (ASSISTANT if role == ASSISTANT else SOMEBODY if row.role == "other" else "")
    return Turn(
        passage_id=row.passage_id,
        speaker=speaker,
        role=role,
        other=row.role == "other",
        text=row.text,
        opening=opening,
        caption=row.caption or "",
        said_at=on_clock(row.said_at, row.said_offset),
        language=row.language,
    )


def first_window(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """As many turns from the first one on as fit a window."""
    length = 0
    for place, turn in enumerate(turns[:MOST_TURNS]):
        length += len(turn.text)
        if place and length > MOST_CHARS:
            return tuple(turns[:place])
    return tuple(turns[:MOST_TURNS])


async def next_turns(connection: AsyncConnection, owner: Owner, source_id: UUID, extractor: str) -> Turns | None:
    """The turns that an extractor reads next of a source; None: there are none."""
    values = {
        "user_id": owner.user_id, "source_id": source_id, "extractor": extractor, "before": TURNS_BEFORE,
        "limit": MOST_TURNS,
    }  # fmt: skip
    # The place first: whoever moves it between the two statements makes the window one that is read again.
    upto = (await connection.execute(query("read_upto"), values)).scalar_one_or_none()
    rows = (await connection.execute(query("turns_to_read"), values)).all()
    return _window(rows, upto or NOTHING)


def _window(rows: Sequence[Any], upto: UUID, rereading: UUID | None = None) -> Turns | None:
    turns = first_window([turn_of(row, row.opening) for row in rows if not row.read])
    before = tuple(turn_of(row, row.opening) for row in rows if row.read)
    return Turns(turns=turns, before=before, upto=upto, rereading=rereading) if turns else None


async def turns_between(
    connection: AsyncConnection,
    owner: Owner,
    source_id: UUID,
    after: UUID,
    until: UUID,
    *,
    rereading: UUID | None = None,
) -> Turns | None:
    """The turns that a re-reading reads next of a source, up to the passage ``until``; None: there are none."""
    values = {
        "user_id": owner.user_id, "source_id": source_id, "after": after, "until": until, "before": TURNS_BEFORE,
        "limit": MOST_TURNS,
    }  # fmt: skip
    return _window((await connection.execute(query("turns_to_reread"), values)).all(), after, rereading)


async def turn_again(
    connection: AsyncConnection, owner: Owner, passage_id: UUID, *, rereading: UUID | None = None
) -> Turns | None:
    """A turn that was passed over, alone; None: it is not there any more."""
    values = {"user_id": owner.user_id, "passage_id": passage_id}
    row = (await connection.execute(query("turn_to_read"), values)).one_or_none()
    if row is None:
        return None
    return Turns(turns=(turn_of(row, row.opening),), before=(), upto=NOTHING, again=True, rereading=rereading)
