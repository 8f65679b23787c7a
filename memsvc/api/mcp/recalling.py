"""Tools that find and open memories."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal
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
from memsvc.recall.options import Filters, Kind, Mode, SourceKind
from memsvc.recall.presets import PRESETS, chosen_weights
from memsvc.recall.signals import record_recall
from memsvc.sources.moments import read_asked_at, read_moment
from memsvc.sources.opening import open_memory
from memsvc.text.fence import fenced

RECALL_TOKENS = 4_000
"""Longest answer of recall. Memories that do not fit are counted."""
Query = Annotated[str, Meta(min_length=1, max_length=8_000, description="A question or words in any language.")]
Conversation = Annotated[str, Meta(max_length=500)]
Moment = Annotated[str, Meta(max_length=60)]
HowHard = Annotated[Mode, Meta(description="eager: fast, short lines; deliberate: searches further, shows more.")]


Preset = Annotated[str, Meta(max_length=60, description=f"What counts: {', '.join(PRESETS)}.")]
Names = Annotated[list[Annotated[str, Meta(max_length=500)]], Meta(max_length=100)]


class FilterArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What may be recalled, as REST has it, and by which weights."""

    kinds: Annotated[list[Kind], Meta(max_length=7)] = []
    speakers: Annotated[Names, Meta(description="Only what they said.")] = []
    source_kinds: Annotated[list[SourceKind], Meta(max_length=3)] = []
    types: Annotated[Names, Meta(description="Only about nodes or edges of these types.")] = []
    least_importance: Annotated[float, Meta(ge=1, le=10)] | None = None
    metadata: Annotated[dict[str, Any], Meta(description='Such as {"tags": ["garden"]}.')] | None = None
    least_score: Annotated[float, Meta(description="Least score, as POST /v1/recall gives it.")] | None = None
    preset: Preset | None = None
    asked_at: Annotated[Moment, Meta(description="If not now: ISO 8601 with offset.")] | None = None

    def filters(self) -> Filters:
        """The filters."""
        return Filters(
            kinds=self.kinds,
            speakers=self.speakers,
            source_kinds=self.source_kinds,
            types=self.types,
            least_importance=self.least_importance,
            metadata=self.metadata,
            least_score=self.least_score,
            asked_at=read_asked_at(self.asked_at),
        )


class RecallArguments(FilterArguments, kw_only=True, forbid_unknown_fields=True):
    """What to look for."""

    query: Query
    limit: Annotated[int, Meta(ge=1, le=50, description="The most memories to return.")] = 8
    conversation: Annotated[Conversation, Meta(description="Only from this conversation.")] | None = None
    said_from: Annotated[Moment, Meta(description="Only what was said at this time or later (ISO 8601).")] | None = None
    said_to: Annotated[Moment, Meta(description="Only what was said before this time (ISO 8601).")] | None = None
    mode: HowHard = "balanced"


class RecallMemoryArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to look for."""

    query: Query
    thread_id: (
        Annotated[Conversation, Meta(description="Only from this conversation. Leave it out to search all of them.")]
        | None
    ) = None
    limit: Annotated[int, Meta(ge=1, le=50, description="The most memories to return.")] = 5


class ContextArguments(FilterArguments, kw_only=True, forbid_unknown_fields=True):
    """What you are about to answer."""

    query: Annotated[str, Meta(max_length=8_000, description="What the user just said or asked.")]
    budget_tokens: Annotated[int, Meta(ge=50, le=20_000, description="The longest block, in tokens.")] = 1_500
    conversation: (
        Annotated[Conversation, Meta(description="Id of the current, perhaps new conversation. recent_turns needs it.")]
        | None
    ) = None
    recent_turns: Annotated[int, Meta(ge=0, le=50, description="How many of its last turns to quote in full.")] = 0
    mode: HowHard = "balanced"


class OpenArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to open."""

    id: Annotated[str, Meta(max_length=60, description="An id from another tool: m:…, f:…, n:… or b:….")]
    before: Annotated[int, Meta(ge=0, le=20, description="For a message: how many before it.")] = 2
    after: Annotated[int, Meta(ge=0, le=20, description="For a message: how many after it.")] = 2


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
    """Names this recall when sending feedback over REST."""


class Opened(Quoting, frozen=True, kw_only=True):
    """A memory with its evidence."""

    id: str
    """The full id."""
    kind: Literal["message", "fact", "node", "block"]
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
    return Answer(built.text, content)


async def recall(asker: Asker, owner: Owner, given: RecallArguments) -> Answer:
    """Recall memories for a query and, in the mode deliberate, the messages around the best ones."""
    filters = replace(
        given.filters(),
        conversations=[given.conversation] if given.conversation else [],
        said_from=read_moment(given.said_from, owner, "said_from"),
        said_to=read_moment(given.said_to, owner, "said_to"),
    )
    bare = ContextOptions(
        budget_tokens=RECALL_TOKENS,
        limit=given.limit,
        mode=given.mode,
        weights=chosen_weights(given.preset, None),
        filters=filters,
        fill=True,
        why="none",
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
    asked = RecallArguments(query=given.query, conversation=given.thread_id, limit=given.limit)
    return await recall(asker, owner, asked)


async def get_context(asker: Asker, owner: Owner, given: ContextArguments) -> Answer:
    """Recall memories and everything else that belongs in a prompt.

    An assistant asks before it stores anything of a conversation, so an unknown name is taken as a new conversation.
    """
    options = ContextOptions(
        budget_tokens=given.budget_tokens,
        mode=given.mode,
        weights=chosen_weights(given.preset, None),
        filters=given.filters(),
        conversation=given.conversation,
        begins=given.conversation is not None and not _may_be_id(given.conversation),
        recent_turns=given.recent_turns,
        why="none",
    )
    try:
        return await _packed(asker, owner, given.query, options)
    except ConversationUnknownError:  # the conversation is new, and its name looks like an id
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
        title="Recall memories",
        description="Find memories for a question: messages, facts and archived blocks, best first, each with its "
        "date and an id that open_source opens. Use it whenever the user refers to "
        "something from before, or when you would have to guess. It says when no memory is likely to answer.",
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
        description="Build one block with everything worth knowing before you answer: the user's instructions, facts, "
        "earlier messages, what matters at present, and the date. Call it once at the start of a turn. Use recall for "
        "a particular question.",
        scope="read",
        given=ContextArguments,
        found=Recollection,
        run=get_context,
    ),
    Tool(
        name="open_source",
        title="Open a memory's source",
        description="Open the memory with an id: a message (m:…) with the messages around it and the facts that it "
        "supports; a fact (f:…) with its history and the quotes that support it; a person or thing (n:…) with its "
        "names and facts; or a block of the profile (b:…).",
        scope="read",
        given=OpenArguments,
        found=Opened,
        run=open_source,
    ),
)
