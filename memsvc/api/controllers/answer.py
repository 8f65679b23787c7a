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
from memsvc.api.callers import READER, Caller
from memsvc.api.controllers.recall import FiltersIn
from memsvc.api.problems import documented
from memsvc.chat.answering import MemoryAnswer, answer_question
from memsvc.recall.signals import record_recall


class QuestionIn(FiltersIn, kw_only=True, forbid_unknown_fields=True):
    """A question that memory is to answer."""

    budget_tokens: Annotated[int, msgspec.Meta(ge=50, le=100_000)] = 1_500
    """Most tokens of memories that are read for it."""
    model: bool = True
    """false: quote memories, though there is a language model."""


class AnswerController(Controller):
    """Answers."""

    tags = ("chat",)
    dependencies = READER

    @post(
        "/answer",
        status_code=200,
        operation_id="answerQuestion",
        summary="Answer a question from memory",
        description="Answers from packed memories, also from core blocks of the profile where no conversations, times "
        "or place are chosen, and from nothing else: claims, each with the ids of the memories that say it, which "
        "GET /v1/memories/{id} opens. Where nothing in memory supports an answer, `found` is false. The claims are the "
        "configured language model's, as far as they name memories that it was given; without one, or where it fails "
        "(`degraded` has llm), they are the memories' own words.",
        response_description="The answer and what it rests on.",
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
            told, context = await answer_question(
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
            return Response(told)
        work = BackgroundTask(record_recall, reader.db, reader.owner, context, door="answer", mode="balanced")
        return Response(told, background=work)
