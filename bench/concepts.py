"""``python -m bench.concepts``: parents that sleep mode finds for siblings, on ``bench/gold/siblings``; a large graph.

The gold: all its nodes are one user's, each mentioned by what was said of it. ``groups.found`` counts the groups of
which one parent holds 80 % as its own children, under a name that the gold accepts; ``groups.above`` also counts
parents of parents. ``precision`` is the share of parents of which all children, and theirs, are what the parent says:
all of one group of the gold, or of several for which the parent's name is right or too broad; never a single node.
``asked.before`` and ``.after``: "Which (parents) do we have?", before and after sleep; the share of a group's messages
among the first ten memories.

The large graph (``--nodes``): names of the table of kinds, and people, with facts by lot. ``seconds`` is the first run,
``seconds.again`` a run after 1 % more nodes, ``kept`` the share of nodes that keep their parent and its id then.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from uuid import UUID

from bench.harness import Bench, Outcome, database, figures_table, report, run
from bench.store import new_user
from memsvc.access.users import Owner
from memsvc.concepts.lexicon import TABLE
from memsvc.concepts.words import folded, plural
from memsvc.db.engine import Database
from memsvc.graph.history import write
from memsvc.graph.operations import MAX_OPERATIONS, Edge, Evidence, Node, Operation
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.search import recall
from memsvc.sleep.runner import sleep
from memsvc.sources.embedding import embed_lacking
from memsvc.sources.messages import MessageIn, append

GOLD = Path(__file__).resolve().parent / "gold" / "siblings" / "siblings.jsonl"
TYPES = {"Thing": "Object"}
HELD, FIRST = 0.8, 10
MORE = 100
"""One node in so many is new in the second run."""
FACTS, CROWD = 2, 40
"""Facts of each node, most of them in a crowd of so many."""
BARS = {"groups.found.share": ">= 0.7", "precision": ">= 0.8", "seconds": "<= 60", "kept": ">= 0.9"}
PARENTS = """
SELECT e.from_node, e.to_node, p.label, p.data ->> 'sort' FROM memsvc.edge_versions AS e
JOIN memsvc.node_versions AS p ON p.user_id = e.user_id AND p.node_id = e.to_node AND p.recorded_to = 'infinity'
WHERE e.user_id = %s AND e.recorded_to = 'infinity' AND e.asserted_by = 'concepts'
"""


class Stored(NamedTuple):
    """A line of the gold in the database."""

    line: Mapping[str, Any]
    nodes: frozenset[UUID]
    passages: frozenset[UUID]


class Parents(NamedTuple):
    """What stands."""

    labels: Mapping[UUID, str]
    children: Mapping[UUID, frozenset[UUID]]
    """Of parents of one kind."""
    of: Mapping[UUID, frozenset[UUID]]
    """Child -> its parents of any sort."""

    def below(self, parent: UUID) -> frozenset[UUID]:
        """All things beneath a parent."""
        return frozenset(
            thing
            for child in self.children[parent]
            for thing in (self.below(child) if child in self.children else (child,))
        )


def lines(*, kept: bool) -> list[dict[str, Any]]:
    """The lines of the gold, unseen or open."""
    found = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    return [line for line in found if line["kept"] == kept]


async def stored(bench: Bench, db: Database, owner: Owner, told: Sequence[Mapping[str, Any]]) -> list[Stored]:
    """Write what was said, and nodes that it mentions."""
    found = []
    for line in told:
        said = [
            MessageIn(conversation="gold", speaker="Ada", role="user", text=node["text"]) for node in line["nodes"]
        ]  # fmt: skip
        passages = [one.passage_id for one in await append(db, owner, said, bench.settings) if one.passage_id]
        nodes = [
            Node(
                type=TYPES.get(node["type"], node["type"]), label=node["name"],
                evidence=[Evidence(passage_id=passage)],
            )
            for node, passage in zip(line["nodes"], passages, strict=True)
        ]  # fmt: skip
        made = await write(db, owner, nodes, asserted_by="bench")
        ids = frozenset(result.node_id for result in made.results if result.node_id is not None)
        found.append(Stored(line, ids, frozenset(passages)))
    return found


def parents(bench: Bench, owner: Owner) -> Parents:
    """What stands now."""
    with bench.admin() as connection:
        rows = connection.execute(PARENTS, [owner.user_id]).fetchall()
    children: dict[UUID, set[UUID]] = {}
    of: dict[UUID, set[UUID]] = {}
    for child, parent, _, sort in rows:
        of.setdefault(child, set()).add(parent)
        if sort == "kind":
            children.setdefault(parent, set()).add(child)
    return Parents(
        {parent: label for _, parent, label, _ in rows}, {one: frozenset(some) for one, some in children.items()},
        {one: frozenset(some) for one, some in of.items()},
    )  # fmt: skip


def scored(gold: Sequence[Stored], found: Parents) -> dict[str, float]:
    """Figures of the groups."""
    groups = [one for one in gold if one.line["kind"] == "group"]
    singles = {node for one in gold if one.line["kind"] == "single" for node in one.nodes}
    direct, above = 0, 0
    for one in groups:
        names = {folded(name) for name in one.line["parent_names"]}
        fitting = [parent for parent in found.children if folded(found.labels[parent]) in names]
        held = max((len(found.children[parent] & one.nodes) for parent in fitting), default=0)
        below = max((len(found.below(parent) & one.nodes) for parent in fitting), default=0)
        direct += held >= HELD * len(one.nodes)
        above += below >= HELD * len(one.nodes)
        if held < HELD * len(one.nodes):
            told = {found.labels[parent] for node in one.nodes for parent in found.of.get(node, ())}
            print(
                "not found:", one.line["id"], one.line["parent_names"][0], f"({held} of {len(one.nodes)})", sorted(told)
            )
    wrong = [parent for parent in found.children if not _right(parent, groups, singles, found)]
    for parent in wrong:
        print("wrong:", found.labels[parent])
    return {
        "groups.of": len(groups), "groups.found": direct, "groups.found.share": direct / len(groups),
        "groups.above": above, "parents": len(found.children),
        "precision": 1 - len(wrong) / len(found.children) if found.children else 0.0,
    }  # fmt: skip


def _right(parent: UUID, groups: Sequence[Stored], singles: set[UUID], found: Parents) -> bool:
    """Whether all that a parent holds is what it says; of the words that the gold lacks, whether it is one group's."""
    label, below = folded(found.labels[parent]), found.below(parent)
    homes = [one for one in groups if below & one.nodes]
    if below & singles:
        return False
    accepted = [{folded(name) for name in (*one.line["parent_names"], *one.line["too_broad"])} for one in homes]
    return len(homes) == 1 or all(label in names for names in accepted)


