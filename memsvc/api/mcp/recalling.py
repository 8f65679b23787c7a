"""Tools that find and open memories."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.api.filters import FiltersIn
from memsvc.api.mcp.asker import DOOR, Asker
from memsvc.api.mcp.opened import opened_lines
from memsvc.api.mcp.tool import Answer, Quoting, Tool
from memsvc.errors import ConversationUnknownError
from memsvc.recall import salient as salience
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context, Item, Why
from memsvc.recall.options import Mode
from memsvc.recall.presets import chosen_weights
from memsvc.recall.signals import record_recall
from memsvc.sources.opening import open_memory
from memsvc.text.fence import fenced

RECALL_TOKENS = 4_000
"""Longest answer of recall. Memories that do not fit are counted."""
Query = Annotated[str, Meta(min_length=1, max_length=8_000, description="In any language.")]
Conversation = Annotated[str, Meta(max_length=500)]
EXPLAINED = {
    "conversations": "Only from these.",
    "said_from": "ISO 8601.",
    "as_of": "What was true then.",
    "known_at": "As memsvc knew it then.",
    "speakers": "Only what they said.",
    "types": "Such as WORKS_AT.",
}
"""What a model is told of the filters. The fields themselves are those of REST."""
LISTED = frozenset({"query", "mode"})
"""Arguments that the schemas of recall and get_context list, beside those below. They take all filters all the same."""
LISTED_BY_RECALL = LISTED | {
    "as_of", "known_at", "limit", "conversations", "said_from", "said_to", "speakers", "types", "include_archived",
}  # fmt: skip
LISTED_BY_CONTEXT = LISTED | {"budget_tokens", "conversation", "recent_turns"}
MODE = "eager: fast; deliberate: searches further."


class RecallArguments(FiltersIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to look for."""

    query: Query
    limit: Annotated[int, Meta(ge=1, le=50)] = 8
    mode: Annotated[Mode, Meta(description=MODE)] = "balanced"
    why: Why = "none"
    preset: str | None = None


class RecallMemoryArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to look for."""

    query: Query
    thread_id: Annotated[Conversation, Meta(description="Only from this conversation.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 5


class ContextArguments(FiltersIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What you are about to answer."""

    query: Annotated[str, Meta(max_length=8_000, description="What the user just said.")]
    budget_tokens: Annotated[int, Meta(ge=50, le=20_000)] = 1_500
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 30
    conversation: Annotated[Conversation, Meta(description="The current one.")] | None = None
    recent_turns: Annotated[int, Meta(ge=0, le=50)] = 0
    mode: Mode = "balanced"
    why: Why = "none"
    fill: bool = False
    salient: Annotated[int, Meta(ge=0, le=3)] = 3
    chance: bool = True
    preset: str | None = None


class OpenArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to open."""

    id: Annotated[str, Meta(max_length=60, description="m:…, f:…, n:… or b:….")]
    before: Annotated[int, Meta(ge=0, le=20)] = 2
    after: Annotated[int, Meta(ge=0, le=20)] = 2


class Remembered(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory."""

    id: str
    """open_source opens it."""
    kind: str
    name: str = ""
    """The name of a block of the profile."""
    text: str
    why: str
    """Why it was chosen."""
    remark: str
    """What became of what a message says, as far as that is known; else empty."""
    speaker: str = ""
    said_at: str = ""
    conversation: str = ""
    validity: str = ""
    """For a fact: since when and until when it holds."""
    count: int = 1
    """How often it was said in these words."""
    last_said: str = ""
    stale: bool = False
    """True: it no longer holds."""
    sources: list[str] = []
    """Ids of its evidence."""


class Recollection(Quoting, frozen=True, kw_only=True):
    """Memories for a query."""

    memories: list[Remembered]
    relevant: bool
    """False: no memory is likely to answer the query."""
    ambiguous: list[str]
    """Names in the query that match several nodes."""
    left_out: int
    """How many memories did not fit."""
    degraded: list[str]
    """What the answer had to do without, such as vector."""
    recall_id: str | None
    """Names this recall for give_feedback; None: it was not recorded."""


