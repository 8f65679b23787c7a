"""Recall: memories for a query."""

from __future__ import annotations

from typing import Annotated, TypeVar
from zoneinfo import ZoneInfo

import msgspec
from litestar import Controller, Response, post
from litestar.background_tasks import BackgroundTask
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from memsvc import observe
from memsvc.api.callers import ASKS, READER, Caller
from memsvc.api.filters import FiltersIn, Limit
from memsvc.api.problems import documented
from memsvc.errors import RerankerMissingError
from memsvc.recall.options import Form, Mode
from memsvc.recall.presets import chosen_weights
from memsvc.recall.results import Recalled
from memsvc.recall.search import recall
from memsvc.recall.signals import Answer, record_recall

AnyAnswer = TypeVar("AnyAnswer", bound=Answer)
MAX_CURSOR_CHARS = 40_000
"""A cursor grows with the memories already returned: 1,000 memories take 28,000 characters."""


class RecallIn(FiltersIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A recall: a query, filters and options."""

    limit: Limit = 10
    """The most memories to return."""
    form: Form = "stemmed"
    """stemmed: "move" finds "moved"; simple: words exactly as written."""
    mode: Mode = "balanced"
    """eager: fast, for every turn; balanced; deliberate: searches further and returns pages with next_cursor."""
    cursor: Annotated[str, msgspec.Meta(max_length=MAX_CURSOR_CHARS)] | None = None
    """next_cursor of the last page, in the mode deliberate. Only limit may change between pages."""
    diversity: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    """How much a memory loses for being similar to a better one: 0 nothing, 1 everything."""
    preset: str | None = None
    """Which order counts: learnt (the default), linear, 70-20-10 or 50-30-20 (relevance, recency, importance)."""
    weights: dict[str, float] = {}  # noqa: RUF012 - msgspec copies it
    """What single factors count in place of that, -100 to 100, by the names in `factors` of a memory; 0 is off."""
    rerank: bool = False
    """Let the configured reranker sort the best 50."""
    explain: bool = False
    """Also explain how the answer was found."""


def record_later(reader: Caller, answer: AnyAnswer, *, door: str, mode: Mode) -> Response[AnyAnswer]:
    """Return an answer whose recall is recorded after it is sent, if recalls are recorded and it has memories."""
    if answer.recall_id is None or not answer.memories:
        return Response(answer)
    return Response(
        answer, background=BackgroundTask(record_recall, reader.db, reader.owner, answer, door=door, mode=mode)
    )


class RecallController(Controller):
    """Recall."""

    tags = ("recall",)
    opt = ASKS
    dependencies = READER

    @post(
        "/recall",
        status_code=200,
        operation_id="recall",
        summary="Recall memories",
        description="Returns the few messages, facts and archived blocks that matter for a query, best first, each "
        "with its score, the reason why it was chosen and its source. The only models used are the embedder and, with "
        "`rerank`, the reranker. If one does not answer in time, recall answers without it and `degraded` names it. "
        "`relevant` is false if no memory seems to answer the query; `ambiguous` lists names in the query that match "
        "several nodes. The mode deliberate returns pages. Data that is stored, merged or erased between two pages "
        "causes neither repeated nor missing memories.",
        response_description="Memories, best first.",
        responses=documented(400, 401, 403, 404, 413, 415, 501, 503),
    )
    async def recall(
        self,
        data: Annotated[
            RecallIn,
            BodyKwarg(
                examples=[
                    Example(value={"query": "Where do we meet Ines?"}),
                    Example(
                        value={
                            "query": "What did Marcel say about oak?",
                            "limit": 5,
                            "form": "simple",
                            "said_from": "2026-03-01",
                            "said_to": "2026-04-01T00:00:00+02:00",
                            "traces": True,
                        }
                    ),
                    Example(
                        value={
                            "query": "Where did Ines live, and with whom?",
                            "mode": "deliberate",
                            "as_of": "2026-03-01",
                            "known_at": "2026-04-01T00:00:00+02:00",
                            "diversity": 0.3,
                            "weights": {"recency": 0.5, "speaker": 0},
                            "explain": True,
                        }
                    ),
                ]
            ),
        ],
        reader: NamedDependency[Caller],
    ) -> Response[Recalled]:
        """Recall."""
        if data.rerank and reader.reranker is None:
            raise RerankerMissingError(field="rerank")
        filters = data.filters(ZoneInfo(reader.owner.time_zone))
        with observe.RECALL_SECONDS.labels(door="recall").time():
            found = await recall(
                reader.db,
                reader.owner,
                data.query,
                reader.settings,
                embedder=reader.embedder,
                limit=data.limit,
                form=data.form,
                mode=data.mode,
                weights=chosen_weights(data.preset, data.weights),
                filters=filters,
                explain=data.explain,
                cursor=data.cursor,
                reranker=reader.reranker if data.rerank else None,
                diversity=data.diversity,
            )
        return record_later(reader, found, door="recall", mode=data.mode)
