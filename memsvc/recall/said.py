"""What was said at a time, where a question asks for that alone (``memsvc.recall.asks_said``).

Such a question has no words that anything could be found by: what is nearest to it is any talk about talking. So what
was said then is looked up by its time, and comes first, in the order in which it was said. If there is more than fits,
the days take turns, and each gives the latest first. Facts and notes of that time come behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from sqlalchemy import Row

from memsvc.access.users import Owner
from memsvc.db.files import query as named
from memsvc.db.together import Together
from memsvc.recall.answer import Asked
from memsvc.recall.asks_said import SaidThen
from memsvc.recall.cursor import Place, next_cursor
from memsvc.recall.kinds import Kind
from memsvc.recall.options import FACTORS, Filters
from memsvc.recall.reasons import AT_THE_TIME, reason
from memsvc.recall.results import Memory, Recalled
from memsvc.recall.rows import memory_of
from memsvc.recall.with_summaries import LOOKED_AT, Quotes, with_summaries
from memsvc.summaries.stored import WRITER

SPOKEN = ("message", "trace")
"""Kinds of what was said."""
BEHIND: tuple[Kind, ...] = ("fact", "note")
"""Kinds of other memories that come behind it, if they are of that time."""


class Beside(NamedTuple):
    """What tells of a time beside what was said then."""

    summaries: Sequence[Memory] = ()
    quotes: Mapping[UUID, Quotes] = MappingProxyType({})
    """What the summaries quote."""
    known: Sequence[Memory] = ()
    """Of other kinds, best first; not all of it is of that time."""


def ask_times(
    trip: Together, owner: Owner, then: SaidThen | None, filters: Filters, values: Mapping[str, Any], *, limit: int
) -> tuple[list[Any], list[Any]]:
    """Ask for what was said at a time, and for the summaries of that time.

    Args:
        trip: asked here, and sent by the caller.
        owner: whose memory; days are those of this user's clock.
        then: what is asked for; None: nothing.
        filters: of the request; where they narrow, there are no summaries, which tell more than the filters let.
        values: the parameters of the statement ``recall`` for the same question.
        limit: at most so many messages.
    """
    if then is None:
        return [], []
    times = {
        "user_id": owner.user_id,
        "begins": [one.begin for one in then.windows],
        "ends": [one.end for one in then.windows],
        "as_of": values["as_of"],
    }
    kinds = [kind for kind in values["kinds"] if kind in SPOKEN]
    scope = msgspec.json.encode({**msgspec.json.decode(values["scope"]), "kinds": kinds}).decode()
    rest = {"scope": scope, "role": then.role, "given": values["given"], "known_at": values["known_at"], "limit": limit}
    said = trip.ask(named("said_at_times"), {**times, **rest, "zone": owner.time_zone})
    narrowed = filters.narrows or any(
        (filters.kinds, filters.conversations, filters.not_conversations, filters.said_from, filters.said_to,
         filters.known_at)
    )  # fmt: skip
    if narrowed:
        return said, []
    return said, trip.ask(named("summaries_of_times"), {**times, "writer": WRITER, "limit": LOOKED_AT})


def memories_of(rows: Sequence[Row[Any]], then: SaidThen, now: datetime) -> list[Memory]:
    """The rows of ``said_at_times`` or ``summaries_of_times`` as memories, in the order of the rows."""
    points = FACTORS["time"].weight
    found = []
    for row in rows:
        memory = memory_of(row, score=points, why="", factors={"time": points}, now=now)
        inside = (one.phrase for one in then.windows if one.begin <= row.said_at < one.end)
        arms = {"time": {"name": next(inside, then.windows[0].phrase), "score": 1.0}}
        why = reason([], arms, memory.factors, [], memory.kind)
        found.append(msgspec.structs.replace(memory, arms=arms, why=why))
    return found


def with_said(told: Recalled, said: Sequence[Memory], asked: Asked, beside: Beside) -> Recalled:
    """An answer of what was said at a time, in its order, with what else tells of that time.

    Args:
        told: the answer that recall gives otherwise.
        said: what was said then, in the order in which it gets room; more than the limit where not all of it fits.
        asked: what was asked.
        beside: summaries of that time, which stand before what was said where not all of that fits; and what was
            recalled of other kinds, of which the rest of the answer is what fits the time.
    """
    chosen = list(said[: asked.limit])
    if len(said) > asked.limit:
        chosen = with_summaries("overview", beside.summaries, said, beside.quotes, asked.limit)
    first = [one for one in chosen if one.kind == "summary"]
    spoken = sorted((one for one in chosen if one.kind != "summary"), key=_place)
    memories = [*first, *spoken, *filter(_fits, beside.known)][: asked.limit]
    explanation = told.explanation
    if explanation is not None:
        kept = {one.memory_id for one in memories}
        cut = [one for one in explanation.cut if one.memory.memory_id not in kept]
        explanation = msgspec.structs.replace(explanation, cut=cut)
    begun = asked.place or Place(known_at=asked.known_at or datetime.now(UTC), given=(), relevant=bool(said))
    given, more = [one.memory_id for one in memories], asked.mode == "deliberate" and len(said) > asked.limit
    return msgspec.structs.replace(
        told,
        memories=memories,
        relevant=bool(said),
        confidence=None,
        explanation=explanation,
        next_cursor=next_cursor(begun, given, asked.question, more=more),
    )


def _fits(memory: Memory) -> bool:
    """Whether a memory that recall found is of the time, and not only near to it."""
    return bool(memory.arms.get("time", {}).get("score", 0.0) >= AT_THE_TIME)


def _place(memory: Memory) -> tuple[datetime, str, int, int]:
    """The place of a message in the order of what was said."""
    return (memory.said_at, memory.conversation, memory.ordinal, memory.part)


def by_turns(memories: Sequence[Memory]) -> list[Memory]:
    """Memories in the order in which they get room: what was said, of each day in turn the latest; then all others."""
    turns: Counter[object] = Counter()
    order: list[tuple[int, int, Memory]] = []
    others = [one for one in memories if one.kind not in SPOKEN]
    for one in sorted((one for one in memories if one.kind in SPOKEN), key=_place, reverse=True):
        order.append((turns[one.said_at.date()], len(order), one))
        turns[one.said_at.date()] += 1
    return [*(one for *_, one in sorted(order, key=lambda place: place[:2])), *others]
