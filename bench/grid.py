"""``python -m bench.grid --sets locomo,madial,beam-100k``: one recipe of weights for all sets, by search on dev parts.

Recall is asked once for each question, for 200 candidates, with every weight on that a set of messages can act upon;
all else happens in memory (``bench.reweigh``). The seed is fixed. How much of the gain is mere fitting is shown by
leaving out each conversation in turn: ``cross_validated`` is the score of questions by weights that were found without
their conversation. The recipe is printed as it is to stand in ``memsvc/recall/options.py``; nothing is changed.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from bench.asking import EMBEDDING_MS, World, answer, key, write
from bench.datasets import FORMS, Key, load
from bench.harness import Bench, Outcome, database, progress, report, run, table
from bench.reweigh import Candidates, Floats, Search, gather, order
from bench.variants import LACKING, NAMES, TRIAL, Variant, changed
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.options import DEFAULT, Weights
from memsvc.recall.results import Memory

LIMIT = 200
REPRODUCED = 10
ANCHOR = "words"
METRICS = ("recall@10", "ndcg@10")
FROM_ARMS = ("words", "vector")
"""Factors whose values can be had from the arms' raw scores, where recall tells no points."""


def probe(base: Weights = DEFAULT) -> Weights:
    """The base with every weight on that a set of messages can act upon, so that recall tells its points."""
    more = {name: TRIAL[name] for name in NAMES if not getattr(base, name) and name in TRIAL and name not in LACKING}
    return changed(base, **more)


def standardised(raw: Sequence[float | None], *, lacking: float | None) -> list[float]:
    """Scores as distances from their mean in standard deviations; 0 where none has a spread.

    Args:
        raw: scores, None where a candidate has none.
        lacking: what counts for None; None: the mean.
    """
    known = [lacking if one is None else one for one in raw]
    given = [one for one in known if one is not None]
    spread = statistics.pstdev(given) if given else 0.0
    mean = statistics.fmean(given) if given else 0.0
    return [0.0 if one is None or spread <= 1e-9 else (one - mean) / spread for one in known]


def values_of(memories: Sequence[Memory], weights: Weights) -> list[dict[str, float]]:
    """Each memory's value by factor: points over weight or, where there are no points, from the raw scores of arms."""
    if any(memory.factors for memory in memories):
        return [
            {name: points / weight for name, points in memory.factors.items() if (weight := getattr(weights, name, 0))}
            for memory in memories
        ]
    raw = {name: [memory.arms.get(name, {}).get("score") for memory in memories] for name in FROM_ARMS}
    words, vector = standardised(raw["words"], lacking=0.0), standardised(raw["vector"], lacking=None)
    return [{"words": one, "vector": other} for one, other in zip(words, vector, strict=True)]


async def candidates(world: World, weights: Weights, names: Sequence[str]) -> tuple[Candidates, float]:
    """A set's candidates, and the share of recall's first ten that the values and weights give again as first ten."""
    asked = world.data.main()
    found: list[list[tuple[Key, Mapping[str, float]]]] = []
    with progress(f"asking, {world.data.name}", len(asked)) as done:
        for question in asked:
            memories = (await answer(world, question, Variant(weights), limit=LIMIT)).memories
            found.append(list(zip(map(key, memories), values_of(memories, weights), strict=True)))
            done(1)
    made = gather(found, [one.evidence for one in asked], [one.conversation_id for one in asked], names)
    again = order(made, np.array([getattr(weights, name) for name in names]))[:, :REPRODUCED]
    rows = np.arange(len(again))[:, None]
    first = made.there[:, :REPRODUCED].sum()
    return made, float(((again < REPRODUCED) & made.there[rows, again]).sum() / max(1, first))


async def collect(bench: Bench, sets: Sequence[str], outcome: Outcome) -> dict[str, Candidates]:
    """All sets' candidates."""
    db, weights = bench.connect(), probe()
    found: dict[str, Candidates] = {}
    resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}))
    try:
        for name in sets:
            data = load(name)
            owners = await write(db, data, bench)
            await resident.ready(db)
            world = World(data, bench, db, owners, resident, data.moments())
            found[name], outcome.figures[f"{name}.reproduced"] = await candidates(world, weights, NAMES)
    finally:
        resident.close()
        await db.close()
    return found


def acting(sets: Mapping[str, Candidates]) -> list[str]:
    """Factors that tell any two candidates of a question apart."""
    return [
        name
        for place, name in enumerate(NAMES)
        if any(np.ptp(np.where(one.there, one.values[:, :, place], 0.0), axis=1).any() for one in sets.values())
    ]


def chosen(one: Candidates, names: Sequence[str]) -> Candidates:
    """Candidates with these factors only."""
    places = [NAMES.index(name) for name in names]
    return Candidates(one.values[:, :, places], one.there, one.turn, one.evidence, one.wanted, one.conversation)


def tune(found: Mapping[str, Candidates], outcome: Outcome, *, draws: int, seed: int) -> None:
    """Search, cross-validate, and add the figures."""
    names = acting(found)
    start = np.array([getattr(DEFAULT, name) for name in names])
    sets = {name: chosen(one, names) for name, one in found.items()}
    search = Search(sets, names, start, ANCHOR, draws=draws, seed=seed)
    with progress("leaving conversations out", sum(len(set(one.conversation)) for one in sets.values())) as done:
        apart = search.cross_validated(done)
    recipe = search.best(search.everything())
    rows = [["set", "weights", *METRICS]]
    results: dict[str, dict[str, Floats]] = {
        "default": search.of(start), "tuned": search.of(recipe), "cross_validated": apart,
    }  # fmt: skip
    for way, by_set in results.items():
        for name, scored in by_set.items():
            values = dict(zip(METRICS, scored.mean(axis=0).tolist(), strict=True))
            outcome.figures |= {f"{name}.{way}.{metric}": value for metric, value in values.items()}
            rows.append([name, way, *(f"{value:.4f}" for value in values.values())])
        outcome.figures[f"objective.{way}"] = float(np.mean([scored.mean() for scored in by_set.values()]))
        rows.append(["all", way, f"{outcome.figures[f'objective.{way}']:.4f}", ""])
    weights = {name: round(float(value), 4) for name, value in zip(names, recipe, strict=True)}
    outcome.configuration |= {"recipe": weights, "searched": names, "tried": search.tried()}
    table("weights by search, main groups (all: the objective)", rows)
    table(
        "recipe",
        [
            ["weight", "default", "found"],
            *([name, f"{getattr(DEFAULT, name):g}", f"{value:g}"] for name, value in weights.items()),
        ],
    )


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.grid", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", default=",".join(FORMS), help="with commas between")
    parser.add_argument("--draws", type=int, default=300, help="weightings drawn by lot")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sets: list[str] = given.sets.split(",")

    def bench_grid() -> None:
        outcome = Outcome("grid", data_set=None if set(sets) == set(FORMS) else "-".join(sets))
        outcome.configuration |= {
            "sets": {name: FORMS[name].main for name in sets if name in FORMS},
            "objective": "mean over sets of the mean over questions of (recall@10 + ndcg@10) / 2",
            "candidates": LIMIT, "draws": given.draws, "seed": given.seed,
            "asked_with": msgspec.structs.asdict(probe()),
        }  # fmt: skip
        with database() as bench:
            found = asyncio.run(collect(bench, sets, outcome))
            tune(found, outcome, draws=given.draws, seed=given.seed)
            report(outcome, bench)

    run(bench_grid)


if __name__ == "__main__":
    main()
