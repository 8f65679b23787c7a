"""Tools that find and open what is remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.api.mcp.asker import DOOR, Asker
from memsvc.api.mcp.opened import opened_lines
from memsvc.api.mcp.tool import Answer, Quoting, Tool
from memsvc.errors import ConversationUnknownError
from memsvc.recall import salient as salience
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context, Item
from memsvc.recall.options import Filters, Mode
from memsvc.recall.signals import record_recall
from memsvc.sources.moments import read_moment
from memsvc.sources.opening import open_memory
from memsvc.text.fence import fenced

RECALL_TOKENS = 4_000
"""Longest answer of recall; what has no room is counted."""
Query = Annotated[str, Meta(min_length=1, max_length=8_000, description="A question or words, in any language.")]
Conversation = Annotated[str, Meta(max_length=500)]
Moment = Annotated[str, Meta(max_length=60)]
HowHard = Annotated[Mode, Meta(description="eager: fast, in short lines; deliberate: looks harder and shows more.")]


class RecallArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to look for."""

    query: Query
    limit: Annotated[int, Meta(ge=1, le=50, description="Most memories.")] = 8
    conversation: Annotated[Conversation, Meta(description="Only from this conversation.")] | None = None
    said_from: Annotated[Moment, Meta(description="Only what was said then or later (ISO 8601).")] | None = None
    said_to: Annotated[Moment, Meta(description="Only what was said before (ISO 8601).")] | None = None
    mode: HowHard = "balanced"


class RecallMemoryArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to look for."""

    query: Query
    thread_id: (
        Annotated[Conversation, Meta(description="Only from this conversation; leave it out to search them all.")]
        | None
    ) = None
    limit: Annotated[int, Meta(ge=1, le=50, description="Most memories.")] = 5


class ContextArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What you are about to answer."""

    query: Annotated[str, Meta(max_length=8_000, description="What the user just said or asked.")]
    budget_tokens: Annotated[int, Meta(ge=50, le=20_000, description="Longest block, in tokens.")] = 1_500
    conversation: (
        Annotated[Conversation, Meta(description="The conversation that begins or goes on; needed for recent_turns.")]
        | None
    ) = None
    recent_turns: Annotated[int, Meta(ge=0, le=50, description="So many of its last turns, word for word.")] = 0
    mode: HowHard = "balanced"


class OpenArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to open."""

    id: Annotated[str, Meta(max_length=60, description="An id as another tool shows it: m:…, f:…, n:… or b:….")]
    before: Annotated[int, Meta(ge=0, le=20, description="Messages before a message.")] = 2
    after: Annotated[int, Meta(ge=0, le=20, description="Messages after it.")] = 2


class Remembered(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory."""

    id: str
    """Opens it."""
    kind: str
    name: str = ""
    """Of a block of the profile."""
    text: str
    why: str
    """Why it is here."""
    speaker: str = ""
    said_at: str = ""
    conversation: str = ""
    validity: str = ""
    """Of a fact: since when, until when."""
    stale: bool = False
    """It is not true any more."""
    sources: list[str] = []
    """Ids of what it rests on."""


class Recollection(Quoting, frozen=True, kw_only=True):
    """Memories for a query."""

    memories: list[Remembered]
    relevant: bool
    """False: nothing here is likely to answer."""
    ambiguous: list[str]
    """Names in the query that fit several nodes."""
    left_out: int
    """Memories for which there was no room."""
    degraded: list[str]
    """What could not be asked: vector."""
    recall_id: str | None
    """For feedback by REST."""


class Opened(Quoting, frozen=True, kw_only=True):
    """A memory with what it rests on."""

    id: str
    """The whole id."""
    kind: Literal["message", "fact", "node", "block"]
    text: str
    lines: list[str]
    """What stands around it and what it rests on, a line each."""


def _remembered(item: Item) -> Remembered:
    return Remembered(
        id=item.id,
        kind=item.kind,
        name=item.name,
        text=item.text,
        why=item.why,
        speaker=item.speaker,
        said_at=item.said_at.isoformat(timespec="minutes") if item.said_at else "",
        conversation=item.conversation,
        validity=item.validity,
        stale=item.stale,
        sources=item.sources,
    )


