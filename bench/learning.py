"""Learns weights of factors from questions whose answers are known, in memory, for ``bench.order``.

The order is linear: points are value times weight. A weight is a base and an addition for each trait of the query that
holds (``memsvc.recall.order``). It is learnt by the softmax cross-entropy of the evidence among the candidates
(ListNet; Cao et al. 2007), drawn towards the linear order, by Adam (Kingma & Ba 2015) over all questions at once, so
that the same candidates give the same weights. What speaks for a memory is never turned against it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.datasets import Key

Floats = NDArray[np.float64]
CUT = 10
PULL, PULL_OF_TRAITS = 0.02, 0.01
"""How strongly a weight is drawn to where it begins, and what a trait adds to 0: times the square of the distance."""
STEPS, STEP = 400, 0.03
DECAYS = (0.9, 0.999)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What recall looked at for one question; N candidates, F factors, T traits."""

    values: Floats
    """(N, F)."""
    traits: Floats
    """(T,): 0 or 1."""
    turns: Sequence[Key]
    """Of each candidate."""
    evidence: Collection[Key]
    """All of the question, found or not; one at least."""
    conversation: str
    category: str
    counts: float = 1.0
    """In learning."""

    @property
    def right(self) -> NDArray[np.bool_]:
        """(N,): the candidate's turn is evidence."""
        return np.array([turn in self.evidence for turn in self.turns])


def score(asked: Candidates, points: Floats) -> tuple[float, float]:
    """Recall@10 and NDCG@10 of an order by points, as ``bench.metrics.score`` has them."""
    seen: dict[Key, None] = {}
    for place in np.argsort(-points, kind="stable"):
        seen.setdefault(asked.turns[place])
        if len(seen) == CUT:
            break
    hits = [rank for rank, turn in enumerate(seen) if turn in asked.evidence]
    ideal = sum(1 / np.log2(rank + 2) for rank in range(min(CUT, len(asked.evidence))))
    return len(hits) / len(asked.evidence), float(sum(1 / np.log2(rank + 2) for rank in hits) / ideal)


def points(asked: Candidates, weights: Floats) -> Floats:
    """(N,): by weights of shape (F, 1 + T)."""
    found: Floats = asked.values @ (weights @ np.concatenate([[1.0], asked.traits]))
    return found


def scores(asked: Sequence[Candidates], weights: Floats) -> Floats:
    """(Q, 2): recall@10 and NDCG@10 of each question."""
    return np.array([score(one, points(one, weights)) for one in asked])


def learn(asked: Sequence[Candidates], start: Floats, never_below_0: NDArray[np.bool_]) -> Floats:
    """Weights of shape (F, 1 + T).

    Args:
        asked: the questions; those of which no evidence, or nothing else, was found teach nothing.
        start: (F,), the linear order's.
        never_below_0: (F,), factors whose weight stays at 0 or above, whatever traits hold.
    """
    taught = [one for one in asked if one.right.any() and not one.right.all()]
    values = np.concatenate([one.values for one in taught])
    lengths = np.array([len(one.turns) for one in taught])
    begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    of = np.repeat(np.arange(len(taught)), lengths)
    wanted = np.concatenate([one.right / one.right.sum() for one in taught])
    traits = np.array([[1.0, *one.traits] for one in taught])
    share = np.array([one.counts for one in taught])
    share /= share.sum()
    begin = np.zeros((len(start), traits.shape[1]))
    begin[:, 0] = start
    pull = np.full(begin.shape, PULL_OF_TRAITS)
    pull[:, 0] = PULL

    def gradient(weights: Floats) -> Floats:
        found = (values * (traits @ weights.T)[of]).sum(axis=1)
        odds = np.exp(found - np.maximum.reduceat(found, begins)[of])
        wrong = share[of] * (odds / np.add.reduceat(odds, begins)[of] - wanted)
        slope: Floats = np.add.reduceat(values * wrong[:, None], begins).T @ traits + 2 * pull * (weights - begin)
        return slope

    return _adam(begin.copy(), gradient, lambda weights: _kept_above(weights, never_below_0))


def _kept_above(weights: Floats, never_below_0: NDArray[np.bool_]) -> Floats:
    """Cut what would make a weight negative where all traits hold that count against it."""
    upward = weights[never_below_0]
    upward[:, 0] = np.maximum(upward[:, 0], 0)
    against = -np.minimum(upward[:, 1:], 0).sum(axis=1)
    share = np.where(against > upward[:, 0], upward[:, 0] / np.maximum(against, 1e-12), 1.0)
    upward[:, 1:] = np.where(upward[:, 1:] < 0, upward[:, 1:] * share[:, None], upward[:, 1:])
    weights[never_below_0] = upward
    return weights


def _adam(weights: Floats, gradient: Callable[[Floats], Floats], allowed: Callable[[Floats], Floats]) -> Floats:
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = gradient(weights)
        mean = DECAYS[0] * mean + (1 - DECAYS[0]) * slope
        square = DECAYS[1] * square + (1 - DECAYS[1]) * slope**2
        falling = STEP * (1 - (step - 1) / STEPS)
        weights -= falling * (mean / (1 - DECAYS[0] ** step)) / (np.sqrt(square / (1 - DECAYS[1] ** step)) + 1e-8)
        weights = allowed(weights)
    return weights


def left_out(asked: Sequence[Candidates], folds: int, learnt: Callable[[Sequence[Candidates]], Floats]) -> Floats:
    """(Q, 2): scores of each question by weights that were learnt without its conversation."""
    names = sorted({one.conversation for one in asked})
    fold = {name: place % folds for place, name in enumerate(names)}
    found = np.zeros((len(asked), 2))
    for number in range(folds):
        weights = learnt([one for one in asked if fold[one.conversation] != number])
        apart = [place for place, one in enumerate(asked) if fold[one.conversation] == number]
        if apart:
            found[apart] = scores([asked[place] for place in apart], weights)
    return found
