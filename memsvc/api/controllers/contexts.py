"""Contexts: a block of memories for a prompt, and what the ids in it stand for."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec
from litestar import Controller, Response, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, PathParameter, QueryParameter

from memsvc import observe
from memsvc.api.callers import READER, Caller
from memsvc.api.controllers.recall import FiltersIn, Limit, noted
from memsvc.api.problems import documented
from memsvc.recall import salient as salience
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context, Format
from memsvc.recall.options import Mode
from memsvc.recall.packing import GroupBy
from memsvc.sources.opening import OpenedMemory, open_memory

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


class ContextIn(FiltersIn, kw_only=True, forbid_unknown_fields=True):
    """What an assistant is about to answer, and what its context shall hold."""

    budget_tokens: Annotated[int, msgspec.Meta(ge=50, le=100_000)] = 1_500
    """Longest block, in tokens as the tokenizer counts."""
    format: Format = "text"
    """text, markdown, json (one object on one line), or messages for chat models: the block as the system's, then the
    last turns."""
    tokenizer: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    """Name of a tokenizer; left out: the service's."""
    memories: bool = True
    """Recall memories for the query."""
    limit: Limit = 30
    """Most memories considered."""
    mode: Mode = "balanced"
    """eager: few candidates and short lines, for every turn; deliberate: more of all, and more around each memory."""
    group_by: GroupBy = "conversation"
    """conversation: messages under the session and day in which they were said; none: best first."""
    neighbours: bool = True
    """The turns before and after a message, where there is room; none in the mode eager."""
    conversation: str | None = None
    """The one that goes on, by id or identifier; for its last turns and its working memory."""
    recent_turns: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    """So many of its last turns, to the letter; needs conversation."""
    profile: bool = True
    """Core memory, and the working memory of the conversation."""
    core: bool = True
    """Instructions that are pinned, or of the category core."""
    instructions: Annotated[list[str], msgspec.Meta(max_length=100)] | None = None
    """Instructions of these categories; left out: of all; []: none."""
    salient: Annotated[int, msgspec.Meta(ge=0, le=3)] = 3
    """Most items that are salient without matching the query."""
    chance: bool = True
    """One memory drawn at random."""
    seed: Annotated[int, msgspec.Meta(ge=0, le=2_147_483_647)] | None = None
    """By which it is drawn; left out: another each time."""
    elapsed: bool = True
    """A line with the present day, and how long ago the user last spoke."""

    def options(self, zone: ZoneInfo) -> ContextOptions:
        """The same for ``build_context``.

        Raises:
            InvalidTimeError: a time of the filters is none.
        """
        own = {name: getattr(self, name) for name in ContextIn.__annotations__}
        return ContextOptions(filters=self.filters(zone), **own)


class ContextController(Controller):
    """Contexts."""

    tags = ("recall",)
    dependencies = READER

    @post(
        "/context",
        status_code=200,
        operation_id="buildContext",
        summary="Build a context block",
        description="Recalls and packs what an assistant should know into one block for its prompt, under a token "
        "budget: last turns, the profile, instructions, facts and messages, each with the reason why it is there and a "
        "short id that GET /v1/memories/{id} opens. The block is fenced: it says that it holds data, nothing in it can "
        "end it, and where it comes back within a message it is not remembered again.",
        response_description="The block and what it was made of.",
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
        """Recall and pack."""
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
        return noted(reader, built, door="context", mode=data.mode)


Neighbours = Annotated[int, QueryParameter(ge=0, le=100, description="How many messages on that side of a message.")]


class MemoriesController(Controller):
    """Memories by id."""

    path = "/memories"
    tags = ("recall",)
    dependencies = READER

    @get(
        "/{memory_id:str}",
        operation_id="openMemory",
        summary="Open a memory",
        description="What an id of a context or a recall stands for: a message with its conversation, its neighbours "
        "and the facts that rest on it; a fact with all its versions and their evidence; a node; a block of the "
        "profile. Ids may be short (m:…, f:…, n:…, b:…) or whole. A short id that several have is refused with the "
        "whole ones.",
        response_description="The memory.",
        responses=documented(400, 401, 403, 404, 409, 503),
    )
    async def open(
        self,
        reader: NamedDependency[Caller],
        memory_id: Annotated[str, PathParameter(description="A short or whole id.")],
        before: Neighbours = 2,
        after: Neighbours = 2,
    ) -> OpenedMemory:
        """Open it."""
        return await open_memory(reader.db, reader.owner, memory_id, before=before, after=after)
