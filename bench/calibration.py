"""``python -m bench.calibration``: learns from gold how sure the offline extractor may be of what it finds.

Every finding of the rules, doubtful ones too, is labelled by gold: true where it matches a fact of it, required or not
(``bench.matching``). A ridge regression over its traits (``memsvc.extract.offline.traits``) learns how likely such a
finding is true. What it would be worth on what it has not seen is estimated conversation by conversation, each by a
model that saw none of it; the strength of the ridge, and the chance from which on a fact is said, are chosen by that.
The weights go to ``memsvc/extract/offline/calibration.json``, moved so that this chance becomes .5.

Rules are made while gold is read, so they do better on it than elsewhere: ``WEIGHTS`` says which sets were read most,
and ``AIM`` is above the bar for that reason. ``kept`` is never read. No database, half a minute; the same gold and
rules give the same bytes.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bench.examples import Example, Lesson, lesson_of, retold
from bench.gold import load
from bench.harness import run, table
from bench.logistic import Examples, Model, fit, loss, unseen
from bench.matching import Tally, count_facts
from bench.scoring import ratio
from memsvc.extract.offline.calibration import WEIGHTS as FILE
from memsvc.extract.offline.calibration import Calibration

if TYPE_CHECKING:
    from bench.logistic import Vector

WEIGHTS = {"open": 0.3, "practice": 0.3, "open2": 1.0}
"""What an example of each set counts: less where the rules were fitted to it. The full ones choose the threshold."""
AIM = 0.82
"""Precision on conversations that the weights have not seen, from which on facts are said; the bar is .80."""
RIDGES = (1.0, 2.0, 4.0, 8.0, 16.0)
LEAST = 4
"""Examples that a trait needs."""
SMALL = 0.03
"""Weights nearer to 0 are not kept."""
RISING = ("prior", "rules", "clauses")
"""The surer the author, and the more often it was found, the surer a fact."""
STEP = 0.02
FEWEST = 30
"""Facts that have to be said for a precision to mean something."""


def learn(lessons: Sequence[Lesson]) -> tuple[Calibration, Vector]:
    """Weights of all examples, and the chance that a model gives each which has not seen its conversation."""
    examples = Examples.of(
        [one.traits for lesson in lessons for one in lesson.examples],
        [one.true for lesson in lessons for one in lesson.examples],
        [WEIGHTS[lesson.set] for lesson in lessons for _ in lesson.examples],
    )
    folds = [lesson.gold.name for lesson in lessons for _ in lesson.examples]
    tried = {ridge: unseen(examples, folds, ridge, least=LEAST, rising=RISING) for ridge in RIDGES}
    losses = {ridge: loss(examples, chances) for ridge, chances in tried.items()}
    table("ridge", [["penalty", "loss"], *([f"{ridge:g}", f"{one:.4f}"] for ridge, one in losses.items())])
    best = min(losses, key=losses.__getitem__)
    model = fit(examples, best, least=LEAST, rising=RISING)
    least = threshold(lessons, tried[best])
    print(f"\nridge {best:g}; said from {least:.2f} on; {len(folds)} examples, {examples.true.mean():.0%} of them true")
    return rounded(model, least), tried[best]


def rounded(model: Model, least: float) -> Calibration:
    """The model as it is kept: few digits, no small weights, and .5 where a fact is said."""
    kept = {name: round(weight, 3) for name, weight in model.weights.items() if abs(weight) >= SMALL}
    return Calibration(bias=round(model.bias - log(least / (1 - least)), 3), weights=kept)


def said(lessons: Sequence[Lesson], chances: Vector, least: float) -> Tally:
    """What gold says of the facts of at least a chance."""
    tally, at = Tally(), 0
    for lesson in lessons:
        here = chances[at : at + len(lesson.examples)]
        at += len(lesson.examples)
        chosen = [one for one, chance in zip(lesson.examples, here, strict=True) if chance >= least]
        lesson.matcher.found = retold(lesson, chosen)
        count_facts(lesson.matcher, tally)
    return tally


def threshold(lessons: Sequence[Lesson], chances: Vector) -> float:
    """The least chance from which on, on sets that count fully, precision stays at ``AIM``; a curve is printed."""
    full = [WEIGHTS[lesson.set] == 1 for lesson in lessons]
    inside = np.array([one for one, lesson in zip(full, lessons, strict=True) for _ in lesson.examples])
    trusted = [lesson for one, lesson in zip(full, lessons, strict=True) if one]
    rows, chosen, open_ = [["chance", *COLUMNS]], 1 - STEP, True
    for least in np.arange(1 - STEP, STEP, -STEP):
        tally = said(trusted, chances[inside], float(least))
        if tally.right + tally.wrong >= FEWEST:
            open_ = open_ and ratio(tally.right, tally.right + tally.wrong) >= AIM
            chosen = float(least) if open_ else chosen
        rows.append([f"{least:.2f}", *cells(tally)])
    table("said from a chance on, by weights that have not seen the conversation", rows)
    return round(chosen, 2)


COLUMNS = ("said", "precision", "recall", "true")


def cells(tally: Tally) -> list[str]:
    """Of a line of a table, in the order of ``COLUMNS``."""
    all_ = tally.right + tally.neutral + tally.wrong
    shares = (
        ratio(tally.right, tally.right + tally.wrong), ratio(tally.right, tally.required),
        ratio(tally.right + tally.neutral, all_),
    )  # fmt: skip
    return [str(all_), *(f"{share:.3f}" for share in shares)]


def reliability(examples: Sequence[Example], chances: Vector) -> None:
    """Print how often what has a chance is true."""
    bins: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for one, chance in zip(examples, chances, strict=True):
        bins[min(9, int(chance * 10))].append((float(chance), one.true))
    rows = [["chance", "examples", "mean chance", "true"]]
    for place, values in sorted(bins.items()):
        means = [sum(column) / len(values) for column in zip(*values, strict=True)]
        rows.append([f"{place / 10:.1f}", str(len(values)), *(f"{mean:.2f}" for mean in means)])
    table("reliability, unseen", rows)


def by_rule(lessons: Sequence[Lesson], chances: Vector, least: float) -> None:
    """Print how often each rule is right, and how often with what is said now."""
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    examples = [one for lesson in lessons for one in lesson.examples]
    for one, chance in zip(examples, chances, strict=True):
        label = "true" if one.true else "wrong"
        counts[one.rule, one.claim.type].update([label, *([f"said {label}"] if chance >= least else [])])
    rows = [["rule and type", "true", "wrong", "share", "said true", "said wrong"]]
    for (rule, kind), count in sorted(counts.items()):
        share = ratio(count["true"], count["true"] + count["wrong"])
        numbers = (
            [str(count[name]) for name in ("true", "wrong")],
            [str(count[name]) for name in ("said true", "said wrong")],
        )
        rows.append([f"{rule} {kind}", *numbers[0], f"{share:.2f}", *numbers[1]])
    table("rules", rows)


def written(calibration: Calibration) -> bytes:
    """The file: a line for each weight, by name."""
    return msgspec.json.format(msgspec.json.encode(calibration, order="sorted"), indent=1) + b"\n"


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.calibration", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--set", choices=list(WEIGHTS), action="append", help="gold to learn from; all where left out")
    parser.add_argument("--show", action="store_true", help="how often each rule is right, and the weights")
    parser.add_argument("--out", type=Path, default=FILE, help="where the weights go; the extractor's own file")
    asked = parser.parse_args()

    def bench_calibration() -> None:
        lessons = [lesson_of(name, one) for name in asked.set or WEIGHTS for one in load(name)]
        calibration, chances = learn(lessons)
        examples = [one for lesson in lessons for one in lesson.examples]
        reliability(examples, chances)
        priors = np.array([one.prior for one in examples])
        table("all sets, unseen", [["by", *COLUMNS], ["author", *cells(said(lessons, priors, 0.5))]])
        if asked.show:
            by_rule(lessons, chances, 0.5)
            weights = sorted(calibration.weights.items(), key=lambda one: -abs(one[1]))
            table("weights", [["trait", "weight"], *([name, f"{weight:+.3f}"] for name, weight in weights)])
        asked.out.write_bytes(written(calibration))
        print(f"\n{len(calibration.weights)} weights written to {asked.out.name}")

    run(bench_calibration)


if __name__ == "__main__":
    main()
