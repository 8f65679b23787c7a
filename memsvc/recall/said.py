"""What was said at a time, where a question asks for that alone (``memsvc.recall.asks_said``).

Such a question has no words that anything could be found by: what is nearest to it is any talk about talking. So what
was said then is looked up by its time, and comes first, in the order in which it was said. If there is more than fits,
the days take turns, and each gives the latest first. Facts and notes of that time come behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import Row

from memsvc.recall.answer import Asked
from memsvc.recall.asks_said import SaidThen
from memsvc.recall.cursor import Place, next_cursor
from memsvc.recall.options import FACTORS
from memsvc.recall.reasons import AT_THE_TIME, reason
from memsvc.recall.results import Memory, Recalled
from memsvc.recall.rows import memory_of
from memsvc.recall.with_summaries import InShort, with_summaries

SPOKEN = ("message", "trace")
"""Kinds of what was said."""
BEHIND = frozenset({"fact", "note"})
"""Kinds of other memories that come behind it, if they are of that time."""


def asked(then: SaidThen, values: Mapping[str, Any], zone: str, limit: int) -> dict[str, Any]:
    """What the statement ``said_at_times`` is given.

    Args:
        then: what is asked for.
        values: the parameters of the statement ``recall`` for the same question.
        zone: the user's time zone, on whose days turns are taken.
        limit: rows.
    """
    scope = msgspec.json.decode(values["scope"])
    kinds = [kind for kind in values["kinds"] if kind in SPOKEN]
    return {
        "user_id": values["user_id"],
        "begins": [one.begin for one in then.windows],
        "ends": [one.end for one in then.windows],
        "scope": msgspec.json.encode({**scope, "kinds": kinds}).decode(),
        "role": then.role,
        "zone": zone,
        "given": values["given"],
        "limit": limit,
        "as_of": values["as_of"],
        "known_at": values["known_at"],
    }


def memories_of(rows: Sequence[Row[Any]], then: SaidThen, now: datetime) -> list[Memory]:
    """The rows of ``said_at_times`` as memories, in the order of the rows."""
    points = FACTORS["time"].weight
    found = []
    for row in rows:
        memory = memory_of(row, score=points, why="", factors={"time": points}, now=now)
        phrase = next((one.phrase for one in then.windows if one.begin <= row.said_at < one.end), "")
        arms = {"time": {"name": phrase, "score": 1.0}}
        why = reason([], arms, memory.factors, [], memory.kind)
        found.append(msgspec.structs.replace(memory, arms=arms, why=why))
    return found


def with_said(
    told: Recalled,
    said: Sequence[Memory],
    then: SaidThen,
    asked: Asked,
    in_short: InShort,
) -> Recalled:
    """An answer of what was said at a time, in its order, and behind it of what else is known of that time.

    Args:
        told: the answer that recall gives otherwise.
        said: what was said then, in the order in which it gets room; more than the limit where not all of it fits.
        then: the time.
        asked: what was asked.
        in_short: summaries that were recalled, and what they quote; those of that time stand before what was said where
            not all of that fits.
    """
    summaries, quotes = in_short
    chosen = list(said[: asked.limit])
    if len(said) > asked.limit and summaries:
        of_then = [one for one in summaries if then.is_in(one.said_at)]
        chosen = with_summaries("overview", of_then, said, quotes, asked.limit)
    summed = [one for one in chosen if one.kind == "summary"]
    chosen = [*summed, *sorted((one for one in chosen if one.kind != "summary"), key=_place)]
    known = [one for one in told.memories if one.kind in BEHIND and _fits(one)]
    memories = [*chosen, *known][: asked.limit]
    explanation = told.explanation
    if explanation is not None:
        kept = {one.memory_id for one in memories}
        cut = [one for one in explanation.cut if one.memory.memory_id not in kept]
        explanation = msgspec.structs.replace(explanation, cut=cut)
    begun = asked.place or Place(known_at=asked.known_at or datetime.now(UTC), given=(), relevant=bool(said))
    return msgspec.structs.replace(
        told,
        memories=memories,
        relevant=bool(said),
        confidence=None,
        explanation=explanation,
        next_cursor=next_cursor(
            begun,
            [one.memory_id for one in memories],
            asked.question,
            more=asked.mode == "deliberate" and len(said) > asked.limit,
        ),
    )


def _fits(memory: Memory) -> bool:
    """Whether a memory that recall found is of the time, and not only near to it."""
    return bool(memory.arms.get("time", {}).get("score", 0.0) >= AT_THE_TIME)


def _place(memory: Memory) -> tuple[datetime, str, int, int]:
    """The place of a message in the order of what was said."""
    return (memory.said_at, memory.conversation, memory.ordinal, memory.part)


def by_turns(memories: Sequence[Memory]) -> list[Memory]:
    """Memories in the order in which they get room: the days take turns, and each gives the latest first."""
    turns: Counter[object] = Counter()
    order: list[tuple[int, int, Memory]] = []
    for one in sorted(memories, key=_place, reverse=True):
        order.append((turns[one.said_at.date()], len(order), one))
        turns[one.said_at.date()] += 1
    return [one for *_, one in sorted(order, key=lambda place: place[:2])]
