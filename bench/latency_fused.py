"""``python -m bench.latency_fused --sizes 10k,100k,1m``: fused recall for one user of each size beside twenty of 5,000.

Texts come from ``bench.corpus``; a passage's vector is a real one (the sample conversation's, by the default model)
plus noise, so that neighbourhoods have the shape of real ones. Texts go in by the write path; vectors are copied in as
the administrator, and the indexes of words and of vectors are built afterwards, as for a bulk load. Recall is asked as
memsvc_app, bound to its user. Timed is the one statement, on the client. Vector recall is counted against the exact
order; users of 10 to 100,000 passages must get all that they ask for, and nobody what is another's.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import time
from dataclasses import dataclass, field
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
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from numpy.typing import NDArray

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database

DEFAULT_MODEL: str = Settings.model_fields["embedding_model"].default
DIMENSIONS = 384
SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000}
BARS = {"10k": 15, "100k": 25, "1m": 50}
SMALL, SMALL_USERS = 5_000, 20
ROWS_OF = (10, 200, 2_000, 20_000, 100_000)
BATCH, WRITERS = 1_000, 2
QUESTIONS, WARM_UP, EXACT = 300, 50, 60
LIMIT = 10
NOISE = 0.06
"""A coordinate's standard deviation; a vector of 384 keeps a cosine of about .65 with the one it came from."""
MEMORY = {"1m": {"shared_buffers": "4GB"}}
"""What the embedded server gets for a size; the others run with memsvc's own settings."""
BUILD_MEMORY = {"1m": "3GB"}
"""Memory for building the indexes of a size, where 1 GB is too little to hold a partition's graph."""


