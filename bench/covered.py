"""``python -m bench.covered``: how much of LoCoMo's observations the extracted facts say.

Observations are sentences that a language model wrote about the set's turns. The conversations are stored and read for
facts without a language model. Each observation recalls facts, and is covered if one of the first five says the same,
by the judge of ``bench.covered_judge``. ``--before FOLDER`` does this with another checkout's code too, and compares.
The judge learns from 100 pairs that a reader labelled (``bench/gold/covered.jsonl``, figures without text). Printed are
also its agreement with them, and the share by the labels alone.

``--draw FILE`` writes the pairs to be labelled, with their texts. ``--learn FILE`` reads that file when each pair has a
label, and stores it without texts. ``--keep FOLDER`` keeps what was recalled for the next run. Keep both outside the
repository: the texts of the set must not be committed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import msgspec

from bench.covered_judge import (
    EACH,
    EDGES,
    NO_FACT,
    RIDGE,
    SEED,
    SURE,
    Label,
    Reader,
    Signs,
    agreement,
    chance_of,
    drawn,
    learn,
    share_by_labels,
)
from bench.covered_side import FIRST
from bench.harness import Outcome, figures_table, report, run
from bench.metrics import RESAMPLES, paired_bootstrap
from bench.observations import Observation, observations
from memsvc.errors import ConfigurationError

SET = "locomo"
GOLD = Path(__file__).resolve().parent / "gold" / "covered.jsonl"
SIDE = Path(__file__).resolve().with_name("covered_side.py")
HERE, BEFORE = "after", "before"
"""Names of the sides: this checkout, and the other one."""


class Side(msgspec.Struct, frozen=True):
    """What ``bench.covered_side`` wrote of a checkout."""

    facts: list[list[tuple[str, str]]]
    """Observation -> sentences and labels of the nodes where they begin, best first."""
    figures: dict[str, float]


class Seen(NamedTuple):
    """A fact that an observation recalled."""

    signs: Signs
    sentence: str


class Pair(msgspec.Struct):
    """One line of the file that somebody labels."""

    conversation: str
    observation: int
    signs: Signs
    text: str
    fact: str
    label: bool | None = None


def side(checkout: Path, name: str, kept: Path) -> Side:
    """What a checkout recalls; read where it was kept.

    Raises:
        CalledProcessError: the checkout cannot; its error is above.
    """
    file = kept / f"{name}.json"
    if not file.exists():
        subprocess.run(
            [sys.executable, "-P", str(SIDE), "--set", SET, "--to", str(file)], cwd=checkout, check=True,
            env={**os.environ, "PYTHONPATH": str(checkout)},
        )  # fmt: skip
    return msgspec.json.decode(file.read_bytes(), type=Side)


def judged_pairs(given: Sequence[Observation], sides: Mapping[str, Side]) -> dict[str, list[list[Seen]]]:
    """By side: each observation's facts with their signs, the nearest by its vector first."""
    texts = [one.text for one in given]
    texts += [sentence for one in sides.values() for facts in one.facts for sentence, _ in facts]
    reader = Reader(texts)
    return {
        name: [
            sorted((Seen(reader.signs(one, *fact), fact[0]) for fact in facts), key=lambda seen: -seen.signs.cosine)
            for one, facts in zip(given, found.facts, strict=True)
        ]
        for name, found in sides.items()
    }


def strata(pairs: Sequence[Sequence[Seen]]) -> list[int]:
    """The stratum of each observation with its nearest fact."""
    return [facts[0].signs.stratum if facts else NO_FACT for facts in pairs]


def write_pairs(given: Sequence[Observation], pairs: Sequence[Sequence[Seen]], file: Path) -> None:
    """Draw the pairs to be labelled, each an observation with its nearest fact, and write them with their texts."""
    lines = [
        msgspec.json.encode(
            Pair(given[number].conversation_id, number, pairs[number][0].signs, given[number].text,
                 pairs[number][0].sentence)
        )
        for number in drawn(strata(pairs))
    ]  # fmt: skip
    file.write_bytes(b"\n".join(lines) + b"\n")


