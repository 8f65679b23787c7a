"""Contexts: a block of memories for a prompt, and opening the ids in it."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec
from litestar import Controller, Response, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, PathParameter, QueryParameter

from memsvc import observe
from memsvc.api.callers import ASKS, READER, WRITER, Caller
from memsvc.api.controllers.recall import record_later
from memsvc.api.filters import FiltersIn, Limit
from memsvc.api.problems import documented
from memsvc.profiles.blocks import Block
from memsvc.recall import salient as salience
from memsvc.recall.block import GroupBy
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context, Format, Why
from memsvc.recall.options import Mode
from memsvc.recall.presets import chosen_weights
from memsvc.recall.signals import MarkedMemory, mark_memory
from memsvc.sources.opening import OpenedMemory, open_memory
from memsvc.sources.promoting import BLOCK, promote_memory

SIMPLE = {"query": "Where do we meet Ines?", "budget_tokens": 600}
CHAT = {
    "query": "Where do we meet Ines?",
    "budget_tokens": 2_000,
    "format": "messages",
    "conversation": "kitchen-plans",
    "recent_turns": 6,
    "instructions": ["writing"],
    "salient": 1,
    "chance": False,
}


class ContextIn(FiltersIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A query, and options for the context block."""

    budget_tokens: Annotated[int, msgspec.Meta(ge=50, le=100_000)] = 1_500
    """The longest block, in tokens as the tokenizer counts them."""
    format: Format = "text"
    """text, markdown, json (one object on one line), or messages for chat models: the block as a system message, then
    the last turns."""
    tokenizer: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    """Name of a tokenizer. Left out: the service's default."""
    memories: bool = True
    """Recall memories for the query."""
    limit: Limit = 30
    """The most memories to consider."""
    preset: str | None = None
    """Which order of memories counts, as for a recall: learnt (the default), linear, 70-20-10 or 50-30-20."""
    mode: Mode = "balanced"
    """eager: few candidates and short lines, for every turn; deliberate: more of both, and more around each memory."""
    fill: bool = False
    """Fill the budget with all memories that were considered. Else the block ends where the next one is unlikely to
    matter."""
    why: Why | None = None
    """How much the block tells of the reason for each item: none, short (a few words) or full (a line of its own). Left
    out: none in the format messages, else short. sections always has the whole reason."""
    group_by: GroupBy = "none"
    """none: best first; conversation: messages grouped by session and day, in the order in which they were said."""
    neighbours: bool = True
    """Include the question that a message answers, or the answer to it, if there is room; in the mode deliberate all
    turns before and after it; none in the mode eager."""
    conversation: str | None = None
    """The current conversation, by id or identifier, for its last turns and its working memory."""
    recent_turns: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    """How many of its last turns to quote. Needs conversation."""
    profile: bool = True
    """Include core memory and the conversation's working memory."""
    core: bool = True
    """Include instructions that are pinned or of the category core."""
    instructions: Annotated[list[str], msgspec.Meta(max_length=100)] | None = None
    """Include instructions of these categories. Left out: all; []: none."""
    salient: Annotated[int, msgspec.Meta(ge=0, le=3)] = 3
    """The most salient items that need not match the query."""
    chance: bool = True
    """Include one memory drawn at random: with a seed each time, else in one block of four."""
    seed: Annotated[int, msgspec.Meta(ge=0, le=2_147_483_647)] | None = None
    """Seed for drawing it. Left out: a different memory each time."""
    elapsed: bool = True
    """Include a line with the current day and the time since the user last spoke."""

    def options(self, zone: ZoneInfo) -> ContextOptions:
        """Return the options for ``build_context``.

        Raises:
            InvalidTimeError: a time in the filters cannot be parsed.
            InvalidRequestError: there is no such preset.
        """
        own = {name: getattr(self, name) for name in ContextIn.__annotations__ if name != "preset"}
        return ContextOptions(filters=self.filters(zone), weights=chosen_weights(self.preset, None), **own)


