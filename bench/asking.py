"""Writes a labelled set into memsvc and asks its questions: what ``bench.recall`` and ``bench.order`` share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bench.datasets import DataSet, Key, Question, Ranking, as_moment
from bench.harness import Bench, Outcome, progress
from bench.metrics import percentile
from bench.store import new_user, store
from bench.variants import Variant
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.llm.embedders.residents import QueryVector, Residents
from memsvc.queue.execution import run_due
from memsvc.recall.options import Filters
from memsvc.recall.results import Memory, Recalled
from memsvc.recall.search import QueryEmbedder, recall
from memsvc.sources.embedding import embed_lacking

DEPTH = 20
EMBEDDING_MS = 60_000
"""Waits for a query's vector, so that no figure is that of words alone on a busy machine."""


def key(memory: Memory) -> Key:
    """The turn behind a memory; of a fact the one that supports it."""
    return memory.conversation, memory.message_id or ""


@dataclass(frozen=True, slots=True)
class World:
    """A set that is written."""

    data: DataSet
    bench: Bench
    db: Database
    owners: Mapping[str, Owner]
    """Conversation -> whose it is; the same user for all of them, or one for each."""
    embedder: QueryEmbedder
    moments: Mapping[str, datetime] = field(default_factory=dict)
    """Conversation -> when its questions are asked, where ages count."""
    key: Callable[[Memory], Key] = key
    """What of the evidence a memory stands for."""


class Remembering:
    """Gives a query the vectors that it got before: for questions that are asked in many variants."""

    def __init__(self, embedder: QueryEmbedder) -> None:
        """Nothing is known yet."""
        self._embedder = embedder
        self._known: dict[str, tuple[QueryVector | None, QueryVector | None]] = {}

    async def query_vectors(
        self, db: Database, query: str, timeout_ms: int
    ) -> tuple[QueryVector | None, QueryVector | None]:
        """As the embedder gives them, once."""
        if query not in self._known:
            self._known[query] = await self._embedder.query_vectors(db, query, timeout_ms)
        return self._known[query]


def turns_of(memories: Sequence[Memory], by: Callable[[Memory], Key] = key) -> Ranking:
    """Different turns in order: a split message, or a fact of a message that is there, takes no second rank."""
    return list(dict.fromkeys(map(by, memories)))


async def write(db: Database, data: DataSet, bench: Bench, *, one_user: bool = False) -> dict[str, Owner]:
    """Store the set, each conversation under a user of its own or all under one; conversation -> its user."""
    owners: dict[str, Owner] = {}
    everybody = await new_user(db, "all") if one_user else None
    with progress("writing turns", data.turns()) as done:
        for conversation, turns in data.conversations.items():
            owners[conversation] = everybody or await new_user(db, conversation)
            await store(db, owners[conversation], [turn.message() for turn in turns], bench.settings, done=done)
    await run_due(db)
    resident = Residents(bench.settings)
    with progress("embedding turns", data.turns()) as done:
        for user_id in {owner.user_id for owner in owners.values()}:
            await embed_lacking(db, resident, user_id, done)
    resident.close()
    with bench.admin() as admin:
        admin.execute("VACUUM (ANALYZE)")
    return owners


async def answer(world: World, question: Question, variant: Variant, *, limit: int) -> Recalled:
    """What recall gives for a question.

    Raises:
        RuntimeError: the query has no vector, though the variant counts on one.
    """
    moment = world.moments.get(question.conversation_id)
    if question.asked_at:
        moment = as_moment(question.asked_at)
    found = await recall(
        world.db,
        world.owners[question.conversation_id],
        question.question,
        world.bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}),
        embedder=world.embedder if variant.embeds else None,
        limit=limit,
        form=variant.form,
        mode=variant.mode,
        weights=variant.weights,
        diversity=variant.diversity,
        filters=Filters(as_of=moment if variant.dated else None, facts=variant.facts),
    )
    if found.degraded:
        raise RuntimeError("the query was not embedded; the figures would be those of words alone")
    return found


async def first_turns(world: World, question: Question, variant: Variant) -> tuple[Ranking, Recalled, float]:
    """The first 20 different turns for a question, the first answer, and the seconds that it took."""
    limit, start = DEPTH, time.perf_counter()
    found = first = await answer(world, question, variant, limit=limit)
    seconds = time.perf_counter() - start
    while True:
        turns = turns_of(found.memories, world.key)
        if len(turns) >= DEPTH or len(found.memories) < limit or not found.relevant:
            return turns[:DEPTH], first, seconds
        limit *= 2  # parts of split messages took ranks
        found = await answer(world, question, variant, limit=limit)


@dataclass(slots=True)
class Asked:
    """Answers of one variant."""

    rankings: dict[str, Ranking] = field(default_factory=dict)
    confidence: dict[str, float | None] = field(default_factory=dict)
    """Question -> the answer's confidence."""
    nearest: dict[str, float] = field(default_factory=dict)
    """Question -> the best cosine among the first memories."""
    relevant: dict[str, bool] = field(default_factory=dict)
    """Question -> whether the answer is said to be one."""
    milliseconds: list[float] = field(default_factory=list)


async def ask(world: World, name: str, variant: Variant, questions: Sequence[Question]) -> Asked:
    """Ask questions in one variant."""
    asked = Asked()
    with progress(f"asking, {name}", len(questions)) as done:
        for question in questions:
            ranking, found, seconds = await first_turns(world, question, variant)
            asked.rankings[question.question_id] = ranking
            asked.confidence[question.question_id] = found.confidence
            asked.relevant[question.question_id] = found.relevant
            cosines = [memory.arms["vector"]["score"] for memory in found.memories if "vector" in memory.arms]
            asked.nearest[question.question_id] = max(cosines, default=0.0)
            asked.milliseconds.append(seconds * 1_000)
            done(1)
    return asked


def latencies(outcome: Outcome, name: str, asked: Asked) -> None:
    """Median and 95th percentile of the whole call, the query's vector included."""
    outcome.figures[f"latency.{name}.service_p50_ms"] = percentile(asked.milliseconds, 0.5)
    outcome.figures[f"latency.{name}.service_p95_ms"] = percentile(asked.milliseconds, 0.95)
