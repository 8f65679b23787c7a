"""``python -m bench.calibration``: learns from gold how sure the offline extractor may be of what it finds.

Every fact that the rules find, doubtful ones too, is labelled by gold: true where it matches one of its facts, required
or not (``bench.matching``). A ridge regression over its traits (``memsvc.extract.offline.traits``) learns how likely it
is true. What that would be worth on what it has not seen is estimated conversation by conversation, each by a model
that saw none of it; the strength of the ridge, and the chance from which on a fact is said, are chosen by that. The
weights go to ``memsvc/extract/offline/calibration.json``, moved so that this chance becomes .5.

Rules are made while gold is read, so they do better on it than elsewhere: ``COUNTS`` says which sets were read most,
and ``AIM`` is above the bar for that reason. ``kept`` is never read. No database, half a minute; the same gold and
rules give the same bytes.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from bench.examples import Lesson, lesson_of, retold
from bench.gold import load
from bench.harness import run, table
from bench.logistic import Examples, Model, fit, loss, unseen
from bench.matching import Tally, count_facts
from bench.scoring import ratio
from memsvc.extract.offline.calibration import FILE, Calibration

if TYPE_CHECKING:
    from bench.logistic import Vector

COUNTS = {"practice": 0.3, "open": 1.0}
"""What an example of each set counts: less where the rules were fitted to it. Those that count fully choose the least
chance."""
AIM = 0.86
"""Precision from which on facts are said, on conversations that the weights have not seen but the rules have. The bar
is .80 on those that nobody has seen, where precision was .1 lower before."""
RIDGES = (1.0, 2.0, 4.0, 8.0, 16.0)
LEAST = 4
"""Examples that a trait needs."""
SMALL = 0.03
"""Weights nearer to 0 are not kept."""
PRIOR = "prior"
"""Has no penalty: the more the ridge holds the other weights down, the more the authors are believed."""
RISING = (PRIOR, "rules", "clauses")
"""The surer the author, and the more often it was found, the surer a fact."""
CHANCES = [round(0.98 - 0.02 * step, 2) for step in range(45)]
FEWEST = 30
"""Facts that have to be said for a precision to mean something."""
COLUMNS = ("said", "precision", "recall", "true")


class Learnt(NamedTuple):
    """What was learnt."""

    calibration: Calibration
    chances: Vector
    """Of each example, by weights that have not seen its conversation."""
    least: float
    """The chance from which on a fact is said."""


def learn(lessons: Sequence[Lesson], aim: float = AIM) -> Learnt:
    """Learn from the facts of lessons; ``aim`` is the precision from which on they are said."""
    all_ = [(lesson, one) for lesson in lessons for one in lesson.facts]
    examples = Examples.of(
        [one.traits for _, one in all_], [one.true for _, one in all_], [COUNTS[lesson.set] for lesson, _ in all_]
    )
    folds = [lesson.gold.name for lesson, _ in all_]
    tried = {ridge: unseen(examples, folds, ridge, least=LEAST, rising=RISING, free=PRIOR) for ridge in RIDGES}
    losses = {ridge: loss(examples, chances) for ridge, chances in tried.items()}
    table("ridge", [["penalty", "loss"], *([f"{ridge:g}", f"{one:.4f}"] for ridge, one in losses.items())])
    best = min(losses, key=losses.__getitem__)
    reliability(examples.true, tried[best])
    least = threshold(lessons, tried[best], aim)
    print(f"\nsaid from {least:.2f} on; {len(all_)} examples, {examples.true.mean():.0%} of them true")
    return Learnt(rounded(fit(examples, best, least=LEAST, rising=RISING, free=PRIOR), least), tried[best], least)


def rounded(model: Model, least: float) -> Calibration:
    """The model as it is kept: few digits, no small weights, and .5 where something is said."""
    kept = {name: round(weight, 3) for name, weight in model.weights.items() if abs(weight) >= SMALL}
    return Calibration(bias=round(model.bias - log(least / (1 - least)), 3), weights=kept)


def reliability(true: Vector, chances: Vector) -> None:
    """Print how often what has a chance is right."""
    rows = [["chance", "examples", "mean chance", "right"]]
    for place in range(10):
        inside = (chances * 10).astype(int).clip(0, 9) == place
        if inside.any():
            means = [f"{values[inside].mean():.2f}" for values in (chances, true)]
            rows.append([f"{place / 10:.1f}", str(inside.sum()), *means])
    table("reliability, unseen", rows)


def said(lessons: Sequence[Lesson], chances: Vector, least: float) -> Tally:
    """What gold says of the facts of at least a chance."""
    tally, at = Tally(), 0
    for lesson in lessons:
        here = chances[at : at + len(lesson.facts)]
        at += len(lesson.facts)
        chosen = [one for one, chance in zip(lesson.facts, here, strict=True) if chance >= least]
        lesson.matcher.found = retold(lesson, chosen)
        count_facts(lesson.matcher, tally)
    return tally


def cells(tally: Tally) -> list[str]:
    """Of a line of a table, in the order of ``COLUMNS``."""
    all_, judged = tally.right + tally.neutral + tally.wrong, tally.right + tally.wrong
    shares = ((tally.right, judged), (tally.right, tally.required), (tally.right + tally.neutral, all_))
    return [str(all_), *(f"{ratio(part, whole):.3f}" for part, whole in shares)]


def trusted(lessons: Sequence[Lesson], chances: Vector) -> tuple[list[Lesson], Vector]:
    """The lessons that count fully, and the chances of their examples."""
    full = [lesson for lesson in lessons if COUNTS[lesson.set] == 1] or list(lessons)
    inside = np.array([lesson in full for lesson in lessons for _ in lesson.facts])
    return full, chances[inside]


def threshold(lessons: Sequence[Lesson], chances: Vector, aim: float) -> float:
    """The least chance above which precision stays at ``aim``; a curve is printed."""
    full, theirs = trusted(lessons, chances)
    rows, chosen, holds = [["chance", *COLUMNS]], CHANCES[0], True
    for least in CHANCES:
        tally = said(full, theirs, least)
        if tally.right + tally.wrong >= FEWEST:
            holds = holds and ratio(tally.right, tally.right + tally.wrong) >= aim
            chosen = least if holds else chosen
        rows.append([f"{least:.2f}", *cells(tally)])
    priors = np.array([one.prior for lesson in full for one in lesson.facts])
    rows.append(["authors", *cells(said(full, priors, 0.5))])
    table("said from a chance on, unseen", rows)
    return chosen


def by_rule(lessons: Sequence[Lesson], chances: Vector, least: float) -> None:
    """Print how often each rule is right, and how often with what is said."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one, chance in zip((one for lesson in lessons for one in lesson.facts), chances, strict=True):
        label = "right" if one.true else "wrong"
        counts[f"{one.rule} {one.claim.type}"].update([label, f"said {label}"] if chance >= least else [label])
    names = ["right", "wrong", "said right", "said wrong"]
    table(
        "rules", [["rule and type", *names], *([rule, *(str(count[name]) for name in names)]
                                               for rule, count in sorted(counts.items()))],
    )  # fmt: skip


