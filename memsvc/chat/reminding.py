"""Recall for a chat, within a time limit, for a conversation that may not exist yet."""

from __future__ import annotations

from collections.abc import Callable
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


def last_said(trip: Together, owner: Owner, conversation: str, session: str) -> Callable[[], str | None]:
    """Ask for the client's id of what was said last in a session; once that is sent, what it gives tells.

    None: it has none, or nothing was said yet.
    """
    values = {"user_id": owner.user_id, "identifier": conversation, "session": session}
    rows = trip.ask(query("chat_last_said"), values)
    return lambda: rows[0].client_id if rows else None


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
        trip: as ``build_context``.

    Raises:
        MemsvcError: see ``build_context``.
    """
    chosen = replace(options, conversation=conversation, begins=True)
    with observe.RECALL_SECONDS.labels(door=door).time():
        return await build_context(
            db, owner, asked[-settings.max_query_chars :], settings, embedder=embedder, options=chosen, trip=trip
        )
