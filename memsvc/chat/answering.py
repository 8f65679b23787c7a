"""Answers from memory alone: claims with the memories that say them, or that memory has nothing to say.

Recall finds and packs memories, with the core blocks of the profile; where it finds nothing relevant and there are no
blocks, that is the answer, and no model is asked. With a language model, its claims count as far as they name memories
that it was given. Without one, or where it fails, the memories themselves are quoted: of blocks, which nobody recalled,
those lines that have words of a question most of whose words stand in the block. Memories that are not likely to answer
are neither quoted nor shown to the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal
from uuid import UUID

import msgspec

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.chat.prompts import answer as prompt
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.together import Together
from memsvc.errors import InvalidRequestError, LlmError
from memsvc.llm.answers import Task, UnfitError, ask
from memsvc.llm.calls import Account
from memsvc.llm.chat import ChatClient
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context, Item
from memsvc.recall.options import Filters
from memsvc.recall.search import QueryEmbedder
from memsvc.settings import Settings
from memsvc.text.characters import is_visible

NOT_IN_MEMORY = "Not in memory."
MOST_CLAIMS, MOST_QUOTES = 20, 5
MAX_CLAIM_CHARS = 2_000
SPACES = re.compile(r"\s+")
MOST_OF_WORDS = 0.5
"""A block answers a question of which more than this share of words stand in it."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """Something that memory says."""

    text: str
    sources: list[str]
    """Short ids of the memories that say it, one at least; each stands in ``sources`` of the answer."""


class AnswerSource(msgspec.Struct, frozen=True, kw_only=True):
    """A memory, or a block of the profile, that an answer rests on."""

    id: str
    """GET /v1/memories/{id} opens it."""
    kind: str
    memory_id: UUID
    text: str
    speaker: str
    """Of a block: its name."""
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
        filters: which memories count; the profile does where they say nothing of conversations, times or places.
        budget_tokens: of the memories that are read, 50 to 100,000.
        model: False: quote, though there is a language model.

    Returns:
        The answer, and the context it was made from, for who notes recalls.

    Raises:
        InvalidRequestError, TextTooLongError, ConversationUnknownError: the question or a filter cannot be.
    """
    if not is_visible(question):
        raise InvalidRequestError("The question is empty.", field="query")
    chosen = filters or Filters()
    options = ContextOptions(
        budget_tokens=budget_tokens,
        filters=chosen,
        profile=not (
            chosen.conversations or chosen.not_conversations or chosen.said_from or chosen.said_to or chosen.near
        ),
        core=False,
        instructions=(),
        salient=0,
        chance=False,
    )
    context = await build_context(db, owner, question, settings, embedder=embedder, options=options)
    packed = {item.id: item for section in context.sections for item in section.items}
    degraded: list[str] = list(context.degraded)
    blocks = [item for section in context.sections if section.name == "profile" for item in section.items]
    if not blocks and not (context.relevant and packed):
        return _told([], packed, context, degraded, "quotes"), context
    if model and settings.llm_model:
        read = context if context.relevant else await _blocks_alone(db, owner, question, settings, options)
        given = {item.id: item for section in read.sections for item in section.items}
        task = Task(
            name=prompt.TASK,
            version=prompt.VERSION,
            messages=prompt.messages(question, read.text),
            schema=prompt.schema(),
            read=lambda found: claims_of(found, given),
        )
        try:
            asked = await ask(ChatClient(settings), task, Account(db, owner.user_id, settings))
        except LlmError:
            degraded.append("llm")
            observe.DEGRADED.labels("llm").inc()
        else:
            return _told(asked.value, given, context, degraded, "model"), context
    claims = await _lines(db, owner, question, blocks) if blocks else []
    if context.relevant:
        claims += _quotes(context, packed)
    return _told(claims[:MOST_QUOTES], packed, context, degraded, "quotes"), context


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


async def _blocks_alone(
    db: Database, owner: Owner, question: str, settings: Settings, options: ContextOptions
) -> Context:
    """The blocks without the memories, of which none is likely to answer: from them a model could only guess."""
    return await build_context(db, owner, question, settings, options=replace(options, memories=False))


async def _lines(db: Database, owner: Owner, question: str, blocks: Sequence[Item]) -> list[Claim]:
    """What blocks say of a question: of each that has most of its words the lines that have some of them.

    Where the block's name alone has them, all of it.
    """
    texts = [question]
    for block in blocks:
        texts += [re.sub(r"[_-]", " ", block.name), *block.text.splitlines()]
    trip = Together(db, owner.user_id, stores=False)
    rows = trip.ask(query("words_of_texts"), {"language": owner.language, "texts": texts})
    await trip.send()
    asked, *words = [set(row.words) for row in rows]
    claims = []
    for block in blocks:
        lines = block.text.splitlines()
        of_block, words = words[: len(lines) + 1], words[len(lines) + 1 :]
        if len(asked & set().union(*of_block)) > MOST_OF_WORDS * len(asked):
            fitting = [line for line, of_line in zip(lines, of_block[1:], strict=True) if asked & of_line]
            text = SPACES.sub(" ", " ".join(fitting or lines)).strip()
            claims.append(Claim(text=f"“{text}” ({block.name})", sources=[block.id]))
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
        speaker=item.speaker or item.name,
        said=item.said_at.isoformat() if item.said_at else None,
        conversation=item.conversation,
        validity=item.validity,
    )
