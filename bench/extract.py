"""``python -m bench.extract``: how well extraction reads, beside gold labels; how fast; and its share of LoCoMo.

Each gold conversation becomes a user of a fresh database, is stored and read by the jobs that a worker runs, and what
the graph then holds is compared with the labels (``bench.matching`` has the rules). ``--direct`` asks the extractor
alone, without a database. The figures of a set that is kept show counts only. ``docs/benchmarks.md`` has what each
figure means.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence

from bench.direct import read_directly
from bench.gold import SETS, Conversation, load
from bench.harness import Outcome, figures_table, run
from bench.matching import Found, Tally, compare
from bench.pace import pace
from bench.scoring import figures
from memsvc.extract import registry
from memsvc.settings import Settings

BARS = {
    "offline.facts.precision": ">= 0.80", "offline.facts.recall": ">= 0.40", "offline.entities.f1": ">= 0.80",
    "offline.quotes.verified": "= 1", "offline.messages_per_s": ">= 60",
}  # fmt: skip


async def directly(name: str, conversations: Sequence[Conversation]) -> list[Found]:
    """What an extractor says of each conversation, without a database."""
    extractor = registry.load(name, Settings())
    return [await read_directly(extractor, one) for one in conversations]


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
    parser.add_argument("--set", choices=SETS, action="append", help="gold to read; again for more; open, practice")
    parser.add_argument("--kept", action="store_true", help="instead: the gold that nobody looks at, totals only")
    parser.add_argument("--show", action="store_true", help="what is missing and what is wrong; this is looking")
    parser.add_argument("--direct", action="store_true", help="the extractor alone, without a database")
    parser.add_argument("--extractor", default="offline", help="a name of memsvc.extract.registry")
    parser.add_argument("--no-speed", action="store_true", help="skip messages per second")
    parser.add_argument("--no-locomo", action="store_true", help="skip the share of LoCoMo's observations")
    return parser.parse_args()


def main() -> None:
    """Parse the command line and run."""
    chosen = arguments()
    sets = ["kept"] if chosen.kept else chosen.set or ["open", "practice"]

    def bench_extract() -> None:
        outcome = Outcome("extract", data_set="-".join(sets), bars=BARS)
        conversations = [one for name in sets for one in load(name)]
        found = asyncio.run(directly(chosen.extractor, conversations))
        figures(chosen.extractor, judged(conversations, found, show=chosen.show), outcome)
        if not chosen.no_speed:
            reading = pace(",".join(sets), chosen.extractor)
            outcome.figures[f"{chosen.extractor}.messages_per_s"] = reading.by_wall
            outcome.figures[f"{chosen.extractor}.messages_per_processor_s"] = reading.by_processor
        figures_table("figures", outcome, ("",))

    run(bench_extract)


if __name__ == "__main__":
    main()
