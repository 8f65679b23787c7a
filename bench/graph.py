"""``python -m bench.graph``: writing and walking a graph of 100,000 nodes and 500,000 facts over ten users.

Degrees follow a power law (seeded). All is written through the history API as the application's role, in batches of
1,000 with evidence; a part of the facts has ended, and a part is taken back again, so that the two times matter. What
is timed is one statement on the client, in a transaction that is already bound to its user, from sending it until all
is there: ``hop`` is ``memsvc.neighbourhood``, ids of nodes with the facts that lead to them; ``drawn`` the same with
labels, properties and sentences as JSON, which is what REST gives; ``call`` all of the Python API, transaction and
identity too. igraph walks the same graph in memory, in a process of its own (``bench.igraph_side``), ids only and
without bounds; unlimited neighbourhoods and path lengths must equal its. On the full server, ``bench.graph_peers``
compares hops with AGE and kuzu, and writing with and without AGE.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import TextClause, text

from bench import graph_peers
from bench.graph_drawn import BATCH, ENDED, SKEW, TAKEN_BACK, TYPES, Drawn, draw, facts, said, summary
from bench.harness import URL_VARIABLE, Bench, Outcome, database, figures_table, progress, report, run
from bench.metrics import percentile
from bench.store import new_user
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import ConfigurationError
from memsvc.graph import traverse
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Evidence, Node, Operation, Retract, Thread
from memsvc.sources.messages import MessageIn, append
from ops.postgres.server import running as full_server

USERS, NODES, EDGES, PEERS = 10, 10_000, 50_000, 4
STARTS, COUNTED, PAIRS, SINGLE, WARM_UP = 40, 20, 40, 300, 40
IGRAPH = "igraph==1.0.0"
BARS = {
    "memsvc.hop2.p95_ms": "<= 5",
    "memsvc.hop3.p95_ms": "<= 15",
    "memsvc.unlimited.mismatches": "= 0",
    "memsvc.paths.mismatches": "= 0",
    "write.assert_per_s": ">= 1500",
}
WALK = text(
    "SELECT node_id, hop, parent_id, version_id, truncated FROM memsvc.neighbourhood(:user_id, "
    "CAST(:nodes AS uuid[]), :hops, CAST(:types AS text[]), :side, :fan_out, :most, :as_of, :known_at)"
)
EVERY = text(
    "SELECT count(*) FROM memsvc.neighbourhood(:user_id, CAST(:nodes AS uuid[]), 2, p_fan_out => NULL, "
    "p_limit => NULL, p_as_of => :as_of, p_known_at => :known_at)"
)


# Writing -------------------------------------------------------------------------------------------------------------


async def build(db: Database, bench: Bench, graphs: Sequence[Drawn]) -> float:
    """Write all graphs; the seconds that the batches of facts took."""
    seconds = 0.0
    with progress("asserting", sum(len(drawn.pairs) for drawn in graphs)) as done:
        for number, drawn in enumerate(graphs):
            lot, owner = random.Random(number), drawn.owner
            passages = await said(db, owner, bench.settings)
            for begin in range(0, drawn.size, BATCH):
                last = min(begin + BATCH, drawn.size)
                made = [Node(type="Concept", label=f"Node {n}") for n in range(begin, last)]
                change = await write(db, owner, made, asserted_by="bench")
                drawn.nodes += [result.node_id for result in change.results if result.node_id]
            for begin in range(0, len(drawn.pairs), BATCH):
                if number == 0 and begin == 2 * BATCH:
                    analyse(bench)  # as autovacuum does within a minute: plans of an empty table are slow
                batch = facts(drawn, passages, begin, lot)
                start = time.perf_counter()
                change = await write(db, owner, batch, asserted_by="bench")
                seconds += time.perf_counter() - start
                drawn.edges += [result.edge_id for result in change.results if result.edge_id]
                drawn.known_at = change.recorded_at
                done(len(batch))
            gone: list[Operation] = [Retract(thread=Thread(edge=drawn.edges[place])) for place in drawn.taken_back]
            for begin in range(0, len(gone), BATCH):
                await write(db, owner, gone[begin : begin + BATCH], asserted_by="bench")
    return seconds


def analyse(bench: Bench) -> None:
    """Statistics and the visibility map, as autovacuum keeps them."""
    with bench.admin() as admin:
        admin.execute("VACUUM (ANALYZE)")


async def single(db: Database, drawn: Drawn, bench: Bench) -> list[float]:
    """Milliseconds of single assertions with evidence, of a user of its own."""
    (stored,) = await append(db, drawn.owner, [MessageIn(conversation="more", text="One more.")], bench.settings)
    lot, times = random.Random(5), []
    assert stored.passage_id
    for number in range(SINGLE):
        edge = Edge(
            from_node=lot.choice(drawn.nodes), to_node=lot.choice(drawn.nodes), type=TYPES[0], key=f"one {number}",
            fact="A fact by itself.", valid_to=datetime(2024, 1, 1, tzinfo=UTC),
            evidence=[Evidence(passage_id=stored.passage_id)],
        )  # fmt: skip
        start = time.perf_counter()
        await write(db, drawn.owner, [edge], asserted_by="bench")
        times.append((time.perf_counter() - start) * 1_000)
    return times


# Walking -------------------------------------------------------------------------------------------------------------


async def timed(db: Database, owner: Owner, statement: TextClause, asked: dict[str, Any]) -> tuple[Any, float]:
    """Rows of a statement, and its milliseconds."""
    async with db.transaction(owner.user_id, keep_plans=True) as connection:  # as memsvc.graph.traverse asks
        start = time.perf_counter()
        rows = (await connection.execute(statement, {"user_id": owner.user_id, **asked})).all()
        return rows, (time.perf_counter() - start) * 1_000


def sampled(graphs: Sequence[Drawn], count: int, seed: int) -> list[tuple[int, int]]:
    """User and place of nodes: half of them any, half as often as they are ends of facts."""
    lot = random.Random(seed)
    found: list[tuple[int, int]] = []
    for user, drawn in enumerate(graphs):
        found += [(user, lot.randrange(len(drawn.nodes))) for _ in range(count // 2)]
        found += [(user, lot.choice(lot.choice(drawn.pairs))) for _ in range(count - count // 2)]
    lot.shuffle(found)
    return found


async def walks(db: Database, graphs: Sequence[Drawn], starts: Sequence[tuple[int, int]], outcome: Outcome) -> None:
    """Bounded neighbourhoods with the default limits: walked, and drawn."""
    now, shown = datetime.now(UTC), []
    kinds: list[tuple[str, TextClause, int, Callable[[Drawn], dict[str, Any]]]] = [
        ("hop2", WALK, 2, lambda _: {}), ("hop3", WALK, 3, lambda _: {}),
        ("hop2_typed", WALK, 2, lambda _: {"types": list(TYPES[:2])}),
        ("hop2_as_of", WALK, 2, lambda _: {"as_of": datetime(2023, 1, 1, tzinfo=UTC)}),
        ("hop2_known_at", WALK, 2, lambda drawn: {"known_at": drawn.known_at}),
        ("drawn2", query("graph_around"), 2, lambda _: {}), ("drawn3", query("graph_around"), 3, lambda _: {}),
    ]  # fmt: skip
    for name, statement, hops, more in kinds:
        times = []
        for user, place in [*starts[:WARM_UP], *starts]:
            drawn = graphs[user]
            asked = {
                "nodes": [drawn.nodes[place]], "hops": hops, "types": None, "side": "both", "as_of": now,
                "fan_out": traverse.FAN_OUT, "most": traverse.MOST_NODES, "known_at": None, **more(drawn),
            }  # fmt: skip
            rows, milliseconds = await timed(db, drawn.owner, statement, asked)
            times.append(milliseconds)
            if name == "hop2":
                shown.append(len(rows))
        summary(outcome, f"memsvc.{name}", times[WARM_UP:])
    outcome.figures["memsvc.hop2.mean_nodes"] = sum(shown[WARM_UP:]) / len(starts)
    times = []
    for user, place in starts:
        start = time.perf_counter()
        await traverse.neighbourhood(db, graphs[user].owner, [graphs[user].nodes[place]])
        times.append((time.perf_counter() - start) * 1_000)
    outcome.figures["memsvc.call2.p95_ms"] = percentile(times, 0.95)


async def equal(db: Database, graphs: Sequence[Drawn], asked: dict[str, Any], found: dict[str, Any]) -> dict[str, int]:
    """How many unlimited neighbourhoods and shortest paths are not igraph's."""
    wrong = {"unlimited": 0, "paths": 0}
    for kind, sizes in found["sizes"].items():
        for (user, place), size in zip(asked["counted"], sizes, strict=True):
            drawn = graphs[user]
            parameters = {
                "nodes": [drawn.nodes[place]], "as_of": datetime.now(UTC),
                "known_at": drawn.known_at if kind == "known" else None,
            }  # fmt: skip
            rows, _ = await timed(db, drawn.owner, EVERY, parameters)
            wrong["unlimited"] += rows[0][0] != size
    for (user, start, end), distance in zip(asked["pairs"], found["distances"], strict=True):
        drawn = graphs[user]
        ways = await traverse.paths(db, drawn.owner, drawn.nodes[start], drawn.nodes[end], max_hops=6, limit=1)
        length = len(ways.paths[0].edges) if ways.paths else None
        wrong["paths"] += ways.complete and length != (distance if distance is None or distance <= 6 else None)
        wrong["paths"] += not ways.complete and length not in {None, distance}
    return wrong


