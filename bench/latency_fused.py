"""``python -m bench.latency_fused --sizes 10k,100k,1m``: recall for one user of each size beside twenty of 5,000.

``bench.corpus_users`` makes them. Recall is asked as by default, with all arms, as memsvc_app. Timed is its one
round trip, on the client, which makes it as the service does, with the same event loop and garbage collection. Vector
recall is counted against the exact order; users of 10 to 100,000 passages must get all that they ask for, and nobody
what is another's. Then other programs are asked in turn with memsvc (``bench.latency_peers``).
"""

from __future__ import annotations

import argparse
import gc
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import uvloop
from pgvector import HalfVector
from sqlalchemy import text

from bench import latency_peers
from bench.corpus_graph import DAYS, FIRST, PASSAGES_A_FACT, PASSAGES_A_NODE
from bench.corpus_users import DEFAULT_MODEL, QUESTIONS, Person, build
from bench.corpus_vectors import NOISE, question_tokens
from bench.harness import Bench, Outcome, database, figures_table, report, run
from bench.metrics import percentile
from bench.statement import parameters, timed
from bench.variants import VARIANTS
from memsvc.llm.embedders.residents import QueryVector
from memsvc.recall.options import LEARNT, LINEAR, Filters, Weights

if TYPE_CHECKING:
    from uuid import UUID

    from memsvc.db.engine import Database

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000}
PEERS_AT = "100k"
"""The size at which other programs are asked too."""
BARS = {"10k": 15, "100k": 25, "1m": 50}
SMALL, SMALL_USERS = 5_000, 20
ROWS_OF = (10, 200, 2_000, 20_000, 100_000)
WARM_UP, EXACT = 50, 60
LIMIT = 10
MEMORY = {"1m": {"shared_buffers": "4GB"}}
"""What the embedded server gets for a size; the others run with memsvc's own settings."""
BUILD_MEMORY = {"1m": "3GB"}
"""Memory for building the indexes of a size, where 1 GB is too little to hold a partition's graph."""


NEAREST = VARIANTS["vector"].weights
MIDDLE = FIRST.replace(tzinfo=UTC) + timedelta(days=DAYS / 2)
"""Half of all messages were said before it, half after."""


async def ask(
    db: Database, person: Person, question: str, vector: str, *, weights: Weights = LEARNT,
    filters: Filters | None = None,
) -> tuple[list[UUID | None], float]:  # fmt: skip
    """Passages of the answer, None for a fact without one, and the milliseconds of its round trip."""
    asked = QueryVector(DEFAULT_MODEL, HalfVector.from_text(vector), question_tokens(question))
    given = parameters(person.owner, question, limit=LIMIT, weights=weights, vector=asked, filters=filters)
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
        found, _ = await ask(db, person, question, vector, weights=NEAREST)
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
    await measure_filters(db, name, person, outcome)


async def measure_filters(db: Database, name: str, person: Person, outcome: Outcome) -> None:
    """Latency of fused recall at another time, and behind a filter: every third question."""
    filters = {
        "as_of": Filters(as_of=MIDDLE), "known_at": Filters(known_at=datetime.now(UTC)),
        "said_from": Filters(said_from=MIDDLE),
    }  # fmt: skip
    asked = person.questions(QUESTIONS)[::3]
    for wanted, chosen in filters.items():
        for question, vector in asked[:WARM_UP]:
            await ask(db, person, question, vector, filters=chosen)
        times = [(await ask(db, person, question, vector, filters=chosen))[1] for question, vector in asked]
        outcome.figures |= {
            f"memsvc.{name}.{wanted}.p50_ms": percentile(times, 0.5),
            f"memsvc.{name}.{wanted}.p95_ms": percentile(times, 0.95),
        }


async def measure(bench: Bench, sizes: list[str], outcome: Outcome, *, peers: bool) -> None:
    """Build the corpus, then ask."""
    db = bench.connect()
    wanted = {name: SIZES[name] for name in sizes}
    wanted |= {f"rows{size}": size for size in ROWS_OF if size not in wanted.values()}
    wanted |= {f"small{number}": SMALL for number in range(SMALL_USERS)}
    memory = max(BUILD_MEMORY.get(name, "1GB") for name in sizes)
    users, model_id = await build(db, bench, wanted, outcome, memory=memory)
    outcome.figures["memsvc.foreign_rows"] = 0
    gc.collect()
    gc.freeze()
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
            "weights": {name: value for name, value in LINEAR.items() if value},
            "graph": f"a node for {PASSAGES_A_NODE} passages, a fact for {PASSAGES_A_FACT}",
            "questions": "plain, naming a node, a month, a speaker, in turn",
        }  # fmt: skip
        options = {name: value for size in sizes for name, value in MEMORY.get(size, {}).items()}
        with database(options) as bench:
            uvloop.run(measure(bench, sizes, outcome, peers=peers))
            figures_table("latency", outcome, ("memsvc.", "peers.", "build_s"))
            report(outcome, bench)

    run(bench_latency)


if __name__ == "__main__":
    main()
