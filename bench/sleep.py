"""``python -m bench.sleep --set locomo``: what a night costs, and what its summaries do to recall.

The set is stored and embedded as ``bench.recall`` does it, and asked. Then sleep mode runs for each user, what it wrote
is embedded, and the set is asked again. A summary or a reflection stands for the turns that it quotes, at its one rank:
``recall@10`` is the share of a question's evidence that the first ten memories are or quote. ``<category>.before`` and
``.after`` are by the defaults, by which recall finds summaries only for questions that ask for an overview or for
several things (``memsvc.recall.with_summaries``). ``.always``: it finds them for every question. ``.unquoted``: by the
defaults, but what sleep mode wrote stands for nothing. ``.unreflected``: before the task reflection.
``--first 1``: only so many conversations.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from uuid import UUID

from bench.asking import EMBEDDING_MS, Remembering, World, key, write
from bench.datasets import DataSet, Key, Question, as_moment, load
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.metrics import paired_bootstrap
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.kinds import RECALLED, Kind
from memsvc.recall.options import Filters
from memsvc.recall.overview import asks_overview
from memsvc.recall.results import Memory
from memsvc.recall.search import recall
from memsvc.sleep.registry import tasks_of
from memsvc.sleep.runner import sleep
from memsvc.sources.embedding import embed_lacking

FIRST = 10
QUOTED = """
SELECT l.node_version_id, s.identifier, p.client_id
FROM memsvc.source_links AS l
INNER JOIN memsvc.passages AS p ON p.user_id = l.user_id AND p.passage_id = l.passage_id
INNER JOIN memsvc.sources AS s ON s.user_id = p.user_id AND s.source_id = p.source_id
INNER JOIN memsvc.node_versions AS v ON v.user_id = l.user_id AND v.version_id = l.node_version_id
WHERE v.type IN ('Summary', 'Reflection') AND l.recorded_to = 'infinity'
"""
SIZES = """
SELECT data ->> 'level', count(*), avg(array_length(string_to_array(description, ' '), 1))::float
FROM memsvc.node_versions WHERE type = 'Summary' AND recorded_to = 'infinity' GROUP BY 1
"""
REFLECTIONS = """
SELECT 'reflections.' || (data ->> 'kind'), count(*)
FROM memsvc.node_versions WHERE type = 'Reflection' AND recorded_to = 'infinity' GROUP BY 1
"""
WRITTEN = frozenset({"summary", "reflection"})
"""Kinds that sleep mode writes here."""
Quotes = Mapping[UUID, frozenset[Key]]


async def found_by(world: World, question: Question, kinds: Sequence[Kind]) -> list[Memory]:
    """The first ten memories, of these kinds; none: by the defaults."""
    moment = as_moment(question.asked_at) if question.asked_at else None
    settings = world.bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    found = await recall(
        world.db, world.owners[question.conversation_id], question.question, settings, embedder=world.embedder,
        limit=FIRST, filters=Filters(asked_at=moment, kinds=list(kinds)),
    )  # fmt: skip
    return found.memories


def score(memories: Sequence[Memory], question: Question, quotes: Quotes) -> float:
    """The share of the evidence that these memories are or quote."""
    found = {
        turn for one in memories for turn in (quotes.get(one.memory_id, ()) if one.kind in WRITTEN else (key(one),))
    }
    return len(found & question.evidence) / len(question.evidence)


async def asked(world: World, quotes: Quotes, kinds: Sequence[Kind] = ()) -> dict[str, float]:
    """Question -> its score."""
    scores = {}
    with progress("asking", len(world.data.questions)) as done:
        for question in world.data.questions:
            scores[question.question_id] = score(await found_by(world, question, kinds), question, quotes)
            done(1)
    return scores


async def night(world: World, resident: Residents, outcome: Outcome, names: Sequence[str]) -> None:
    """Every user's night, of these tasks; what it cost is added up."""
    owners = {owner.user_id: owner for owner in world.owners.values()}
    seconds: dict[str, float] = {}
    began = time.monotonic()
    for owner in owners.values():
        for one in await sleep(world.db, owner, names, settings=world.bench.settings):
            seconds[one.task] = seconds.get(one.task, 0.0) + one.seconds
    slept = time.monotonic() - began
    for user_id in owners:
        await embed_lacking(world.db, resident, user_id)
    figures = outcome.figures
    figures |= {f"seconds.{task}": spent for task, spent in seconds.items()}
    figures["seconds"] = figures.get("seconds", 0.0) + slept
    figures["seconds.embedded"] = figures.get("seconds.embedded", 0.0) + time.monotonic() - began


def quotes_of(bench: Bench) -> Quotes:
    """What each summary and reflection quotes."""
    quotes: dict[UUID, set[Key]] = {}
    with bench.admin() as admin:
        for version, conversation, turn in admin.execute(QUOTED):
            quotes.setdefault(version, set()).add((conversation, turn))
        admin.execute("VACUUM (ANALYZE)")
    return {version: frozenset(turns) for version, turns in quotes.items()}


async def measure(bench: Bench, data: DataSet, outcome: Outcome) -> None:
    """The whole bench."""
    db = bench.connect()
    resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}))
    try:
        owners = await write(db, data, bench)
        await resident.ready(db)
        world = World(data, bench, db, owners, Remembering(resident))
        scores = {"before": await asked(world, {})}
        others = [name for name in tasks_of(bench.settings) if name != "reflection"]
        await night(world, resident, outcome, others)
        scores["unreflected"] = await asked(world, quotes_of(bench))
        await night(world, resident, outcome, ["reflection"])
        held = quotes_of(bench)
        scores |= {"after": await asked(world, held), "unquoted": await asked(world, {})}
        scores["always"] = await asked(world, held, (*RECALLED, "summary"))
        with bench.admin() as admin:
            for level, count, words in admin.execute(SIZES):
                outcome.figures |= {f"summaries.{level}": count, f"summaries.{level}.words": words}
            outcome.figures |= dict(admin.execute(REFLECTIONS))
        for category in sorted({one.category for one in data.questions}):
            of = [one.question_id for one in data.members(category)]
            outcome.figures |= {f"{category}.{side}": fmean(found[one] for one in of) for side, found in scores.items()}
            change = paired_bootstrap([scores["before"][one] for one in of], [scores["after"][one] for one in of])
            outcome.figures |= {
                f"{category}.difference{end}": value for end, value in zip(("", ".low", ".high"), change, strict=True)
            }
            outcome.figures[f"{category}.overviews"] = sum(
                asks_overview(one.question) for one in data.members(category)
            )
    finally:
        resident.close()
        await db.close()


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.sleep", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--set", choices=["locomo", "beam-100k"], default="locomo", help="labelled set below BENCH_DATA"
    )
    parser.add_argument("--first", type=int, help="only so many conversations")
    chosen = parser.parse_args()

    def bench_sleep() -> None:
        data = load(chosen.set)
        if chosen.first:
            kept = dict(list(data.conversations.items())[: chosen.first])
            questions = [one for one in data.questions if one.conversation_id in kept]
            data = replace(data, conversations=kept, questions=questions, unanswerable=[])
        name = f"{data.name}-first-{chosen.first}" if chosen.first else data.name
        outcome = Outcome("sleep", data_set=name)
        outcome.configuration |= {
            "conversations": len(data.conversations), "turns": data.turns(), "questions": len(data.questions),
        }  # fmt: skip
        with database() as bench:
            asyncio.run(measure(bench, data, outcome))
            figures_table("a night", outcome, ("",))
            report(outcome, bench)

    run(bench_sleep)


if __name__ == "__main__":
    main()
