"""Answers questions only from memory: claims with the memories that support them, or that nothing is in memory.

Recall finds and packs memories, together with the core blocks of the profile. If it finds nothing relevant and there
are no blocks, the answer is that it is not in memory, and no model is asked. With a language model, its claims count if
they cite memories that it was given. Without one, or if it fails, the memories are quoted. Blocks are not recalled: a
block is quoted if it contains most words of the question, and then only its lines with some of them. Memories that are
not likely to answer are neither quoted nor shown to the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from heapq import merge
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
"""A block answers a question if it contains more than this share of the question's words."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A statement that memory supports."""

    text: str
    sources: list[str]
    """Short ids of the memories that support it, at least one. All are in ``sources`` of the answer."""


class AnswerSource(msgspec.Struct, frozen=True, kw_only=True):
    """A memory, or a block of the profile, that supports an answer."""

    id: str
    """GET /v1/memories/{id} opens it."""
    kind: str
    memory_id: UUID
    text: str
    speaker: str
    """The speaker; for a block its name."""
    said: str | None
    """When it was said, in the speaker's time zone."""
    conversation: str
    validity: str
    """For a fact: since when and until when it holds."""


class MemoryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer from memory."""

    answer: str
    """All claims as one text, with ids in brackets; or that it is not in memory."""
    found: bool
    """False: no memory supports an answer."""
    claims: list[Claim]
    sources: list[AnswerSource]
    """The memories that the claims cite, in the order of first citation."""
    by: Literal["model", "quotes"]
    """Where the claims come from: the language model, or quotes of the memories."""
    degraded: list[str]
    """What the answer had to do without: vector, llm."""
    recall_id: UUID | None
    """Names this recall when sending feedback."""
    confidence: float | None
    """The probability, 0 to 1, that the recalled memories answer the question, judged before reading them."""


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
        embedder: embeds the question.
        filters: which memories count. The profile counts unless they filter by more than the moment.
        budget_tokens: the most tokens of memories to read, 50 to 100,000.
        model: False: quote memories even if a language model is configured.

    Returns:
        The answer, and the context it was made from, for recording the recall.

    Raises:
        InvalidRequestError, TextTooLongError, ConversationUnknownError: the question or a filter is invalid.
    """
    if not is_visible(question):
        raise InvalidRequestError("The question is empty.", field="query")
    chosen = filters or Filters()
    options = ContextOptions(
        budget_tokens=budget_tokens,
        filters=chosen,
        profile=not (
            chosen.conversations
            or chosen.not_conversations
            or chosen.said_from
            or chosen.said_to
            or chosen.narrows
            or chosen.kinds
        ),
        core=False,
        instructions=(),
        why="none",
        salient=0,
        chance=False,
    )
    context = await build_context(db, owner, question, settings, embedder=embedder, options=options)
    packed = {item.id: item for section in context.sections for item in section.items}
    degraded: list[str] = list(context.degraded)
    blocks = [item for section in context.sections if section.name == "profile" for item in section.items]
    if not blocks and not (context.relevant and packed):
        return _assembled([], packed, context, degraded, "quotes"), context
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
            return _assembled(asked.value, given, context, degraded, "model"), context
    claims = await _lines(db, owner, question, blocks) if blocks else []
    if context.relevant:
        claims += _quotes(context, packed)
    return _assembled(claims[:MOST_QUOTES], packed, context, degraded, "quotes"), context


def claims_of(found: dict[str, Any], packed: dict[str, Item]) -> list[Claim]:
    """Return a model's claims that cite memories it was given. Others are left out.

    Raises:
        msgspec.ValidationError: it does not have the form of an answer.
        UnfitError: it has claims, but none cites a given memory.
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
    """Build a context of the blocks without memories, which are unlikely to answer and would make a model guess."""
    return await build_context(db, owner, question, settings, options=replace(options, memories=False))


async def _lines(db: Database, owner: Owner, question: str, blocks: Sequence[Item]) -> list[Claim]:
    """Quote the blocks that contain most words of a question, and of each the lines that contain some of them.

    If only the block's name contains them, the whole block is quoted.
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
    """Quote what is due, then the best memories.

    Those that no longer hold are quoted only if there are no others, or if the question names the time at which they
    did. Messages keep the block's order: what may be out of date stands there behind what was said later.
    """
    due = [item for section in context.sections if section.name == "agenda" for item in section.items]
    best = {memory.memory_id: rank for rank, memory in enumerate(context.memories)}
    known = [item for item in packed.values() if item.memory_id in best]
    kinds = ([item for item in known if item.kind == "fact"], [item for item in known if item.kind != "fact"])
    items = list(merge(*kinds, key=lambda item: best[item.memory_id]))
    then = {memory.memory_id for memory in context.memories if memory.factors.get("time", 0) > 0}
    current = [item for item in items if not item.stale or item.memory_id in then] or items
    quoted = list({item.id: item for item in (*due, *current)}.values())
    return [Claim(text=_quote(item), sources=[item.id]) for item in quoted[:MOST_QUOTES]]


def _quote(item: Item) -> str:
    words = SPACES.sub(" ", f"{item.text} {f'[picture: {item.caption}]' if item.caption else ''}").strip()
    if item.kind == "fact":
        return f"{words} ({item.validity})" if item.validity else words
    day = f", {item.said_at:%Y-%m-%d}" if item.said_at else ""
    return f"“{words}” ({item.speaker}{day})"


def _assembled(
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
