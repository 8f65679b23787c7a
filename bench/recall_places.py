"""``python -m bench.recall_places``: what recall's place arm gives to who asks for what is near, and takes from others.

No labelled set has coordinates, so the histories are drawn (``bench.places_drawn``). Each question is asked without the
arm (``off``), as it is by default (``on``), and with the arm also where the question has no word of nearness
(``always``). Differences in recall@10 and NDCG@10 are paired over the questions, with their 95 % bootstrap interval,
also over the questions that should not change. ``--weights`` asks with other weights of ``place``: the default one was
chosen on ``--seed 1``, and the figures of docs/recall-parts.md come from another seed.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence

from bench.asking import EMBEDDING_MS, Asked, Remembering, World, ask, latencies, write
from bench.datasets import DataSet
from bench.harness import Bench, Outcome, database, report, run, table
from bench.judging import COMPARED, Scores, by_group, difference, scores_of
from bench.observations import passages
from bench.places_drawn import History, data_set, histories
from bench.variants import Variant, changed
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.history import write as write_graph
from memsvc.graph.operations import Edge, Evidence, Location, Node, Operation
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.options import LEARNT, LINEAR

BATCH, SEED, USERS = 400, 2, 5
ALWAYS = """
CREATE OR REPLACE FUNCTION memsvc.says_near(p_query text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN true
"""


async def remember(db: Database, bench: Bench, owner: Owner, drawn: History) -> None:
    """Write where things are, and the facts that the notes led to."""
    places = {one.label: one for one in drawn.spots}
    labels = list(dict.fromkeys([*places, *(fact.about for fact in drawn.facts)]))
    made = await write_graph(
        db,
        owner,
        [Node(type=places[one].type if one in places else "Concept", label=one) for one in labels],
        asserted_by="bench",
    )
    nodes = {label: result.node_id for label, result in zip(labels, made.results, strict=True) if result.node_id}
    of = passages(bench, owner.user_id)
    operations: list[Operation] = [
        Location(node=nodes[one.label], latitude=one.latitude, longitude=one.longitude)
        for one in drawn.spots if one.told
    ]  # fmt: skip
    operations += [
        Edge(
            from_node=nodes[fact.person], to_node=nodes[fact.about], type="RELATED_TO", key=str(number), fact=fact.fact,
            evidence=[Evidence(passage_id=of[drawn.name, fact.turn_id])],
        )
        for number, fact in enumerate(drawn.facts)
    ]  # fmt: skip
    for start in range(0, len(operations), BATCH):
        await write_graph(db, owner, operations[start : start + BATCH], asserted_by="bench")


def compare(data: DataSet, found: Mapping[str, Scores], outcome: Outcome) -> None:
    """Each way to ask beside ``off``, by category."""
    off, others = found["off"], {name: scores for name, scores in found.items() if name != "off"}
    for metric in COMPARED:
        rows = [["", "questions", "off", *others]]
        for group in data.groups():
            asked = data.members(group)
            cells = [f"{outcome.figures[f'off.{group}.{metric}']:.3f}"]
            for name, scores in others.items():
                figure = f"difference.off.{name}.{group}.{metric}"
                change, low, high = difference(outcome, figure, asked, (off, scores), metric)
                cells.append(f"{change:+.3f} ({low:+.3f} to {high:+.3f})")
            rows.append([group, str(len(asked)), *cells])
        table(f"{metric} gained by the place arm", rows)


async def measure(bench: Bench, outcome: Outcome, drawn: Sequence[History], weights: Sequence[float]) -> None:
    """The whole bench."""
    data, db = data_set(drawn), bench.connect()
    resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}))
    try:
        owners = await write(db, data, bench)
        for one in drawn:
            await remember(db, bench, owners[one.name], one)
        with bench.admin() as admin:
            admin.execute("VACUUM (ANALYZE)")
        await resident.ready(db)
        world = World(data, bench, db, owners, Remembering(resident), data.moments())
        ways = {"off": 0.0, "on": LINEAR["place"], **{f"on {weight:g}": weight for weight in weights}}
        found: dict[str, Asked] = {}
        for name, weight in ways.items():
            found[name] = await ask(world, name, Variant(changed(LEARNT, place=weight)), data.questions)
        with bench.admin() as admin:
            admin.execute(ALWAYS)
        found["always"] = await ask(world, "always", Variant(LEARNT), data.questions)
    finally:
        resident.close()
        await db.close()
    scores = {name: scores_of(data.questions, asked.rankings) for name, asked in found.items()}
    for name, scored in scores.items():
        by_group(data, name, scored, data.groups(), outcome)
        latencies(outcome, name, found[name])
    compare(data, scores, outcome)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED, help="of the histories (default: %(default)s)")
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--weights", default="", help="further weights of place, with commas between")
    given = parser.parse_args()
    drawn = list(histories(given.users, given.seed))
    weights = [float(one) for one in given.weights.split(",") if one]
    outcome = Outcome("recall-places", bars={"difference.off.on.same.recall@10.low": ">= -0.01"})
    outcome.configuration |= {
        "seed": given.seed, "users": given.users, "notes": sum(len(one.turns) for one in drawn),
        "located": sum(spot.told for one in drawn for spot in one.spots), "weight": LINEAR["place"],
    }  # fmt: skip
    with database() as bench:
        asyncio.run(measure(bench, outcome, drawn, weights))
        report(outcome, bench)


if __name__ == "__main__":
    run(main)
