"""``python -m bench.described``: nodes by what is said about them, on ``bench/gold/meaning``, and in a large graph.

The gold: all its nodes are one user's. Each query is asked as ``GET /v1/nodes`` does: ``find.recall`` is the share of
the nodes named by the gold that are found, ``find.wrong`` how many others there are for each query that has an answer,
``find.empty`` the share of queries without an answer that find nothing. Then sleep runs: ``pairs.*`` are of the pairs
that it proposes, ``pairs.merged`` counts what it merged, which is to be nothing.

The large graph (``--nodes``): that many nodes with vectors by lot; of 50, one has a twin near to it.
``large.seconds`` is sleep's search among their cards alone, ``large.recall`` the share of twins that it meets.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from bench.harness import Bench, Outcome, database, figures_table, report, run
from bench.store import new_user
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.history import write
from memsvc.graph.operations import Node
from memsvc.llm.embedders.registry import known_models
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.find import find_nodes
from memsvc.sleep.described import described_alike
from memsvc.sleep.runner import sleep
from memsvc.sleep.tasks import Scope
from memsvc.sources.embedding import embed_lacking

GOLD = Path(__file__).resolve().parent / "gold" / "meaning"
TWIN_EVERY, NOISE = 50, 0.3
BARS = {
    "find.recall": ">= 0.85", "find.empty": ">= 0.8", "pairs.recall": ">= 0.8", "pairs.precision": ">= 0.65",
    "pairs.merged": "<= 0", "large.seconds": "<= 300", "large.recall": ">= 0.9",
}  # fmt: skip
LAY = """
SET search_path = memsvc, public;
SET session_replication_role = replica;
SELECT setseed(0.7);
CREATE TEMP TABLE lot AS SELECT n, lpad(to_hex(n), 32, '0')::uuid AS id, (
  SELECT l2_normalize(array_agg(random_normal())::vector) FROM generate_series(1, %(dimensions)s) WHERE n > 0
) AS vector
FROM generate_series(1, %(count)s) AS n;
UPDATE lot AS t
SET vector = l2_normalize(o.vector + t.vector * array_fill(%(noise)s::real, ARRAY[%(dimensions)s])::vector)
FROM lot AS o WHERE t.n %% %(every)s = 2 AND o.n = t.n - 1;
INSERT INTO nodes (user_id, node_id) SELECT %(user)s, l.id FROM lot AS l;
INSERT INTO node_versions (user_id, version_id, node_id, type, label, description, label_form)
SELECT %(user)s, l.id, l.id, 'Object', f.name, 'Lies somewhere.', f.name
FROM lot AS l CROSS JOIN LATERAL (SELECT translate(l.n::text, '0123456789', 'abcdefghij') AS name) AS f;
INSERT INTO corpora (user_id, kind, form, passages, length) VALUES (%(user)s, 'card', 'simple', %(count)s, %(count)s);
INSERT INTO embeddings (user_id, model_id, passage_id, vector)
SELECT %(user)s, %(model)s, l.id, l.vector::halfvec FROM lot AS l;
SET session_replication_role = origin;
"""
"""A statement a line that ends with a semicolon. Names have no digits, as names with others are told apart by them."""


def lines(name: str) -> list[dict[str, Any]]:
    """The records of a file of the gold."""
    return [json.loads(line) for line in (GOLD / name).read_text(encoding="utf-8").splitlines()]


async def gold(bench: Bench, outcome: Outcome, db: Database, models: Residents) -> None:
    """Figures of the gold."""
    owner, pairs = await new_user(db, "gold"), lines("pairs.jsonl")
    nodes = {
        one["label"]: Node(
            type=pair["type"],
            label=one["label"],
            description=one["description"],
            data={"named": one.get("named", True)},
        )
        for pair in pairs
        for one in (pair["one"], pair["other"])
    }
    made = await write(db, owner, list(nodes.values()), asserted_by="bench")
    labels = {result.node_id: label for result, label in zip(made.results, nodes, strict=True)}
    await embed_lacking(db, models, owner.user_id)
    found, wrong, empty = 0, 0, 0
    queries = lines("queries.jsonl")
    for asked in queries:
        page = await find_nodes(db, owner, asked["query"], bench.settings, embedder=models)
        hits = {node.label for node in page.items}
        found += len(hits & set(asked["nodes"]))
        wrong += len(hits - set(asked["nodes"])) if asked["nodes"] else 0
        empty += not hits and not asked["nodes"]
    answered = [asked for asked in queries if asked["nodes"]]
    await sleep(db, owner)
    with bench.admin() as connection:
        rows = connection.execute(
            "SELECT node_a, node_b FROM memsvc.duplicate_candidates WHERE user_id = %s", [owner.user_id]
        ).fetchall()
        [merged] = connection.execute("SELECT count(*) FROM memsvc.merges").fetchone() or (0,)
    proposed = {frozenset((labels[a], labels[b])) for a, b in rows}
    same = {frozenset((pair["one"]["label"], pair["other"]["label"])) for pair in pairs if pair["same"]}
    for pair in sorted(map(sorted, proposed - same)):
        print("proposed, though different:", *pair, sep="  ")
    for pair in sorted(map(sorted, same - proposed)):
        print("not proposed, though the same:", *pair, sep="  ")
    outcome.figures |= {
        "find.recall": found / sum(len(asked["nodes"]) for asked in answered), "find.wrong": wrong / len(answered),
        "find.empty": empty / (len(queries) - len(answered)), "pairs.n": len(same),
        "pairs.recall": len(proposed & same) / len(same), "pairs.precision": len(proposed & same) / len(proposed),
        "pairs.merged": merged,
    }  # fmt: skip


async def large(bench: Bench, outcome: Outcome, db: Database, count: int) -> None:
    """Figures of a large graph, whose rows an administrator lays without triggers, as nothing of that is measured."""
    owner = await new_user(db, "large")
    model = next(one for one in await known_models(db) if one.state == "active")
    values = {
        "user": owner.user_id, "model": model.model_id, "dimensions": model.dimensions, "count": count,
        "every": TWIN_EVERY, "noise": NOISE,
    }  # fmt: skip
    with bench.admin() as connection:
        connection.execute(f"DROP INDEX memsvc.embeddings_near_{model.model_id}")  # it is made faster at once
        for statement in (part for part in LAY.split(";\n") if part.strip()):
            connection.execute(statement, values)
        connection.execute("SELECT memsvc.make_model_index(%(model)s::smallint, %(dimensions)s)", values)
        connection.execute("VACUUM ANALYZE")
        rows = connection.execute(
            "SELECT node_id FROM memsvc.nodes WHERE user_id = %s ORDER BY node_id", [owner.user_id]
        ).fetchall()
    nodes = [node for (node,) in rows if node.int >> 64 == 0]
    twins = set(zip(nodes[::TWIN_EVERY], nodes[1::TWIN_EVERY], strict=True))
    outcome.figures |= {"large.nodes": count, **await searched(db, owner, twins)}


async def searched(db: Database, owner: Owner, twins: set[tuple[UUID, UUID]]) -> dict[str, float]:
    """Seconds of the search, and the share of twins that it met."""
    met: set[tuple[UUID, UUID]] = set()
    compared = 0
    start = time.perf_counter()
    async for page in described_alike(db, owner, Scope(), None, ()):
        compared += page.examined
        if compared % 5_000 == 0:
            print(f"{compared:,} cards after {time.perf_counter() - start:.0f} s", flush=True)
        met |= {(min(item.nodes), max(item.nodes)) for item in page.proposals}
    return {"large.seconds": time.perf_counter() - start, "large.recall": len(met & twins) / len(twins)}


async def measure(bench: Bench, outcome: Outcome, count: int) -> None:
    """All figures."""
    db = bench.connect(pool_size=2)
    models = Residents(bench.settings)
    try:
        await gold(bench, outcome, db, models)
        if count:
            await large(bench, outcome, db, count)
    finally:
        models.close()
        await db.close()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description="Nodes by what is said about them.")
    parser.add_argument("--nodes", type=int, default=100_000, help="Of the large graph, a multiple of 50; 0: none.")
    chosen = parser.parse_args()

    def bench_described() -> None:
        whole = chosen.nodes == parser.get_default("nodes")
        outcome = Outcome("described", bars=dict(BARS), data_set=None if whole else "small")
        outcome.configuration |= {"nodes": chosen.nodes, "gold": "bench/gold/meaning"}
        with database() as bench:
            asyncio.run(measure(bench, outcome, chosen.nodes))
            figures_table("described", outcome, ("",))
            report(outcome, bench)

    run(bench_described)


if __name__ == "__main__":
    main()
