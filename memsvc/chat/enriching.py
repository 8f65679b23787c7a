"""Hooks for chat apps that ask a model themselves: recall before the model, storing after it.

Unlike the drop-in endpoint, a hook that cannot store raises an error, so its caller can try again. If recall fails or
is slow, the message is still stored, and the app asks its model without memory.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import msgspec

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.chat.afterwards import Afterwards
from memsvc.chat.forgetting import Fate
from memsvc.chat.reminding import remind
from memsvc.chat.storing import store_noted
from memsvc.db.engine import Database
from memsvc.recall.context import ContextOptions, check_options
from memsvc.recall.items import ChatMessage, Context, Format
from memsvc.recall.search import QueryEmbedder
from memsvc.recall.signals import note_of, record
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, StoredMessage, prepare


class Enrichment(msgspec.Struct, frozen=True, kw_only=True):
    """The context for a message, and the message's receipt."""

    text: str
    """The block for the prompt; empty if recall failed."""
    format: Format
    messages: list[ChatMessage]
    """In the format messages: the block, then the last turns. Otherwise empty."""
    tokens: int
    ids: list[str]
    """Short ids of everything in the block, in its order. GET /v1/memories/{id} opens them."""
    relevant: bool
    """False: no recalled memory is likely to answer."""
    recall_id: UUID | None
    """Names this recall when sending feedback."""
    degraded: list[str]
    """What recall had to do without, or a code that says why there is no block."""
    stored: StoredMessage | None
    """The receipt of the message; None: it was not to be stored."""


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
    fate: Fate | None = None,
) -> Enrichment:
    """Recall for a message, then store it. The message is committed when this returns.

    Args:
        db: the database.
        owner: whose memory.
        message: what the user says.
        settings: limits; ``chat_memory_ms`` for recall.
        options: options of the block. Its conversation is the message's.
        embedder: embeds the query.
        afterwards: holds work that continues after the answer.
        store: False: write nothing.
        fate: whether to erase the conversation later; None: unchanged.

    Raises:
        MemsvcError: the message or an option is invalid, or the message cannot be stored now.
    """
    [prepared] = prepare([message], owner, settings)
    check_options(replace(options, conversation=message.conversation))

    asked = message.text or message.caption or ""
    # The message may be stored already, and must not be recalled for itself. A message that is not to be stored, such
    # as one after a tool's answer, was often stored under another id; then its text identifies it.
    options = replace(options, said=message.id, present=() if store else [asked])
    reminded = remind(
        db, owner, asked, settings, embedder=embedder, options=options, conversation=message.conversation, door="hook"
    )
    recalled, code = await afterwards.within(settings.chat_memory_ms / 1000, reminded, abandon=True)
    note = None
    if recalled is not None and recalled.recall_id is not None and recalled.memories:
        note = note_of(recalled, door="hook", mode=options.mode)
    stored = None
    if store:
        with observe.INGEST_SECONDS.time():
            stored = await store_noted(db, owner, prepared, note, afterwards, fate=fate)
        observe.MESSAGES.labels(outcome=stored.outcome).inc()
    elif note is not None:
        afterwards.start(record(db, owner, note))
    if recalled is None:
        recalled = Context(
            text="", format=options.format, messages=[], tokens=0, budget_tokens=options.budget_tokens, tokenizer="",
            sections=[], memories=[], left_out=0, relevant=False, ambiguous=[], seed=None, degraded=[],
        )  # fmt: skip
    return Enrichment(
        text=recalled.text,
        format=recalled.format,
        messages=recalled.messages,
        tokens=recalled.tokens,
        ids=[item.id for section in recalled.sections for item in section.items],
        relevant=recalled.relevant,
        recall_id=recalled.recall_id,
        degraded=[*([code] if code else []), *recalled.degraded],
        stored=stored,
    )
