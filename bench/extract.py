"""``python -m bench.extract``: how well extraction reads, beside gold labels; how fast; and its share of LoCoMo.

Each gold conversation becomes a user of a fresh database, is stored and read by the jobs that a worker runs, and what
the graph then holds is compared with the labels (``bench.matching`` has the rules). ``--direct`` asks the extractor
alone, without a database. The figures of a set that is kept show counts only. ``docs/benchmarks.md`` has what each
figure means.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence
from typing import NamedTuple

from bench import life_scoring
from bench.datasets import load as load_set
from bench.direct import read_directly
from bench.gold import SETS, Conversation, load
from bench.harness import Bench, Outcome, database, figures_table, report, run
from bench.life import talks
from bench.life_graph import graphs
from bench.matching import Found, Tally, compare
from bench.metrics import RESAMPLES
from bench.pace import pace
from bench.scoring import figures
from bench.shares import share_figures
from bench.store import new_user, store
from bench.stored import found_by, left_out, model_calls, remember, work
from memsvc.errors import ConfigurationError
from memsvc.extract import registry
from memsvc.settings import Settings

BARS = {
    "offline.facts.precision": ">= 0.80", "offline.facts.recall": ">= 0.40", "offline.entities.f1": ">= 0.80",
    "offline.quotes.verified": "= 1", "offline.messages_per_s": ">= 60",
}  # fmt: skip
LIFE, LIFE_BARS = "life", {"offline.relatives": ">= 0.95"}
INTERVAL = f"over conversations, bootstrap, {RESAMPLES:,} resamples, 95 %"


class Plan(NamedTuple):
    """What is to be measured."""

    sets: Sequence[str]
    extractor: str
    show: bool
    direct: bool
    speed: bool
    locomo: bool


async def directly(name: str, conversations: Sequence[Conversation]) -> list[Found]:
    """What an extractor says of each conversation, without a database."""
    extractor = registry.load(name, Settings())
    return [await read_directly(extractor, one) for one in conversations]


async def really(bench: Bench, name: str, conversations: Sequence[Conversation], outcome: Outcome) -> list[Found]:
    """What a worker wrote into the graph of each conversation; the figures get what it left out, and what it cost."""
    db = bench.connect()
    try:
        owners = await remember(db, bench, conversations)
    finally:
        await db.close()
    messages = sum(len(one.turns) for one in conversations)
    outcome.figures[f"{name}.seconds"] = work(bench, name, messages)
    users = [owner.user_id for owner in owners]
    calls = model_calls(bench, users)
    outcome.figures |= {
        f"{name}.model_calls": calls.calls,
        f"{name}.calls_per_100_messages": 100 * calls.calls / messages,
        f"{name}.tokens_per_message": (calls.tokens_in + calls.tokens_out) / messages,
    } | {f"{name}.left.{why.replace(': ', '.')}": count for why, count in left_out(bench, users).items()}
    return [found_by(bench, owner) for owner in owners]


async def of_locomo(bench: Bench, name: str, outcome: Outcome) -> None:
    """The share of LoCoMo's observations; said where the set is not here."""
    try:
        data = load_set("locomo")
    except ConfigurationError as error:
        print(f"\n{error.message} Its share is left out.")
        return
    db = bench.connect()
    try:
        owners = {conversation: await new_user(db, f"{conversation} {name}") for conversation in data.conversations}
        for conversation, turns in data.conversations.items():
            await store(db, owners[conversation], [turn.message() for turn in turns], bench.settings)
    finally:
        await db.close()
    seconds = work(bench, name, data.turns())
    found = {conversation: found_by(bench, owner) for conversation, owner in owners.items()}
    calls = model_calls(bench, [owner.user_id for owner in owners.values()])
    outcome.figures |= share_figures(name, data, found, calls, seconds)


