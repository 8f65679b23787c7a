"""Recall for a chat, within a time limit, for a conversation that may not exist yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context
from memsvc.recall.search import QueryEmbedder
from memsvc.settings import Settings


@dataclass(frozen=True, slots=True)
class LastSaid:
    """A conversation, and what was said last in a session of it."""

    source_id: UUID
    client_id: str | None
    """The client's id of that; None: nothing was said in this session, or it has none."""


async def last_said(db: Database, owner: Owner, conversation: str, session: str) -> LastSaid | None:
    """A conversation by its identifier; None: there is none yet."""
    values = {"user_id": owner.user_id, "identifier": conversation, "session": session}
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("chat_last_said"), values)).one_or_none()
    return LastSaid(row.source_id, row.client_id) if row is not None else None


async def remind(
    db: Database,
    owner: Owner,
    asked: str,
    settings: Settings,
    *,
    embedder: QueryEmbedder | None,
    options: ContextOptions,
    known: LastSaid | None,
    door: str,
) -> Context:
    """A context for what is said in a chat.

    Args:
        db: the database.
        owner: whose memory.
        asked: what is said; of very long words the last ones count.
        settings: limits.
        embedder: gives the query's vector.
        options: what the block holds, but the conversation.
        known: the conversation; None: it does not exist yet, and has no last turns.
        door: for metrics.

    Raises:
        MemsvcError: see ``build_context``.
    """
    chosen = replace(
        options,
        conversation=str(known.source_id) if known is not None else None,
        recent_turns=options.recent_turns if known is not None else 0,
    )
    with observe.RECALL_SECONDS.labels(door=door).time():
        return await build_context(
            db, owner, asked[-settings.max_query_chars :], settings, embedder=embedder, options=chosen
        )
