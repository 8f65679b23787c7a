"""Rows of ``memsvc.memories_shown`` as memories: the one place that knows which column is which field."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import Row

from memsvc.db.clock import on_clock
from memsvc.recall.results import Memory, RecalledFact, Times
from memsvc.sources.document_reads import ChunkPlace

FILED = ("block", "former")
"""Kinds of passages of blocks in the archive: what they say now, and what they said before."""


def fact_of(row: Row[Any]) -> RecalledFact | None:
    """The fact behind a row; None: it is a message."""
    if row.version_id is None:
        return None
    return RecalledFact(
        version_id=row.version_id,
        edge_id=row.edge_id,
        type=row.edge_type,
        from_node=row.from_node,
        from_label=row.from_label,
        to_node=row.to_node,
        to_label=row.to_label,
        valid_from=_in_utc(row.valid_from),
        valid_to=_in_utc(row.valid_to),
        confidence=row.confidence,
        contested=row.contested,
        certainty=row.certainty,
        times=_times(row.exactness),
    )


def _times(told: object) -> Times | msgspec.UnsetType:
    """How exactly a fact's times are known; whoever writes facts may put anything into their data."""
    try:
        return msgspec.UNSET if told is None else msgspec.convert(told, Times)
    except msgspec.ValidationError:
        return msgspec.UNSET


def memory_of(row: Row[Any], *, score: float, why: str, factors: dict[str, float], now: datetime) -> Memory:
    """The memory of a row.

    Args:
        row: with the columns of ``memsvc.memories_shown``, and ``remark`` and ``whole`` of ``memsvc.overtaken``.
        score: the sum of the factors.
        why: the reason in one line.
        factors: points that each factor gave; their sum is the score.
        now: the moment that is asked about; a fact that has ended by then is stale, as is a message under such facts
            alone.
    """
    fact = fact_of(row)
    filed = row.kind in FILED
    document = msgspec.convert(row.document, ChunkPlace) if row.document is not None else None
    spoken = not filed and row.node_id is None and document is None
    return Memory(
        kind="block" if filed else row.kind,
        memory_id=row.memory_id,
        passage_id=row.passage_id,
        block_id=row.source_id if filed else None,
        node_id=row.node_id,
        node_type=row.node_type,
        conversation_id=row.source_id if spoken else None,
        conversation=row.conversation if spoken else "",
        session=row.session if row.node_id is None and document is None else "",
        ordinal=row.ordinal,
        part=row.part,
        message_id=row.client_id,
        speaker=row.speaker if document is None else document.title,
        role=row.role,
        text=row.text,
        caption=row.caption if document is None else None,
        said_at=on_clock(row.said_at, row.said_offset),
        recorded_at=row.recorded_at.astimezone(UTC),
        score=score,
        arms={},
        factors=factors,
        matched=[],
        why=why,
        remark=row.remark or "",
        stale=bool(row.whole) if fact is None else fact.valid_to is not None and fact.valid_to <= now,
        fact=fact,
        document=document,
    )


def _in_utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC)
