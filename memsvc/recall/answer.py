"""From the rows of a recall to its answer: reasons, ambiguous names, what was cut, the next page."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import Row

from memsvc.db.clock import on_clock
from memsvc.recall import cursor as cursors
from memsvc.recall.diversity import POOL, diversify
from memsvc.recall.kinds import KNOWN
from memsvc.recall.options import (
    CUT_SHOWN,
    FACTORS,
    LEAST_CONFIDENCE,
    NEAREST_SHOWN,
    QUESTION_CHARS,
    REPEATS_SHOWN,
    Mode,
)
from memsvc.recall.reasons import reason
from memsvc.recall.rerank import ResidentReranker, rerank
from memsvc.recall.results import AmbiguousName, Cut, Degraded, Explanation, Meaning, Memory, NamedNode, Recalled
from memsvc.recall.rows import memory_of
from memsvc.recall.times_in_words import day
from memsvc.times.reading import QueryTimes, TimeWindow


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked, as far as the answer depends on it."""

    query: str
    limit: int
    mode: Mode
    times: QueryTimes
    question: bytes
    """Its digest, for cursors; empty in modes that have no pages."""
    place: cursors.Place | None
    known_at: datetime | None
    """Then memory is looked at; a later page looks at it when the first did."""
    as_of: datetime | None
    order: str
    """Which learnt order counts; empty: none."""
    degraded: list[Degraded]
    explain: bool
    words: Sequence[str]
    """Words of the query that the user's passages hold; only where it is to be explained."""
    least_score: float | None
    """What has less is left out."""
    diversity: float
    fitted: bool
    """Whether confidence means something by the model that gave the query's vector."""


def _memory(
    row: Row[Any], names: Sequence[NamedNode], asked: Asked, weights: Mapping[str, float], now: datetime
) -> Memory:
    arms = dict(row.arms)
    start = row.path[0] if row.path else None
    if (by := arms.get("names")) is not None:
        called = {str(name.node_id): name.name for name in names}
        name = called.get(by["node_id"]) or next((one.name for one in names if one.label == start), None)
        arms["names"] = by | ({"name": name} if name else {})
    memory = memory_of(row, score=row.score, why="", factors=row.factors, now=now)
    if row.factors["time"] > 0 and (window := _window(memory, asked.times.windows)):
        arms["time"] = {"name": window.phrase, "score": round(row.factors["time"] / weights["time"], 4)}
    if row.factors["speaker"] > 0 and memory.kind not in KNOWN:
        own = row.says_i and row.role == "user"
        arms["speaker"] = {"asker": True} if own else {"name": row.speaker}
    last = on_clock(row.last_said, row.said_offset) if row.last_said is not None else None
    again = f"; said {row.times} times, last on {day(last)}" if last is not None else ""
    why = _whence(memory) + reason(row.matched, arms, row.factors, row.path, memory.kind) + again
    return msgspec.structs.replace(
        memory,
        arms=arms,
        matched=row.matched,
        path=row.path,
        why=why,
        count=row.times,
        last_said=last,
        repeats=row.others[:REPEATS_SHOWN],
    )


def _window(memory: Memory, windows: Sequence[TimeWindow]) -> TimeWindow | None:
    """The time of the query that fits a memory best: it was said, or the fact began or ended, in it or next to it."""
    fact = memory.fact
    moments = [memory.said_at] if fact is None else [end for end in (fact.valid_from, fact.valid_to) if end]

    def distance(window: TimeWindow) -> tuple[timedelta, timedelta]:
        away = min(max(window.begin - moment, moment - window.end, timedelta()) for moment in moments)
        return away, window.end - window.begin  # of two that hold it, the narrower one

    return min(windows, key=distance) if windows and moments else None


def _whence(memory: Memory) -> str:
    """Where a block comes from; what people said says that by itself."""
    return f"from the archived block {memory.speaker}: " if memory.kind == "block" else ""


def _names(found: Iterable[Mapping[str, Any]] | None) -> list[NamedNode]:
    return [
        NamedNode(
            name=one["name"], node_id=UUID(one["node_id"]), label=one["label"] or "", similarity=one["similarity"]
        )
        for one in found or ()
    ]