class Opened(Quoting, frozen=True, kw_only=True):
    """A memory with its evidence."""

    id: str
    """The full id."""
    kind: Literal["message", "chunk", "fact", "node", "block"]
    text: str
    lines: list[str]
    """Its surroundings and its evidence, one item per line."""


def _remembered(item: Item) -> Remembered:
    return Remembered(
        id=item.id,
        kind=item.kind,
        name=item.name,
        text=item.text,
        why=item.why,
        remark=item.remark,
        speaker=item.speaker,
        said_at=item.said_at.isoformat(timespec="minutes") if item.said_at else "",
        conversation=item.conversation,
        validity=item.validity,
        count=item.count,
        last_said=item.last_said.isoformat(timespec="minutes") if item.last_said else "",
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
    if content.recall_id is None or not built.memories:
        return Answer(built.text, content)
    return Answer(f"{built.text}\nrecall_id: {content.recall_id}", content)


async def recall(asker: Asker, owner: Owner, given: RecallArguments) -> Answer:
    """Recall memories for a query and, in the mode deliberate, the messages around the best ones."""
    bare = ContextOptions(
        budget_tokens=RECALL_TOKENS,
        limit=given.limit,
        mode=given.mode,
        weights=chosen_weights(given.preset, None),
        filters=given.filters(ZoneInfo(owner.time_zone)),
        fill=True,
        why=given.why,
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
    """The same as recall, with another name for the conversation."""
    only = [given.thread_id] if given.thread_id else []
    return await recall(asker, owner, RecallArguments(query=given.query, conversations=only, limit=given.limit))


async def get_context(asker: Asker, owner: Owner, given: ContextArguments) -> Answer:
    """Recall memories and everything else that belongs in a prompt.

    An assistant asks before it stores anything of a conversation, so an unknown name is taken as a new conversation.
    """
    options = ContextOptions(
        budget_tokens=given.budget_tokens,
        limit=given.limit,
        mode=given.mode,
        weights=chosen_weights(given.preset, None),
        filters=given.filters(ZoneInfo(owner.time_zone)),
        fill=given.fill,
        why=given.why,
        salient=given.salient,
        chance=given.chance,
        conversation=given.conversation,
        begins=given.conversation is not None and not _may_be_id(given.conversation),
        recent_turns=given.recent_turns,
    )
    try:
        return await _packed(asker, owner, given.query, options)
    except ConversationUnknownError:
        if given.conversation is None or options.begins:  # a filter names it
            raise
        # The conversation is new, and its name looks like an id.
        return await _packed(asker, owner, given.query, replace(options, begins=True))


def _may_be_id(conversation: str) -> bool:
    """Whether the name looks like an id. A client's identifier may look like one, too."""
    try:
        UUID(conversation)
    except ValueError:
        return False
    return True


async def open_source(asker: Asker, owner: Owner, given: OpenArguments) -> Answer:
    """Open the memory with an id."""
    opened = await open_memory(asker.db, owner, given.id, before=given.before, after=given.after)
    lines = opened_lines(opened, owner)
    content = Opened(id=str(opened.memory_id), kind=opened.kind, text=opened.text, lines=lines)
    return Answer(fenced("\n".join(lines)), content)


TOOLS = (
    Tool(
        name="recall",
        description="Find memories for a question, best first, each with its date and an id. Use it when the user "
        "refers to something from before, or when you would have to guess.",
        scope="read",
        given=RecallArguments,
        explained=EXPLAINED,
        unlisted=frozenset(RecallArguments.__struct_fields__) - LISTED_BY_RECALL,
        run=recall,
    ),
    Tool(
        name="recall_memory",
        description="recall with thread_id.",
        scope="read",
        given=RecallMemoryArguments,
        listed=False,
        run=recall_memory,
    ),
    Tool(
        name="get_context",
        description="One block with everything worth knowing before you answer. Call it once at the start of a turn. "
        "Takes all filters of recall.",
        scope="read",
        given=ContextArguments,
        unlisted=frozenset(ContextArguments.__struct_fields__) - LISTED_BY_CONTEXT,
        run=get_context,
    ),
    Tool(
        name="open_source",
        description="Open a memory, with what is around it, its history and its evidence.",
        scope="read",
        given=OpenArguments,
        unlisted=frozenset({"before", "after"}),
        run=open_source,
    ),
)
