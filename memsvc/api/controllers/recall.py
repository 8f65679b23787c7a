"""Recall: memories for a query."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeVar
from zoneinfo import ZoneInfo

import msgspec
from litestar import Controller, Response, post
from litestar.background_tasks import BackgroundTask
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from memsvc import observe
from memsvc.api.callers import READER, Caller
from memsvc.api.problems import documented
from memsvc.errors import InvalidTimeError, RerankerMissingError
from memsvc.recall.options import Filters, Form, Kind, Mode, Near, SourceKind
from memsvc.recall.presets import chosen_weights
from memsvc.recall.results import Recalled
from memsvc.recall.search import recall
from memsvc.recall.signals import Answer, record_recall
from memsvc.sources.moments import check_known, read_asked_at
from memsvc.sources.times import parse_time

Names = Annotated[list[str], msgspec.Meta(max_length=1_000)]
AnyAnswer = TypeVar("AnyAnswer", bound=Answer)
MAX_CURSOR_CHARS = 40_000
"""A cursor grows with the memories already returned: 1,000 memories take 28,000 characters."""
Limit = Annotated[int, msgspec.Meta(ge=1, le=1_000)]


class NearIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A circle around a point."""

    lat: float
    """Degrees north (WGS 84)."""
    lon: float
    """Degrees east (WGS 84)."""
    radius_m: float
    """Radius in metres."""


class FiltersIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A query, and filters on what may be recalled."""

    query: str
    """A question or words in any language. No part of it is syntax."""
    conversations: Names = []
    """Only these conversations, by id or identifier."""
    not_conversations: Names = []
    """None of these conversations, by id or identifier."""
    said_from: str | None = None
    """Said at this time or later (ISO 8601). Without an offset: in the user's time zone."""
    said_to: str | None = None
    """Said before this time."""
    traces: bool = False
    """Also messages of the roles system, tool and thinking."""
    facts: bool = True
    """Also facts of the graph, each as its sentence."""
    as_of: str | None = None
    """Only what was true then (ISO 8601): messages said by then and facts valid then."""
    asked_at: str | None = None
    """The moment of asking (ISO 8601 with its offset), by which "today" is understood and ages are told. Default: now.
    What was said later does not count, unless as_of is later."""
    known_at: str | None = None
    """As memsvc knew it then (ISO 8601, not in the future). Default: as it knows now."""
    near: NearIn | None = None
    """Only memories that mention something near this point now, or at as_of."""
    kinds: Annotated[list[Kind], msgspec.Meta(max_length=7)] = []
    """Only these kinds. Default: all but trace."""
    speakers: Names = []
    """Only what these people said, by the names that messages have. A fact: where a message that supports it is."""
    source_kinds: Annotated[list[SourceKind], msgspec.Meta(max_length=3)] = []
    """Only from sources of these kinds: conversation, block (of the profile's archive), graph (written by hand)."""
    types: Names = []
    """Only facts, cards, notes and instructions of edges and nodes of these types."""
    least_importance: Annotated[float, msgspec.Meta(ge=1, le=10)] | None = None
    """Only what is at least this important. What nobody judged has 5."""
    metadata: dict[str, Any] | None = None
    """Only what has these in its metadata: of a note kind and tags, as in {"tags": ["garden"]}."""
    least_score: float | None = None
    """Only what has at least this score for the query, as `score` of a memory has it."""

    def filters(self, zone: ZoneInfo) -> Filters:
        """Return the filters with their times parsed.

        Raises:
            InvalidTimeError: a time cannot be parsed, ``asked_at`` has no offset, or ``known_at`` is in the future.
        """
        known_at = _time(self.known_at, zone, "known_at")
        if known_at is not None:
            check_known(known_at, "known_at")
        return Filters(
            conversations=self.conversations,
            not_conversations=self.not_conversations,
            said_from=_time(self.said_from, zone, "said_from"),
            said_to=_time(self.said_to, zone, "said_to"),
            traces=self.traces,
            facts=self.facts,
            as_of=_time(self.as_of, zone, "as_of"),
            asked_at=read_asked_at(self.asked_at),
            known_at=known_at,
            near=Near(latitude=self.near.lat, longitude=self.near.lon, radius_m=self.near.radius_m)
            if self.near is not None
            else None,
            kinds=self.kinds,
            speakers=self.speakers,
            source_kinds=self.source_kinds,
            types=self.types,
            least_importance=self.least_importance,
            metadata=self.metadata,
            least_score=self.least_score,
        )


class RecallIn(FiltersIn, kw_only=True, forbid_unknown_fields=True):
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
    weights: dict[str, float] = {}
    """What single factors count in place of that, -100 to 100, by the names in `factors` of a memory; 0 is off."""
    rerank: bool = False
    """Let the configured reranker sort the best 50."""
    explain: bool = False
    """Also explain how the answer was found."""


def _time(value: str | None, zone: ZoneInfo, field: str) -> datetime | None:
    if value is None:
        return None
    try:
        return parse_time(value, zone).moment
    except InvalidTimeError as error:
        error.details["field"] = field
        raise


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
