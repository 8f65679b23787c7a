"""What a context is made of: items in sections, and the block that holds them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec

from memsvc.db.short_ids import short_id
from memsvc.recall.dated import DatedWords, dated_words, with_dates
from memsvc.recall.kinds import Kind
from memsvc.recall.reasons import in_brief
from memsvc.recall.results import AmbiguousName, Degraded, Memory
from memsvc.recall.times_in_words import validity
from memsvc.text.characters import plain_lines

Format = Literal["text", "markdown", "json", "messages"]
SectionName = Literal[
    "agenda", "overview", "profile", "core", "instructions", "lessons", "facts", "memories", "salient", "recent"
]  # fmt: skip
ItemKind = Literal[Kind, "node", "neighbour", "turn"]
DATED = frozenset({"message", "trace", "neighbour"})
"""Kinds of items whose relative words of time carry their date; last turns stay to the letter."""
SECTIONS: tuple[SectionName, ...] = (
    "agenda",
    "overview",
    "profile",
    "core",
    "instructions",
    "lessons",
    "facts",
    "memories",
    "salient",
    "recent",
)
TITLES: dict[SectionName, str] = {
    "agenda": "Agenda",
    "overview": "Talked about",
    "profile": "Profile",
    "core": "Always",
    "instructions": "How to do things",
    "lessons": "Learnt from mistakes",
    "facts": "Facts",
    "memories": "Said before",
    "salient": "Also on the mind",
    "recent": "Last turns",
}

Why = Literal["none", "short", "full"]
"""How much its line tells of the reason why an item is here: nothing, the first phrase, or all on a second line."""
SALIENT, CHANCE = "salient", "a chance find"
"""Why something is here that was not asked for."""
WRITTEN = ("text", "why", "remark", "name", "speaker", "caption", "conversation", "session", "validity")
"""Fields of an item that hold what people wrote."""


class Item(msgspec.Struct, kw_only=True, frozen=True):
    """One memory, turn, instruction or block of the profile in a context."""

    id: str
    """m: and a message's, f: and a fact's, n: and a node's, b: and a block's short id, which opens it."""
    kind: ItemKind
    memory_id: UUID
    """The whole id: of the passage, the fact's version, the node, or the block."""
    text: str
    why: str
    """The reason why it is here, in one line."""
    brief: str = ""
    """The same in a few words; empty where the section says it."""
    remark: str = ""
    """What became of what a message says, as far as that is known."""
    name: str = ""
    """Of a block, a card, a note or an instruction: what it is called."""
    speaker: str = ""
    """Who said it, or the role where nobody has a name; of a chunk its place in its document."""
    role: str = ""
    caption: str | None = None
    """What a shared picture shows."""
    said_at: datetime | None = None
    """On the speaker's clock."""
    conversation_id: UUID | None = None
    conversation: str = ""
    session: str = ""
    ordinal: int = 0
    part: int = 0
    validity: str = ""
    """Of a fact: since when, until when; of an instruction: its category; of what is due: when."""
    count: int = 1
    """How often the same person said it in these words."""
    last_said: datetime | None = None
    """When last; None: it was said once."""
    stale: bool = False
    """It is not true any more."""
    rule: bool = False
    """An instruction that the user set: it stands before the quotes, to be followed."""
    rule_since: str = ""
    """Of a rule: the day on which the user set it, in words."""
    sources: list[str] = []
    """Short ids of what it rests on."""
    dated: list[DatedWords] = []
    """Of a message: its relative words of time ("tomorrow"), with their dates; three at most."""
    tokens: int = 0
    """What it takes of the budget."""

    @property
    def shown(self) -> str:
        """Its text as a block of text shows it: with the dates."""
        return with_dates(self.text, self.dated)


def plain_item(item: Item) -> Item:
    """An item as a prompt may hold it in any format: without hidden characters, and with line breaks of one kind.

    A message's relative words of time get their dates here, as their places are those in the text that is shown.
    """
    plain: dict[str, Any] = {}
    for name in WRITTEN:
        value: str | None = getattr(item, name)
        if value and (shown := plain_lines(value)) is not value:
            plain[name] = shown
    said_at = item.said_at if item.kind in DATED else None
    if said_at is not None and (dated := dated_words(plain.get("text", item.text), said_at)):
        plain["dated"] = dated
    return msgspec.structs.replace(item, **plain) if plain else item