class ContextController(Controller):
    """Contexts."""

    tags = ("recall",)
    opt = ASKS
    dependencies = READER

    @post(
        "/context",
        status_code=200,
        operation_id="buildContext",
        summary="Build a context block",
        description="Recalls what an assistant should know and packs it into one block for its prompt, within a token "
        "budget: last turns, the profile, instructions, facts and messages, each with the reason why it was chosen and "
        "a short id that GET /v1/memories/{id} opens. The block is fenced: it declares its content to be data, and no "
        "text in it can close the fence. If the block comes back within a message, it is not stored again.",
        response_description="The block and the memories in it.",
        responses=documented(400, 401, 403, 404, 413, 415, 501, 503),
    )
    async def context(
        self,
        data: Annotated[
            ContextIn,
            BodyKwarg(
                examples=[
                    Example(summary="A block of text", value=SIMPLE),
                    Example(summary="Messages for a chat model", value=CHAT),
                ]
            ),
        ],
        reader: NamedDependency[Caller],
    ) -> Response[Context]:
        """Build the block."""
        options = data.options(ZoneInfo(reader.owner.time_zone))
        with observe.RECALL_SECONDS.labels(door="context").time():
            built = await build_context(
                reader.db,
                reader.owner,
                data.query,
                reader.settings,
                embedder=reader.embedder,
                options=options,
                salient=salience,
            )
        return record_later(reader, built, door="context", mode=data.mode)


Neighbours = Annotated[int, QueryParameter(ge=0, le=100, description="For a message: how many messages on this side.")]


class MarkIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to say of a memory."""

    pinned: bool | None = None
    """true: always salient. false: no longer."""
    importance: Annotated[int, msgspec.Meta(ge=1, le=10)] | None = None
    """1 (trivial) to 10 (life-changing)."""


class CoreIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Where a memory goes."""

    block: str = BLOCK
    """A core block of the profile."""


class MemoriesController(Controller):
    """Memories by id."""

    path = "/memories"
    tags = ("recall",)
    dependencies = READER

    @get(
        "/{memory_id:str}",
        operation_id="openMemory",
        summary="Open a memory",
        description="Opens a memory by an id from a context or a recall: a message with its conversation, its "
        "neighbours and the facts that it supports; a fact with all its versions and their evidence; a node; or a "
        "block of the profile. Ids may be short (m:…, f:…, n:…, b:…) or full. A short id that several memories share "
        "is refused, and the error lists the full ids.",
        response_description="The memory.",
        responses=documented(400, 401, 403, 404, 409, 503),
    )
    async def open(
        self,
        reader: NamedDependency[Caller],
        memory_id: Annotated[str, PathParameter(description="A short or full id.")],
        before: Neighbours = 2,
        after: Neighbours = 2,
    ) -> OpenedMemory:
        """Open it."""
        return await open_memory(reader.db, reader.owner, memory_id, before=before, after=after)

    @patch(
        "/{memory_id:str}",
        operation_id="markMemory",
        summary="Pin a memory, or say how important it is",
        description="Pins or unpins a message, a fact, a note or another node with a description, or says how "
        "important it is. A pinned memory is always among the salient ones (GET /v1/top-of-mind, and the section "
        "`salient` of contexts). What is left out stays as it was. Of a fact or a node its present version is "
        "marked; later versions begin with the same marks.",
        response_description="What counts now.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def mark(
        self,
        data: Annotated[
            MarkIn, BodyKwarg(examples=[Example(value={"pinned": True}), Example(value={"importance": 8})])
        ],
        writer: NamedDependency[Caller],
        memory_id: Annotated[str, PathParameter(description="A short or full id.")],
    ) -> MarkedMemory:
        """Mark it."""
        return await mark_memory(writer.db, writer.owner, memory_id, pinned=data.pinned, importance=data.importance)

    @post(
        "/{memory_id:str}/promote",
        status_code=200,
        operation_id="promoteMemory",
        summary="Promote a memory into core memory",
        description="Appends what a message, a fact or a node says to a core block of the profile, which is part of "
        "every context. The memory is the line's evidence: if it is erased, the line goes with it. A memory that "
        "stands there already is not added again. To remove the line, change the block (PATCH /v1/profile/{name}).",
        response_description="The block.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def promote(
        self,
        data: Annotated[CoreIn, BodyKwarg(examples=[Example(value={}), Example(value={"block": "current_state"})])],
        writer: NamedDependency[Caller],
        memory_id: Annotated[str, PathParameter(description="A short or full id.")],
    ) -> Block:
        """Promote it."""
        return await promote_memory(
            writer.db, writer.owner, memory_id, block=data.block, asserted_by=writer.asserted_by
        )  # fmt: skip
