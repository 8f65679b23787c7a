"""Part of ``bench.graph``: one to three hops by our SQL, AGE and kuzu over the same graphs, and what AGE costs writers.

Each user's graph is written twice, batch by batch in turn: into a database without Cypher and into one with it.
``projection.write_ratio`` is the time of the batches of facts with it, by the time without. Then all are asked for the
nodes at most so many hops away along facts that hold now, in their direction, of any type: at most 200, at which they
may stop; ours are those by the strongest facts, the others' any. Without that limit all must find the same number.

All are warm: each question is put from all starts without a limit, then with it, and once more with it (``PASSES``);
the last pass alone is timed. All rows are read by Python. kuzu works in a process of its own, with as many threads as
the machine has processors; it is asked in two ways: for walks, as AGE is (``kuzu.hop2``), and for shortest paths, which
visit no node twice (``kuzu.shortest2``). At three hops its walks take seconds, so there it is asked for shortest paths
alone. kuzu's database is inside the process that asks, so ours is timed as one statement (``memsvc.out2``), of which
each side keeps the plan, and beside it as a whole call, with its transaction and the proof of who asks
(``memsvc.call_out2``), in passes of its own behind those of the statement. Only AGE's two hops are timed, as a whole
call.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import text

from bench.environments import environment
from bench.graph_drawn import BATCH, TYPES, Drawn, draw, facts, said, summary
from bench.harness import REPOSITORY, Bench, Outcome, beside, progress
from bench.store import new_user
from memsvc.db.engine import Database
from memsvc.db.together import Together
from memsvc.graph.cypher import ask, cypher_database
from memsvc.graph.history import write
from memsvc.graph.operations import Node, Operation, Retract, Thread

KUZU = "kuzu==0.11.3"
LIMIT, UNLIMITED, STARTS = 200, 10_000, 60
PASSES = (UNLIMITED, LIMIT, LIMIT)
"""The limits with which each side is asked from all starts, pass by pass; the last pass is timed."""
BARS = {
    "memsvc.out2.p95_ms": "<= kuzu.hop2.p95_ms",
    "projection.write_ratio": "<= 2.5",
    "age.hop2.mismatches": "= 0",
    "kuzu.hop2.mismatches": "= 0",
}
HOPS = (1, 2, 3)
OURS = text(
    "SELECT node_id "
    "FROM memsvc.neighbourhood(:user_id, CAST(:nodes AS uuid[]), :hops, NULL, 'from', NULL, :most, :as_of)"
)
HOLDS = "coalesce({0}.valid_to, '9999') > $now"
CYPHER = (
    f"MATCH (a:Concept {{id: $id}})-[e]->(b:Concept) WHERE b.id <> $id AND {HOLDS.format('e')} RETURN b.id AS id "
    "UNION MATCH (a:Concept {id: $id})-[e]->(m:Concept)-[f]->(b:Concept) "
    f"WHERE b.id <> $id AND {HOLDS.format('e')} AND {HOLDS.format('f')} RETURN b.id AS id"
)
KUZU_ASKED = {
    f"{name}{hops}": f"MATCH (a:Concept {{id: $id}})-[e:{'|'.join(TYPES)}*{way} 1..{hops} (r, n | WHERE r.valid_to > "
    f"$now)]->(b:Concept) WHERE b.id <> $id RETURN {'DISTINCT ' if not way else ''}b.id LIMIT $limit"
    for name, way in (("hop", ""), ("shortest", " SHORTEST"))
    for hops in HOPS
    if way or hops <= 2
}
Found = dict[str, list[float]]
"""From each start: how many nodes (counts), and milliseconds (ms)."""


@dataclass(slots=True)
class Side:
    """A database that is written to, and the seconds that its batches of facts took."""

    bench: Bench
    db: Database
    graphs: list[Drawn]
    seconds: float = 0.0

    async def write(self, drawn: Drawn, batch: list[Operation], *, timed: bool = False) -> None:
        """Write a batch."""
        start = time.perf_counter()
        change = await write(self.db, drawn.owner, batch, asserted_by="bench")
        self.seconds += time.perf_counter() - start if timed else 0
        drawn.nodes += [result.node_id for result in change.results if result.node_id and not result.edge_id]
        drawn.edges += [result.edge_id for result in change.results if result.edge_id]


async def build(sides: Sequence[Side], users: int, nodes: int, edges: int) -> None:
    """Write the same graphs into both, batch by batch in turn."""
    with progress("writing twice", users * edges) as done:
        for number in range(users):
            pair = []
            for side in sides:
                drawn = draw(await new_user(side.db, f"peer {number}"), 100 + number, nodes, edges)
                side.graphs.append(drawn)
                passages = await said(side.db, drawn.owner, side.bench.settings)
                for begin in range(0, nodes, BATCH):
                    made = range(begin, min(begin + BATCH, nodes))
                    await side.write(drawn, [Node(type="Concept", label=f"Node {n}") for n in made])
                pair.append((side, drawn, passages, random.Random(number)))
            for place, begin in enumerate(range(0, edges, BATCH)):
                if number == 0 and begin == 2 * BATCH:
                    analyse(sides)
                for side, drawn, passages, lot in pair if place % 2 else reversed(pair):
                    await side.write(drawn, facts(drawn, passages, begin, lot), timed=True)
                done(BATCH)
            for side, drawn, *_ in pair:
                gone = [drawn.edges[place] for place in sorted(drawn.taken_back)]
                for begin in range(0, len(gone), BATCH):
                    await side.write(drawn, [Retract(thread=Thread(edge=edge)) for edge in gone[begin : begin + BATCH]])
    analyse(sides)


def analyse(sides: Sequence[Side]) -> None:
    """Statistics and the visibility map, as autovacuum keeps them."""
    for side in sides:
        with side.bench.admin() as admin:
            admin.execute("VACUUM (ANALYZE)")


async def by_statement(side: Side, starts: Sequence[tuple[int, int]], hops: int, most: int) -> Found:
    """How many nodes our SQL finds from each start, but for the start; milliseconds of the statement."""
    found: Found = {"counts": [], "ms": []}
    for user, place in starts:
        user_id, asked = put(side.graphs[user], place, hops, most)
        async with side.db.transaction(user_id, keep_plans=True) as connection:
            begin = time.perf_counter()
            rows = (await connection.execute(OURS, asked)).all()
            found["ms"].append((time.perf_counter() - begin) * 1_000)
        found["counts"].append(len(rows) - 1)
    return found


async def by_call(side: Side, starts: Sequence[tuple[int, int]], hops: int, most: int) -> list[float]:
    """Milliseconds of the same as a whole call, with its transaction and the proof of who asks."""
    times = []
    for user, place in starts:
        user_id, asked = put(side.graphs[user], place, hops, most)
        begin = time.perf_counter()
        together = Together(side.db, user_id, keep_plans=True)
        together.ask(OURS, asked)
        await together.send()
        times.append((time.perf_counter() - begin) * 1_000)
    return times


def put(drawn: Drawn, place: int, hops: int, most: int) -> tuple[UUID, dict[str, Any]]:
    """Whose graph is asked, and what our statement is asked with: ``most`` nodes beside the start."""
    user_id = drawn.owner.user_id
    asked = {"nodes": [drawn.nodes[place]], "hops": hops, "most": most + 1, "as_of": datetime.now(UTC)}
    return user_id, {"user_id": user_id, **asked}


async def by_age(side: Side, starts: Sequence[tuple[int, int]]) -> list[Found]:
    """Two hops in Cypher, pass by pass, through the Python API: transaction, identity and reading of the values too."""
    passes: list[Found] = []
    seconds = 60.0
    cypher = cypher_database(side.bench.admin_url, side.bench.settings.model_copy(update={"cypher_timeout_ms": 60_000}))
    try:
        with progress("asking AGE", len(PASSES) * len(starts)) as done:
            for most in PASSES:
                found: Found = {"counts": [], "ms": []}
                passes.append(found)
                for user, place in starts:
                    drawn = side.graphs[user]
                    asked = {"id": str(drawn.nodes[place]), "now": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")}
                    begin = time.perf_counter()
                    answer = await ask(cypher, drawn.owner, CYPHER, asked, limit=most, seconds=seconds)
                    found["ms"].append((time.perf_counter() - begin) * 1_000)
                    found["counts"].append(len(answer.rows))
                    done(1)
    finally:
        await cypher.close()
    return passes


def by_kuzu(graphs: Sequence[Drawn], starts: Sequence[tuple[int, int]], queries: dict[str, str]) -> dict[str, Any]:
    """The same of kuzu, for each query pass by pass, as JSON of ``bench.kuzu_side``."""
    size = graphs[0].size
    edges = [
        (
            user * size + start,
            TYPES[place % len(TYPES)],
            user * size + end,
            "2024-01-01" if drawn.ended[place] else None,
        )
        for user, drawn in enumerate(graphs)
        for place, (start, end) in enumerate(drawn.pairs)
        if place not in drawn.taken_back
    ]
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-", dir="/var/tmp") as folder:
        asked = {
            "nodes": size * len(graphs), "types": TYPES, "edges": edges, "queries": queries, "passes": PASSES,
            "starts": [user * size + place for user, place in starts], "folder": folder,
            "now": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"), "threads": len(os.sched_getaffinity(0)),
        }  # fmt: skip
        questions, answers = Path(folder, "asked.json"), Path(folder, "answers.json")
        questions.write_text(json.dumps(asked), encoding="utf-8")
        python = environment("kuzu", [KUZU])
        command = [str(python), "-W", "ignore", "-P", "-m", "bench.kuzu_side", str(questions), str(answers)]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(REPOSITORY)})
        found: dict[str, Any] = json.loads(answers.read_text(encoding="utf-8"))
        return found


async def measure(bench: Bench, outcome: Outcome, users: int, nodes: int, edges: int) -> None:
    """All figures; needs a server with AGE."""
    with beside(bench, cypher="on") as projected:
        sides = [Side(one, one.connect(), []) for one in (bench, projected)]
        try:
            await build(sides, users, nodes, edges)
            without, with_it = sides
            outcome.figures["projection.write_ratio"] = with_it.seconds / without.seconds
            lot = random.Random(7)
            starts = [(user, lot.randrange(nodes)) for user in range(users) for _ in range(STARTS // 2)]
            starts += [
                (user, lot.choice(drawn.pairs)[0])
                for user, drawn in enumerate(without.graphs) for _ in range(STARTS // 2)
            ]  # fmt: skip
            lot.shuffle(starts)
            await walk(outcome, without, with_it, starts)
        finally:
            for side in sides:
                await side.db.close()


async def walk(outcome: Outcome, without: Side, with_it: Side, starts: Sequence[tuple[int, int]]) -> None:
    """The figures of walks."""
    every: dict[int, Sequence[float]] = {}
    for hops in HOPS:
        passes = [await by_statement(without, starts, hops, most) for most in PASSES]
        every[hops] = passes[0]["counts"]
        compared(outcome, f"memsvc.out{hops}", passes, every[hops])
        calls = [await by_call(without, starts, hops, most) for most in PASSES]
        summary(outcome, f"memsvc.call_out{hops}", calls[-1])
    compared(outcome, "age.hop2", await by_age(with_it, starts), every[2])
    answers = by_kuzu(without.graphs, starts, KUZU_ASKED)
    outcome.configuration["kuzu"] = answers.pop("version")
    for name, passes in answers.items():
        compared(outcome, f"kuzu.{name}", passes, every[int(name[-1])])


def compared(outcome: Outcome, name: str, passes: Sequence[Found], every: Sequence[float]) -> None:
    """Times of one side, and how many of its counts, with the limit and without, are not those that our SQL has.

    Args:
        outcome: gets the figures.
        name: begins theirs.
        passes: what the side found with each of ``PASSES``.
        every: how many nodes our SQL finds from each start without a limit.
    """
    summary(outcome, name, passes[-1]["ms"])
    wanted = [min(LIMIT, count) for count in every]
    wrong = sum(one != other for one, other in zip(passes[-1]["counts"], wanted, strict=True))
    wrong += sum(one != other for one, other in zip(passes[0]["counts"], every, strict=True))
    outcome.figures[f"{name}.mismatches"] = wrong
