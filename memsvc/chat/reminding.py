"""Recall for a chat, within a time limit, for a conversation that may not exist yet."""

from __future__ import annotations

from dataclasses import replace

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.together import Together
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context
from memsvc.recall.search import QueryEmbedder
from memsvc.settings import Settings


async def last_said(db: Database, owner: Owner, conversation: str, session: str) -> str | None:
    """The client's id of what was said last in a session; None: it has none, or nothing was said yet."""
    values = {"user_id": owner.user_id, "identifier": conversation, "session": session}
    trip = Together(db, owner.user_id, keep_plans=True)
    rows = trip.ask(query("chat_last_said"), values)
    await trip.send()
    return rows[0].client_id if rows else None


async def remind(
    db: Database,
    owner: Owner,
    asked: str,
    settings: Settings,
    *,
    embedder: QueryEmbedder | None,
    options: ContextOptions,
    conversation: str,
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
        conversation: its identifier; it may not exist yet.
        door: for metrics.

    Raises:
        MemsvcError: see ``build_context``.
    """
    chosen = replace(options, conversation=conversation, begins=True)
    with observe.RECALL_SECONDS.labels(door=door).time():
        return await build_context(
            db, owner, asked[-settings.max_query_chars :], settings, embedder=embedder, options=chosen
        )
