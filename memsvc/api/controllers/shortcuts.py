"""Short paths at the root for the most used operations, with the same capabilities as under ``/v1``."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Controller, Response, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, QueryParameter

from memsvc import observe
from memsvc.api.callers import ASKS, READER, STORES, WRITER, Caller
from memsvc.api.controllers.messages import IdempotencyKey, Receipts, store
from memsvc.api.controllers.recall import record_later
from memsvc.api.parameters import AskedAtParameter, CursorParameter
from memsvc.api.problems import documented
from memsvc.graph.overview import GraphPage, page
from memsvc.graph.told import graph_around_memories
from memsvc.graph.traverse import Graph
from memsvc.recall import salient as salience
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context
from memsvc.recall.options import Filters, Mode
from memsvc.recall.results import Recalled
from memsvc.recall.search import recall
from memsvc.sources.messages import MessageIn
from memsvc.sources.moments import read_asked_at

DEFAULT_CONVERSATION = "memory"
QUERY: dict[str, Any] = {
    "min_length": 1,
    "description": "A question or words in any language. No part of it is syntax.",
    "examples": [Example(value="Where do we meet Ines?")],
}


class MemoryIn(MessageIn, kw_only=True, forbid_unknown_fields=True):
    """A message to remember. It need not name its conversation."""

    conversation: str = DEFAULT_CONVERSATION
    """The conversation it belongs to, created on first use."""


class Searched(Recalled, frozen=True, kw_only=True):
    """Memories for a query, best first, and the graph around them."""

    graph: Graph | None = None
    """Where it was asked for: the nodes that the memories are about, those one fact away, and the facts among these
    that hold now. At most 150 nodes; 50 of the memories, and 10 facts from each."""


class ShortcutsController(Controller):
    """Short paths."""

    tags = ("shortcuts",)

    @post(
        "/memory",
        status_code=202,
        operation_id="addMemory",
        opt=STORES,
        summary="Remember something",
        description="The same as POST /v1/messages for one message, which may leave out its conversation.",
        response_description="One receipt.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def remember(
        self,
        data: Annotated[MemoryIn, BodyKwarg(examples=[Example(value={"text": "Ines prefers oak for the worktop."})])],
        writer: NamedDependency[Caller],
        idempotency_key: IdempotencyKey = None,
    ) -> Receipts:
        """Store it."""
        return await store(writer, [data], idempotency_key)

    @get(
        "/search",
        operation_id="search",
        opt=ASKS,
        summary="Search memories",
        description="The same as POST /v1/recall with only a query and a limit. With `graph`, the answer also has the "
        "graph around the memories: the nodes they are about, those one fact away, and the facts among these.",
        response_description="Memories, best first.",
        responses=documented(400, 401, 403, 404, 413, 503),
        dependencies=READER,
    )
    async def search(
        self,
        reader: NamedDependency[Caller],
        q: Annotated[str, QueryParameter(**QUERY)],
        limit: Annotated[int, QueryParameter(ge=1, le=1_000, description="The most memories to return.")] = 10,
        graph: Annotated[bool, QueryParameter(description="Also return the graph around the memories.")] = False,
    ) -> Response[Searched]:
        """Recall."""
        with observe.RECALL_SECONDS.labels(door="search").time():
            found = await recall(reader.db, reader.owner, q, reader.settings, embedder=reader.embedder, limit=limit)
        shown = Searched(**{name: getattr(found, name) for name in Recalled.__struct_fields__})
        if graph:
            shown = msgspec.structs.replace(shown, graph=await _around(reader, found))
        return record_later(reader, shown, door="search", mode="balanced")

    @get(
        "/graph",
        operation_id="readGraph",
        summary="Read the graph",
        description="The same as GET /v1/graph: all facts that hold, with the nodes at their ends, in pages.",
        response_description="One page.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def graph(
        self,
        reader: NamedDependency[Caller],
        cursor: CursorParameter = None,
        limit: Annotated[
            int, QueryParameter(ge=1, le=2_000, description="The most facts, or nodes without facts, on a page.")
        ] = 500,
    ) -> GraphPage:
        """Return one page."""
        return await page(reader.db, reader.owner, cursor=cursor, limit=limit)

    @get(
        "/context",
        operation_id="readContext",
        opt=ASKS,
        summary="Read a context block",
        description="The same as POST /v1/context with only a query, a budget, a mode and the moment of asking.",
        response_description="The block and the memories in it.",
        responses=documented(400, 401, 403, 404, 413, 503),
        dependencies=READER,
    )
    async def context(
        self,
        reader: NamedDependency[Caller],
        question: Annotated[str, QueryParameter(name="query", **QUERY)],
        budget_tokens: Annotated[
            int, QueryParameter(ge=50, le=100_000, description="The longest block, in tokens.")
        ] = 1_500,
        mode: Annotated[Mode, QueryParameter(description="How far to search and how much to show.")] = "balanced",
        asked_at: AskedAtParameter = None,
    ) -> Response[Context]:
        """Build the block."""
        filters = Filters(asked_at=read_asked_at(asked_at))
        with observe.RECALL_SECONDS.labels(door="context").time():
            built = await build_context(
                reader.db,
                reader.owner,
                question,
                reader.settings,
                embedder=reader.embedder,
                options=ContextOptions(budget_tokens=budget_tokens, mode=mode, filters=filters),
                salient=salience,
            )
        return record_later(reader, built, door="context", mode=mode)


async def _around(reader: Caller, found: Recalled) -> Graph:
    """Return the graph around memories: around the ends of facts, and around what messages speak of."""
    facts = [memory.fact for memory in found.memories if memory.fact is not None]
    passages = [memory.passage_id for memory in found.memories if memory.fact is None and memory.passage_id is not None]
    ends = [end for fact in facts for end in (fact.from_node, fact.to_node)]
    return await graph_around_memories(reader.db, reader.owner, ends, passages)
