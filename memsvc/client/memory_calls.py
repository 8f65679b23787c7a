"""The calls about messages, recall, chats, forgetting, users and keys, as in ``memsvc.client.calls``."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar
from uuid import UUID

from memsvc.access.pausing import Pause
from memsvc.access.policies import Policies
from memsvc.access.users import User
from memsvc.chat.answering import MemoryAnswer
from memsvc.chat.enriching import Enrichment
from memsvc.chat.forgetting import Forget
from memsvc.chat.verifying import Verified
from memsvc.client import options as o
from memsvc.client.calls import Call, at, once, read
from memsvc.client.results import NewKey, Preview, SessionEnded, Stored
from memsvc.db.paging import Page
from memsvc.erasing.memories import Receipt
from memsvc.profiles.blocks import Block
from memsvc.recall.agenda import AgendaPage
from memsvc.recall.items import Context
from memsvc.recall.results import Recalled
from memsvc.recall.signals import FeedbackReceipt, MarkedMemory
from memsvc.recall.timeline import Kind, Step, TimelineCounts, TimelineEntry, TimelineNews
from memsvc.sources.messages import MessageIn, StoredMessage
from memsvc.sources.opening import OpenedMemory
from memsvc.sources.read import Conversation, Message
from memsvc.summaries.periods import Level
from memsvc.summaries.stored import Summary
from memsvc.text.policy import Treatment
from memsvc.turns.past import PastWork
from memsvc.turns.storing import StoredTurn, TurnIn

T = TypeVar("T")
Forgettable = Literal["message", "passage", "source", "conversation", "fact", "node"]

# Messages and recall


def add_messages(messages: Iterable[MessageIn | Mapping[str, Any]]) -> Call[Stored]:
    """Store messages."""
    return once("/v1/messages", Stored, {"messages": list(messages)})


def recall(query: str, options: o.RecallOptions) -> Call[Recalled]:
    """Recall memories for a query."""
    return Call("POST", "/v1/recall", Recalled, {"query": query, **options}, repeatable=True)


def context(query: str, options: o.ContextOptions) -> Call[Context]:
    """Build a block for a prompt."""
    return Call("POST", "/v1/context", Context, {"query": query, **options}, repeatable=True)


def mark_memory(memory_id: str | UUID, options: o.MarkOptions) -> Call[MarkedMemory]:
    """Pin a memory, or say how important it is."""
    return Call("PATCH", at("/v1/memories/{}", memory_id), MarkedMemory, {**options}, repeatable=True)


def promote_memory(memory_id: str | UUID, block: str) -> Call[Block]:
    """Promote a memory into core memory."""
    return Call("POST", at("/v1/memories/{}/promote", memory_id), Block, {"block": block}, repeatable=True)


def pause(until: o.Time | None) -> Call[Pause]:
    """Store no messages."""
    return Call("PUT", "/v1/me/pause", Pause, {"until": until}, repeatable=True)


def policy() -> Call[Policies]:
    """Get what happens to secrets in text."""
    return Call("GET", "/v1/me/policy", Policies)


def set_policy(kinds: Mapping[str, Treatment]) -> Call[Policies]:
    """Have secrets masked or refused."""
    return Call("PUT", "/v1/me/policy", Policies, {"kinds": dict(kinds)}, repeatable=True)


def resume() -> Call[Pause]:
    """Store messages again."""
    return Call("DELETE", "/v1/me/pause", Pause, repeatable=True)


def agenda(
    begin: o.Time, end: o.Time, asked_at: o.Time | None, limit: int, cursor: str | None = None
) -> Call[AgendaPage]:
    """List what falls into a span of time."""
    query = {"from": begin, "to": end, "asked_at": asked_at, "limit": limit, "cursor": cursor}
    return read("/v1/agenda", AgendaPage, query)


def summaries(
    level: Level | None,
    span: tuple[o.Time | None, o.Time | None],
    node: str | UUID | None,
    limit: int,
    cursor: str | None = None,
) -> Call[Page[Summary]]:
    """List what sleep mode tells of periods."""
    query = {"level": level, "from": span[0], "to": span[1], "node": node, "limit": limit, "cursor": cursor}
    return read("/v1/summaries", Page[Summary], query)


def timeline(
    span: tuple[o.Time | None, o.Time | None], kinds: Iterable[Kind] | None, node: UUID | str | None, limit: int
) -> Call[Page[TimelineEntry]]:
    """List what happened."""
    return read("/v1/timeline", Page[TimelineEntry], _happened(span, kinds, node) | {"limit": limit})


def timeline_counts(
    step: Step, span: tuple[o.Time | None, o.Time | None], kinds: Iterable[Kind] | None, node: UUID | str | None
) -> Call[TimelineCounts]:
    """Count what happened by periods."""
    return read("/v1/timeline/counts", TimelineCounts, _happened(span, kinds, node) | {"step": step})


def _happened(
    span: tuple[o.Time | None, o.Time | None], kinds: Iterable[Kind] | None, node: UUID | str | None
) -> dict[str, Any]:
    return {"from": span[0], "to": span[1], "kind": None if kinds is None else list(kinds), "node": node}


def news(since: o.Time) -> Call[TimelineNews]:
    """Count what was stored since a moment."""
    return read("/v1/timeline/news", TimelineNews, {"since": since})


def open_memory(memory_id: str | UUID, before: int, after: int) -> Call[OpenedMemory]:
    """Open the memory with an id."""
    return read(at("/v1/memories/{}", memory_id), OpenedMemory, {"before": before, "after": after})


def conversations(limit: int) -> Call[Page[Conversation]]:
    """List conversations, newest first."""
    return read("/v1/conversations", Page[Conversation], {"limit": limit})


def messages(conversation: str | UUID, limit: int) -> Call[Page[Message]]:
    """List the messages of a conversation."""
    return read(at("/v1/conversations/{}/messages", conversation), Page[Message], {"limit": limit})


def feedback(recall_id: UUID, used: Iterable[UUID], irrelevant: Iterable[UUID]) -> Call[FeedbackReceipt]:
    """Record which memories were useful. Repeated feedback counts once."""
    body = {"used": list(used), "irrelevant": list(irrelevant)}
    return Call("POST", at("/v1/recalls/{}/feedback", recall_id), FeedbackReceipt, body, repeatable=True)


# Chats


def answer(query: str, options: o.AnswerOptions) -> Call[MemoryAnswer]:
    """Answer a question from memory."""
    return Call("POST", "/v1/answer", MemoryAnswer, {"query": query, **options}, repeatable=True)


def verify(claim: str, options: o.VerifyOptions) -> Call[Verified]:
    """Verify a claim."""
    return Call("POST", "/v1/verify", Verified, {"claim": claim, **options}, repeatable=True)


def record_turn(turn: TurnIn | Mapping[str, Any]) -> Call[StoredTurn]:
    """Store a turn of an agent; one with an id can be sent again."""
    given = turn if isinstance(turn, TurnIn) else TurnIn(**turn)
    return Call("POST", "/v1/turns", StoredTurn, given, repeatable=given.id is not None)


def past_work(query: str, options: o.PastWorkOptions) -> Call[PastWork]:
    """Ask for past work."""
    return Call("POST", "/v1/past-work", PastWork, {"query": query, **options}, repeatable=True)


def enrich(text: str, conversation: str, options: o.EnrichOptions) -> Call[Enrichment]:
    """Recall what a model should know before it answers, and store the message."""
    return _said("/v1/hooks/message", Enrichment, text, conversation, options)


def responded(text: str, conversation: str, options: o.SaidOptions) -> Call[StoredMessage]:
    """Store the model's answer."""
    return _said("/v1/hooks/response", StoredMessage, text, conversation, options)