async def asked(bench: Bench, db: Database, owner: Owner, models: Residents, gold: Sequence[Stored]) -> float:
    """The share of a group's messages that the question for its parent finds."""
    shares = []
    for one in gold:
        if one.line["kind"] == "group":
            question = f"Which {plural(one.line['parent_names'][0])} do we have?"
            found = await recall(db, owner, question, bench.settings, embedder=models, limit=FIRST)
            hits = {memory.memory_id for memory in found.memories} & one.passages
            shares.append(len(hits) / len(one.passages))
    return fmean(shares)


def names() -> Iterator[tuple[str, str]]:
    """Names of the table, with the types of their fields."""
    kind = "Object"
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            kind = line.partition("(")[2].partition(",")[0].partition(")")[0]
        elif "<" in line and not line.startswith("#"):
            yield from (
                (member.strip(" ?"), kind) for member in line.partition(":")[2].split(",") if member.strip(" ?")
            )


async def grow(db: Database, owner: Owner, count: int, lot: random.Random, nodes: list[UUID]) -> None:
    """Add nodes, a third of them with names of the table, and facts that join them."""
    known, had = list(names()), len(nodes)
    made: list[Operation] = []
    for number in range(count):
        name, kind = lot.choice(known) if number % 3 == 0 else (f"Person {had + number}", "Person")
        made.append(Node(type=kind, label=name))
    for start in range(0, count, MAX_OPERATIONS):
        change = await write(db, owner, made[start : start + MAX_OPERATIONS], asserted_by="bench")
        nodes += [one.node_id for one in change.results if one.node_id is not None]
    facts: list[Operation] = []
    for place in range(had, len(nodes)):
        crowd = place // CROWD * CROWD if had == 0 else lot.randrange(had) // CROWD * CROWD
        for _ in range(FACTS):
            other = (
                lot.randrange(crowd, min(crowd + CROWD, len(nodes)))
                if lot.random() < HELD
                else lot.randrange(place + 1)
            )
            if other != place:
                facts.append(Edge(from_node=nodes[place], type="RELATED_TO", to_node=nodes[other], fact="They meet."))
    for start in range(0, len(facts), MAX_OPERATIONS):
        await write(db, owner, facts[start : start + MAX_OPERATIONS], asserted_by="bench")


async def large(bench: Bench, db: Database, count: int) -> dict[str, float]:
    """Figures of a large graph."""
    owner, lot, nodes = await new_user(db, "large"), random.Random(7), list[UUID]()
    await grow(db, owner, count, lot, nodes)
    [first] = await sleep(db, owner, ["concepts"], settings=bench.settings)
    before = parents(bench, owner)
    await grow(db, owner, count // MORE, lot, nodes)
    [second] = await sleep(db, owner, ["concepts"], settings=bench.settings)
    after = parents(bench, owner)
    held = [(node, parent) for node in before.of for parent in before.of[node]]
    kept = sum(parent in after.of.get(node, ()) for node, parent in held)
    return {
        "nodes": count, "seconds": first.seconds, "seconds.again": second.seconds, "held": len(held),
        "parents.large": len(before.labels), "kept": kept / len(held),
    }  # fmt: skip


async def measure(bench: Bench, outcome: Outcome, count: int, *, kept: bool) -> None:
    """All figures."""
    db = bench.connect(pool_size=2)
    models = Residents(bench.settings)
    try:
        owner = await new_user(db, "gold")
        gold = await stored(bench, db, owner, lines(kept=kept))
        await models.ready(db)
        await embed_lacking(db, models, owner.user_id)
        outcome.figures["asked.before"] = await asked(bench, db, owner, models, gold)
        await sleep(db, owner, ["concepts"], settings=bench.settings)
        await embed_lacking(db, models, owner.user_id)
        outcome.figures["asked.after"] = await asked(bench, db, owner, models, gold)
        outcome.figures |= scored(gold, parents(bench, owner))
        if count:
            outcome.figures |= await large(bench, db, count)
    finally:
        models.close()
        await db.close()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description="Parents that sleep mode finds for siblings.")
    parser.add_argument("--kept", action="store_true", help="The unseen half of the gold.")
    parser.add_argument("--nodes", type=int, default=5_000, help="Of the large graph; 0: none.")
    chosen = parser.parse_args()

    def bench_concepts() -> None:
        outcome = Outcome("concepts", bars=dict(BARS), data_set="kept" if chosen.kept else None)
        outcome.configuration |= {"nodes": chosen.nodes, "kept": chosen.kept, "gold": "bench/gold/siblings"}
        with database() as bench:
            asyncio.run(measure(bench, outcome, chosen.nodes, kept=chosen.kept))
            figures_table("concepts", outcome, ("",))
            report(outcome, bench)

    run(bench_concepts)


if __name__ == "__main__":
    main()