def weights_table(learnt: Calibration) -> None:
    """Print weights, the heaviest first."""
    heaviest = sorted(learnt.weights.items(), key=lambda one: (-abs(one[1]), one[0]))
    table("weights", [["trait", "weight"], *([name, f"{weight:+.3f}"] for name, weight in heaviest)])


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.calibration", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--set", choices=list(COUNTS), action="append", help="gold to learn from; all where left out")
    parser.add_argument("--show", action="store_true", help="how often each rule is right, and the weights")
    parser.add_argument("--aim", type=float, default=AIM, help="precision from which on facts are said")
    parser.add_argument("--out", type=Path, default=FILE, help="where the weights go; the extractor's own file")
    asked = parser.parse_args()

    def bench_calibration() -> None:
        lessons = [lesson_of(name, one) for name in asked.set or COUNTS for one in load(name)]
        learnt = learn(lessons, asked.aim)
        if asked.show:
            by_rule(lessons, learnt.chances, learnt.least)
            weights_table(learnt.calibration)
        kept = msgspec.json.encode(learnt.calibration, order="sorted")
        asked.out.write_bytes(msgspec.json.format(kept, indent=1) + b"\n")
        print(f"\n{len(learnt.calibration.weights)} weights written to {asked.out.name}")

    run(bench_calibration)


if __name__ == "__main__":
    main()