def _said(path: str, answer: type[T], text: str, conversation: str, options: Mapping[str, Any]) -> Call[T]:
    """Build a call with a message. A missing id is drawn, so the call can be repeated."""
    named = options.get("message_id")
    known = secrets.token_hex(16) if named is None else named
    body = {**options, "message_id": known, "text": text, "conversation": conversation}
    return Call("POST", path, answer, body, repeatable=True)


def end_session(conversation: str, *, forget: Forget | bool | None) -> Call[SessionEnded]:
    """End a session."""
    said = "conversation" if forget is True else forget or None
    body = {"conversation": conversation, **({"forget": said} if said is not None else {})}
    return Call("POST", "/v1/hooks/session-end", SessionEnded, body)


# Forgetting


def forget(kind: Forgettable, subject: str | UUID) -> Call[Receipt]:
    """Erase something."""
    return Call("DELETE", at("/v1/{}s/{}", kind, subject), Receipt)


def preview_forgetting(kind: Forgettable, subject: str | UUID) -> Call[Preview]:
    """Count what an erasure would remove."""
    path = at("/v1/{}s/{}", kind, subject)
    return Call("DELETE", path, Preview, query={"preview": True}, repeatable=True)


# Users and keys


def add_user(name: str, options: o.UserOptions) -> Call[User]:
    """Add a user of the app."""
    return once("/v1/users", User, {"name": name, **options})


def make_key(options: o.KeyOptions) -> Call[NewKey]:
    """Make a key of the app."""
    return once("/v1/keys", NewKey, {**options})
