"""Recall: memories for a query, and a block of them for a prompt."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec
from litestar import Controller, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from memsvc import observe
from memsvc.api.callers import READER, Caller
from memsvc.api.problems import documented
from memsvc.errors import InvalidTimeError
from memsvc.recall.context import Context, build_context
from memsvc.recall.search import Filters, Form, Recalled, recall
from memsvc.sources.times import parse_time

Names = Annotated[list[str], msgspec.Meta(max_length=1_000)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=1_000)]


class FiltersIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What may be recalled."""

    query: str
    """A question or words in any language; nothing in it is syntax."""
    conversations: Names = []
    """Only these, by id or identifier."""
    not_conversations: Names = []
    """None of these, by id or identifier."""
    said_from: str | None = None
    """Said at this time or later: ISO 8601; without an offset on the user's clock."""
    said_to: str | None = None
    """Said before this time."""
    traces: bool = False
    """Also what the roles system, tool and thinking said."""

    def filters(self, zone: ZoneInfo) -> Filters:
        """The same with its times read.

        Raises:
            InvalidTimeError: one of them is none.
        """
        return Filters(
            conversations=self.conversations,
            not_conversations=self.not_conversations,
            said_from=_time(self.said_from, zone, "said_from"),
            said_to=_time(self.said_to, zone, "said_to"),
            traces=self.traces,
        )


class RecallIn(FiltersIn, kw_only=True, forbid_unknown_fields=True):
    """A question to the memory."""

    limit: Limit = 10
    """At most so many memories."""
    form: Form = "stemmed"
    """stemmed: "move" finds "moved"; simple: words as they stand."""


class ContextIn(FiltersIn, kw_only=True, forbid_unknown_fields=True):
    """What an assistant is about to answer."""

    budget_tokens: Annotated[int, msgspec.Meta(ge=50, le=100_000)] = 1_500
    """Longest block, in estimated tokens."""
    limit: Limit = 30
    """Most memories considered."""


def _time(value: str | None, zone: ZoneInfo, field: str) -> datetime | None:
    if value is None:
        return None
    try:
        return parse_time(value, zone).moment
    except InvalidTimeError as error:
        error.details["field"] = field
        raise


class RecallController(Controller):
    """Recall."""

    tags = ("recall",)
    dependencies = READER

    @post(
        "/recall",
        status_code=200,
        operation_id="recall",
        summary="Recall memories",
        description="The few messages that matter for a query, best first, each with its score, the reason why it was "
        "chosen and its source. The only model asked is the embedder; where it does not answer in time, words alone "
        "are compared, and `degraded` says so.",
        response_description="Memories, best first.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
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
                ]
            ),
        ],
        reader: NamedDependency[Caller],
    ) -> Recalled:
        """Recall."""
        filters = data.filters(ZoneInfo(reader.owner.time_zone))
        with observe.RECALL_SECONDS.labels(door="recall").time():
            return await recall(
                reader.db,
                reader.owner,
                data.query,
                reader.settings,
                embedder=reader.embedder,
                limit=data.limit,
                form=data.form,
                filters=filters,
            )

    @post(
        "/context",
        status_code=200,
        operation_id="buildContext",
        summary="Build a context block",
        description="Recalls and packs the memories into one block of text for an assistant's prompt, under a token "
        "budget, with the reason and the source of each.",
        response_description="The block and what it was made of.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
    )
    async def context(
        self,
        data: Annotated[
            ContextIn, BodyKwarg(examples=[Example(value={"query": "Where do we meet Ines?", "budget_tokens": 600})])
        ],
        reader: NamedDependency[Caller],
    ) -> Context:
        """Recall and pack."""
        filters = data.filters(ZoneInfo(reader.owner.time_zone))
        with observe.RECALL_SECONDS.labels(door="context").time():
            return await build_context(
                reader.db,
                reader.owner,
                data.query,
                reader.settings,
                embedder=reader.embedder,
                budget_tokens=data.budget_tokens,
                limit=data.limit,
                filters=filters,
            )