async def _packed(asker: Asker, owner: Owner, query: str, options: ContextOptions) -> Answer:
    with observe.RECALL_SECONDS.labels(door=DOOR).time():
        built: Context = await build_context(
            asker.db, owner, query, asker.settings, embedder=asker.embedder, options=options, salient=salience
        )
    if built.recall_id is not None and built.memories:
        await record_recall(asker.db, owner, built, door=DOOR, mode=options.mode)
    content = Recollection(
        memories=[_remembered(item) for section in built.sections for item in section.items],
        relevant=built.relevant,
        ambiguous=[name.name for name in built.ambiguous],
        left_out=built.left_out,
        degraded=list(built.degraded),
        recall_id=str(built.recall_id) if built.recall_id else None,
    )
    return Answer(built.text, content)


async def recall(asker: Asker, owner: Owner, given: RecallArguments) -> Answer:
    """The memories for a query and, in the mode deliberate, what stands around the best; nothing else."""
    filters = Filters(
        conversations=[given.conversation] if given.conversation else [],
        said_from=read_moment(given.said_from, owner, "said_from"),
        said_to=read_moment(given.said_to, owner, "said_to"),
    )
    bare = ContextOptions(
        budget_tokens=RECALL_TOKENS,
        limit=given.limit,
        mode=given.mode,
        filters=filters,
        group_by="none",
        neighbours=given.mode == "deliberate",
        profile=False,
        core=False,
        instructions=(),
        salient=0,
        chance=False,
        elapsed=False,
    )
    return await _packed(asker, owner, given.query, bare)


async def recall_memory(asker: Asker, owner: Owner, given: RecallMemoryArguments) -> Answer:
    """The same under another name."""
    asked = RecallArguments(query=given.query, conversation=given.thread_id, limit=given.limit)
    return await recall(asker, owner, asked)


async def get_context(asker: Asker, owner: Owner, given: ContextArguments) -> Answer:
    """Memories with all that belongs into a prompt.

    An assistant asks before it remembers anything of a conversation, so one of an unknown name begins.
    """
    options = ContextOptions(
        budget_tokens=given.budget_tokens,
        mode=given.mode,
        conversation=given.conversation,
        begins=given.conversation is not None and not _may_be_id(given.conversation),
        recent_turns=given.recent_turns,
    )
    try:
        return await _packed(asker, owner, given.query, options)
    except ConversationUnknownError:  # it begins, and its name looks like an id
        return await _packed(asker, owner, given.query, replace(options, begins=True))


def _may_be_id(conversation: str) -> bool:
    """Whether it looks like an id, as identifiers may, too."""
    try:
        UUID(conversation)
    except ValueError:
        return False
    return True


async def open_source(asker: Asker, owner: Owner, given: OpenArguments) -> Answer:
    """What an id stands for."""
    opened = await open_memory(asker.db, owner, given.id, before=given.before, after=given.after)
    lines = opened_lines(opened, owner)
    content = Opened(id=str(opened.memory_id), kind=opened.kind, text=opened.text, lines=lines)
    return Answer(fenced("\n".join(lines)), content)


TOOLS = (
    Tool(
        name="recall",
        title="Recall memories",
        description="Find what is remembered for a question: messages, facts and archived blocks, best first, each "
        "with the reason, its date and an id that open_source opens. Use it whenever the user refers to something from "
        "before, or when you would have to guess. Says so where nothing is likely to answer.",
        scope="read",
        given=RecallArguments,
        found=Recollection,
        run=recall,
    ),
    Tool(
        name="recall_memory",
        title="Recall memories",
        description="The same as recall, with the conversation named thread_id.",
        scope="read",
        given=RecallMemoryArguments,
        found=Recollection,
        run=recall_memory,
    ),
    Tool(
        name="get_context",
        title="Get context for an answer",
        description="One block with everything worth knowing before you answer: standing instructions, facts, what was "
        "said before, what is on the user's mind, the present day. Call it once at the start of a turn; use recall for "
        "a particular question.",
        scope="read",
        given=ContextArguments,
        found=Recollection,
        run=get_context,
    ),
    Tool(
        name="open_source",
        title="Open a memory's source",
        description="Show what an id stands for: a message (m:…) among its neighbours with the facts that rest on it, "
        "a fact (f:…) with its history and the quotes that support it, a person or thing (n:…) with its names and "
        "facts, a block of the profile (b:…).",
        scope="read",
        given=OpenArguments,
        found=Opened,
        run=open_source,
    ),
)
