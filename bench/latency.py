"""How fast recall by words is for one user with 100,000 passages beside twenty users with 5,000 each, as memsvc_app.

The texts come from ``bench.corpus``, the questions are 4 to 8 words of one of the user's own passages, common words as
they come. What is timed is recall's one round trip, on the client, as the service makes it: the proof of who asks, the
statement, its commit. How much of the exact top 10 it keeps is counted against a BM25 over all passages, computed here
from the same lexemes.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import text

from bench.corpus import Corpus
from bench.harness import Bench, Outcome, progress
from bench.metrics import percentile
from bench.statement import parameters, timed
from bench.store import new_user
from bench.variants import VARIANTS
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.queue.execution import run_due
from memsvc.sources.messages import MessageIn, append

BIG, SMALL, SMALL_USERS = 100_000, 5_000, 20
BATCH = 1_000
A_SESSION, A_CONVERSATION = 50, 5_000
QUESTIONS, WARM_UP, EXACT_QUESTIONS = 400, 50, 60
LIMIT = 10
WORDS = VARIANTS["bm25_english"].weights
K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a user."""

    owner: Owner
    question: str


async def fill(
    db: Database, bench: Bench, owner: Owner, size: int, *, seed: int, done: Callable[[int], None]
) -> list[Asked]:
    """Write one user's passages; their questions. A passage's ordinal is its number among the user's."""
    corpus, draw = Corpus(seed), random.Random(seed)
    asked: list[Asked] = []
    wanted = QUESTIONS if size == BIG else QUESTIONS // SMALL_USERS
    for start in range(0, size, BATCH):
        texts = list(corpus.texts(BATCH))
        messages = [
            MessageIn(
                conversation=f"talk {number // A_CONVERSATION}", session=str(number // A_SESSION), ordinal=number,
                speaker="Ada" if number % 2 else "Bo", text=one,
            )
            for number, one in enumerate(texts, start)
        ]  # fmt: skip
        await append(db, owner, messages, bench.settings)
        done(BATCH)
        share = wanted * (start + BATCH) // size - len(asked)
        asked += [Asked(owner, corpus.question(one)) for one in draw.sample(texts, share)]
    return asked


async def build(db: Database, bench: Bench) -> tuple[list[Asked], list[Asked], float]:
    """Write the corpus and do its background work; questions of the big user, of the small ones, and the seconds."""
    start = time.perf_counter()
    big = await new_user(db, "big")
    small = [await new_user(db, f"small {number}") for number in range(SMALL_USERS)]
    with progress("building the corpus", BIG + SMALL * SMALL_USERS) as done:

        async def fill_small() -> list[Asked]:
            return [
                asked
                for seed, owner in enumerate(small, 1)
                for asked in await fill(db, bench, owner, SMALL, seed=seed, done=done)
            ]

        of_big, of_small = await asyncio.gather(fill(db, bench, big, BIG, seed=0, done=done), fill_small())
    await run_due(db)
    return of_big, of_small, time.perf_counter() - start


async def ask(db: Database, asked: Asked) -> tuple[list[int], float]:
    """Ordinals of the answer, and the milliseconds that its statement took."""
    given = parameters(asked.owner, asked.question, limit=LIMIT, weights=WORDS)
    rows, milliseconds = await timed(db, asked.owner, given)
    return [row.ordinal for row in rows], milliseconds


async def exact_scores(db: Database, questions: Sequence[Asked]) -> list[dict[int, float]]:
    """BM25 of every passage of the user for each question, by ordinal; all questions are of one user."""
    owner = questions[0].owner
    async with db.transaction(owner.user_id) as connection:
        lexemes = [
            list(row)
            for row in (
                await connection.execute(
                    text(
                        "SELECT tsvector_to_array(memsvc.to_words('stemmed', :language, q)) "
                        "FROM unnest(CAST(:questions AS text[])) WITH ORDINALITY AS t (q, n) ORDER BY t.n"
                    ),
                    {"language": owner.language, "questions": [one.question for one in questions]},
                )
            ).scalars()
        ]
        lengths: dict[int, int] = {
            row.ordinal: row.length
            for row in await connection.execute(
                text("SELECT ordinal, length FROM memsvc.passages WHERE user_id = :user_id"), {"user_id": owner.user_id}
            )
        }
        postings = await connection.execute(
            text(
                "SELECT w.lexeme, array_agg(p.ordinal) AS passages, array_agg(cardinality(w.positions)) AS frequencies "
                "FROM memsvc.passages AS p CROSS JOIN LATERAL unnest(p.tsv) AS w "
                "WHERE p.user_id = :user_id AND w.lexeme = ANY (CAST(:lexemes AS text[])) GROUP BY w.lexeme"
            ),
            {"user_id": owner.user_id, "lexemes": sorted({lexeme for of_one in lexemes for lexeme in of_one})},
        )
        mean_length = sum(lengths.values()) / len(lengths)
        parts: dict[str, list[tuple[int, float]]] = {}
        for row in postings:
            weight = math.log(1 + (len(lengths) - len(row.passages) + 0.5) / (len(row.passages) + 0.5))
            parts[row.lexeme] = [
                (number, weight * tf / (tf + K1 * (1 - B + B * lengths[number] / mean_length)))
                for number, tf in zip(row.passages, row.frequencies, strict=True)
            ]
    scores: list[dict[int, float]] = []
    for of_one in lexemes:
        total: dict[int, float] = defaultdict(float)
        for lexeme in of_one:
            for number, part in parts.get(lexeme, ()):
                total[number] += part
        scores.append(total)
    return scores


def kept(found: Sequence[int], exact: dict[int, float]) -> float:
    """Share of the exact top 10 that was found; passages with equal scores stand for each other."""
    best = heapq.nlargest(LIMIT, exact.values())
    if not best:
        return 1.0
    return sum(exact.get(number, 0.0) >= best[-1] - 1e-6 for number in found[: len(best)]) / len(best)


async def measure(db: Database, bench: Bench, outcome: Outcome) -> None:
    """Build the corpus and add the figures ``latency.100k.*`` and ``latency.5k.*``."""
    of_big, of_small, seconds = await build(db, bench)
    with bench.admin() as admin:
        admin.execute("VACUUM (ANALYZE)")
        admin.execute("CHECKPOINT")
    random.Random(3).shuffle(of_small)
    for size, questions in (("100k", of_big), ("5k", of_small)):
        times: list[float] = []
        answers: list[list[int]] = []
        with progress(f"asking, {size}", len(questions)) as done:
            for asked in [*questions[:WARM_UP], *questions]:
                found, milliseconds = await ask(db, asked)
                times.append(milliseconds)
                answers.append(found)
                done(1)
        outcome.figures[f"latency.{size}.p50_ms"] = percentile(times[WARM_UP:], 0.5)
        outcome.figures[f"latency.{size}.p95_ms"] = percentile(times[WARM_UP:], 0.95)
        if size == "100k":
            chosen = random.Random(4).sample(range(len(questions)), EXACT_QUESTIONS)
            exact = await exact_scores(db, [questions[number] for number in chosen])
            shares = [kept(answers[WARM_UP + number], scores) for number, scores in zip(chosen, exact, strict=True)]
            outcome.figures["latency.100k.overlap_at_10"] = sum(shares) / len(shares)
    outcome.figures["latency.build_s"] = seconds
    outcome.bars |= {"latency.100k.p95_ms": "<= 20"}
    outcome.configuration["latency"] = {
        "passages": {"big": BIG, "small": SMALL, "small_users": SMALL_USERS},
        "questions": QUESTIONS,
        "limit": LIMIT,
        "form": "stemmed",
        "timed": "client side, the one round trip of recall: identity, statement, commit",
        "overlap_questions": EXACT_QUESTIONS,
    }
