"""``python -m bench.latency_fused --sizes 10k,100k,1m``: recall for one user of each size beside twenty of 5,000.

Recall is asked as by default, with all arms. Texts come from ``bench.corpus``, a graph, times, speakers and questions
that name them from ``bench.corpus_graph``; a passage's vector is a real one (the sample conversation's, by the default
model) plus noise, so that neighbourhoods have the shape of real ones. Texts go in by the write path; vectors are copied
in as the administrator, and the indexes of words and of vectors are built afterwards, as for a bulk load. Recall is
asked as memsvc_app, bound to its user. Timed is the one statement, on the client. Vector recall is counted against the
exact order; users of 10 to 100,000 passages must get all that they ask for, and nobody what is another's. Then other
programs are asked in turn with memsvc (``bench.latency_peers``).
"""

from __future__ import annotations

import argparse
import asyncio
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from sqlalchemy import text

from bench import latency_peers
from bench.corpus import Corpus
from bench.corpus_graph import PASSAGES_A_FACT, PASSAGES_A_NODE, SPEAKERS, dressed, labels, said_at, write_graph
from bench.corpus_vectors import NOISE, Points, as_text, copy_tokens, copy_vectors, question_tokens
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.metrics import percentile
from bench.statement import parameters, timed
from bench.store import new_user
from bench.variants import VARIANTS
from memsvc.llm.embedders.residents import QueryVector
from memsvc.queue.run import run_due
from memsvc.recall.options import DEFAULT, Weights
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database

DEFAULT_MODEL: str = Settings.model_fields["embedding_model"].default
DIMENSIONS = 384
SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000}
PEERS_AT = "100k"
"""The size at which other programs are asked too."""
BARS = {"10k": 15, "100k": 25, "1m": 50}
SMALL, SMALL_USERS = 5_000, 20
ROWS_OF = (10, 200, 2_000, 20_000, 100_000)
BATCH, WRITERS = 1_000, 2
QUESTIONS, WARM_UP, EXACT = 300, 50, 60
LIMIT = 10
MEMORY = {"1m": {"shared_buffers": "4GB"}}
"""What the embedded server gets for a size; the others run with memsvc's own settings."""
BUILD_MEMORY = {"1m": "3GB"}
"""Memory for building the indexes of a size, where 1 GB is too little to hold a partition's graph."""


@dataclass(slots=True)
class Person:
    """A user of the corpus."""

    owner: Owner
    size: int
    """Passages."""
    names: list[str] = field(default_factory=list)
    """Of the user's nodes, hubs first."""
    ids: set[UUID] = field(default_factory=set)
    """Of all the passages."""
    asked: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    """Questions with their vectors, by the place in the user's passages where they come from."""

    def questions(self, count: int) -> list[tuple[str, str]]:
        """The first questions, in the order of the passages."""
        return [one for place in sorted(self.asked) for one in self.asked[place]][:count]


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
            MessageIn(
                conversation=f"talk {start // SMALL}", session=str(number // 50), ordinal=number, text=one,
                speaker=SPEAKERS[number % 2], said_at=said_at(number, person.size),
            )
            for number, one in enumerate(texts[first : first + BATCH], start + first)
        ]  # fmt: skip
        stored = await append(db, person.owner, messages, bench.settings)
        ids += [one.passage_id for one in stored if one.passage_id is not None]
    person.ids.update(ids)
    vectors = points.make(count, draw)
    await asyncio.to_thread(copy_vectors, bench, person.owner.user_id, model_id, ids, vectors)
    await asyncio.to_thread(copy_tokens, bench, person.owner.user_id, model_id, ids, draw)
    near = points.near(vectors[: math.ceil(QUESTIONS * count / person.size)], draw)
    person.asked[start] = [
        (dressed(corpus.question(one), number, person.names), as_text(vector))
        for number, (one, vector) in enumerate(zip(texts, near, strict=False), start)
    ]
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
    users = {
        name: Person(await new_user(db, name), size, labels(size, seed))
        for seed, (name, size) in enumerate(wanted.items())
    }
    with progress("building the corpus", sum(wanted.values())) as done:
        await write(db, bench, list(users.values()), model_id=model_id, done=done)
    with progress("writing graphs", len(users)) as done:
        for seed, person in enumerate(users.values()):
            await write_graph(db, person.owner, person.names, sorted(person.ids), seed)
            done(1)
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


NEAREST = VARIANTS["vector"].weights


async def ask(
    db: Database, person: Person, question: str, vector: str, weights: Weights = DEFAULT
) -> tuple[list[UUID | None], float]:
    """Passages of the answer, None for a fact without one, and the milliseconds that its statement took."""
    asked = QueryVector(DEFAULT_MODEL, vector, question_tokens(question))
    given = parameters(person.owner, question, limit=LIMIT, weights=weights, vector=asked)
    rows, milliseconds = await timed(db, person.owner, given)
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
        foreign += len(set(found) - person.ids - {None})
    shared = []
    for question, vector in asked[:EXACT]:
        found, _ = await ask(db, person, question, vector, NEAREST)
        foreign += len(set(found) - person.ids - {None})
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


async def measure(bench: Bench, sizes: list[str], outcome: Outcome, *, peers: bool) -> None:
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
        outcome.figures["memsvc.foreign_rows"] += sum(len(set(one) - person.ids - {None}) for one in found)
    if peers:
        name = PEERS_AT if PEERS_AT in sizes else sizes[-1]
        small = [person for one, person in users.items() if one.startswith("small")]
        await latency_peers.measure(db, bench, {name: [users[name]], "small": small}, outcome)
    await db.close()


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.latency_fused")
    parser.add_argument("--sizes", default="10k,100k", help=f"of {', '.join(SIZES)}, with commas between")
    parser.add_argument(
        "--peers", action=argparse.BooleanOptionalAction,
        help=f"other programs in the same run; without saying: where {PEERS_AT} is among the sizes",
    )  # fmt: skip
    chosen = parser.parse_args()
    sizes = chosen.sizes.split(",")
    peers = PEERS_AT in sizes if chosen.peers is None else chosen.peers

    def bench_latency() -> None:
        bars = {f"memsvc.{name}.p95_ms": f"<= {BARS[name]}" for name in sizes}
        bars |= {f"memsvc.{name}.recall_at_10": ">= 0.95" for name in sizes}
        bars |= {f"memsvc.rows_of_{size}.least": str(LIMIT) for size in ROWS_OF}
        bars["memsvc.foreign_rows"] = "0"
        outcome = Outcome("latency", bars=bars)
        outcome.configuration |= {
            "model": DEFAULT_MODEL, "noise": NOISE, "small_users": SMALL_USERS, "small": SMALL,
            "weights": {name: value for name, value in msgspec.structs.asdict(DEFAULT).items() if value},
            "graph": f"a node for {PASSAGES_A_NODE} passages, a fact for {PASSAGES_A_FACT}",
            "questions": "plain, naming a node, a month, a speaker, in turn",
        }  # fmt: skip
        options = {name: value for size in sizes for name, value in MEMORY.get(size, {}).items()}
        with database(options) as bench:
            asyncio.run(measure(bench, sizes, outcome, peers=peers))
            figures_table("latency", outcome, ("memsvc.", "peers.", "build_s"))
            report(outcome, bench)

    run(bench_latency)


if __name__ == "__main__":
    main()