def take_labels(file: Path) -> None:
    """Write the gold of a file of ``write_pairs``, without its texts.

    Raises:
        ConfigurationError: a pair has no label.
    """
    read = [msgspec.json.decode(line, type=Pair) for line in file.read_bytes().splitlines()]
    lines = [
        msgspec.json.encode(Label(one.conversation, one.observation, one.signs, one.label))
        for one in sorted(read, key=lambda pair: pair.observation)
        if one.label is not None
    ]
    if len(lines) < len(read):
        raise ConfigurationError(f"{len(read) - len(lines)} of {len(read)} pairs have no label.")
    GOLD.write_bytes(b"\n".join(lines) + b"\n")


def labels() -> list[Label]:
    """The gold."""
    return [msgspec.json.decode(line, type=Label) for line in GOLD.read_bytes().splitlines()]


def measure(sides: Mapping[str, Side], pairs: Mapping[str, Sequence[Sequence[Seen]]], outcome: Outcome) -> None:
    """The judge's agreement with the labels, and the shares of each side."""
    gold = labels()
    judge, figures = learn(gold), outcome.figures
    figures |= {"labels.pairs": len(gold), "labels.covered": sum(one.label for one in gold)}
    figures |= {f"judge.{name}": value for name, value in agreement(gold).items()}
    covered: dict[str, list[float]] = {}
    for name, of_side in pairs.items():
        chances = [[chance_of(judge, seen.signs) for seen in facts] for facts in of_side]
        covered[name] = [float(max(facts, default=0.0) >= SURE) for facts in chances]
        nearest = [bool(facts) and facts[0] >= SURE for facts in chances]
        figures[f"{name}.facts"] = sides[name].figures["offline.locomo.facts"]
        figures[f"{name}.share"] = fmean(covered[name])
        figures[f"{name}.share.nearest"] = fmean(nearest)
        figures[f"{name}.share.low"], figures[f"{name}.share.high"] = paired_bootstrap(
            [0.0] * len(nearest), covered[name]
        )[1:]
    by_labels = share_by_labels(gold, strata(pairs[HERE]))
    figures |= {f"{HERE}.labels.share{end}": value for end, value in zip(("", ".low", ".high"), by_labels, strict=True)}
    if BEFORE in covered:
        change = paired_bootstrap(covered[BEFORE], covered[HERE])
        figures |= {f"difference.share{end}": value for end, value in zip(("", ".low", ".high"), change, strict=True)}
    outcome.configuration["weights"] = {name: round(weight, 3) for name, weight in judge.weights.items()}


def commit(checkout: Path) -> str:
    """What is checked out in a folder."""
    git = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.covered", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="another checkout, to compare with")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to keep what was recalled, with its texts")
    parser.add_argument("--draw", type=Path, metavar="FILE", help="write the pairs to be labelled, and measure nothing")
    parser.add_argument("--learn", type=Path, metavar="FILE", help="first take the labels of such a file")
    chosen = parser.parse_args()

    def bench_covered() -> None:
        given = observations(SET)
        if chosen.learn:
            take_labels(chosen.learn)
        checkouts = {HERE: Path(__file__).resolve().parent.parent}
        if chosen.before and not chosen.draw:
            checkouts = {BEFORE: chosen.before.resolve(), **checkouts}
        with tempfile.TemporaryDirectory() as folder:
            sides = {name: side(checkout, name, chosen.keep or Path(folder)) for name, checkout in checkouts.items()}
        pairs = judged_pairs(given, sides)
        if chosen.draw:
            write_pairs(given, pairs[HERE], chosen.draw)
            return
        outcome = Outcome("covered", data_set=SET)
        outcome.configuration |= {
            "observations": len(given), "first": FIRST, "strata": EDGES, "each": EACH, "seed": SEED, "ridge": RIDGE,
            "interval": f"bootstrap, {RESAMPLES:,} resamples, 95 %",
        }  # fmt: skip
        if chosen.before:
            outcome.configuration["before"] = commit(chosen.before)
        measure(sides, pairs, outcome)
        figures_table("observations that a recalled fact covers", outcome, ("",))
        report(outcome)

    run(bench_covered)


if __name__ == "__main__":
    main()
