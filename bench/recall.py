"""``python -m bench.recall --set locomo``: what recall finds, compared with the set's reference, and how fast it is.

Each conversation of the set is a user of its own, written through ``sources.messages.append``; each question is asked
once in either form of words, and scored over its first 20 turns (a split message counts where its first part is found).
Then ``bench.latency`` measures recall for a user with 100,000 passages. Nothing is asserted: bars stand beside figures.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench import latency
from bench.datasets import FORMS, DataSet, load
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run, table
from bench.metrics import METRICS, RESAMPLES, Score, means, paired_bootstrap, percentile, score
from bench.store import new_user, store
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.llm.embedders.residents import Residents
from memsvc.queue.run import run_due
from memsvc.recall.search import WORDS_WEIGHT, Form, recall
from memsvc.sources.embedding import embed_lacking

DEPTH = 20

COMPARED = ("recall@10", "ndcg@10")
Rankings = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to ask."""

    form: Form
    words_weight: float
    """Share of words in the score; 1: no vector is asked for."""


VARIANTS: Mapping[str, Variant] = {
    "bm25_simple": Variant("simple", 1),
    "bm25_english": Variant("stemmed", 1),
    "vector": Variant("stemmed", 0),
    "fused": Variant("stemmed", WORDS_WEIGHT),
}
DIFFERENCES = (("bm25_simple", "bm25_english"), ("bm25_english", "fused"), ("vector", "fused"))


async def write(db: Database, data: DataSet, bench: Bench) -> dict[str, Owner]:
    """Store the set; conversation -> its user."""
    owners: dict[str, Owner] = {}
    with progress("writing turns", sum(map(len, data.conversations.values()))) as done:
        for conversation, turns in data.conversations.items():
            owners[conversation] = await new_user(db, conversation)
            await store(db, owners[conversation], [turn.message() for turn in turns], bench.settings, done=done)
    await run_due(db)
    resident = Residents(bench.settings)
    with progress("embedding turns", sum(map(len, data.conversations.values()))) as done:
        for owner in owners.values():
            await embed_lacking(db, resident, owner.user_id, done)
    resident.close()
    return owners


async def first_turns(
    db: Database, owner: Owner, question: str, bench: Bench, *, variant: Variant, resident: Residents
) -> tuple[list[str], float]:
    """The first 20 different turns for a question, and the seconds that the first answer took."""
    limit, seconds = DEPTH, 0.0
    while True:
        start = time.perf_counter()
        answer = await recall(
            db,
            owner,
            question,
            bench.settings,
            embedder=resident if variant.words_weight < 1 else None,
            limit=limit,
            form=variant.form,
            words_weight=variant.words_weight,
        )
        seconds = seconds or time.perf_counter() - start
        if answer.degraded:
            raise RuntimeError("the query was not embedded; the figures would be those of words alone")
        found = answer.memories
        turns = list(dict.fromkeys(memory.message_id or "" for memory in found))
        if len(turns) >= DEPTH or len(found) < limit:
            return turns[:DEPTH], seconds
        limit *= 2  # parts of split messages took ranks


async def ask(
    db: Database, data: DataSet, owners: Mapping[str, Owner], bench: Bench, outcome: Outcome
) -> dict[str, Rankings]:
    """Ask every question in every variant."""
    rankings: dict[str, Rankings] = {}
    resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": 60_000}))
    await resident.ready(db)
    for variant, way in VARIANTS.items():
        rankings[variant], times = {}, []
        with progress(f"asking, {variant}", len(data.questions)) as done:
            for question in data.questions:
                owner = owners[question.conversation_id]
                rankings[variant][question.question_id], seconds = await first_turns(
                    db, owner, question.question, bench, variant=way, resident=resident
                )
                times.append(seconds * 1_000)
                done(1)
        outcome.figures[f"latency.{data.name}.{variant}.service_p50_ms"] = percentile(times, 0.5)
        outcome.figures[f"latency.{data.name}.{variant}.service_p95_ms"] = percentile(times, 0.95)
    resident.close()
    return rankings


def scores_of(data: DataSet, rankings: Mapping[str, Sequence[str]]) -> dict[str, Score]:
    """Question -> its score; a question without a ranking counts as an empty one."""
    return {
        question.question_id: score(rankings.get(question.question_id, ()), question.evidence_turn_ids)
        for question in data.questions
    }


