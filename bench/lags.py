"""How far the background is behind: when a turn is found by words, when by vector, and how fast many get vectors.

Used by ``bench.ingest``.
"""

from __future__ import annotations

import asyncio
import time
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING

from bench.harness import Bench, Outcome, progress
from bench.metrics import percentile
from bench.processes import worker
from bench.store import new_user, store
from memsvc.errors import ConfigurationError
from memsvc.llm.embedders.loading import load as load_model
from memsvc.llm.embedders.residents import residents
from memsvc.queue.execution import run_due
from memsvc.recall.search import recall
from memsvc.settings import Settings
from memsvc.sources.embedding import embedding_steps
from memsvc.sources.messages import MessageIn, append

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memsvc.db.engine import Database

MODEL: str = Settings.model_fields["embedding_model"].default
FOUND, SINGLE, PAUSE_S, PATIENCE_S = 100, 200, 0.05, 60.0
ROUNDS, A_ROUND = 6, 500
BARS = {"lag.words_ms": "0", "lag.vectors_p95_ms": "<= 2,000", "embed.ratio": ">= 0.9"}

LAGS = """
SELECT extract(epoch FROM e.created_at - p.recorded_at) * 1000
FROM memsvc.passages AS p INNER JOIN memsvc.embeddings AS e USING (user_id, passage_id)
WHERE p.user_id = %s
"""


async def words(db: Database, bench: Bench, outcome: Outcome) -> None:
    """Milliseconds from a commit until another connection finds the turn by a word of its own; 0: at its first look."""
    owner = await new_user(db, "words")
    reader = bench.connect(pool_size=1)
    worst = 0.0
    try:
        with progress("found by words", FOUND) as done:
            for number in range(FOUND):
                said = MessageIn(conversation="words", text=f"The word of this turn is zebra{number}.")
                [stored] = await append(db, owner, [said], bench.settings)
                committed = time.perf_counter()
                while True:
                    looked = time.perf_counter()
                    found = await recall(reader, owner, f"zebra{number}", bench.settings, limit=1)
                    if found.memories and found.memories[0].passage_id == stored.passage_id:
                        break
                    worst = max(worst, (looked - committed) * 1_000)
                    if looked - committed > PATIENCE_S:
                        raise ConfigurationError("A turn is not found by its words.")
                done(1)
    finally:
        await reader.close()
    outcome.figures["lag.words_ms"] = worst


async def vectors(db: Database, bench: Bench, messages: Iterator[MessageIn], outcome: Outcome) -> None:
    """Milliseconds between a turn's and its vector's being written, single turns, a worker process beside."""
    owner = await new_user(db, "vectors")
    warm = await new_user(db, "warm")

    def lags(user_id: object) -> list[float]:
        with bench.admin() as admin:
            return [float(row[0]) for row in admin.execute(LAGS, [user_id])]

    def wait(user_id: object, count: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while len(lags(user_id)) < count:
            if time.monotonic() > deadline:
                raise ConfigurationError("Turns do not get their vectors.")
            time.sleep(PAUSE_S)

    with worker(bench, embedding_model=MODEL), progress("lag of vectors", SINGLE) as done:
        await store(db, warm, list(islice(messages, 3)), bench.settings)
        wait(warm.user_id, 3)  # the model is loaded
        for message in islice(messages, SINGLE):
            await append(db, owner, [message], bench.settings)
            await asyncio.sleep(PAUSE_S)
            done(1)
        wait(owner.user_id, SINGLE)
    found = lags(owner.user_id)
    outcome.figures["lag.vectors_p50_ms"] = percentile(found, 0.5)
    outcome.figures["lag.vectors_p95_ms"] = percentile(found, 0.95)


async def embedding(db: Database, bench: Bench, messages: Iterator[MessageIn], outcome: Outcome) -> None:
    """Turns a second through the whole of the background job, and by the bare model on the same texts.

    Round by round, one after the other and in turn first, for the machine's speed changes; medians.
    """
    bare, models = load_model(MODEL, bench.settings), residents(bench.settings)
    assert models is not None
    await models.ready(db)
    rates: dict[str, list[float]] = {"job": [], "bare": []}
    try:
        with progress("embedding", ROUNDS * A_ROUND) as done:
            for number in range(ROUNDS):
                owner = await new_user(db, f"embedded {number}")
                turns = list(islice(messages, A_ROUND))
                await store(db, owner, turns, bench.settings)
                async with db.transaction(owner.user_id) as connection:
                    texts = (await connection.exec_driver_sql(TEXTS)).scalars().all()
                for what in ("job", "bare") if number % 2 else ("bare", "job"):
                    start = time.perf_counter()
                    if what == "job":
                        await run_due(db, embedding_steps(models))
                    else:
                        bare.embed(texts)
                    rates[what].append(len(texts) / (time.perf_counter() - start))
                done(A_ROUND)
    finally:
        models.close()
    outcome.figures["embed.turns_per_s"] = median(rates["job"])
    outcome.figures["embed.bare_turns_per_s"] = median(rates["bare"])
    outcome.figures["embed.ratio"] = median(job / alone for job, alone in zip(rates["job"], rates["bare"], strict=True))


TEXTS = "SELECT memsvc.searched_text(speaker, text, caption) FROM memsvc.passages ORDER BY passage_id"