def told(item: Item, why: Why) -> str:
    """So much of the reason why an item is here."""
    return {"none": "", "short": item.brief, "full": item.why}[why]


class Section(msgspec.Struct, kw_only=True, frozen=True):
    """Items of one sort, in the block's order."""

    name: SectionName
    items: list[Item]


class ChatMessage(msgspec.Struct, kw_only=True, frozen=True):
    """A message as chat models take it."""

    role: Literal["system", "user", "assistant"]
    content: str


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """A block for an assistant's prompt and what it was made of."""

    text: str
    """The block; of the format messages the first one's content."""
    format: Format
    messages: list[ChatMessage]
    """In the format messages: the block, then the last turns; else empty."""
    tokens: int
    """What all of it takes, as the tokenizer counts; never above the budget."""
    budget_tokens: int
    tokenizer: str
    sections: list[Section]
    """What the block holds, in its order."""
    memories: list[Memory]
    """The recalled memories in the block, best first."""
    left_out: int
    """Recalled memories for which the budget had no room."""
    relevant: bool
    """False: nothing that was recalled is likely to answer."""
    ambiguous: list[AmbiguousName]
    """Names in the query that fit several nodes: ask which is meant."""
    seed: int | None
    """By which the chance find was drawn; None where none was."""
    degraded: list[Degraded]
    """Arms that should have been asked and could not be."""
    recall_id: UUID | None = None
    """For feedback; None where recalls are not recorded."""
    conversation_id: UUID | None = None
    """The conversation that it is for, where it is named and exists."""
    confidence: float | None = None
    """0 to 1: how likely it is that the memories answer the query; None without a vector."""


class Group(NamedTuple):
    """Items said in one session on one day, under one heading."""

    conversation: str
    session: str
    said_at: datetime


def group_of(item: Item) -> Group | None:
    """The heading under which an item stands; None: it has no place in a conversation."""
    if item.conversation_id is None or item.said_at is None:
        return None
    return Group(item.conversation, item.session, item.said_at.replace(hour=0, minute=0, second=0, microsecond=0))


def memory_item(memory: Memory, now: datetime, zone: ZoneInfo, why: str | None = None) -> Item:
    """A recalled memory as an item."""
    fact = memory.fact if memory.kind == "fact" else None
    because: dict[str, Any] = {
        "why": why or memory.why or "recalled",
        "brief": "" if why else in_brief(memory.matched, memory.arms, memory.factors, memory.path, memory.kind),
        "remark": memory.remark,
    }
    if memory.block_id is not None:
        return Item(
            id=f"b:{short_id(memory.block_id)}",
            kind="block",
            memory_id=memory.memory_id,
            text=memory.text,
            **because,
            name=memory.speaker,
            speaker=memory.speaker,
            said_at=memory.said_at,
            ordinal=memory.ordinal,
            part=memory.part,
        )
    if memory.node_id is not None:
        return Item(
            id=f"n:{short_id(memory.node_id)}",
            kind=memory.kind,
            memory_id=memory.memory_id,
            text=memory.text,
            **because,
            name=memory.speaker,
            speaker=memory.speaker,
            said_at=memory.said_at,
            ordinal=memory.ordinal,
            part=memory.part,
        )
    ended = fact is not None and fact.valid_to is not None and fact.valid_to <= now
    return Item(
        id=f"{'f' if memory.kind == 'fact' else 'm'}:{short_id(memory.memory_id)}",
        kind=memory.kind,
        memory_id=memory.memory_id,
        text=memory.text,
        **because,
        speaker=memory.document.in_words if memory.document is not None else memory.speaker or memory.role,
        role=memory.role,
        caption=memory.caption,
        said_at=memory.said_at,
        conversation_id=memory.conversation_id,
        conversation=memory.conversation,
        session=memory.session,
        ordinal=memory.ordinal,
        part=memory.part,
        validity=validity(fact, now, zone, stale=memory.stale) if fact is not None else "",
        count=memory.count,
        last_said=memory.last_said,
        stale=memory.stale or ended,
        sources=[f"m:{short_id(memory.passage_id)}"] if memory.kind == "fact" and memory.passage_id else [],
    )
