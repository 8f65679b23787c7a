"""Answers from memory alone: claims with the memories that say them, or that memory has nothing to say.

Recall finds and packs memories; where it finds nothing relevant, that is the answer, and no model is asked. With a
language model, its claims count as far as they name memories that it was given. Without one, or where it fails, the
memories themselves are quoted.
"""

from __future__ import annotations

import re
from typing import Any, Literal
from uuid import UUID

import msgspec

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.chat.prompts import answer as prompt
from memsvc.db.engine import Database
from memsvc.errors import InvalidRequestError, LlmError
from memsvc.llm.answers import Task, UnfitError, ask
from memsvc.llm.calls import Account
from memsvc.llm.chat import ChatClient
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context, Item
from memsvc.recall.options import Filters
from memsvc.recall.search import QueryEmbedder
from memsvc.settings import Settings

NOT_IN_MEMORY = "Not in memory."
MOST_CLAIMS, MOST_QUOTES = 20, 5
MAX_CLAIM_CHARS = 2_000
SPACES = re.compile(r"\s+")


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """Something that memory says."""

    text: str
    sources: list[str]
    """Short ids of the memories that say it, one at least; each stands in ``sources`` of the answer."""


class AnswerSource(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that an answer rests on."""

    id: str
    """GET /v1/memories/{id} opens it."""
    kind: str
    memory_id: UUID
    text: str
    speaker: str
    said: str | None
    """When, on the speaker's clock."""
    conversation: str
    validity: str
    """Of a fact: since when, until when."""


class MemoryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What memory answers."""

    answer: str
    """The claims in one text with their ids in brackets; or that it is not in memory."""
    found: bool
    """False: nothing in memory supports an answer."""
    claims: list[Claim]
    sources: list[AnswerSource]
    """What the claims name, in the order of their first naming."""
    by: Literal["model", "quotes"]
    """Who made the claims: the language model, or they are the memories' own words."""
    degraded: list[str]
    """What could not be asked: vector, llm."""
    recall_id: UUID | None
    """For feedback."""
    confidence: float | None
    """0 to 1: how likely it was, before they were read, that the memories answer the question."""


async def answer_question(
    db: Database,
    owner: Owner,
    question: str,
    settings: Settings,
    *,
    embedder: QueryEmbedder | None = None,
    filters: Filters | None = None,
    budget_tokens: int = 1_500,
    model: bool = True,
) -> tuple[MemoryAnswer, Context]:
    """Answer a question from memory.

    Args:
        db: the database.
        owner: whose memory.
        question: in natural language.
        settings: limits, and the language model.
        embedder: gives the question's vector.
        filters: which memories count.
        budget_tokens: of the memories that are read, 50 to 100,000.
        model: False: quote, though there is a language model.

    Returns:
        The answer, and the context it was made from, for who notes recalls.

    Raises:
        InvalidRequestError, TextTooLongError, ConversationUnknownError: the question or a filter cannot be.
    """
    if not question.strip():
        raise InvalidRequestError("The question is empty.", field="query")
    options = ContextOptions(
        budget_tokens=budget_tokens, filters=filters or Filters(), core=False, instructions=(), salient=0, chance=False
    )
    context = await build_context(db, owner, question, settings, embedder=embedder, options=options)
    packed = {item.id: item for section in context.sections for item in section.items}
    degraded: list[str] = list(context.degraded)
    if not context.relevant or not packed:
        return _told([], packed, context, degraded, "quotes"), context
    if model and settings.llm_model:
        task = Task(
            name=prompt.TASK,
            version=prompt.VERSION,
            messages=prompt.messages(question, context.text),
            schema=prompt.schema(),
            read=lambda found: claims_of(found, packed),
        )
        try:
            asked = await ask(ChatClient(settings), task, Account(db, owner.user_id, settings))
        except LlmError:
            degraded.append("llm")
            observe.DEGRADED.labels("llm").inc()
        else:
            return _told(asked.value, packed, context, degraded, "model"), context
    return _told(_quotes(context, packed), packed, context, degraded, "quotes"), context


def claims_of(found: dict[str, Any], packed: dict[str, Item]) -> list[Claim]:
    """A model's claims, as far as they name memories that it was given; others are left out.

    Raises:
        msgspec.ValidationError: it is no answer.
        UnfitError: it has claims, and none names a memory.
    """
    given = msgspec.convert(found, prompt.Answer).claims[:MOST_CLAIMS]
    claims = []
    for item in given:
        named = [name.strip().strip("[]") for name in item.sources]
        sources = [name for name in dict.fromkeys(named) if name in packed]
        text = SPACES.sub(" ", item.text).strip()[:MAX_CLAIM_CHARS]
        if text and sources:
            claims.append(Claim(text=text, sources=sources))
    if given and not claims:
        raise UnfitError("no claim names the id of a given memory, such as m:6h04yakq2ww")
    return claims


def _quotes(context: Context, packed: dict[str, Item]) -> list[Claim]:
    """The best memories in their own words; what has ended is no answer of now."""
    best = {memory.memory_id: rank for rank, memory in enumerate(context.memories)}
    items = sorted((item for item in packed.values() if item.memory_id in best), key=lambda item: best[item.memory_id])
    current = [item for item in items if not item.stale] or items
    return [Claim(text=_quote(item), sources=[item.id]) for item in current[:MOST_QUOTES]]


def _quote(item: Item) -> str:
    words = SPACES.sub(" ", f"{item.text} {f'[picture: {item.caption}]' if item.caption else ''}").strip()
    if item.kind == "fact":
        return f"{words} ({item.validity})" if item.validity else words
    day = f", {item.said_at:%Y-%m-%d}" if item.said_at else ""
    return f"“{words}” ({item.speaker}{day})"


def _told(
    claims: list[Claim],
    packed: dict[str, Item],
    context: Context,
    degraded: list[str],
    by: Literal["model", "quotes"],
) -> MemoryAnswer:
    named = dict.fromkeys(name for claim in claims for name in claim.sources)
    text = "\n".join(f"{claim.text} [{', '.join(claim.sources)}]" for claim in claims)
    return MemoryAnswer(
        answer=text or NOT_IN_MEMORY,
        found=bool(claims),
        claims=claims,
        sources=[_source(packed[name]) for name in named],
        by=by,
        degraded=degraded,
        recall_id=context.recall_id,
        confidence=context.confidence,
    )


def _source(item: Item) -> AnswerSource:
    return AnswerSource(
        id=item.id,
        kind=item.kind,
        memory_id=item.memory_id,
        text=item.text,
        speaker=item.speaker,
        said=item.said_at.isoformat() if item.said_at else None,
        conversation=item.conversation,
        validity=item.validity,
    )
