"""``python -m bench.calibration``: learns from gold how sure the offline extractor may be of what it finds.

Every fact that the rules find, doubtful ones too, is labelled by gold: true where it matches one of its facts, required
or not (``bench.matching``); every name of which no fact is said, where it names an entity and is of its type. Ridge
regressions over their traits (``memsvc.extract.offline.traits``) learn how likely such a fact, such a name, is right.
What they would be worth on what they have not seen is estimated conversation by conversation, each by a model that saw
none of it; the strength of the ridge, and the chance from which on something is said, are chosen by that. The weights
go to ``memsvc/extract/offline/calibration.json``, moved so that this chance becomes .5.

Rules are made while gold is read, so they do better on it than elsewhere: ``COUNTS`` says which sets were read most,
and ``AIM`` is above the bar for that reason. ``kept`` is never read. No database, half a minute; the same gold and
rules give the same bytes.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from bench.examples import FactExample, Lesson, NameExample, lesson_of, retold
from bench.gold import load
from bench.harness import run, table
from bench.logistic import Examples, Model, fit, loss, unseen
from bench.matching import Found, Tally, count_entities, count_facts
from bench.scoring import f1, ratio
from memsvc.extract.offline.calibration import FILE, Calibration, Weights

if TYPE_CHECKING:
    from bench.logistic import Vector

COUNTS = {"practice": 0.3, "open": 1.0}
"""What an example of each set counts: less where the rules were fitted to it. Those that count fully choose the least
chance."""
AIM = 0.92
"""Precision from which on facts are said, on conversations that the weights have not seen but the rules have. The bar
is .80 on those that nobody has seen, where precision was .1 lower before."""
RIDGES = (1.0, 2.0, 4.0, 8.0, 16.0)
LEAST = 4
"""Examples that a trait needs."""
SMALL = 0.03
"""Weights nearer to 0 are not kept."""
PRIOR = "prior"
"""Has no penalty: the more the ridge holds the other weights down, the more the authors are believed."""
RISING = (PRIOR, "rules", "clauses", "lead")
"""The surer the author, the more often it was found, the farther a type leads: the surer it is."""
CHANCES = [round(0.98 - 0.02 * step, 2) for step in range(45)]
FEWEST = 30
"""Facts that have to be said for a precision to mean something."""
COLUMNS = ("said", "precision", "recall", "true")


class Learnt(NamedTuple):
    """What was learnt of facts, or of names."""

    weights: Weights
    chances: Vector
    """Of each example, by weights that have not seen its conversation."""
    least: float
    """The chance from which on something is said."""


def learn(lessons: Sequence[Lesson], kind: str, least: Callable[[Vector], float]) -> Learnt:
    """Learn from the ``facts`` or the ``names`` of lessons.

    Args:
        lessons: what was found.
        kind: which of their examples.
        least: chooses from which chance on something is said, by the chances of all.
    """
    all_: list[tuple[Lesson, FactExample | NameExample]] = [
        (lesson, one) for lesson in lessons for one in getattr(lesson, kind)
    ]
    examples = Examples.of(
        [one.traits for _, one in all_], [one.true for _, one in all_], [COUNTS[lesson.set] for lesson, _ in all_]
    )
    folds = [lesson.gold.name for lesson, _ in all_]
    tried = {ridge: unseen(examples, folds, ridge, least=LEAST, rising=RISING, free=PRIOR) for ridge in RIDGES}
    losses = {ridge: loss(examples, chances) for ridge, chances in tried.items()}
    table(f"{kind}: ridge", [["penalty", "loss"], *([f"{ridge:g}", f"{one:.4f}"] for ridge, one in losses.items())])
    best = min(losses, key=losses.__getitem__)
    reliability(kind, examples.true, tried[best])
    border = least(tried[best])
    print(f"\n{kind}: said from {border:.2f} on; {len(all_)} examples, {examples.true.mean():.0%} of them right")
    return Learnt(rounded(fit(examples, best, least=LEAST, rising=RISING, free=PRIOR), border), tried[best], border)


def rounded(model: Model, least: float) -> Weights:
    """The model as it is kept: few digits, no small weights, and .5 where something is said."""
    kept = {name: round(weight, 3) for name, weight in model.weights.items() if abs(weight) >= SMALL}
    return Weights(bias=round(model.bias - log(least / (1 - least)), 3), weights=kept)


def reliability(kind: str, true: Vector, chances: Vector) -> None:
    """Print how often what has a chance is right."""
    rows = [["chance", "examples", "mean chance", "right"]]
    for place in range(10):
        inside = (chances * 10).astype(int).clip(0, 9) == place
        if inside.any():
            means = [f"{values[inside].mean():.2f}" for values in (chances, true)]
            rows.append([f"{place / 10:.1f}", str(inside.sum()), *means])
    table(f"{kind}: reliability, unseen", rows)


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


def trusted(lessons: Sequence[Lesson], kind: str, chances: Vector) -> tuple[list[Lesson], Vector]:
    """The lessons that count fully, and the chances of their examples."""
    full = [lesson for lesson in lessons if COUNTS[lesson.set] == 1] or list(lessons)
    inside = np.array([lesson in full for lesson in lessons for _ in getattr(lesson, kind)])
    return full, chances[inside]


def least_of_facts(lessons: Sequence[Lesson], chances: Vector, aim: float = AIM) -> float:
    """The least chance above which precision stays at ``aim``; a curve is printed."""
    full, theirs = trusted(lessons, "facts", chances)
    rows, chosen, holds = [["chance", *COLUMNS]], CHANCES[0], True
    for least in CHANCES:
        tally = said(full, theirs, least)
        if tally.right + tally.wrong >= FEWEST:
            holds = holds and ratio(tally.right, tally.right + tally.wrong) >= aim
            chosen = least if holds else chosen
        rows.append([f"{least:.2f}", *cells(tally)])
    priors = np.array([one.prior for lesson in full for one in lesson.facts])
    rows.append(["authors", *cells(said(full, priors, 0.5))])
    table("facts: said from a chance on, unseen", rows)
    return chosen


def least_of_names(lessons: Sequence[Lesson], chances: Vector) -> float:
    """The chance from which on names of which no fact is said give the best F1 of all; a curve is printed."""
    full, theirs = trusted(lessons, "names", chances)
    names = [one for lesson in full for one in lesson.names]
    tally = Tally()
    for lesson in full:
        lesson.matcher.found = Found(lesson.listed, [])
        count_entities(lesson.matcher, tally)
    rows, best = [["chance", "names", "precision", "recall", "F1"]], (0.0, 0.0)
    for least in CHANCES:
        left = [one for one, chance in zip(names, theirs, strict=True) if chance < least]
        right = tally.entities_right - sum(one.required for one in left)
        wrong = tally.entities_wrong - sum(not one.true for one in left)
        shares = ratio(right, right + wrong), ratio(right, tally.entities_required)
        best = max(best, (f1(*shares), least))
        figures = [f"{share:.3f}" for share in (*shares, f1(*shares))]
        rows.append([f"{least:.2f}", str(len(names) - len(left)), *figures])
    table("names: said from a chance on, unseen", rows)
    return best[1]


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


def weights_table(title: str, learnt: Weights) -> None:
    """Print weights, the heaviest first."""
    heaviest = sorted(learnt.weights.items(), key=lambda one: (-abs(one[1]), one[0]))
    table(title, [["trait", "weight"], *([name, f"{weight:+.3f}"] for name, weight in heaviest)])


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
        facts = learn(lessons, "facts", lambda chances: least_of_facts(lessons, chances, asked.aim))
        names = learn(lessons, "names", lambda chances: least_of_names(lessons, chances))
        if asked.show:
            by_rule(lessons, facts.chances, facts.least)
            weights_table("facts: weights", facts.weights)
            weights_table("names: weights", names.weights)
        kept = msgspec.json.encode(Calibration(facts=facts.weights, names=names.weights), order="sorted")
        asked.out.write_bytes(msgspec.json.format(kept, indent=1) + b"\n")
        print(f"\n{len(facts.weights.weights)} and {len(names.weights.weights)} weights written to {asked.out.name}")

    run(bench_calibration)


if __name__ == "__main__":
    main()
