"""Recall: the few memories that matter for a query, each with score, reason and source.

The work is one statement, ``recall`` of ``sql/queries/recall.sql``, around one SQL function, ``memsvc.recall``
(``sql/functions/recall/80_recall.sql``). The only model that is asked is the embedder, for the query's vector and those
of its tokens; where it does not answer in time, recall goes by words and says so. A reranker and diversity come after
it, where they are asked for.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from dataclasses import field as field_of
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc import observe, traces
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query as named
from memsvc.db.together import Together
from memsvc.errors import ConversationUnknownError, InvalidRequestError, TextTooLongError
from memsvc.graph.places import Area, area, nodes_near
from memsvc.llm.embedders import legible
from memsvc.llm.embedders.residents import QueryVector
from memsvc.recall import cursor as cursors
from memsvc.recall.answer import Asked, answer
from memsvc.recall.asks_said import said_then
from memsvc.recall.kinds import Kind
from memsvc.recall.options import (
    CHOICES,
    CUT_SHOWN,
    EFFORTS,
    FITTED_MODELS,
    LEARNT,
    MAX_LIMIT,
    RERANKED,
    Filters,
    Form,
    Mode,
    Weights,
    by_meaning,
)
from memsvc.recall.order import counting, shipped
from memsvc.recall.order import weights as weights_of
from memsvc.recall.query_words import can_be_split, has_words, only_repeats
from memsvc.recall.rerank import ResidentReranker
from memsvc.recall.results import Degraded, Memory, Recalled
from memsvc.recall.said import BEHIND, Beside, ask_times, memories_of, with_said
from memsvc.recall.signals import new_recall_id
from memsvc.recall.with_summaries import (
    LOOKED_AT,
    POOL,
    Asks,
    Quotes,
    asks_summaries,
    quotes_of,
    with_summaries,
)
from memsvc.settings import Settings
from memsvc.text.characters import is_visible
from memsvc.text.storable import check_storable
from memsvc.times.reading import QueryTimes, read_times

MAX_METADATA_BYTES, MOST_IMPORTANT = 10_000, 10
WORDS_ASKED = ("user_id", "query", "form", "language", "kinds")
"""What of the parameters says which words are known."""
BEYOND = RERANKED + CUT_SHOWN
"""Rows behind a page at most: to choose from, and to tell what was left out."""


class QueryEmbedder(Protocol):
    """What recall needs of embedding models."""

    async def query_vectors(
        self, db: Database, query: str, timeout_ms: int
    ) -> tuple[QueryVector | None, QueryVector | None]:
        """The query's vectors by the active model, and by the one that leaves while another takes over.

        None where there is no such model, or it is missing, fails, or needs longer.
        """


@dataclass(frozen=True, slots=True)
class _Computed:
    """A query's vectors that are known already, as a ``QueryEmbedder``: the model is not asked again."""

    vectors: tuple[QueryVector | None, QueryVector | None]

    async def query_vectors(
        self, _db: Database, _query: str, _timeout_ms: int
    ) -> tuple[QueryVector | None, QueryVector | None]:
        return self.vectors


@asynccontextmanager
async def _stage(name: str) -> AsyncIterator[None]:
    """Time a stage of recall."""
    with observe.RECALL_STAGE_SECONDS.labels(name).time(), traces.span(f"recall {name}"):
        yield


async def _known_at(db: Database, owner: Owner, filters: Filters, place: cursors.Place | None) -> datetime | None:
    """What was known when is asked about: by a later page only where something has changed since the first."""
    if place is None or filters.known_at is not None:
        return filters.known_at
    async with db.transaction(owner.user_id, keep_plans=True) as connection:
        changed = await connection.scalar(named("changed_since"), {"user_id": owner.user_id, "since": place.known_at})
    return place.known_at if changed else None


async def _source_ids(connection: AsyncConnection, owner: Owner, wanted: Sequence[str]) -> list[UUID] | None:
    if not wanted:
        return None
    for name in wanted:
        check_storable(name, "conversations")
    rows = await connection.execute(
        named("conversation_ids"), {"user_id": owner.user_id, "wanted": list(dict.fromkeys(wanted))}
    )
    found = {row.wanted: row.source_id for row in rows}
    missing = [name for name in wanted if name not in found]
    if missing:
        raise ConversationUnknownError(f"There is no conversation {missing[0]!r}.", conversation=missing[0])
    return list(found.values())


def _around(filters: Filters) -> Area | None:
    near = filters.near
    return area(near.latitude, near.longitude, near.radius_m) if near is not None else None


