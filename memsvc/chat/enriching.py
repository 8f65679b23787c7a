"""Hooks for chat apps that ask a model themselves: what memory knows before it, what was said behind it.

Unlike the drop-in door, a hook that cannot store says so: its caller has nothing else to do here, and can try again.
Recall may fail or be slow all the same; then the message is stored, and the app asks its model without memory.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import UUID

import msgspec

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.chat.afterwards import Afterwards
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import MemsvcError
from memsvc.recall.context import ContextOptions, build_context, check_options
from memsvc.recall.items import ChatMessage, Context, Format
from memsvc.recall.search import QueryEmbedder
from memsvc.recall.signals import record_recall
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, StoredMessage, append, prepare

SLOW, UNKNOWN = "memory_slow", "internal"


class Enrichment(msgspec.Struct, frozen=True, kw_only=True):
    """What memory says to a message."""

    text: str
    """The block for the prompt; empty where memory failed."""
    format: Format
    messages: list[ChatMessage]
    """In the format messages: the block, then the last turns; else empty."""
    tokens: int
    ids: list[str]
    """Short ids of all that stands in it, in its order; GET /v1/memories/{id} opens them."""
    relevant: bool
    """False: nothing that was recalled is likely to answer."""
    recall_id: UUID | None
    """For feedback."""
    degraded: list[str]
    """What could not be asked, or a code that says why there is no block."""
    stored: StoredMessage | None
    """What became of the message; None: it was not to be stored."""


async def enrich(
    db: Database,
    owner: Owner,
    message: MessageIn,
    settings: Settings,
    *,
    options: ContextOptions,
    embedder: QueryEmbedder | None,
    afterwards: Afterwards,
    store: bool = True,
) -> Enrichment:
    """Recall for a message, then store it; committed when this returns.

    Args:
        db: the database.
        owner: whose memory.
        message: what the user says.
        settings: limits; ``chat_memory_ms`` for recall.
        options: what the block holds; last turns of a conversation that does not exist yet are none.
        embedder: gives the query's vector.
        afterwards: notes the recall behind the answer.
        store: False: nothing is written.

    Raises:
        MemsvcError: the message or an option cannot be; or it cannot be stored now.
    """
    prepare([message], owner, settings)
    check_options(options)
    recalled, degraded = await _recalled(
        db, owner, message, settings, options=options, embedder=embedder, afterwards=afterwards
    )
    stored = None
    if store:
        with observe.INGEST_SECONDS.time():
            [stored] = await append(db, owner, [message], settings)
        observe.MESSAGES.labels(outcome=stored.outcome).inc()
    if recalled is None:
        recalled = Context(
            text="", format=options.format, messages=[], tokens=0, budget_tokens=options.budget_tokens, tokenizer="",
            sections=[], memories=[], left_out=0, relevant=False, ambiguous=[], seed=None, degraded=[],
        )  # fmt: skip
    elif recalled.recall_id is not None and recalled.memories:
        afterwards.start(record_recall(db, owner, recalled, door="hook", mode="balanced"))
    return Enrichment(
        text=recalled.text,
        format=recalled.format,
        messages=recalled.messages,
        tokens=recalled.tokens,
        ids=[item.id for section in recalled.sections for item in section.items],
        relevant=recalled.relevant,
        recall_id=recalled.recall_id,
        degraded=[*degraded, *recalled.degraded],
        stored=stored,
    )


async def _recalled(
    db: Database,
    owner: Owner,
    message: MessageIn,
    settings: Settings,
    *,
    options: ContextOptions,
    embedder: QueryEmbedder | None,
    afterwards: Afterwards,
) -> tuple[Context | None, list[str]]:
    """The context, or None and a code that says why there is none."""

    async def work() -> Context:
        chosen = options
        if options.conversation is not None:
            values = {"user_id": owner.user_id, "identifier": options.conversation, "session": message.session}
            async with db.transaction(owner.user_id) as connection:
                known = (await connection.execute(query("chat_last_said"), values)).one_or_none()
            chosen = replace(
                options,
                conversation=str(known.source_id) if known is not None else None,
                recent_turns=options.recent_turns if known is not None else 0,
            )
        asked = (message.text or message.caption or "")[-settings.max_query_chars :]
        with observe.RECALL_SECONDS.labels(door="hook").time():
            return await build_context(db, owner, asked, settings, embedder=embedder, options=chosen)

    task = afterwards.start(work())
    done, _ = await asyncio.wait({task}, timeout=settings.chat_memory_ms / 1000)
    if not done:
        task.cancel()
        return None, [SLOW]
    if (error := task.exception()) is not None:
        return None, [error.code if isinstance(error, MemsvcError) else UNKNOWN]
    return task.result(), []
