"""Feedback on recalls, and memories that matter without a query."""

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
from memsvc.recall.usefulness import MOST_DAYS, Usefulness, usefulness
from memsvc.sources.moments import read_known_at, read_moment

MemoryIds = Annotated[list[UUID], msgspec.Meta(max_length=1_000)]
A_MEMORY, ANOTHER = "01a201b6-4ab1-7969-ac06-ffbb0c5e7975", "01a201b6-4abd-7c15-9f1d-6b0a1d2f8e44"


class FeedbackIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which memories of an answer were useful or irrelevant. Feedback on other memories stays as it is."""

    used: MemoryIds = []
    """memory_id of memories that were useful."""
    irrelevant: MemoryIds = []
    """memory_id of memories that had nothing to do with the question."""


class TopOfMind(msgspec.Struct, kw_only=True, frozen=True):
    """Memories that matter without a query."""

    memories: list[Memory]
    """Most salient first, each with the reason and the points of each factor."""


class RecallsController(Controller):
    """Feedback on recalls.

    The scope is read, as for recalling. Feedback changes how memories rank and never what is remembered, and recalling
    already changes the rank.
    """

    path = "/recalls"
    tags = ("recall",)
    dependencies = READER

    @post(
        "/{recall_id:uuid}/feedback",
        status_code=200,
        operation_id="giveFeedback",
        summary="Give feedback on a recall",
        description="Records which memories of an answer were used and which were irrelevant. Recall takes this into "
        "account from now on. Repeated feedback counts once; a different verdict on the same memory of the same recall "
        "replaces the first. If an id was not in that answer, the whole request is refused (not_recalled). Memories "
        "erased since are ignored and named in the receipt. Recalls are kept for 30 days by default. Needs only the "
        "scope read, because it changes how memories rank and not what is remembered.",
        response_description="The feedback that counts now.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
    )
    async def feedback(
        self,
        data: Annotated[FeedbackIn, BodyKwarg(examples=[Example(value={"used": [A_MEMORY], "irrelevant": [ANOTHER]})])],
        reader: NamedDependency[Caller],
        recall_id: Annotated[UUID, PathParameter(description="recall_id of the answer.")],
    ) -> FeedbackReceipt:
        """Record it."""
        return await feedback(reader.db, reader.owner, recall_id, used=data.used, irrelevant=data.irrelevant)


class UsefulnessController(Controller):
    """What becomes of what recall gives."""

    path = "/usefulness"
    tags = ("recall",)
    dependencies = READER

    @get(
        operation_id="getUsefulness",
        summary="Get how useful recalls are",
        description="Counts, for each door and kind of memory, how many memories the recalls of a time gave, how many "
        "feedback called used or irrelevant, and how many came back in answers: of drop-in chats memsvc sees the "
        "answer, and compares its words. Recalls are kept for 30 days by default.",
        response_description="Counts and shares.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def usefulness(
        self,
        reader: NamedDependency[Caller],
        days: Annotated[int, QueryParameter(ge=1, le=MOST_DAYS, description="Of so many days until now.")] = 30,
    ) -> Usefulness:
        """Count."""
        return await usefulness(reader.db, reader.owner, days)


class TopOfMindController(Controller):
    """What matters without a query."""

    path = "/top-of-mind"
    tags = ("recall",)
    dependencies = READER

    @get(
        operation_id="topOfMind",
        summary="List salient memories",
        description="Returns memories that matter without a query: recent, important, often recalled, found useful, or "
        "pinned. With as_of: what was salient then. With known_at: judged by what was recorded then, without recalls "
        "and feedback, which exist only for the present.",
        response_description="Memories, most salient first.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def top(
        self,
        *,
        reader: NamedDependency[Caller],
        limit: Annotated[int, QueryParameter(ge=1, le=MAX_SALIENT, description="The most memories to return.")] = 10,
        as_of: Annotated[
            str | None,
            QueryParameter(description="What was salient then (ISO 8601; without an offset in the user's time zone)."),
        ] = None,
        known_at: KnownAtParameter = None,
        traces: Annotated[
            bool, QueryParameter(description="Also messages of the roles system, tool and thinking.")
        ] = False,
        facts: Annotated[bool, QueryParameter(description="Also facts of the graph.")] = True,
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
