"""What became of recalls, and what is salient without one."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, PathParameter, QueryParameter

from memsvc.api.callers import READER, Caller
from memsvc.api.parameters import KnownAtParameter
from memsvc.api.problems import documented
from memsvc.recall.results import Memory
from memsvc.recall.salient import MAX_SALIENT, top_of_mind
from memsvc.recall.signals import FeedbackReceipt, feedback
from memsvc.sources.moments import read_known_at, read_moment

MemoryIds = Annotated[list[UUID], msgspec.Meta(max_length=1_000)]
A_MEMORY, ANOTHER = "01a201b6-4ab1-7969-ac06-ffbb0c5e7975", "01a201b6-4abd-7c15-9f1d-6b0a1d2f8e44"


class FeedbackIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What was used of an answer and what was not to the point; memories that are not named stay as they are."""

    used: MemoryIds = []
    """memory_id of memories that were of use."""
    irrelevant: MemoryIds = []
    """memory_id of memories that had nothing to do with the question."""


class TopOfMind(msgspec.Struct, kw_only=True, frozen=True):
    """What is salient without a query."""

    memories: list[Memory]
    """Best first, each with the reason and the points of each factor."""


class RecallsController(Controller):
    """Recalls that were given.

    The scope is read, as for recalling: feedback changes how memories rank, never what is remembered, and whoever may
    read shapes the rank by recalling anyway.
    """

    path = "/recalls"
    tags = ("recall",)
    dependencies = READER

    @post(
        "/{recall_id:uuid}/feedback",
        status_code=200,
        operation_id="giveFeedback",
        summary="Say what was used",
        description="Which memories of an answer were used, and which were irrelevant; recall ranks by it from now on. "
        "Said again it counts once, and another verdict on the same memory of the same recall replaces the first. An "
        "id that was not in that answer refuses all of it (not_recalled); what was erased meanwhile is ignored and "
        "named in the receipt. Recalls are kept for 30 days, unless the service is set otherwise. Needs the scope "
        "read, as recalling does: it changes how memories rank, not what is remembered.",
        response_description="What counts now.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
    )
    async def feedback(
        self,
        data: Annotated[FeedbackIn, BodyKwarg(examples=[Example(value={"used": [A_MEMORY], "irrelevant": [ANOTHER]})])],
        reader: NamedDependency[Caller],
        recall_id: Annotated[UUID, PathParameter(description="recall_id of the answer.")],
    ) -> FeedbackReceipt:
        """Take it."""
        return await feedback(reader.db, reader.owner, recall_id, used=data.used, irrelevant=data.irrelevant)


class TopOfMindController(Controller):
    """What is on the user's mind."""

    path = "/top-of-mind"
    tags = ("recall",)
    dependencies = READER

    @get(
        operation_id="topOfMind",
        summary="What is salient",
        description="Memories that matter without a query: said or learnt lately, important, often recalled, found "
        "useful, or pinned. With as_of as of then; with known_at by what was recorded then, without recalls and "
        "feedback, which are kept for now alone.",
        response_description="Memories, most salient first.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def top(
        self,
        *,
        reader: NamedDependency[Caller],
        limit: Annotated[int, QueryParameter(ge=1, le=MAX_SALIENT, description="At most so many memories.")] = 10,
        as_of: Annotated[
            str | None,
            QueryParameter(description="What was salient then: ISO 8601, without an offset on the user's clock."),
        ] = None,
        known_at: KnownAtParameter = None,
        traces: Annotated[
            bool, QueryParameter(description="Also what the roles system, tool and thinking said.")
        ] = False,
        facts: Annotated[bool, QueryParameter(description="Facts of the graph too.")] = True,
    ) -> TopOfMind:
        """Find it."""
        memories = await top_of_mind(
            reader.db,
            reader.owner,
            limit=limit,
            as_of=read_moment(as_of, reader.owner, "as_of"),
            known_at=read_known_at(known_at, reader.owner),
            traces=traces,
            facts=facts,
        )
        return TopOfMind(memories=memories)
