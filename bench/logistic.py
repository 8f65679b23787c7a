"""Logistic regression with a ridge penalty, by Newton's method, and how well it would do on what it has not seen.

Small data: some hundred examples, some hundred traits, so everything is dense and exact, and the same data give the
same weights. The method is iteratively reweighted least squares (McCullagh & Nelder 1989, section 2.5).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

Traits = Mapping[str, float]
STEPS, CLOSE = 50, 1e-9
"""Newton steps at most, and the largest change of a weight at which it is done."""
FREE = 1e-6
"""Penalty of what has none, so that the matrix can be inverted whatever the data."""
ROUNDS = 10
"""Times that weights of the wrong sign are looked for."""


@dataclass(frozen=True, slots=True)
class Model:
    """Weights by trait."""

    bias: float
    weights: dict[str, float]


@dataclass(frozen=True, slots=True)
class Examples:
    """What is to be learnt."""

    names: list[str]
    """Traits."""
    rows: Vector
    """(examples, traits)"""
    true: Vector
    """1 where an example is true, else 0."""
    counts: Vector
    """What each example counts."""

    @classmethod
    def of(cls, seen: Sequence[Traits], true: Sequence[bool], counts: Sequence[float]) -> Examples:
        """Examples by their traits."""
        names = sorted({trait for one in seen for trait in one})
        rows = np.array([[one.get(name, 0.0) for name in names] for one in seen])
        return cls(names, rows, np.array(true, dtype=np.float64), np.array(counts, dtype=np.float64))

    def only(self, inside: NDArray[np.bool_]) -> Examples:
        """Some of them."""
        return Examples(self.names, self.rows[inside], self.true[inside], self.counts[inside])


def fit(
    examples: Examples, ridge: float, *, least: int = 1, rising: Collection[str] = (), free: str = ""
) -> Model:  # fmt: skip
    """Learn weights.

    Args:
        examples: at least one.
        ridge: half the penalty on the square of each weight; the bias is free.
        least: traits of fewer examples are left out.
        rising: traits whose weight must not be below 0; where the data want it so they are left out.
        free: a trait whose weight has no penalty, as the bias.
    """
    often = (examples.rows != 0).sum(axis=0)
    kept = [place for place in range(len(examples.names)) if often[place] >= least]
    for _ in range(ROUNDS):
        penalty = np.array([FREE, *(FREE if examples.names[place] == free else ridge for place in kept)])
        weights = _solve(examples.rows[:, kept], examples.true, examples.counts, penalty)
        falling = [
            place
            for place, weight in zip(kept, weights[1:], strict=True)
            if weight < 0 and examples.names[place] in rising
        ]
        if not falling:
            break
        kept = [place for place in kept if place not in falling]
    return Model(float(weights[0]), {examples.names[at]: float(one) for at, one in zip(kept, weights[1:], strict=True)})


def chance(model: Model, seen: Traits) -> float:
    """The chance of what has these traits, 0 to 1; traits that the model does not know add nothing."""
    odds = model.bias + sum(model.weights.get(trait, 0.0) * value for trait, value in seen.items())
    return float(_sigmoid(np.array(odds)))


def unseen(
    examples: Examples, folds: Sequence[Hashable], ridge: float, *, least: int = 1, rising: Collection[str] = (),
    free: str = "",
) -> Vector:  # fmt: skip
    """The chance of each example by a model that has seen no example of its fold."""
    found = np.zeros(len(examples.true))
    for fold in dict.fromkeys(folds):
        inside = np.array([one == fold for one in folds])
        model = fit(examples.only(~inside), ridge, least=least, rising=rising, free=free)
        weights = np.array([model.weights.get(name, 0.0) for name in examples.names])
        found[inside] = _sigmoid(model.bias + examples.rows[inside] @ weights)
    return found


def loss(examples: Examples, chances: Vector) -> float:
    """Mean negative log likelihood; 0 is perfect, log 2 is a coin's."""
    likelihoods = examples.true * np.log(chances) + (1 - examples.true) * np.log(1 - chances)
    return float(-np.average(likelihoods, weights=examples.counts))


def _solve(rows: Vector, true: Vector, counts: Vector, penalty: Vector) -> Vector:
    """The bias and the weights."""
    rows = np.hstack([np.ones((len(rows), 1)), rows])
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chances = _sigmoid(rows @ weights)
        slope = rows.T @ (counts * (chances - true)) + penalty * weights
        bend = (rows * (counts * chances * (1 - chances))[:, None]).T @ rows + np.diag(penalty)
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < CLOSE:
            break
    return weights


def _sigmoid(odds: Vector) -> Vector:
    return 1 / (1 + np.exp(-odds))
