"""``python -m bench.duplicates``: sleep's task that finds duplicates, over the graph of one user with 100,000 people.

5,000 of them are Febrl's set 3 (name and address only: no number of social security, no date of birth) with its true
pairs; the others are made around it by drawing each field by lot and changing it, so that names, streets and places are
as frequent as in the set. All is written through the history API, then ``memsvc.sleep`` runs as on the command line.

``seconds`` is the whole run: reading, blocking, judging, merging. ``peak_mb`` adds the largest resident memory of this
process and of the backend that served it (its share of PostgreSQL's cache included). Figures of quality are of
Febrl's records alone: pairs that are one afterwards (auto-merge), and pairs that are one or wait for a person
(candidates).
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import resource
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from uuid import UUID

from bench.harness import Bench, Outcome, data_folder, database, figures_table, progress, report, run
from bench.store import new_user
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.history import write
from memsvc.graph.operations import Node
from memsvc.sleep.runner import sleep

NODES, BATCH, SEED = 100_000, 1_000, 7
NAMES = ("given_name", "surname")
FIELDS = ("street_number", "address_1", "address_2", "suburb", "postcode", "state")
BARS = {
    "candidates.100k.seconds": "<= 300",
    "candidates.100k.peak_mb": "<= 1000",
    "febrl.candidates.recall": ">= 0.9",
    "febrl.automerge.precision": ">= 0.98",
}
Record = Mapping[str, str]


def febrl() -> list[Record]:
    """The records of set 3."""
    with gzip.open(data_folder("febrl") / "records.jsonl.gz", "rt", encoding="utf-8") as file:
        return [record for record in map(json.loads, file) if record["dataset"] == "febrl3"]


def people(count: int) -> Iterator[Record]:
    """Febrl's records, then others drawn by lot around them; each of those is somebody of their own."""
    given = febrl()
    yield from given
    lot = random.Random(SEED)
    for number in range(count - len(given)):
        drawn = {field: lot.choice(given)[field] for field in (*NAMES, *FIELDS)}
        other = lot.choice(given)
        if lot.random() < 0.7:
            drawn["surname"] = drawn["surname"][:3] + other["surname"][-4:]
        if lot.random() < 0.7:
            drawn["address_1"] = other["address_1"][:4] + drawn["address_1"][-9:]
        drawn["postcode"] = f"{lot.randrange(200, 9_999):04}"
        drawn["street_number"] = str(lot.randrange(1, 400))
        yield {**drawn, "cluster_id": f"drawn:{number}"}


def node_of(record: Record) -> Node:
    """A person with an address."""
    label = " ".join(record[field] for field in NAMES if record[field]) or "unknown"
    return Node(type="Person", label=label, data={field: record[field] for field in FIELDS if record[field]})


async def build(db: Database, owner: Owner, count: int) -> dict[UUID, str]:
    """Write them all; the true person of each node of Febrl's."""
    clusters: dict[UUID, str] = {}
    batch: list[Record] = []

    async def flush() -> None:
        made = await write(db, owner, [node_of(record) for record in batch], asserted_by="bench")
        for record, result in zip(batch, made.results, strict=True):
            if result.node_id is not None and not record["cluster_id"].startswith("drawn:"):
                clusters[result.node_id] = record["cluster_id"]
        batch.clear()

    with progress("writing", count) as done:
        for record in people(count):
            batch.append(record)
            if len(batch) == BATCH:
                await flush()
                done(BATCH)
        if batch:
            await flush()
    return clusters


def peak_mb(pid: int | str) -> float:
    """The largest resident memory that a process had, in MB."""
    status = Path(f"/proc/{pid}/status")
    for line in status.read_text(encoding="utf-8").splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def quality(bench: Bench, owner: Owner, clusters: Mapping[UUID, str], outcome: Outcome) -> None:
    """What became of Febrl's pairs."""
    with bench.admin() as connection:
        merged = connection.execute(
            "SELECT node_id, canonical_id FROM memsvc.merges WHERE user_id = %s AND recorded_to = 'infinity'",
            [owner.user_id],
        ).fetchall()
        waiting = connection.execute(
            "SELECT node_a, node_b FROM memsvc.duplicate_candidates WHERE user_id = %s AND state = 'open'",
            [owner.user_id],
        ).fetchall()
    stands: dict[UUID, UUID] = dict(merged)

    def root(node: UUID) -> UUID:
        while node in stands:
            node = stands[node]
        return node

    groups: dict[UUID, list[UUID]] = defaultdict(list)
    for node in {*clusters, *stands, *stands.values()}:
        groups[root(node)].append(node)
    one = {frozenset(pair) for group in groups.values() for pair in combinations(group, 2)}
    persons: dict[str, list[UUID]] = defaultdict(list)
    for node, cluster in clusters.items():
        persons[cluster].append(node)
    true = {frozenset(pair) for group in persons.values() for pair in combinations(group, 2)}
    met = {frozenset((root(a), root(b))) for a, b in waiting}
    found = sum(pair in one or frozenset(map(root, pair)) in met for pair in true)
    right = len(one & true)
    outcome.figures |= {
        "febrl.pairs": len(true),
        "febrl.candidates.recall": found / len(true),
        "febrl.automerge.n": len(one),
        "febrl.automerge.precision": right / len(one) if one else 0.0,
        "febrl.automerge.recall": right / len(true),
        "review.pairs": len(waiting),
    }


async def measure(bench: Bench, outcome: Outcome, count: int) -> None:
    """All figures."""
    db = bench.connect(pool_size=2)
    try:
        owner = await new_user(db, "everybody")
        clusters = await build(db, owner, count)
        with bench.admin() as connection:
            connection.execute("VACUUM ANALYZE")
            held = connection.execute("SELECT pid FROM pg_stat_activity WHERE usename = 'memsvc_app'").fetchall()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        start = time.perf_counter()
        [done] = await sleep(db, owner)
        print(f"{done.examined:,} pairs in {time.perf_counter() - start:.0f} s")
        outcome.figures["candidates.100k.seconds" if count == NODES else "candidates.seconds"] = (
            time.perf_counter() - start
        )
        mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        theirs = max((peak_mb(pid) for (pid,) in held), default=0.0)
        outcome.figures["candidates.100k.peak_mb" if count == NODES else "candidates.peak_mb"] = mine + theirs
        outcome.figures |= {
            "process.peak_mb": mine, "process.before_mb": before, "backend.peak_mb": theirs, "pairs": done.examined,
        }  # fmt: skip
        quality(bench, owner, clusters, outcome)
    finally:
        await db.close()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description="Finding duplicates in a large graph.")
    parser.add_argument("--nodes", type=int, default=NODES)
    chosen = parser.parse_args()

    def bench_duplicates() -> None:
        outcome = Outcome("duplicates", bars=dict(BARS), data_set=None if chosen.nodes == NODES else "small")
        outcome.configuration |= {"nodes": chosen.nodes, "fields": "name and address", "seed": SEED}
        with database() as bench:
            asyncio.run(measure(bench, outcome, chosen.nodes))
            figures_table("duplicates", outcome, ("",))
            report(outcome, bench)

    run(bench_duplicates)


if __name__ == "__main__":
    main()
