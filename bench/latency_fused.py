"""``python -m bench.latency_fused --sizes 10k,100k``: fused recall for one user of each size beside twenty of 5,000.

Texts come from ``bench.corpus``; a passage's vector is a real one (the sample conversation's, by the default model)
plus noise, so that neighbourhoods have the shape of real ones. Vectors go in as the administrator and their index is
built afterwards, as a bulk load would; recall is asked as memsvc_app, bound to its user. Timed is the one statement, on
the client. Vector recall is counted against the exact order; users of 10 to 20,000 passages must get all that they ask.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import text

from bench.corpus import Corpus
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.metrics import percentile
from bench.store import new_user
from memsvc.db.files import folder
from memsvc.db.files import query as named
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.queue.run import run_due
from memsvc.settings import Settings
from memsvc.sources.files import read_messages
from memsvc.sources.messages import MessageIn, append

if TYPE_CHECKING:
    from uuid import UUID

    from numpy.typing import NDArray

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database

DEFAULT_MODEL: str = Settings.model_fields["embedding_model"].default
SIZES = {"10k": 10_000, "100k": 100_000}
BARS = {"10k": 15, "100k": 25}
SMALL, SMALL_USERS = 5_000, 20
ROWS_OF = (10, 200, 2_000, 20_000)
BATCH = 1_000
QUESTIONS, WARM_UP, EXACT = 300, 50, 60
LIMIT = 10
NOISE = 0.06
"""A coordinate's standard deviation; a vector of 384 keeps a cosine of about .65 with the one it came from."""