def as_text(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"


@dataclass(slots=True)
class Person:
    """A user of the corpus."""

    owner: Owner
    size: int
    """Passages."""
    ids: set[UUID] = field(default_factory=set)
    """Of all the passages."""
    asked: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    """Questions with their vectors, by the place in the user's passages where they come from."""

    def questions(self, count: int) -> list[tuple[str, str]]:
        """The first questions, in the order of the passages."""
        return [one for place in sorted(self.asked) for one in self.asked[place]][:count]


class Points:
    """Real vectors with noise."""

    def __init__(self) -> None:
        """Embed the sample conversation once."""
        sample = [message.text for _, message in read_messages(folder("examples") / "conversation.jsonl")]
        self._real = OnnxMiniLM().embed(sample)

    def near(self, centres: NDArray[np.float32], draw: np.random.Generator) -> NDArray[np.float32]:
        """Vectors of length 1 around the given ones."""
        moved = centres + draw.normal(0, NOISE, centres.shape)
        found: NDArray[np.float32] = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
        return found

    def make(self, count: int, draw: np.random.Generator) -> NDArray[np.float32]:
        """So many vectors."""
        return self.near(self._real[draw.integers(0, len(self._real), count)], draw)


# A row of embeddings in COPY's binary format: the number of fields, then each one with its length before it.
ROW = np.dtype(
    [
        ("fields", ">i2"), ("user_length", ">i4"), ("user_id", "V16"), ("model_length", ">i4"), ("model_id", ">i2"),
        ("passage_length", ">i4"), ("passage_id", "V16"), ("vector_length", ">i4"), ("dimensions", ">i2"),
        ("unused", ">i2"), ("vector", ">f2", DIMENSIONS),
    ]
)  # fmt: skip


def copy_vectors(
    bench: Bench, user_id: UUID, model_id: int, passage_ids: list[UUID], vectors: NDArray[np.float32]
) -> None:
    """Store vectors as the administrator."""
    rows = np.zeros(len(passage_ids), ROW)
    rows["fields"], rows["user_length"], rows["passage_length"], rows["model_length"] = 4, 16, 16, 2
    rows["vector_length"], rows["dimensions"] = 4 + 2 * DIMENSIONS, DIMENSIONS
    rows["user_id"], rows["model_id"], rows["vector"] = np.void(user_id.bytes), model_id, vectors
    rows["passage_id"] = np.frombuffer(b"".join(one.bytes for one in passage_ids), "V16")
    with (
        bench.admin() as admin,
        admin.cursor().copy(
            "COPY memsvc.embeddings (user_id, model_id, passage_id, vector) FROM STDIN (FORMAT binary)"
        ) as copy,
    ):
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        copy.write(rows.tobytes())
        copy.write(b"\xff\xff")


async def fill(
    db: Database, bench: Bench, person: Person, start: int, *, points: Points, model_id: int, seed: int
) -> int:
    """Write a conversation of a user's, the passages from ``start`` on; how many."""
    corpus, draw = Corpus(seed), np.random.default_rng(seed)
    count = min(SMALL, person.size - start)
    texts = list(corpus.texts(count))
    ids: list[UUID] = []
    for first in range(0, count, BATCH):
        messages = [
            MessageIn(conversation=f"talk {start // SMALL}", session=str(number // 50), ordinal=number, text=one)
            for number, one in enumerate(texts[first : first + BATCH], start + first)
        ]
        stored = await append(db, person.owner, messages, bench.settings)
        ids += [one.passage_id for one in stored if one.passage_id is not None]
    person.ids.update(ids)
    vectors = points.make(count, draw)
    await asyncio.to_thread(copy_vectors, bench, person.owner.user_id, model_id, ids, vectors)
    near = points.near(vectors[: math.ceil(QUESTIONS * count / person.size)], draw)
    person.asked[start] = [(corpus.question(one), as_text(vector)) for one, vector in zip(texts, near, strict=False)]
    return count


async def write(
    db: Database, bench: Bench, people: list[Person], *, model_id: int, done: Callable[[int], None]
) -> None:
    """Write all passages with their vectors, several conversations at a time."""
    points = Points()
    parts: Iterator[tuple[int, Person, int]] = (
        (seed * 1_000 + start // SMALL, person, start)
        for seed, person in enumerate(people)
        for start in range(0, person.size, SMALL)
    )

    async def writer() -> None:
        for seed, person, start in parts:
            done(await fill(db, bench, person, start, points=points, model_id=model_id, seed=seed))

    await asyncio.gather(*(writer() for _ in range(WRITERS)))


async def build(db: Database, bench: Bench, sizes: list[str], outcome: Outcome) -> tuple[dict[str, Person], int]:
    """Build the corpus; its users by name, and the model."""
    started = time.perf_counter()
    async with db.transaction() as connection:
        registered = await connection.execute(
            text("SELECT model_id FROM memsvc.ensure_model(:n, :d)"), {"n": DEFAULT_MODEL, "d": DIMENSIONS}
        )
        model_id: int = registered.scalar_one()
    indexes = ["memsvc.passages_words", f"memsvc.embeddings_near_{model_id}"]
    with bench.admin() as admin:
        made = [admin.execute("SELECT pg_get_indexdef(%s::regclass)", [one]).fetchone() for one in indexes]
        for one in indexes:
            admin.execute(f"DROP INDEX {one}".encode())
    wanted = {name: SIZES[name] for name in sizes}
    wanted |= {f"rows{size}": size for size in ROWS_OF if size not in wanted.values()}
    wanted |= {f"small{number}": SMALL for number in range(SMALL_USERS)}
    users = {name: Person(await new_user(db, name), size) for name, size in wanted.items()}
    with progress("building the corpus", sum(wanted.values())) as done:
        await write(db, bench, list(users.values()), model_id=model_id, done=done)
    outcome.figures["write_s"] = time.perf_counter() - started
    await run_due(db)
    with bench.admin() as admin, progress("building indexes", len(indexes)) as done:
        memory = max(BUILD_MEMORY.get(name, "1GB") for name in sizes)
        admin.execute(f"SET maintenance_work_mem = '{memory}'".encode())
        for definition in made:
            admin.execute(str(definition[0] if definition else "").replace(" ON ONLY ", " ON ").encode())
            done(1)
        admin.execute("VACUUM (ANALYZE)")
        admin.execute("CHECKPOINT")
    outcome.figures["build_s"] = time.perf_counter() - started
    return users, model_id


RECALL = {
    "form": "stemmed", "language": "english", "kinds": ["message"], "sources": None, "not_sources": None,
    "said_from": None, "said_to": None, "model": DEFAULT_MODEL, "limit": LIMIT,
    "other_model": None, "other_vector": None,
}  # fmt: skip


async def ask(
    db: Database, person: Person, question: str, vector: str, weight: float = 0.5
) -> tuple[list[UUID], float]:
    """Passages of the answer, and the milliseconds that its statement took."""
    async with db.transaction(person.owner.user_id) as connection:
        own = {"user_id": person.owner.user_id, "query": question, "vector": vector, "words_weight": weight}
        start = time.perf_counter()
        rows = (await connection.execute(named("recall"), RECALL | own)).all()
        milliseconds = (time.perf_counter() - start) * 1_000
    return [row.passage_id for row in rows], milliseconds


EXACTLY = text(
    "SELECT e.passage_id FROM memsvc.embeddings AS e WHERE e.user_id = :user_id AND e.model_id = :model_id "
    "ORDER BY (e.vector <#> CAST(:vector AS halfvec)) + 0 LIMIT :limit"
)


async def measure_user(db: Database, name: str, person: Person, *, model_id: int, outcome: Outcome) -> None:
    """Latency of fused recall, how much of the exact ten nearest the vector arm finds, and foreign passages."""
    asked = person.questions(QUESTIONS)
    for question, vector in asked[:WARM_UP]:
        await ask(db, person, question, vector)
    times, foreign = [], 0
    for question, vector in asked:
        found, milliseconds = await ask(db, person, question, vector)
        times.append(milliseconds)
        foreign += len(set(found) - person.ids)
    shared = []
    for question, vector in asked[:EXACT]:
        found, _ = await ask(db, person, question, vector, weight=0)
        foreign += len(set(found) - person.ids)
        async with db.transaction(person.owner.user_id) as connection:
            values = {"user_id": person.owner.user_id, "model_id": model_id, "vector": vector, "limit": LIMIT}
            exact = (await connection.execute(EXACTLY, values)).scalars().all()
        shared.append(len(set(found) & set(exact)) / len(exact))
    outcome.figures |= {
        f"memsvc.{name}.p50_ms": percentile(times, 0.5),
        f"memsvc.{name}.p95_ms": percentile(times, 0.95),
        f"memsvc.{name}.recall_at_10": sum(shared) / len(shared),
    }
    outcome.figures["memsvc.foreign_rows"] += foreign


async def measure(bench: Bench, sizes: list[str], outcome: Outcome) -> None:
    """Build the corpus, then ask."""
    db = bench.connect()
    users, model_id = await build(db, bench, sizes, outcome)
    outcome.figures["memsvc.foreign_rows"] = 0
    for name in sizes:
        await measure_user(db, name, users[name], model_id=model_id, outcome=outcome)
    await measure_user(db, "5k", users["small0"], model_id=model_id, outcome=outcome)
    by_size = {person.size: person for person in users.values()}
    for size in ROWS_OF:
        person = by_size[size]
        found = [(await ask(db, person, question, vector))[0] for question, vector in person.questions(20)]
        outcome.figures[f"memsvc.rows_of_{size}.least"] = min(map(len, found))
        outcome.figures["memsvc.foreign_rows"] += sum(len(set(one) - person.ids) for one in found)
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
        bars["memsvc.foreign_rows"] = "0"
        outcome = Outcome("latency", bars=bars)
        outcome.configuration |= {"model": DEFAULT_MODEL, "noise": NOISE, "small_users": SMALL_USERS, "small": SMALL}
        options = {name: value for size in sizes for name, value in MEMORY.get(size, {}).items()}
        with database(options) as bench:
            asyncio.run(measure(bench, sizes, outcome))
            figures_table("latency", outcome, ("memsvc.", "build_s"))
            report(outcome, bench)

    run(bench_latency)


if __name__ == "__main__":
    main()
