"""Recall: the few passages that matter for a query, each with score, reason and source.

The work is one SQL function, ``memsvc.recall`` (``sql/functions/080_recall.sql``). The only model that is asked is the
embedder, for the query's vector; where it does not answer in time, recall goes by words and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.clock import on_clock
from memsvc.db.engine import Database
from memsvc.db.files import query as named
from memsvc.db.storable import check_storable
from memsvc.errors import ConversationUnknownError, InvalidRequestError, TextTooLongError
from memsvc.llm.embedders.residents import QueryVector
from memsvc.settings import Settings

Form = Literal["stemmed", "simple"]
MAX_LIMIT = 1_000
WORDS_WEIGHT = 0.5
"""Chosen on LoCoMo, MADial and BEAM together; docs/adr/0006 has the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What may be recalled; the default is every message."""

    conversations: Sequence[str] = ()
    """Only these, by id or identifier."""
    not_conversations: Sequence[str] = ()
    """None of these."""
    said_from: datetime | None = None
    """Said at this moment or later."""
    said_to: datetime | None = None
    """Said before this moment."""
    traces: bool = False
    """Also what system, tool and thinking roles said."""

    @property
    def kinds(self) -> list[str]:
        """Kinds of passages."""
        return ["message", "trace"] if self.traces else ["message"]


class Memory(msgspec.Struct, kw_only=True, frozen=True):
    """A recalled passage."""

    passage_id: UUID
    conversation_id: UUID
    conversation: str
    session: str
    ordinal: int
    part: int
    message_id: str | None
    speaker: str
    role: str
    text: str
    caption: str | None
    said_at: datetime
    """On the speaker's clock."""
    recorded_at: datetime
    score: float
    """Comparable within one answer; higher is better."""
    arms: dict[str, Any]
    """What each arm found: its score, the form of words that it compared, the model where it is not the active one."""
    matched: list[str]
    """Words of the query that the passage holds."""
    why: str
    """The reason in one line, for people and prompts."""


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """Memories for a query, best first."""

    memories: list[Memory]
    degraded: list[Literal["vector"]]
    """Arms that should have been asked and could not be; what the others found is there."""


class QueryEmbedder(Protocol):
    """What recall needs of embedding models."""

    async def query_vectors(
        self, db: Database, query: str, timeout_ms: int
    ) -> tuple[QueryVector | None, QueryVector | None]:
        """The query's vectors by the active model, and by the one that leaves while another takes over.

        None where there is no such model, or it is missing, fails, or needs longer.
        """


def _reason(matched: Sequence[str], arms: dict[str, Any]) -> str:
    reasons = []
    if matched:
        words = ", ".join(f"“{word}”" for word in matched[:8]) + (" …" if len(matched) > 8 else "")  # noqa: PLR2004
        reasons.append(f"says {words} (words {arms['words']['score']:.2f})")
    if "rank" in arms.get("vector", {}):
        reasons.append(f"is near in meaning (cosine {arms['vector']['score']:.2f})")
    return ", ".join(reasons)


def _memory(row: Row[Any]) -> Memory:
    return Memory(
        passage_id=row.passage_id,
        conversation_id=row.source_id,
        conversation=row.conversation,
        session=row.session,
        ordinal=row.ordinal,
        part=row.part,
        message_id=row.client_id,
        speaker=row.speaker,
        role=row.role,
        text=row.text,
        caption=row.caption,
        said_at=on_clock(row.said_at, row.said_offset),
        recorded_at=row.recorded_at.astimezone(UTC),
        score=row.score,
        arms=row.arms,
        matched=row.matched,
        why=_reason(row.matched, row.arms),
    )


async def _source_ids(connection: AsyncConnection, owner: Owner, wanted: Sequence[str]) -> list[UUID] | None:
    if not wanted:
        return None
    for name in wanted:
        check_storable(name, "conversations")
    rows = await connection.execute(
        named("conversation_ids"), {"user_id": owner.user_id, "wanted": list(dict.fromkeys(wanted))}
    )
    found = {row.wanted: row.source_id for row in rows}
    missing = [name for name in wanted if name not in found]
    if missing:
        raise ConversationUnknownError(f"There is no conversation {missing[0]!r}.", conversation=missing[0])
    return list(found.values())


async def recall(
    db: Database,
    owner: Owner,
    query: str,
    settings: Settings,
    *,
    embedder: QueryEmbedder | None = None,
    limit: int = 10,
    form: Form = "stemmed",
    words_weight: float = WORDS_WEIGHT,
    filters: Filters | None = None,
) -> Recalled:
    """Passages that matter for a query, best first.

    Args:
        db: the database.
        owner: whose memory is asked.
        query: natural language, up to ``settings.max_query_chars``; nothing in it is syntax.
        settings: limits.
        embedder: gives the query's vectors; None: words only.
        limit: at most so many, 1 to 1,000.
        form: stemmed words (a query of stop words only falls back to simple), or simple ones.
        words_weight: share of words in the score, 0 (vectors alone) to 1 (words alone), where there is a vector.
        filters: what may be recalled.

    Returns:
        Up to ``limit`` memories; by words alone, none where no word of the query is known.

    Raises:
        ConversationUnknownError: a filter names a conversation that this user does not have.
        InvalidRequestError, TextTooLongError, InvalidTextError: the query or the limit cannot be used.
    """
    chosen = filters or Filters()
    check_storable(query, "query")
    if len(query) > settings.max_query_chars:
        raise TextTooLongError(f"The query has {len(query):,} characters; at most {settings.max_query_chars:,} fit.")
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidRequestError(f"limit must lie between 1 and {MAX_LIMIT:,}.", field="limit")
    # Before the transaction: no connection is held while a model works.
    active, leaving = None, None
    if embedder is not None:
        active, leaving = await embedder.query_vectors(db, query, settings.query_embedding_ms)
    async with db.transaction(owner.user_id) as connection:
        rows = await connection.execute(
            named("recall"),
            {
                "user_id": owner.user_id,
                "query": query,
                "limit": limit,
                "form": form,
                "language": owner.language,
                "kinds": chosen.kinds,
                "sources": await _source_ids(connection, owner, chosen.conversations),
                "not_sources": await _source_ids(connection, owner, chosen.not_conversations),
                "said_from": chosen.said_from,
                "said_to": chosen.said_to,
                "model": active.model if active else None,
                "vector": active.vector if active else None,
                "other_model": leaving.model if leaving else None,
                "other_vector": leaving.vector if leaving else None,
                "words_weight": words_weight,
            },
        )
        memories = [_memory(row) for row in rows]
    return Recalled(memories=memories, degraded=["vector"] if embedder is not None and active is None else [])
