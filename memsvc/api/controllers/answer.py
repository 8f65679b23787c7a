"""Answers from memory, with their sources."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec
from litestar import Controller, Response, post
from litestar.background_tasks import BackgroundTask
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from memsvc import observe
from memsvc.api.callers import ASKS, READER, Caller
from memsvc.api.filters import FiltersIn
from memsvc.api.problems import documented
from memsvc.chat.answering import MemoryAnswer, answer_question
from memsvc.recall.signals import record_recall


class QuestionIn(FiltersIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question to answer from memory."""

    budget_tokens: Annotated[int, msgspec.Meta(ge=50, le=100_000)] = 1_500
    """The most tokens of memories to read for the answer."""
    model: bool = True
    """false: quote memories even if a language model is configured."""


class AnswerController(Controller):
    """Answers."""

    tags = ("chat",)
    opt = ASKS
    dependencies = READER

    @post(
        "/answer",
        status_code=200,
        operation_id="answerQuestion",
        summary="Answer a question from memory",
        description="Answers a question only from memory. Core blocks of the profile count too, unless the request "
        "filters by conversation, time or place. The answer is a list of claims, each with the ids of the memories "
        "that support it; GET /v1/memories/{id} opens them. If no memory supports an answer, `found` is false. The "
        "configured language model writes the claims, and only claims that cite memories it was given are kept. "
        "Without a language model, or if it fails (`degraded` contains llm), the claims quote the memories.",
        response_description="The answer and its sources.",
        responses=documented(400, 401, 403, 404, 413, 415, 501, 503),
    )
    async def answer(
        self,
        data: Annotated[
            QuestionIn,
            BodyKwarg(
                examples=[
                    Example(value={"query": "Where do we meet Ines?"}),
                    Example(value={"query": "What does Marcel like?", "model": False, "said_from": "2026-03-01"}),
                ]
            ),
        ],
        reader: NamedDependency[Caller],
    ) -> Response[MemoryAnswer]:
        """Answer it."""
        filters = data.filters(ZoneInfo(reader.owner.time_zone))
        with observe.RECALL_SECONDS.labels(door="answer").time():
            answer, context = await answer_question(
                reader.db,
                reader.owner,
                data.query,
                reader.settings,
                embedder=reader.embedder,
                filters=filters,
                budget_tokens=data.budget_tokens,
                model=data.model,
            )
        if context.recall_id is None or not context.memories:
            return Response(answer)
        work = BackgroundTask(record_recall, reader.db, reader.owner, context, door="answer", mode="balanced")
        return Response(answer, background=work)