def members(data: DataSet, categories: frozenset[str]) -> list[str]:
    """Questions of a group."""
    return [question.question_id for question in data.questions if question.category in categories]


def judge(data: DataSet, rankings: Mapping[str, Rankings], outcome: Outcome) -> None:
    """Means by category, and what stemming changes over all."""
    scores = {variant: scores_of(data, found) for variant, found in rankings.items()}
    for variant, scored in scores.items():
        rows = [["category", "questions", *METRICS]]
        for group, categories in data.groups().items():
            asked = members(data, categories)
            values = means([scored[question_id] for question_id in asked])
            outcome.figures |= {f"{variant}.{group}.{metric}": value for metric, value in values.items()}
            rows.append([group, str(len(asked)), *(f"{value:.3f}" for value in values.values())])
        table(f"{variant} on {data.name}", rows)
    for before, after in DIFFERENCES:
        for group in ("all", *data.form.groups, *data.form.without):
            asked = members(data, data.groups()[group])
            for metric in COMPARED:
                first, second = ([scores[one][question_id][metric] for question_id in asked] for one in (before, after))
                change, low, high = paired_bootstrap(first, second)
                key = f"difference.{before}.{after}.{group}.{metric}"
                outcome.figures |= {key: change, f"{key}.low": low, f"{key}.high": high}


def compare_with_reference(data: DataSet, found: Rankings, outcome: Outcome) -> None:
    """``bm25_simple`` against the BM25 whose rankings come with the set."""
    group = next(iter(data.form.without), "all")
    asked = members(data, data.groups()[group])
    theirs, ours = scores_of(data, data.reference), scores_of(data, found)
    first, second = ([one[question_id]["recall@10"] for question_id in asked] for one in (theirs, ours))
    difference, low, high = paired_bootstrap(first, second)
    shared = [
        len(set(data.reference[question_id][:10]) & set(found[question_id][:10])) / min(10, len(top))
        for question_id in asked
        if (top := data.reference.get(question_id))
    ]
    outcome.figures |= {
        "bm25_simple.reference.recall@10": sum(first) / len(first),
        "bm25_simple.reference.difference": difference,
        "bm25_simple.reference.difference.low": low,
        "bm25_simple.reference.difference.high": high,
        "bm25_simple.reference.overlap_at_10": sum(shared) / len(shared),
    }


async def measure(bench: Bench, data: DataSet, outcome: Outcome, *, with_latency: bool) -> None:
    """The whole bench."""
    db = bench.connect()
    try:
        owners = await write(db, data, bench)
        with bench.admin() as admin:
            admin.execute("VACUUM (ANALYZE)")
        rankings = await ask(db, data, owners, bench, outcome)
        judge(data, rankings, outcome)
        if data.reference:
            compare_with_reference(data, rankings["bm25_simple"], outcome)
        if with_latency:
            await latency.measure(db, bench, outcome)
    finally:
        await db.close()


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", required=True, choices=list(FORMS), help="labelled set below BENCH_DATA")
    parser.add_argument("--no-latency", action="store_true", help="skip the user with 100,000 passages")
    chosen = parser.parse_args()

    def bench_recall() -> None:
        data = load(chosen.set)
        outcome = Outcome("recall", data_set=data.name, bars=dict(data.form.bars))
        outcome.configuration |= {
            "conversations": len(data.conversations),
            "turns": sum(map(len, data.conversations.values())),
            "questions": len(data.questions),
            "text": "speaker: text + caption",
            "variants": {name: {"form": one.form, "words_weight": one.words_weight} for name, one in VARIANTS.items()},
            "depth": DEPTH,
            "mrr": f"over the first {DEPTH} turns",
            "difference": f"second variant named - first, paired bootstrap, {RESAMPLES:,} resamples, 95 %",
        }
        with database() as bench:
            asyncio.run(measure(bench, data, outcome, with_latency=not chosen.no_latency))
            figures_table("against the reference", outcome, ("bm25_simple.reference", "difference."))
            figures_table("latency, ms", outcome, ("latency.",))
            rows = [["bar", "measured", "wanted"]]
            rows += [[key, f"{outcome.figures.get(key, 0):.3f}", bar] for key, bar in outcome.bars.items()]
            table("bars", rows)
            report(outcome, bench)

    run(bench_recall)


if __name__ == "__main__":
    main()
