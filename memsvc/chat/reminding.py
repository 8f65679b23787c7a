"""Recall for a chat, within a time limit, for a conversation that may not exist yet."""

from __future__ import annotations

from dataclasses import replace

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.together import Together
from memsvc.recall import salient
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context
from memsvc.recall.search import QueryEmbedder
from memsvc.settings import Settings


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
    trip: Together | None = None,
) -> Context:
    """Build a context for a message in a chat.

    Args:
        db: the database.
        owner: whose memory.
        asked: the message. Of a very long one only the end counts.
        settings: limits.
        embedder: embeds the query.
        options: options of the block, except the conversation.
        conversation: its identifier. It need not exist yet.
        door: for metrics.
        trip: as ``build_context``.

    Raises:
        MemsvcError: see ``build_context``.
    """
    chosen = replace(options, conversation=conversation, begins=True)
    with observe.RECALL_SECONDS.labels(door=door).time():
        return await build_context(
            db,
            owner,
            asked[-settings.max_query_chars :],
            settings,
            embedder=embedder,
            options=chosen,
            salient=salient,
            trip=trip,
        )
