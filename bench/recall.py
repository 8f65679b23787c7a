"""``python -m bench.recall --set locomo``: what recall finds, compared with other ways to ask and with other programs.

Each conversation of the set is a user of its own, written through ``sources.messages.append``; each question is asked
once in each variant (``bench.variants``), and scored over its first 20 turns: a split message counts where its first
part is found. Then the same conversations are asked as memories of one single user, contexts are packed, and
``bench.latency`` measures recall for a user with 100,000 passages. Nothing is asserted: bars stand beside figures.
The set ``known``, whose answers are not only messages, is measured by ``bench.known``.
``docs/benchmarks.md`` has what each figure means.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench import known, latency, peers
from bench.asking import DEPTH, EMBEDDING_MS, Asked, Remembering, World, ask, latencies, write
from bench.contexts import default_contexts, equal_recall, mode_contexts
from bench.datasets import FORMS, DataSet, Ranking, load
from bench.harness import Bench, Outcome, database, figures_table, report, run, table
from bench.judging import Scores, ablate, by_group, compare_with_reference, judge, scores_of, separate
from bench.metrics import RESAMPLES
from bench.observations import observations, write_observations
from bench.readers import FORMATS, read
from bench.variants import ALL, MODES, NAMES, VARIANTS, Variant, ablations, untried
from memsvc.db.engine import Database
from memsvc.llm.embedders import DEFAULT_MODEL
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.options import LINEAR
from memsvc.sources.embedding import embed_lacking

ONE_USER = ("fused", "default")
"""Variants asked where all conversations are one user's."""
SIZED = {"passages": "memsvc.passages", "embeddings": "memsvc.embeddings", "token_vectors": "memsvc.token_vectors"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured beside the variants."""

    latency: bool
    ablation: tuple[str, ...]
    """These weights."""
    one_user: bool
    peers: bool
    facts: bool
    variants: tuple[str, ...] = ()
    """These alone, and nothing that needs others; none: all that ``VARIANTS`` has."""
    model: str = DEFAULT_MODEL
    """The embedding model."""

    def asked(self) -> Mapping[str, Variant]:
        """Ways to ask, by name."""
        return {name: ALL[name] for name in self.variants} or VARIANTS

    def set_name(self, data: DataSet) -> str:
        """What the result is of: a run of some variants is no whole one, and leaves its figures alone."""
        model = self.model.rpartition(":")[2] if self.model != DEFAULT_MODEL else ""
        parts = [data.name, "facts" if self.facts else "", model, "variants" if self.variants else ""]
        return "-".join(filter(None, parts))


def sizes(bench: Bench, outcome: Outcome) -> None:
    """Bytes of disk per passage, with indexes: its row, its vector, and its token vectors where there are such."""
    with bench.admin() as admin:
        count = admin.execute("SELECT count(*) FROM memsvc.passages").fetchone()
        passages = count[0] if count else 0
        found: dict[str, float] = {}
        for name, relation in SIZED.items():
            row = admin.execute(
                "SELECT coalesce((SELECT sum(pg_total_relation_size(p.relid)) "
                "FROM pg_partition_tree(t.named) AS p WHERE p.isleaf), pg_total_relation_size(t.named)) "
                "FROM (SELECT to_regclass(%s) AS named) AS t",
                [relation],
            ).fetchone()
            if row and row[0] is not None:
                found[name] = int(row[0]) / passages
    outcome.figures |= {f"bytes_per_passage.{name}": value for name, value in found.items()}
    vectors = found.pop("token_vectors", 0.0)
    outcome.figures["bytes_per_passage.without_token_vectors"] = sum(found.values())
    outcome.figures["bytes_per_passage.with_token_vectors"] = sum(found.values()) + vectors


async def world_of(
    db: Database, data: DataSet, bench: Bench, resident: Residents, *, one_user: bool = False, facts: bool = False
) -> World:
    """The set, written, with a model that is ready."""
    owners = await write(db, data, bench, one_user=one_user)
    if facts:
        given = observations(data.name)
        for user_id in {owner.user_id for owner in owners.values()}:
            mine = [one for one in given if owners[one.conversation_id].user_id == user_id]
            await write_observations(db, bench, owners[mine[0].conversation_id], mine)
            await embed_lacking(db, resident, user_id)
        with bench.admin() as admin:
            admin.execute("VACUUM (ANALYZE)")
    await resident.ready(db)
    return World(data, bench, db, owners, resident, data.moments())


async def ask_variants(world: World, plan: Plan, outcome: Outcome) -> dict[str, Asked]:
    """Every question in every variant; by the defaults also those that have no answer."""
    found: dict[str, Asked] = {}
    for name, variant in plan.asked().items():
        more = world.data.unanswerable if name == "default" else ()
        found[name] = await ask(world, name, variant, [*world.data.questions, *more])
        if not plan.variants:  # else vectors are remembered, and only the first one waits for them
            latencies(outcome, f"{world.data.name}.{name}", found[name])
    return found


async def take_apart(world: World, default: Scores, outcome: Outcome, *, weights: Collection[str], graph: bool) -> None:
    """What each of some weights gives."""
    found: dict[str, Scores] = {}
    remembering = replace(world, embedder=Remembering(world.embedder))
    tried = {name: variant for name, variant in ablations(graph=graph).items() if name in weights}
    for name, variant in tried.items():
        asked = await ask(remembering, f"ablation of {name}", variant, world.data.questions)
        found[name] = scores_of(world.data.questions, asked.rankings)
    ablate(world.data, default, found, dict(LINEAR), outcome)
    outcome.configuration["ablations"] = {name: variant.weights[name] for name, variant in tried.items()} | {
        "not tried": untried(graph=graph)
    }


async def under_one_user(world: World, outcome: Outcome) -> None:
    """``one_user.*``: all conversations of the set are memories of one user."""
    data = world.data
    for name in ONE_USER:
        asked = await ask(world, f"{name}, one user", VARIANTS[name], data.questions)
        scored = scores_of(data.questions, asked.rankings)
        by_group(data, f"one_user.{name}", scored, dict.fromkeys([data.form.main, "all"]), outcome)


async def by_the_defaults(world: World, asked: Mapping[str, Asked], outcome: Outcome) -> None:
    """What is measured of the defaults beside rankings, and of the plainest variant."""
    separate(world.data, asked["default"], outcome)
    if world.data.reference:
        compare_with_reference(world.data, asked["bm25_simple"].rankings, outcome)
    await default_contexts(world, outcome)
    await equal_recall(world, VARIANTS["fused"], VARIANTS["default"], outcome)


async def measure(bench: Bench, data: DataSet, outcome: Outcome, plan: Plan) -> None:
    """The whole bench."""
    db = bench.connect()
    resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}))
    try:
        world = await world_of(db, data, bench, resident, facts=plan.facts)
        sizes(bench, outcome)
        remembering = replace(world, embedder=Remembering(world.embedder)) if plan.variants else world
        asked = await ask_variants(remembering, plan, outcome)
        rankings: dict[str, Mapping[str, Ranking]] = {name: found.rankings for name, found in asked.items()}
        if plan.peers:
            rankings |= await peers.quality(world, outcome)
        scores = judge(data, rankings, outcome)
        if plan.peers:
            peers.compare(data, scores, outcome)
        if MODES.keys() & set(plan.variants) > {"default"}:
            modes = {name: variant for name, variant in MODES.items() if name in plan.variants}
            await mode_contexts(remembering, modes, outcome)
        if not plan.variants:
            await by_the_defaults(world, asked, outcome)
        if plan.ablation:
            await take_apart(remembering, scores["default"], outcome, weights=plan.ablation, graph=plan.facts)
        if plan.one_user:
            together = await world_of(db, data, bench, resident, one_user=True, facts=plan.facts)
            await under_one_user(together, outcome)
        if plan.latency:
            await latency.measure(db, bench, outcome)
    finally:
        resident.close()
        await db.close()


def describe(data: DataSet, outcome: Outcome, plan: Plan) -> None:
    """What was measured, for the result file."""
    outcome.configuration |= {
        "conversations": len(data.conversations),
        "turns": data.turns(),
        "questions": len(data.questions),
        "without_answer_or_evidence": len(data.unanswerable),
        "main_group": data.form.main,
        "text": "speaker: text + caption",
        "variants": {
            name: {
                "form": one.form,
                "mode": one.mode,
                "diversity": one.diversity,
                "weights": {k: v for k, v in one.weights.items() if v},
            }
            for name, one in plan.asked().items()
        },
        "embedding_model": plan.model,
        "one_user": plan.one_user,
        "facts": "the set's observations, as bench.observations writes them" if plan.facts else "none",
        "depth": DEPTH,
        "mrr": f"over the first {DEPTH} turns",
        "difference": f"second variant named - first, paired bootstrap, {RESAMPLES:,} resamples, 95 %",
        "ablation": "with the weight - without it, the same bootstrap; above 0: it pays",
    }


def show(outcome: Outcome) -> None:
    """Figures beside their bars."""
    figures_table("differences", outcome, ("bm25_simple.reference", "difference."))
    prefixes = (
        "default.tokens", "tokens.", "context.", "default.auroc", "default.called", "default.worst",
        "bytes_per_passage.",
    )  # fmt: skip
    figures_table("contexts, confidence, bytes", outcome, prefixes)
    figures_table("latency, ms", outcome, ("latency.",))
    rows = [["bar", "measured", "wanted"]]
    for name, bar in outcome.bars.items():
        measured = outcome.figures.get(name)
        rows.append([name, "not measured" if measured is None else f"{measured:.3f}", bar])
    table("bars", rows)


def named(known: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """Reads names out of these, with commas between them."""

    def names(written: str) -> tuple[str, ...]:
        chosen = tuple(written.split(","))
        if unknown := set(chosen) - set(known):
            raise argparse.ArgumentTypeError(f"not known: {', '.join(sorted(unknown))}")
        return chosen

    return names


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", choices=[*FORMS, known.NAME], help="labelled set below BENCH_DATA; known: our own")
    parser.add_argument("--kept", action="store_true", help="of known: the person whose gold nobody looks at")
    parser.add_argument("--file", type=Path, help="instead: a file of one's own, or a folder for perltqa")
    parser.add_argument("--format", choices=FORMATS, help="what --file is")
    parser.add_argument("--first", type=int, help="only so many conversations of --file")
    parser.add_argument("--variants", type=named(ALL), default=(), help=f"only these, as a,b: {', '.join(ALL)}")
    parser.add_argument(
        "--ablation", type=named(NAMES), nargs="?", const=NAMES, default=(),
        help="each weight, or each of a,b, taken out or put in; long",
    )  # fmt: skip
    parser.add_argument(
        "--one-user", action=argparse.BooleanOptionalAction,
        help="also all conversations as one user's; without saying: for locomo",
    )  # fmt: skip
    parser.add_argument("--model", default=DEFAULT_MODEL, help="embedding model; figures of another go to another file")
    parser.add_argument("--facts", action="store_true", help="also the set's observations as a graph; locomo only")
    parser.add_argument("--peers", action="store_true", help="other programs too, in environments of their own")
    parser.add_argument("--no-latency", action="store_true", help="skip the user with 100,000 passages")
    chosen = parser.parse_args()
    if (chosen.file is None) != (chosen.format is None):
        parser.error("--file and --format belong together")
    if chosen.set is None and chosen.file is None:
        parser.error("one of --set and --file is needed")
    if chosen.kept and (chosen.set != known.NAME or chosen.file):
        parser.error("--kept belongs to --set known")
    by_another = chosen.model != DEFAULT_MODEL
    if chosen.set == known.NAME and (by_another or chosen.ablation or chosen.facts or chosen.peers or chosen.one_user):
        parser.error("--set known goes with --variants and --kept alone")
    if chosen.variants and "default" not in chosen.variants and chosen.ablation:
        parser.error("--ablation compares with the variant default")
    return chosen


def measure_known(*, kept: bool, variants: tuple[str, ...]) -> None:
    """The set of nodes, facts, notes, messages and instructions: the defaults alone, or these variants."""
    name = "-".join([known.NAME, *(["kept"] if kept else []), *(["variants"] if variants else [])])
    outcome = Outcome("recall", data_set=name)
    with database() as bench:
        asyncio.run(known.measure(bench, known.chosen(kept=kept), outcome, variants or ("default",)))
        figures_table("latency, ms", outcome, ("latency.",))
        report(outcome, bench)


def main() -> None:
    """Parse the command line and run."""
    chosen = arguments()

    def bench_recall() -> None:
        if chosen.set == known.NAME and not chosen.file:
            measure_known(kept=chosen.kept, variants=chosen.variants)
            return
        # A file counts where both are given, for 'make' always says --set.
        data = read(chosen.file, chosen.format, first=chosen.first) if chosen.file else load(chosen.set)
        one_user = data.name == "locomo" and not chosen.variants if chosen.one_user is None else chosen.one_user
        plan = Plan(
            not chosen.no_latency, chosen.ablation, one_user, chosen.peers, chosen.facts, chosen.variants, chosen.model
        )
        outcome = Outcome("recall", data_set=plan.set_name(data), bars=dict(data.form.bars))
        describe(data, outcome, plan)
        with database(embedding_model=plan.model) as bench:
            asyncio.run(measure(bench, data, outcome, plan))
            show(outcome)
            report(outcome, bench)

    run(bench_recall)


if __name__ == "__main__":
    main()
