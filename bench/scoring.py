"""Figures of what ``bench.matching`` counted, with 95 % bootstrap intervals over conversations."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from bench.harness import Outcome, table
from bench.matching import Tally
from bench.metrics import RESAMPLES, percentile

Sums = Mapping[str, int]


def ratio(part: int, whole: int) -> float:
    """A share; 0 of nothing is 0."""
    return part / whole if whole else 0.0


def f1(precision: float, recall: float) -> float:
    """Harmonic mean."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _facts_precision(sums: Sums) -> float:
    return ratio(sums["right"], sums["right"] + sums["wrong"])


def _facts_recall(sums: Sums) -> float:
    return ratio(sums["right"], sums["required"])


def _entities_precision(sums: Sums) -> float:
    return ratio(sums["entities_right"], sums["entities_right"] + sums["entities_wrong"])


def _entities_recall(sums: Sums) -> float:
    return ratio(sums["entities_right"], sums["entities_required"])


INTERVALS: dict[str, Callable[[Sums], float]] = {
    "facts.precision": _facts_precision,
    "facts.recall": _facts_recall,
    "facts.f1": lambda sums: f1(_facts_precision(sums), _facts_recall(sums)),
    "facts.true": lambda sums: ratio(sums["right"] + sums["neutral"], sums["right"] + sums["neutral"] + sums["wrong"]),
    "entities.precision": _entities_precision,
    "entities.recall": _entities_recall,
    "entities.f1": lambda sums: f1(_entities_precision(sums), _entities_recall(sums)),
}
"""Figures that come with an interval."""
COUNTED = (
    "right", "neutral", "wrong", "required", "entities_right", "entities_wrong", "entities_required",
)  # fmt: skip
"""Counts that these figures need."""
SHARES = {
    "quotes.verified": ("verified", "quotes"),
    "dates": ("dates_right", "dates"),
    "ended": ("ended_right", "ended"),
    "changes": ("changes_closed", "changes"),
    "changes.of_found": ("changes_closed", "changes_found"),
}
COUNTS = {
    "facts.right": "right", "facts.neutral": "neutral", "facts.wrong": "wrong", "facts.required": "required",
    "entities.right": "entities_right", "entities.neutral": "entities_neutral", "entities.wrong": "entities_wrong",
    "entities.required": "entities_required", "entities.split": "entities_split",
    "dates.n": "dates", "ended.n": "ended", "changes.n": "changes", "changes.found": "changes_found",
}  # fmt: skip
NUMBERS = [name for name, kind in Tally.__annotations__.items() if kind == "int"]


def sums_of(tallies: Sequence[Tally]) -> dict[str, int]:
    """The counts of several conversations together."""
    return {name: sum(getattr(tally, name) for tally in tallies) for name in NUMBERS}


def intervals(tallies: Sequence[Tally], *, resamples: int = RESAMPLES, seed: int = 1) -> dict[str, tuple[float, float]]:
    """The 95 % percentile interval of each figure, conversations drawn anew (Efron & Tibshirani 1993)."""
    draw = random.Random(seed)
    each = [[getattr(tally, name) for name in COUNTED] for tally in tallies]
    drawn: dict[str, list[float]] = {name: [] for name in INTERVALS}
    for _ in range(resamples):
        sums = dict(zip(COUNTED, map(sum, zip(*draw.choices(each, k=len(each)), strict=True)), strict=True))
        for name, figure in INTERVALS.items():
            drawn[name].append(figure(sums))
    return {name: (percentile(values, 0.025), percentile(values, 0.975)) for name, values in drawn.items()}


def figures(name: str, tallies: Sequence[Tally], outcome: Outcome, *, resamples: int = RESAMPLES) -> None:
    """Add ``<name>.facts.precision`` and all the others to the figures."""
    sums = sums_of(tallies)
    for key, (low, high) in intervals(tallies, resamples=resamples).items():
        full = f"{name}.{key}"
        outcome.figures |= {full: INTERVALS[key](sums), f"{full}.low": low, f"{full}.high": high}
    outcome.figures |= {f"{name}.{key}": ratio(sums[part], sums[whole]) for key, (part, whole) in SHARES.items()}
    outcome.figures |= {f"{name}.{key}": sums[count] for key, count in COUNTS.items()}
    required, right, wrong, fell = (
        sum((getattr(tally, part) for tally in tallies), Counter[str]())
        for part in ("required_of", "right_of", "wrong_of", "fell_for")
    )
    rows = [["type", "required", "found", "recall", "wrong"]]
    for kind in sorted(required | wrong, key=lambda one: (-required[one], one)):
        share = ratio(right[kind], required[kind])
        outcome.figures |= {f"{name}.facts.{kind}.recall": share, f"{name}.facts.{kind}.wrong": wrong[kind]}
        shown = f"{share:.2f}" if required[kind] else ""
        rows.append([kind, str(required[kind]), str(right[kind]), shown, str(wrong[kind])])
    table(f"{name}, facts by type", rows)
    for why, count in fell.most_common():
        outcome.figures[f"{name}.fell_for.{why.replace(' ', '_')}"] = count
    if fell:
        table(
            f"{name}, tempting wrong facts that were said", [["why", "facts"], *([w, str(n)] for w, n in fell.items())]
        )