def as_text(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"


Asked = list[tuple[str, str]]
"""Questions with their vectors."""


class Points:
    """Real vectors with noise, from a seed."""

    def __init__(self, seed: int) -> None:
        """Embed the sample conversation once."""
        sample = [message.text for _, message in read_messages(folder("examples") / "conversation.jsonl")]
        self._real = OnnxMiniLM().embed(sample)
        self._random = np.random.default_rng(seed)

    def near(self, centres: NDArray[np.float32]) -> NDArray[np.float32]:
        """Vectors of length 1 around the given ones."""
        moved = centres + self._random.normal(0, NOISE, centres.shape)
        found: NDArray[np.float32] = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
        return found

    def make(self, count: int) -> NDArray[np.float32]:
        """So many vectors."""
        return self.near(self._real[self._random.integers(0, len(self._real), count)])


async def fill(
    db: Database, bench: Bench, owner: Owner, size: int, *, points: Points, model_id: int, seed: int
) -> Asked:
    """Write a user's passages and vectors; questions with their vectors."""
    corpus, asked = Corpus(seed), Asked()
    for start in range(0, size, BATCH):
        texts = list(corpus.texts(min(BATCH, size - start)))
        messages = [
            MessageIn(conversation=f"talk {number // SMALL}", session=str(number // 50), ordinal=number, text=one)
            for number, one in enumerate(texts, start)
        ]
        stored = await append(db, owner, messages, bench.settings)
        vectors = points.make(len(texts))
        with bench.admin() as admin:
            admin.execute(
                "INSERT INTO memsvc.embeddings (user_id, model_id, passage_id, vector) "
                "SELECT %s, %s, v.id, v.vector::halfvec FROM unnest(%s::uuid[], %s::text[]) AS v (id, vector)",
                [owner.user_id, model_id, [one.passage_id for one in stored], [as_text(vector) for vector in vectors]],
            )
        centres = vectors[: max(1, QUESTIONS * len(texts) // size)]
        near = points.near(centres)
        asked += [(corpus.question(one), as_text(vector)) for one, vector in zip(texts, near, strict=False)]
    return asked


RECALL = {
    "form": "stemmed", "language": "english", "kinds": ["message"], "sources": None, "not_sources": None,
    "said_from": None, "said_to": None, "model": DEFAULT_MODEL, "limit": LIMIT,
}  # fmt: skip


async def ask(db: Database, owner: Owner, question: str, vector: str, weight: float = 0.5) -> tuple[list[UUID], float]:
    """Passages of the answer, and the milliseconds that its statement took."""
    async with db.transaction(owner.user_id) as connection:
        start = time.perf_counter()
        values = {**RECALL, "user_id": owner.user_id, "query": question, "vector": vector, "words_weight": weight}
        rows = (await connection.execute(named("recall"), values)).all()
        milliseconds = (time.perf_counter() - start) * 1_000
    return [row.passage_id for row in rows], milliseconds


EXACTLY = text(
    "SELECT e.passage_id FROM memsvc.embeddings AS e WHERE e.user_id = :user_id AND e.model_id = :model_id "
    "ORDER BY (e.vector <#> CAST(:vector AS halfvec)) + 0 LIMIT :limit"
)


async def measure_user(db: Database, name: str, user: tuple[Owner, Asked], *, model_id: int, outcome: Outcome) -> None:
    """Latency of fused recall, and how much of the exact ten nearest the vector arm finds."""
    owner, asked = user
    for question, vector in asked[:WARM_UP]:
        await ask(db, owner, question, vector)
    times = [(await ask(db, owner, question, vector))[1] for question, vector in asked[:QUESTIONS]]
    shared = []
    for question, vector in asked[:EXACT]:
        found, _ = await ask(db, owner, question, vector, weight=0)
        async with db.transaction(owner.user_id) as connection:
            values = {"user_id": owner.user_id, "model_id": model_id, "vector": vector, "limit": LIMIT}
            exact = (await connection.execute(EXACTLY, values)).scalars().all()
        shared.append(len(set(found) & set(exact)) / len(exact))
    outcome.figures |= {
        f"memsvc.{name}.p50_ms": percentile(times, 0.5),
        f"memsvc.{name}.p95_ms": percentile(times, 0.95),
        f"memsvc.{name}.recall_at_10": sum(shared) / len(shared),
    }


async def measure(bench: Bench, sizes: list[str], outcome: Outcome) -> None:
    """Build the corpus, then ask."""
    db, points = bench.connect(), Points(1)
    async with db.transaction() as connection:
        registered = await connection.execute(
            text("SELECT model_id FROM memsvc.ensure_model(:n, 384)"), {"n": DEFAULT_MODEL}
        )
        model_id: int = registered.scalar_one()
    index = f"memsvc.embeddings_near_{model_id}"
    with bench.admin() as admin:
        made = admin.execute("SELECT pg_get_indexdef(%s::regclass)", [index]).fetchone()
        admin.execute(f"DROP INDEX {index}".encode())
    started = time.perf_counter()
    users: dict[str, tuple[Owner, Asked]] = {}
    wanted = [*((name, SIZES[name]) for name in sizes), *((f"rows{size}", size) for size in ROWS_OF)]
    wanted += [(f"small{number}", SMALL) for number in range(SMALL_USERS)]
    with progress("building the corpus", sum(size for _, size in wanted)) as done:
        for seed, (name, size) in enumerate(wanted):
            owner = await new_user(db, name)
            users[name] = (owner, await fill(db, bench, owner, size, points=points, model_id=model_id, seed=seed))
            done(size)
    await run_due(db)
    with bench.admin() as admin:
        admin.execute("SET maintenance_work_mem = '1GB'")
        admin.execute(str(made[0] if made else "").replace(" ON ONLY ", " ON ").encode())  # with its partitions
        admin.execute("VACUUM (ANALYZE)")
    outcome.figures["build_s"] = time.perf_counter() - started
    for name in sizes:
        await measure_user(db, name, users[name], model_id=model_id, outcome=outcome)
    await measure_user(db, "5k", users["small0"], model_id=model_id, outcome=outcome)
    for size in ROWS_OF:
        owner, asked = users[f"rows{size}"]
        found = [len((await ask(db, owner, question, vector))[0]) for question, vector in asked[:20]]
        outcome.figures[f"memsvc.rows_of_{size}.least"] = min(found)
    await db.close()


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.latency_fused")
    parser.add_argument("--sizes", default="10k,100k", help=f"of {', '.join(SIZES)}, with commas between")
    sizes = parser.parse_args().sizes.split(",")

    def bench_latency() -> None:
        bars = {f"memsvc.{name}.p95_ms": f"<= {BARS[name]}" for name in sizes}
        bars |= {f"memsvc.{name}.recall_at_10": ">= 0.95" for name in sizes}
        bars |= {f"memsvc.rows_of_{size}.least": str(LIMIT) for size in ROWS_OF}
        outcome = Outcome("latency", bars=bars)
        outcome.configuration |= {"model": DEFAULT_MODEL, "noise": NOISE, "small_users": SMALL_USERS, "small": SMALL}
        with database() as bench:
            asyncio.run(measure(bench, sizes, outcome))
            figures_table("latency", outcome, ("memsvc.", "build_s"))
            report(outcome, bench)

    run(bench_latency)


if __name__ == "__main__":
    main()