def _ambiguous(found: Iterable[Mapping[str, Any]] | None, evidence: Mapping[str, list[str]]) -> list[AmbiguousName]:
    meanings: dict[str, list[Meaning]] = {}
    for one in found or ():
        if one["ambiguous"]:
            meaning = Meaning(
                node_id=UUID(one["node_id"]),
                type=one["type"] or "",
                label=one["label"] or "",
                evidence=evidence.get(one["node_id"], []),
            )
            meanings.setdefault(one["name"], []).append(meaning)
    return [AmbiguousName(name=name, meanings=every) for name, every in meanings.items()]


def _explanation(
    asked: Asked, first: Row[Any], memories: Sequence[Memory], kept: Sequence[Memory], alike: Sequence[Memory]
) -> Explanation:
    told = {memory.memory_id for memory in (*kept, *alike)}
    behind = [memory for memory in memories if memory.memory_id not in told][:CUT_SHOWN]
    return Explanation(
        words=list(dict.fromkeys([*(word for memory in memories for word in memory.matched), *asked.words])),
        names=_names(first.names),
        times=[{"phrase": window.phrase, "from": window.begin, "to": window.end} for window in asked.times.windows],
        weights={name: round(weight, 4) for name in FACTORS if (weight := (first.weights or {}).get(name))},
        order=asked.order,
        found=first.met or {},
        threshold=LEAST_CONFIDENCE if len(asked.query) <= QUESTION_CHARS else None,
        cut=[
            *(Cut(memory=memory, reason="too like another") for memory in alike),
            *(
                Cut(memory=memory, reason="behind the limit" if _fits(memory, kept, asked) else "below the threshold")
                for memory in behind
            ),
        ],
    )


def _fits(memory: Memory, kept: Sequence[Memory], asked: Asked) -> bool:
    """Whether a memory would be in the answer if that could be longer."""
    scores = asked.least_score is None or memory.score >= asked.least_score
    return scores and len(kept) >= asked.limit


async def answer(rows: Sequence[Row[Any]], asked: Asked, reranker: ResidentReranker | None) -> Recalled:
    """The answer that the rows give.

    Args:
        rows: of the statement ``recall``: one at least, with the names of the query.
        asked: what was asked.
        reranker: puts the best into another order; None: they stay.
    """
    first = rows[0]
    moment = asked.known_at or first.asked_at.astimezone(UTC)
    names = _names(first.names)
    memories = [
        _memory(row, names, asked, first.weights, asked.as_of or moment) for row in rows if row.memory_id is not None
    ]
    degraded = list(asked.degraded)
    if reranker is not None and memories:
        reranked = await rerank(memories, asked.query, reranker)
        degraded += ["reranker"] if reranked is None else []
        memories = memories if reranked is None else reranked
    found = memories
    if asked.least_score is not None:
        memories = [memory for memory in found if memory.score >= asked.least_score]
    confidence = first.answers if memories and asked.fitted else None
    doubtful = confidence is not None and confidence < LEAST_CONFIDENCE and len(asked.query) <= QUESTION_CHARS
    relevant = bool(memories) and not doubtful
    begun = asked.place or cursors.Place(known_at=moment, given=(), confidence=confidence, relevant=relevant)
    limit = asked.limit if begun.relevant or asked.place is not None else min(asked.limit, NEAREST_SHOWN)
    if asked.diversity and limit > POOL:  # many are compared with each other: of a thousand for seconds
        kept, alike = await asyncio.to_thread(diversify, memories, limit, asked.diversity)
    else:
        kept, alike = diversify(memories, limit, asked.diversity)
    return Recalled(
        memories=kept,
        degraded=degraded,
        confidence=begun.confidence,
        relevant=begun.relevant,
        ambiguous=_ambiguous(first.names, first.evidence or {}),
        next_cursor=cursors.next_cursor(
            begun,
            [memory.memory_id for memory in kept],
            asked.question,
            more=asked.mode == "deliberate" and len(memories) > len(kept),
            repeats=(repeat for memory in kept for repeat in memory.repeats),
        ),
        explanation=_explanation(asked, first, found, kept, alike) if asked.explain else None,
    )
