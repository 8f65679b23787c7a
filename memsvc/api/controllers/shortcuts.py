"""Short addresses at the root, for those who know a memory by them: the same capabilities as under ``/v1``."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Controller, Response, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, QueryParameter

from memsvc import observe
from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.controllers.messages import IdempotencyKey, Receipts, store
from memsvc.api.controllers.recall import noted
from memsvc.api.parameters import CursorParameter
from memsvc.api.problems import documented
from memsvc.graph.overview import GraphPage, page
from memsvc.recall import salient as salience
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context
from memsvc.recall.options import Mode
from memsvc.recall.results import Recalled
from memsvc.recall.search import recall
from memsvc.sources.messages import MessageIn

DEFAULT_CONVERSATION = "memory"
QUERY: dict[str, Any] = {
    "min_length": 1,
    "description": "A question or words in any language; nothing in it is syntax.",
    "examples": [Example(value="Where do we meet Ines?")],
}


class MemoryIn(MessageIn, kw_only=True, forbid_unknown_fields=True):
    """Something to remember: a message that need not say where it was said."""

    conversation: str = DEFAULT_CONVERSATION
    """Where it belongs; made on first use."""


class ShortcutsController(Controller):
    """Short addresses."""

    tags = ("shortcuts",)

    @post(
        "/memory",
        status_code=202,
        operation_id="addMemory",
        summary="Remember something",
        description="POST /v1/messages for one message, which may leave its conversation out.",
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
        summary="Search memories",
        description="POST /v1/recall with a query and nothing else.",
        response_description="Memories, best first.",
        responses=documented(400, 401, 403, 404, 413, 503),
        dependencies=READER,
    )
    async def search(
        self,
        reader: NamedDependency[Caller],
        q: Annotated[str, QueryParameter(**QUERY)],
        limit: Annotated[int, QueryParameter(ge=1, le=1_000, description="At most so many memories.")] = 10,
    ) -> Response[Recalled]:
        """Recall."""
        with observe.RECALL_SECONDS.labels(door="search").time():
            found = await recall(reader.db, reader.owner, q, reader.settings, embedder=reader.embedder, limit=limit)
        return noted(reader, found, door="search", mode="balanced")

    @get(
        "/graph",
        operation_id="readGraph",
        summary="Read the graph",
        description="GET /v1/graph: all facts that hold, with the nodes at their ends, page by page.",
        response_description="One page.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def graph(
        self,
        reader: NamedDependency[Caller],
        cursor: CursorParameter = None,
        limit: Annotated[
            int, QueryParameter(ge=1, le=2_000, description="Most facts, or most nodes without facts.")
        ] = 500,
    ) -> GraphPage:
        """One page."""
        return await page(reader.db, reader.owner, cursor=cursor, limit=limit)

    @get(
        "/context",
        operation_id="readContext",
        summary="Read a context block",
        description="POST /v1/context with a query, a budget and a mode.",
        response_description="The block and what it was made of.",
        responses=documented(400, 401, 403, 404, 413, 503),
        dependencies=READER,
    )
    async def context(
        self,
        reader: NamedDependency[Caller],
        question: Annotated[str, QueryParameter(name="query", **QUERY)],
        budget_tokens: Annotated[
            int, QueryParameter(ge=50, le=100_000, description="Longest block, in tokens as the tokenizer counts.")
        ] = 1_500,
        mode: Annotated[Mode, QueryParameter(description="How hard to look, and how much of it to show.")] = "balanced",
    ) -> Response[Context]:
        """Recall and pack."""
        with observe.RECALL_SECONDS.labels(door="context").time():
            built = await build_context(
                reader.db,
                reader.owner,
                question,
                reader.settings,
                embedder=reader.embedder,
                options=ContextOptions(budget_tokens=budget_tokens, mode=mode),
                salient=salience,
            )
        return noted(reader, built, door="context", mode=mode)