async def _narrowed(
    db: Database, owner: Owner, filters: Filters, around: Area | None, known_at: datetime | None
) -> dict[str, list[UUID] | None]:
    """The filters that come as ids."""
    if around is None and not filters.conversations and not filters.not_conversations:
        return {}
    async with db.transaction(owner.user_id, keep_plans=True) as connection:
        return {
            "sources": await _source_ids(connection, owner, filters.conversations),
            "not_sources": await _source_ids(connection, owner, filters.not_conversations),
            "near": await nodes_near(connection, owner, around, filters.then, known_at) if around else None,
        }


def check_query(query: str, limit: int, settings: Settings) -> None:
    """Refuse what cannot be asked.

    Raises:
        InvalidRequestError, TextTooLongError, InvalidTextError: the query or the limit cannot be used.
    """
    check_storable(query, "query")
    if len(query) > settings.max_query_chars:
        raise TextTooLongError(
            f"The query has {len(query):,} characters; at most {settings.max_query_chars:,} fit.",
            hint="Shorten it, or raise MEMSVC_MAX_QUERY_CHARS.",
            field="query",
        )
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidRequestError(f"limit must lie between 1 and {MAX_LIMIT:,}.", field="limit")


def check_filters(filters: Filters) -> None:
    """Refuse filters that cannot be asked for.

    Raises:
        InvalidRequestError, InvalidTextError: the importance or the metadata cannot be used.
    """
    for field, known in CHOICES.items():
        if strange := [one for one in getattr(filters, field) if one not in known]:
            raise InvalidRequestError(
                f"{strange[0]!r:.60} is none of the {field.replace('_', ' ')}.",
                hint=f"Ask for {', '.join(known)}.",
                field=field,
            )
    for field, value in filters.content.items():
        check_storable(value, field)
    if filters.least_importance is not None and not 1 <= filters.least_importance <= MOST_IMPORTANT:
        raise InvalidRequestError(
            f"least_importance must lie between 1 and {MOST_IMPORTANT}.", field="least_importance"
        )
    if filters.least_score is not None and not math.isfinite(filters.least_score):
        raise InvalidRequestError("least_score must be a number.", field="least_score")
    if filters.metadata is not None and len(msgspec.json.encode(filters.metadata)) > MAX_METADATA_BYTES:
        raise InvalidRequestError(
            f"metadata is larger than {MAX_METADATA_BYTES:,} bytes.", hint="Ask for fewer keys.", field="metadata"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What is found out about a question before the statement runs."""

    vectors: tuple[QueryVector | None, QueryVector | None] = (None, None)
    """The query's, by the active model and by the one that leaves."""
    times: QueryTimes = field_of(default_factory=QueryTimes)
    """What the query says about time."""
    sources: Sequence[UUID] | None = None
    """Only these conversations."""
    not_sources: Sequence[UUID] | None = None
    """None of these."""
    near: Sequence[UUID] | None = None
    """Only what speaks of these nodes, as they are stored; None: anything."""
    known_at: datetime | None = None
    """Instead of the filters'."""
    place: cursors.Place | None = None
    """Where the page begins; None: it is the first."""
    page: int | None = None
    """Memories that are wanted; None: all rows are."""


def parameters(
    owner: Owner,
    query: str,
    prepared: Prepared,
    *,
    limit: int,
    form: Form = "stemmed",
    mode: Mode = "balanced",
    weights: Weights = LEARNT,
    filters: Filters | None = None,
) -> dict[str, Any]:
    """What the statement ``recall`` is given; the one place that knows its parameters.

    Args:
        owner: whose memory is asked.
        query: the question.
        prepared: what was found out about it.
        limit: rows, at most ``BEYOND`` more than the page.
        form: stemmed words or simple ones.
        mode: how hard to look.
        weights: what factors count, in place of what was learnt.
        filters: what may be recalled, but conversations, which come as ids.
    """
    chosen, effort, told = filters or Filters(), EFFORTS[mode], prepared.times
    place, page = prepared.place, prepared.page
    active, leaving = prepared.vectors
    given, repeats = (place.given, place.repeats) if place is not None else ((), ())
    known_at = prepared.known_at or chosen.known_at
    kinds = msgspec.structs.replace(chosen, known_at=known_at).searched
    depth = limit + len(given)
    listed = depth if page is None else page + CUT_SHOWN  # as many whether it is explained or not
    if mode == "deliberate":  # whatever the page, its list is the same, and then the same again
        listed = -(-((page or limit) + len(given)) // effort.candidates) * effort.candidates
        depth = listed + BEYOND
    return {
        "user_id": owner.user_id,
        "query": query,
        "limit": limit,
        "depth": depth,
        "form": form,
        "language": owner.language,
        "kinds": kinds,
        "as_of": chosen.then,
        "known_at": known_at,
        "scope": msgspec.json.encode(
            {
                **chosen.content,
                "kinds": kinds,
                "sources": prepared.sources,
                "not_sources": prepared.not_sources,
                "said_from": chosen.said_from,
                "said_to": chosen.said_to,
                "as_of": chosen.then,
                "known_at": known_at,
                "near": prepared.near,
                # A time that the query names may be when a fact held that has ended since.
                "ended": bool(told.windows) and chosen.as_of is None,
            }
        ).decode(),
        "model": active.model if active else None,
        "vector": active.vector if active else None,
        "tokens": active.tokens if active and effort.late else None,
        "other_model": leaving.model if leaving else None,
        "other_vector": leaving.vector if leaving else None,
        "weights": msgspec.json.encode(weights_of(weights, shipped())).decode(),
        "learnt": msgspec.json.encode(order.weights).decode() if (order := shipped()) is not None else None,
        "candidates": max(effort.candidates, listed),
        "hops": effort.hops,
        "begins": [window.begin for window in told.windows],
        "ends": [window.end for window in told.windows],
        "sequence": told.order,
        "given": [*given, *repeats],
    }


async def query_vectors(
    db: Database, query: str, embedder: QueryEmbedder | None, settings: Settings
) -> tuple[tuple[QueryVector | None, QueryVector | None], bool]:
    """A query's vectors, by the active model and the one that leaves, and whether they should be there and are not."""
    if embedder is None or not query:
        return (None, None), False
    async with _stage("embed"):
        active, leaving = await embedder.query_vectors(db, query, settings.query_embedding_ms)
    if active is not None and not legible(active.model, query):
        return (None, None), False
    return (active, leaving), active is None


@dataclass(frozen=True, slots=True)
class _Others:
    """What else answers a question: memories of other kinds, looked up after the answer is known."""

    db: Database
    owner: Owner
    filters: Filters
    recall: Callable[..., Awaitable[Recalled]]
    """The same question once more, with other filters."""

    async def in_short(self, told: Recalled, asks: Asks, limit: int) -> Recalled:
        """An answer of ``limit`` memories with summaries."""
        summaries = await self._of_kinds(["summary"])
        quotes = await self._quotes(summaries)
        kept = with_summaries(asks, summaries, told.memories, quotes, limit)
        relevant = told.relevant or (asks == "overview" and bool(quotes))
        return msgspec.structs.replace(told, memories=kept, relevant=relevant)

    async def of_that_time(
        self, told: Recalled, said: Sequence[Memory], summaries: Sequence[Memory], asked: Asked
    ) -> Recalled:
        """An answer to a question that asks for what was said at a time, with summaries where not all of that fits."""
        if len(said) > asked.limit:
            return with_said(told, said, asked, Beside(summaries, await self._quotes(summaries)))
        kinds = [kind for kind in BEHIND if kind in self.filters.searched]
        return with_said(told, said, asked, Beside(known=await self._of_kinds(kinds) if kinds else ()))

    async def _of_kinds(self, kinds: Sequence[Kind]) -> list[Memory]:
        return (await self.recall(filters=msgspec.structs.replace(self.filters, kinds=kinds))).memories

    async def _quotes(self, summaries: Sequence[Memory]) -> dict[UUID, Quotes]:
        async with self.db.transaction(self.owner.user_id) as connection:
            return await quotes_of(connection, self.owner, summaries)


async def recall(
    db: Database,
    owner: Owner,
    query: str,
    settings: Settings,
    *,
    embedder: QueryEmbedder | None = None,
    limit: int = 10,
    form: Form = "stemmed",
    mode: Mode = "balanced",
    weights: Weights = LEARNT,
    filters: Filters | None = None,
    explain: bool = False,
    cursor: str | None = None,
    reranker: ResidentReranker | None = None,
    diversity: float = 0.0,
    trip: Together | None = None,
) -> Recalled:
    """Memories that matter for a query, best first.

    Args:
        db: the database.
        owner: whose memory is asked.
        query: natural language, up to ``settings.max_query_chars``; nothing in it is syntax,
            and one without a visible character, or of nothing but one word again and again, finds nothing.
        settings: limits.
        embedder: gives the query's vectors; None: words only.
        limit: at most so many, 1 to 1,000.
        form: stemmed words (a query of stop words only falls back to simple), or simple ones.
        mode: how hard to look.
        weights: what factors count, in place of what was learnt.
        filters: what may be recalled.
        explain: also say how the answer came about.
        cursor: of the page before; for the mode deliberate alone.
        reranker: puts the best into another order.
        diversity: 0 (off) to 1: how much a memory loses by being like a better one.
        trip: what else is asked of this user in the same round trip, which keeps plans; it is sent here.

    Returns:
        Up to ``limit`` memories; by words alone, none where no word of the query is known.

    Raises:
        ConversationUnknownError: a filter names a conversation that this user does not have.
        CapabilityMissingError: a filter is a place, and the database cannot search places.
        InvalidRequestError, TextTooLongError, InvalidTextError: the query or another argument cannot be used.
    """
    chosen = filters or Filters()
    check_query(query, limit, settings)
    check_filters(chosen)
    given, query = query, query if is_visible(query) and not only_repeats(query) else ""
    if not 0 <= diversity <= 1:
        raise InvalidRequestError("diversity must lie between 0 and 1.", field="diversity")
    cursors.check_mode(cursor, mode)
    question = b"" if mode != "deliberate" else cursors.question(
        owner.user_id, query=query, form=form, weights=weights_of(weights, shipped()), filters=chosen,
        diversity=diversity, reranked=reranker is not None,
    )  # fmt: skip
    place = cursors.decode(cursor, question) if cursor is not None else None
    if place is not None:
        limit = min(limit, MAX_LIMIT - len(place.given))
    began_at = place.known_at if place is not None else chosen.known_at
    known_at = await _known_at(db, owner, chosen, place)
    # Before the transaction: no connection is held while a model works.
    vectors, absent = await query_vectors(db, query, embedder if by_meaning(weights) else None, settings)
    around = _around(chosen)
    unread = bool(given) and not (has_words(query) and (vectors[0] is not None or can_be_split(query)))
    missing: tuple[tuple[Degraded, bool], ...] = ("vector", absent), ("order", shipped() is None), ("words", unread)
    degraded = [name for name, is_missing in missing if is_missing]
    now = chosen.today or began_at or datetime.now(UTC)
    times = read_times(query, now, ZoneInfo(owner.time_zone))
    then = said_then(query, times, now, chosen, weights)
    asks = None if chosen.kinds or place or explain or mode == "deliberate" else asks_summaries(query)
    asked_for, limit = limit, limit if asks is None or then is not None else min(MAX_LIMIT, POOL * limit)
    wanted = max(limit, RERANKED) if reranker is not None or diversity else limit
    values = parameters(
        owner,
        query,
        Prepared(
            vectors=vectors,
            times=times,
            known_at=known_at,
            place=place,
            page=limit if mode == "deliberate" else wanted,
            **await _narrowed(db, owner, chosen, around, known_at),
        ),
        limit=wanted + (CUT_SHOWN if explain else 1),
        form=form,
        mode=mode,
        weights=weights,
        filters=chosen,
    )
    trip = trip or Together(db, owner.user_id, keep_plans=True, stores=False)
    rows = trip.ask(named("recall"), values)
    words = trip.ask(named("known_words"), {name: values[name] for name in WORDS_ASKED}) if explain else []
    told_in_short = trip.ask(named("has_summaries"), {"user_id": owner.user_id}) if asks is not None else []
    said, short = ask_times(trip, owner, then, chosen, values, limit=limit + 1)
    async with _stage("wait"):
        turn = await db.recalls.turn(owner.user_id)
    with turn:
        async with _stage("database"):
            await trip.send()
    if asks is not None and not told_in_short[0].has_summaries:
        asks, limit = None, asked_for
    asked = Asked(
        query=query,
        limit=limit,
        mode=mode,
        times=times,
        question=question,
        place=place,
        known_at=began_at,
        words=words[0].words if words else (),
        as_of=chosen.then,
        order=counting(weights),
        degraded=degraded,
        explain=explain,
        least_score=chosen.least_score,
        diversity=diversity,
        fitted=vectors[0] is not None and vectors[0].model in FITTED_MODELS,
    )
    async with _stage("answer"):
        told = await answer(rows, asked, reranker)
    for name in told.degraded:
        observe.DEGRADED.labels(name).inc()
    others = _Others(db, owner, chosen, partial(
        recall, db, owner, query, settings, embedder=_Computed(vectors), limit=LOOKED_AT, form=form, mode=mode,
        weights=weights,
    ))  # fmt: skip
    if then is not None:
        moment = chosen.then or now
        told = await others.of_that_time(told, memories_of(said, then, moment), memories_of(short, then, moment), asked)
    elif asks is not None:
        told = await others.in_short(told, asks, asked_for)
    return msgspec.structs.replace(told, recall_id=new_recall_id()) if settings.record_recalls else told