def judged(conversations: Sequence[Conversation], found: Sequence[Found], *, show: bool) -> list[Tally]:
    """Compare, and print what is missing and wrong where it may be seen."""
    tallies = [compare(gold, one) for gold, one in zip(conversations, found, strict=True)]
    for gold, tally in zip(conversations, tallies, strict=True) if show else ():
        print(f"\n{gold.name}: {tally.right} of {tally.required} facts, {tally.neutral} more, {tally.wrong} wrong")
        print("\n".join(f"  {line}" for line in sorted(tally.lines)))
    return tallies


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.extract", description=(__doc__ or "").partition("\n")[0])
    known = (*SETS, LIFE)
    parser.add_argument("--set", choices=known, action="append", help="gold to read; again for more; open, practice")
    parser.add_argument("--kept", action="store_true", help="instead, or of life: what nobody looks at, totals only")
    parser.add_argument("--show", action="store_true", help="what is missing and what is wrong; this is looking")
    parser.add_argument("--direct", action="store_true", help="the extractor alone, without a database")
    parser.add_argument("--extractor", default="offline", help="a name of memsvc.extract.registry")
    parser.add_argument("--no-speed", action="store_true", help="skip messages per second")
    parser.add_argument("--no-locomo", action="store_true", help="skip the share of LoCoMo's observations")
    chosen = parser.parse_args()
    if LIFE in (chosen.set or ()) and (len(chosen.set) > 1 or chosen.direct):
        parser.error("life is read alone, and from a database")
    return chosen


def plan() -> Plan:
    """What the command line asks for."""
    chosen = arguments()
    if chosen.set == [LIFE]:
        sets = [f"{LIFE}/{'kept' if chosen.kept else 'open'}"]
    else:
        sets = ["kept"] if chosen.kept else chosen.set or ["open", "practice"]
    return Plan(sets, chosen.extractor, chosen.show, chosen.direct, not chosen.no_speed, not chosen.no_locomo)


def judge(asked: Plan, bench: Bench | None, outcome: Outcome) -> None:
    """Read and compare, by the database or, where there is none, directly; then speed and LoCoMo."""
    name, conversations = asked.extractor, [one for part in asked.sets for one in load(part)]
    reading = really(bench, name, conversations, outcome) if bench else directly(name, conversations)
    figures(name, judged(conversations, asyncio.run(reading), show=asked.show), outcome)
    measure_speed(asked, outcome)
    if bench and asked.locomo:
        for one in dict.fromkeys([name, *([registry.LLM] if os.environ.get("MEMSVC_LLM_MODEL") else [])]):
            asyncio.run(of_locomo(bench, one, outcome))
    figures_table("figures", outcome, ("",))


def judge_life(asked: Plan, bench: Bench, outcome: Outcome) -> None:
    """Read talk between people, and say what of it is known; then speed."""
    [part], graded = asked.sets, life_scoring.grades()
    told = talks(part)
    held = asyncio.run(graphs(bench, asked.extractor, told))
    scores = [life_scoring.score(talk, graph, graded) for talk, graph in zip(told, held, strict=True)]
    for talk, score in zip(told, scores, strict=True) if asked.show else ():
        print(f"\n{talk.conversation.name}")
        print("\n".join(f"  {line}" for line in sorted(score.lines)))
    life_scoring.figures(asked.extractor, scores, outcome)
    measure_speed(asked, outcome)
    figures_table("figures", outcome, ("",))


def measure_speed(asked: Plan, outcome: Outcome) -> None:
    """Messages per second, where they are asked for; nobody's books would hold the calls of a language model."""
    name = asked.extractor
    if asked.speed and name != registry.LLM:
        measured = pace(",".join(asked.sets), name)
        outcome.figures[f"{name}.messages_per_s"] = measured.by_wall
        outcome.figures[f"{name}.messages_per_processor_s"] = measured.by_processor


def main() -> None:
    """Parse the command line and run."""
    asked = plan()
    life = asked.sets[0].startswith(LIFE)

    def bench_extract() -> None:
        data_set = "-".join(asked.sets).replace("/", "-")
        outcome = Outcome("extract", data_set=data_set, bars=LIFE_BARS if life else BARS)
        outcome.configuration |= {"extractor": asked.extractor, "gold": list(asked.sets), "interval": INTERVAL}
        if asked.direct:
            judge(asked, None, outcome)
            return
        with database() as bench:
            (judge_life if life else judge)(asked, bench, outcome)
            report(outcome, bench)

    run(bench_extract)


if __name__ == "__main__":
    main()