async def path_times(db: Database, graphs: Sequence[Drawn], pairs: Sequence[tuple[int, int, int]]) -> list[float]:
    """Milliseconds of shortest paths with the default limits."""
    times = []
    for user, start, end in pairs:
        drawn = graphs[user]
        asked = {
            "from_node": drawn.nodes[start], "to_node": drawn.nodes[end], "max_hops": 4, "types": None, "side": "both",
            "most": 5, "work": traverse.WORK, "as_of": datetime.now(UTC), "known_at": None,
        }  # fmt: skip
        times.append((await timed(db, drawn.owner, query("graph_paths"), asked))[1])
    return times


# igraph --------------------------------------------------------------------------------------------------------------


def igraph_folder() -> Path:
    """Where igraph is installed: in the user's cache, never in memsvc's environment."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "memsvc-bench" / IGRAPH.replace("==", "-")
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as making:
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            try:
                subprocess.run([*pip, "--only-binary", ":all:", "--target", f"{making}/done", IGRAPH], check=True)
            except subprocess.CalledProcessError as error:
                raise ConfigurationError(f"{IGRAPH} could not be installed.", hint="It comes from PyPI.") from error
            Path(making, "done").rename(folder)
    return folder


def ask_igraph(asked: dict[str, Any]) -> dict[str, Any]:
    """Answers of a process of its own."""
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-") as folder:
        questions, answers = Path(folder, "asked.json"), Path(folder, "answers.json")
        questions.write_text(json.dumps(asked), encoding="utf-8")
        script = Path(__file__).with_name("igraph_side.py")
        environment = os.environ | {"PYTHONPATH": str(igraph_folder())}
        subprocess.run([sys.executable, str(script), str(questions), str(answers)], check=True, env=environment)
        found: dict[str, Any] = json.loads(answers.read_text(encoding="utf-8"))
        return found


async def measure(bench: Bench, outcome: Outcome, users: int, nodes: int, edges: int) -> None:
    """All figures."""
    db = bench.connect()
    try:
        graphs = [draw(await new_user(db, f"user {n}"), n, nodes, edges) for n in range(users)]
        start = time.perf_counter()
        seconds = await build(db, bench, graphs)
        outcome.figures["write.assert_per_s"] = sum(len(drawn.pairs) for drawn in graphs) / seconds
        outcome.figures["write.build_s"] = time.perf_counter() - start
        summary(outcome, "write.single", await single(db, graphs[0], bench))
        analyse(bench)
        starts, lot = sampled(graphs, STARTS, 1), random.Random(4)
        pairs = [(user, place, lot.randrange(nodes)) for user, place in sampled(graphs, PAIRS, 3)]
        asked = {
            "nodes": nodes, "starts": starts, "counted": sampled(graphs, COUNTED, 2), "pairs": pairs,
            "graphs": {
                kind: [drawn.holding(known=kind == "known") for drawn in graphs] for kind in ("now", "known")
            },
        }  # fmt: skip
        found = ask_igraph(asked)
        await walks(db, graphs, starts, outcome)
        summary(outcome, "memsvc.paths", await path_times(db, graphs, pairs))
        for name, wrong in (await equal(db, graphs, asked, found)).items():
            outcome.figures[f"memsvc.{name}.mismatches"] = wrong
        for hops, times in found["ms"].items():
            summary(outcome, f"igraph.hop{hops}", times)
        outcome.configuration["igraph"] = found["version"]
    finally:
        await db.close()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description="Writing and walking a graph.")
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--nodes", type=int, default=NODES, help="of each user")
    parser.add_argument("--edges", type=int, default=EDGES, help="of each user")
    parser.add_argument("--embedded", action="store_true", help="on the embedded server, which has no AGE")
    parser.add_argument("--peers", type=int, default=PEERS, help="users whose graphs others have, too")
    chosen = parser.parse_args()
    size = (chosen.users, chosen.nodes, chosen.edges)

    def bench_graph() -> None:
        outcome = Outcome("graph", bars=dict(BARS), data_set=None if size == (USERS, NODES, EDGES) else "small")
        outcome.configuration |= {
            "users": chosen.users,
            "nodes": chosen.users * chosen.nodes,
            "edges": chosen.users * chosen.edges,
            "degrees": f"both ends drawn with weight (n + 1) ** -{SKEW}",
            "batch": BATCH,
            "ended": ENDED,
            "taken_back": TAKEN_BACK,
            "starts": f"{STARTS} a user, half of them drawn by degree",
            "limits": {"fan_out": traverse.FAN_OUT, "nodes": traverse.MOST_NODES},
            "timed": "client side, one statement, transaction and identity already set",
            "hop": "memsvc.neighbourhood: ids of nodes, hops, and the facts that lead there",
            "drawn": "the same with labels, properties and sentences as JSON",
            "call": "the Python API, transaction and identity too",
            "igraph_timed": "in memory, ids only, without limits",
        }
        with ExitStack() as stack:
            if not chosen.embedded and URL_VARIABLE not in os.environ:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="memsvc-bench-", dir="/var/tmp"))
                os.environ[URL_VARIABLE] = stack.enter_context(full_server(Path(folder) / "server")).url()
            bench = stack.enter_context(database(cypher="off"))
            asyncio.run(measure(bench, outcome, *size))
            if not chosen.embedded:
                outcome.bars |= graph_peers.BARS
                outcome.configuration["peers"] = f"{chosen.peers} of the users' graphs, {graph_peers.LIMIT} nodes"
                asyncio.run(graph_peers.measure(bench, outcome, chosen.peers, chosen.nodes, chosen.edges))
            figures_table("graph", outcome, ("",))
            report(outcome, bench)

    run(bench_graph)


if __name__ == "__main__":
    main()
