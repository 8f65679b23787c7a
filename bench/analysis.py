"""``python -m bench.analysis``: hidden anomalies and habits found again, and what analyses of 100,000 facts cost.

Quality: histories of two years drawn by lot (``bench.histories``), each with 20 anomalies and 10 habits hidden in it,
written through the history API. ``open`` are the seeds at which the bars of ``memsvc.analysis`` were set; ``kept`` are
others, at which nothing was. A finding that nobody hid is false. ``recall`` is over all seeds of a part;
``false_per_1k`` counts false findings for 1,000 facts. Cost: one user with 40,000 nodes and 100,000 facts whose degrees
follow a power law; seconds of each whole analysis, stored; ``peak_mb`` is what this process needed beyond what it had
before.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from bench.graph_drawn import draw
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.histories import FIRST, SELF, History, Plant, history
from bench.store import new_user
from memsvc.access.users import Owner
from memsvc.analysis.findings import KINDS
from memsvc.analysis.runs import AnalysisResult, analyse, results
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.graph.history import write
from memsvc.graph.operations import MAX_EVIDENCE, MAX_OPERATIONS, Edge, Evidence, Merge, Node, Operation
from memsvc.sources.messages import MessageIn, append

OPEN, KEPT = (1, 2, 3), (201, 202, 203, 204)  # of the kept ones, 101 to 104 have been looked at since
NODES, FACTS = 40_000, 100_000
BARS = {
    "kept.anomalies.recall": ">= 0.9",
    "kept.habits.recall": ">= 0.9",
    "kept.false_per_1k": "<= 1",
}
"""Also of the open seeds; these count."""
ZERO = "1970-01-01"
T = TypeVar("T")


def _batched(some: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (some[begin : begin + size] for begin in range(0, len(some), size))


def _said_at(place: int, day: int) -> str:
    return f"{FIRST + timedelta(days=day)}T{8 + place % 12:02}:00:00+00:00"


async def build(db: Database, owner: Owner, made: History, bench: Bench) -> tuple[dict[UUID, str], UUID]:
    """Write a history; names of its nodes, and the message that says it was said in 1970."""
    said = [_said_at(place, day) for place, day in enumerate(made.days)] + [f"{ZERO}T00:00:00+00:00"]
    messages = [MessageIn(conversation="diary", text=f"Message {place}.", said_at=at) for place, at in enumerate(said)]
    passages: list[UUID] = []
    for some in _batched(messages, MAX_OPERATIONS):
        passages += [one.passage_id for one in await append(db, owner, some, bench.settings) if one.passage_id]
    async with db.transaction(owner.user_id) as connection:
        [own] = (await connection.execute(query("own_nodes"), {"user_id": owner.user_id})).scalars()
    nodes: dict[str, UUID] = {SELF: own}
    for names in _batched(list(made.names.items()), MAX_OPERATIONS):
        new = [Node(type=type_, label=name, data=data) for name, (type_, data) in names]
        change = await write(db, owner, new, asserted_by="bench")
        nodes |= {name: done.node_id for (name, _), done in zip(names, change.results, strict=True) if done.node_id}
    operations: list[Operation] = [
        Edge(
            from_node=nodes[told.start], type=told.type, to_node=nodes[told.end], fact=f"{told.type}.",
            valid_from=told.valid_from, valid_to=told.valid_to, data=dict(told.data),
            evidence=[Evidence(passage_id=passages[place]) for place in places[begin : begin + MAX_EVIDENCE]],
        )
        for begin in range(0, max(map(len, made.facts.values())), MAX_EVIDENCE)  # what is known gets more evidence
        for told, places in made.facts.items()
        if begin == 0 or begin < len(places)
    ]  # fmt: skip
    with progress("writing", len(operations)) as done:
        for batch in _batched(operations, MAX_OPERATIONS):
            await write(db, owner, batch, asserted_by="bench")
            done(len(batch))
    merges = [Merge(node=nodes[one], canonical=nodes[other]) for one, other in made.merges]
    await write(db, owner, merges, asserted_by="bench")
    return {node: name for name, node in nodes.items()}, passages[-1]


async def found(db: Database, owner: Owner, names: dict[UUID, str], zero: UUID, kind: str) -> list[Plant]:
    """What an analysis finds, in the form of what is hidden."""
    run = await analyse(db, owner, kind)

    def plant(one: AnalysisResult) -> Plant:
        about = {names[node.node_id] for node in one.nodes}
        if one.what == "busy_day":
            about = {one.figures["day"]}
        elif one.passages == [zero]:
            about = {ZERO}
        return Plant(one.what, frozenset(about))

    return [plant(one) for one in (await results(db, owner.user_id, run.run_id, limit=1_000)).items]


async def quality(db: Database, bench: Bench, seeds: Sequence[int], part: str, outcome: Outcome) -> None:
    """Recall and false findings over some histories."""
    hidden = {"anomalies": 0, "habits": 0}
    right = dict(hidden)
    false = facts = messages = 0
    for seed in seeds:
        made = history(seed)
        owner = await new_user(db, f"{part} {seed}")
        names, zero = await build(db, owner, made, bench)
        with bench.admin() as admin:
            admin.execute("VACUUM (ANALYZE)")
        for kind, plants in (("anomalies", made.anomalies), ("habits", made.habits)):
            seen = await found(db, owner, names, zero, kind)
            hidden[kind] += len(plants)
            right[kind] += len(plants & set(seen))
            wrong = [one for one in seen if one not in plants]
            false += len(wrong)
            if part == "open":  # nobody looks at what the others find
                print(f"seed {seed} {kind}: missed {sorted(map(_words, plants - set(seen)))}, false {_all(wrong)}")
        facts += len(made.facts)
        messages += len(made.days) + 1
    for kind, count in hidden.items():
        outcome.figures[f"{part}.{kind}.hidden"] = count
        outcome.figures[f"{part}.{kind}.recall"] = right[kind] / count
    outcome.figures |= {
        f"{part}.facts": facts, f"{part}.messages": messages, f"{part}.false": false,
        f"{part}.false_per_1k": 1_000 * false / facts,
    }  # fmt: skip


def _words(plant: Plant) -> str:
    return f"{plant.what}: {', '.join(sorted(plant.about))}"


def _all(plants: Sequence[Plant]) -> list[str]:
    return sorted(map(_words, plants))


async def cost(db: Database, bench: Bench, nodes: int, facts: int, outcome: Outcome) -> None:
    """Seconds and memory of each analysis in a large graph."""
    owner = await new_user(db, "large")
    drawn = draw(owner, 11, nodes, facts)
    said = [MessageIn(conversation="talk", text=f"Message {n}.", said_at=_said_at(n, n % 700)) for n in range(5_000)]
    passages: list[UUID] = []
    for some in _batched(said, MAX_OPERATIONS):
        passages += [one.passage_id for one in await append(db, owner, some, bench.settings) if one.passage_id]
    with progress("writing", nodes + facts) as done:
        for begin in range(0, nodes, MAX_OPERATIONS):
            last = min(begin + MAX_OPERATIONS, nodes)
            made = [Node(type=("Person", "Concept")[n % 2], label=f"Node {n}") for n in range(begin, last)]
            change = await write(db, owner, made, asserted_by="bench")
            drawn.nodes += [one.node_id for one in change.results if one.node_id]
            done(last - begin)
        for begin in range(0, facts, MAX_OPERATIONS):
            edges = [
                Edge(
                    from_node=drawn.nodes[one], to_node=drawn.nodes[other], type="RELATED_TO", key=str(place),
                    fact="They have to do with each other.",
                    evidence=[Evidence(passage_id=passages[place % len(passages)])],
                )
                for place, (one, other) in enumerate(drawn.pairs[begin : begin + MAX_OPERATIONS], begin)
            ]  # fmt: skip
            await write(db, owner, edges, asserted_by="bench")
            done(len(edges))
    with bench.admin() as admin:
        admin.execute("VACUUM (ANALYZE)")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for kind in KINDS:
        begun = time.perf_counter()
        done_run = await analyse(db, owner, kind, drawn.nodes[:1] if kind == "pagerank" else ())
        outcome.figures[f"cost.{kind}.seconds"] = time.perf_counter() - begun
        if kind == "communities":
            outcome.figures["cost.communities.modularity"] = done_run.figures["modularity"]
    outcome.figures["cost.peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before


async def measure(bench: Bench, outcome: Outcome, chosen: argparse.Namespace) -> None:
    """All figures."""
    db = bench.connect(pool_size=2)
    try:
        if not chosen.cost_only:
            await quality(db, bench, OPEN, "open", outcome)
            if not chosen.open:
                await quality(db, bench, KEPT, "kept", outcome)
        if not chosen.open:
            await cost(db, bench, chosen.nodes, chosen.facts, outcome)
    finally:
        await db.close()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description="Hidden anomalies and habits; the cost of analyses.")
    parser.add_argument("--open", action="store_true", help="Only the histories at which bars are set.")
    parser.add_argument("--cost-only", action="store_true", help="Only what analyses cost.")
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--facts", type=int, default=FACTS)
    chosen = parser.parse_args()

    def bench_analysis() -> None:
        whole = not chosen.open and not chosen.cost_only and (chosen.nodes, chosen.facts) == (NODES, FACTS)
        outcome = Outcome("analysis", bars=dict(BARS), data_set=None if whole else "part")
        outcome.configuration |= {"open": OPEN, "kept": KEPT, "nodes": chosen.nodes, "facts": chosen.facts}
        with database() as bench:
            asyncio.run(measure(bench, outcome, chosen))
            figures_table("analysis", outcome, ("",))
            report(outcome, bench)

    run(bench_analysis)


if __name__ == "__main__":
    main()
