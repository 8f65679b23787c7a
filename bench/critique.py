"""``python -m bench.critique``: whether a correction is found when its question comes again in other words.

The gold (``bench/gold/critiques.json``) are 20 critiques, each with two paraphrases of its question. All are stored
beside a history of 200 messages and the facts from it (``bench/gold/days``); then each paraphrase is asked as any
question is. ``top1`` and ``top3`` are the shares whose critique is among the first memories of recall, ``context`` the
share of contexts of 1,500 tokens that show it as a lesson, and ``others`` how many other lessons a context shows.
``quiet`` is how many lessons a context shows in the mean for questions of the history itself, to which none belongs.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from statistics import fmean

import msgspec

from bench.asking import EMBEDDING_MS
from bench.days import OPEN, read, write
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from memsvc.lessons.critiques import NewCritique, add_critique
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.search import recall
from memsvc.sources.embedding import embed_lacking

GOLD = Path(__file__).resolve().parent / "gold" / "critiques.json"
BARS = {"top3": ">= 0.9", "context": ">= 0.9"}
TOP = 3


class Gold(msgspec.Struct, frozen=True):
    """A critique, and its question in other words."""

    question: str
    answer: str
    correction: str
    paraphrases: list[str]


async def measure(bench: Bench, gold: list[Gold], outcome: Outcome, *, show: bool) -> None:
    """Store, embed and ask."""
    settings = bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    db, embedder = bench.connect(), Residents(settings)
    options = ContextOptions(salient=0, chance=False)
    try:
        history = read(OPEN)[0]
        [owner] = await write(db, bench, [history])
        ids = {}
        for one in gold:
            given = NewCritique(question=one.question, answer=one.answer, correction=one.correction)
            ids[one.question] = (await add_critique(db, owner, given)).critique_id
        await embed_lacking(db, embedder, owner.user_id, lambda _number: None)
        asked = [(text, ids[one.question]) for one in gold for text in one.paraphrases]
        places, shown, others = list[int](), list[bool](), list[int]()
        with progress("asking", len(asked)) as done:
            for text, wanted in asked:
                found = (await recall(db, owner, text, settings, embedder=embedder)).memories
                place = next((at for at, memory in enumerate(found, 1) if memory.node_id == wanted), 99)
                context = await build_context(db, owner, text, settings, embedder=embedder, options=options)
                lessons = [memory.node_id for memory in context.memories if memory.kind == "critique"]
                places.append(place)
                shown.append(wanted in lessons)
                others.append(len(set(lessons) - {wanted}))
                if show and place > TOP:
                    print(f"  {place}: {text} (before it: {[memory.text[:50] for memory in found[:TOP]]})")
                done(1)
        quiet = []
        for question in [one.question for one in history.questions][:40]:
            context = await build_context(db, owner, question, settings, embedder=embedder, options=options)
            quiet.append(sum(memory.kind == "critique" for memory in context.memories))
    finally:
        embedder.close()
        await db.close()
    outcome.figures |= {
        "top1": fmean(place == 1 for place in places), "top3": fmean(place <= TOP for place in places),
        "context": fmean(shown), "others": fmean(others), "quiet": fmean(quiet),
    }  # fmt: skip


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.critique", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--show", action="store_true", help="list the paraphrases whose critique is not among the first"
    )
    given = parser.parse_args()

    def bench_critique() -> None:
        gold = msgspec.json.decode(GOLD.read_bytes(), type=list[Gold])
        outcome = Outcome("critique", bars=dict(BARS))
        outcome.configuration |= {"critiques": len(gold), "paraphrases": sum(len(one.paraphrases) for one in gold)}
        with database() as bench:
            asyncio.run(measure(bench, gold, outcome, show=given.show))
            figures_table("critique", outcome, ("",))
            report(outcome, bench)

    run(bench_critique)


if __name__ == "__main__":
    main()
