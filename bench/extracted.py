"""``python -m bench.extracted --set locomo``: what reading a set for facts costs, and what the facts do to recall.

The set is stored and embedded as ``bench.recall`` does it, and asked; then a worker reads it for facts, without a
language model, and it is asked again. *off*: the defaults before anything was read. *on*: the same defaults after it.
*names*: after it, but facts are no answers themselves, so that what names and kinship give shows by itself. The
differences are paired over the same questions.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bench.asking import EMBEDDING_MS, World, ask, latencies, write
from bench.datasets import FORMS, DataSet, load
from bench.harness import Bench, Outcome, database, figures_table, report, run, table
from bench.judging import COMPARED, Scores, by_group, difference, judged_groups, scores_of
from bench.metrics import RESAMPLES
from bench.shares import share_figures
from bench.stored import failures, found_by, model_calls, work
from bench.variants import VARIANTS, Variant
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.extract import registry
from memsvc.extract.asking import ask_all
from memsvc.llm.embedders.residents import Residents

BEFORE: dict[str, Variant] = {"off": VARIANTS["default"]}
AFTER: dict[str, Variant] = {"on": VARIANTS["default"], "names": replace(VARIANTS["default"], facts=False)}
METRIC = "recall@10"
BARS = {
    "difference.on.overall.recall@10.high": ">= 0",
    "difference.on.worst_category.recall@10": ">= -0.03",
    "offline.locomo.seconds": "<= 360",
    "offline.locomo.model_calls": "= 0",
}


async def read_for_facts(world: World, extractor: str, outcome: Outcome) -> None:
    """Ask for everything to be read, and let a worker do it."""
    reader = registry.load(extractor, world.bench.settings)
    owners = {owner.user_id: owner for owner in world.owners.values()}
    for owner in owners.values():
        await ask_all(world.db, owner, reader, extractor)
    seconds = work(world.bench, extractor, world.data.turns())
    found = {conversation: found_by(world.bench, owner) for conversation, owner in world.owners.items()}
    calls = model_calls(world.bench, list(owners))
    outcome.figures |= share_figures(extractor, world.data, found, calls, seconds)
    with world.bench.admin() as admin:
        outcome.configuration["failed_jobs"] = failures(admin)
        admin.execute("VACUUM (ANALYZE)")


async def scores(world: World, variants: dict[str, Variant], outcome: Outcome) -> dict[str, Scores]:
    """Every question in each variant."""
    found: dict[str, Scores] = {}
    for name, variant in variants.items():
        asked = await ask(world, name, variant, world.data.questions)
        latencies(outcome, f"{world.data.name}.{name}", asked)
        found[name] = scores_of(world.data.questions, asked.rankings)
        by_group(world.data, name, found[name], world.data.groups(), outcome)
    return found


def compare(data: DataSet, before: Scores, after: Scores, name: str, outcome: Outcome) -> None:
    """Differences overall, of each group and category, and the worst of the categories."""
    categories = sorted({question.category for question in data.questions})
    rows = [["group", "questions", *(f"{metric} {part}" for metric in COMPARED for part in ("gain", "95 %"))]]
    gains: dict[str, float] = {}
    for group in dict.fromkeys([*judged_groups(data), *categories]):
        asked, cells = data.members(group), list[str]()
        label = "overall" if group == data.form.main else group
        for metric in COMPARED:
            figure = f"difference.{name}.{label}.{metric}"
            change, low, high = difference(outcome, figure, asked, (before, after), metric)
            cells += [f"{change:+.4f}", f"{low:+.4f} … {high:+.4f}"]
            if metric == METRIC and group in categories:
                gains[group] = change
        rows.append([label, str(len(asked)), *cells])
    worst = min(gains, key=lambda group: gains[group])
    outcome.figures[f"difference.{name}.worst_category.{METRIC}"] = gains[worst]
    outcome.configuration[f"worst_category.{name}"] = worst
    table(f"{name} against off, {data.name}", rows)


async def measure(bench: Bench, data: DataSet, extractor: str, outcome: Outcome) -> None:
    """The whole bench."""
    db: Database = bench.connect()
    resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}))
    try:
        owners: dict[str, Owner] = await write(db, data, bench)
        await resident.ready(db)
        world = World(data, bench, db, owners, resident, data.moments())
        found = await scores(world, BEFORE, outcome)
        await read_for_facts(world, extractor, outcome)
        found |= await scores(world, AFTER, outcome)
        for name in AFTER:
            compare(data, found["off"], found[name], name, outcome)
        users = list({owner.user_id for owner in owners.values()})
        outcome.figures[f"{extractor}.{data.name}.model_calls"] = model_calls(bench, users).calls
    finally:
        resident.close()
        await db.close()


def main(given: Sequence[str] | None = None) -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.extracted", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", choices=["locomo"], default="locomo", help="labelled set below BENCH_DATA")
    parser.add_argument("--extractor", default=registry.OFFLINE, help="a name of memsvc.extract.registry")
    chosen = parser.parse_args(given)

    def bench_extracted() -> None:
        data = load(chosen.set)
        outcome = Outcome("extracted", data_set=data.name, bars=dict(BARS))
        outcome.configuration |= {
            "extractor": chosen.extractor, "conversations": len(data.conversations), "turns": data.turns(),
            "questions": len(data.questions), "main_group": FORMS[data.name].main, "workers": 1,
            "difference": f"after - before, paired bootstrap, {RESAMPLES:,} resamples, 95 %",
        }  # fmt: skip
        with database() as bench:
            asyncio.run(measure(bench, data, chosen.extractor, outcome))
            figures_table("reading, differences, latency", outcome, (chosen.extractor, "difference.on.", "latency."))
            report(outcome, bench)

    run(bench_extracted)


if __name__ == "__main__":
    main()
