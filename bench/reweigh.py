"""Weights tried on candidates that recall gave once: ranking, scoring and searching in memory, for ``bench.grid``.

A memory's score is the sum over its factors of weight x value. Recall is asked with every weight on and tells the
points of each factor, so value = points / weight, and any other weighting of the same candidates is one product of
matrices. What this leaves out: candidates behind the ones that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench.datasets import Key

Floats = NDArray[np.float64]
DEEPEST, CUT = 60, 10
"""Candidates that are looked through for ten different turns; parts of split messages take places."""
LADDER = (0.0, 0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.75, 1.0)
"""Values that a weight is tried with."""
GAIN = 1e-9
"""What a change must bring to count."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What recall gave for the questions of a set; Q questions, up to N candidates, F factors."""

    values: NDArray[np.float32]
    """(Q, N, F); 0 behind the last candidate."""
    there: NDArray[np.bool_]
    """(Q, N): a candidate stands here."""
    turn: NDArray[np.int32]
    """(Q, N): which turn it is, numbered within its question."""
    evidence: NDArray[np.bool_]
    """(Q, N): its turn is evidence."""
    wanted: NDArray[np.int32]
    """(Q,): turns of evidence that the question has, found or not; at least 1."""
    conversation: Sequence[str]
    """(Q,)"""


def gather(
    found: Sequence[Sequence[tuple[Key, Mapping[str, float]]]],
    evidence: Sequence[frozenset[Key]],
    conversation: Sequence[str],
    names: Sequence[str],
) -> Candidates:
    """Candidates as arrays.

    Args:
        found: for each question its candidates, best first: turn, and value by factor (0 where it is not named).
        evidence: of each question.
        conversation: of each question.
        names: the factors, in the order of the arrays.
    """
    questions, most = len(found), max((len(one) for one in found), default=0)
    place = {name: number for number, name in enumerate(names)}
    made = Candidates(
        np.zeros((questions, most, len(names)), np.float32),
        np.zeros((questions, most), np.bool_),
        np.full((questions, most), -1, np.int32),
        np.zeros((questions, most), np.bool_),
        np.array([len(one) for one in evidence], np.int32),
        list(conversation),
    )
    for number, candidates in enumerate(found):
        turns: dict[Key, int] = {}
        for rank, (turn, values) in enumerate(candidates):
            made.there[number, rank] = True
            made.turn[number, rank] = turns.setdefault(turn, len(turns))
            made.evidence[number, rank] = turn in evidence[number]
            for name, value in values.items():
                if name in place:
                    made.values[number, rank, place[name]] = value
    return made


def order(candidates: Candidates, weights: Floats) -> NDArray[np.intp]:
    """(Q, N): places of the candidates, best first; equals keep recall's order."""
    scores = candidates.values @ weights.astype(np.float32)
    return np.argsort(np.where(candidates.there, -scores, np.inf), axis=1, kind="stable")


def scores(candidates: Candidates, weights: Floats) -> Floats:
    """(Q, 2): recall@10 and NDCG@10 of each question, as ``bench.metrics.score`` has them, one turn a rank."""
    best = order(candidates, weights)[:, :DEEPEST]
    rows = np.arange(len(best))[:, None]
    turn, evidence, there = (one[rows, best] for one in (candidates.turn, candidates.evidence, candidates.there))
    depth = best.shape[1]
    before = np.tril(np.ones((depth, depth), np.bool_), -1)
    first = there & ~((turn[:, :, None] == turn[:, None, :]) & before).any(axis=2)
    rank = np.cumsum(first, axis=1)
    hit = first & evidence & (rank <= CUT)
    gains = np.where(hit, 1 / np.log2(np.maximum(rank, 1) + 1), 0.0).sum(axis=1)
    ideal = np.cumsum(1 / np.log2(np.arange(2, CUT + 2)))[np.minimum(candidates.wanted, CUT) - 1]
    return np.stack([hit.sum(axis=1) / candidates.wanted, gains / ideal], axis=1)


@dataclass(slots=True)
class Search:
    """Looks for one weighting for several sets: seeded draws, then one weight after another up the ladder.

    The objective is the mean over the sets of the mean over their questions of (recall@10 + NDCG@10) / 2.
    """

    sets: Mapping[str, Candidates]
    names: Sequence[str]
    start: Floats
    """(F,): where to begin; it is among the draws."""
    anchor: str
    """The weight that stays, for an order does not change where all weights grow alike."""
    draws: int = 300
    rounds: int = 2
    seed: int = 1
    _known: dict[tuple[float, ...], dict[str, Floats]] = field(default_factory=dict)
    _drawn: list[Floats] = field(default_factory=list)

    def of(self, weights: Floats) -> dict[str, Floats]:
        """Scores of each set's questions; kept, for searches without this and that conversation ask alike."""
        known = tuple(np.round(weights, 6).tolist())
        if known not in self._known:
            self._known[known] = {name: scores(one, weights) for name, one in self.sets.items()}
        return self._known[known]

    def tried(self) -> int:
        """How many weightings were looked at."""
        return len(self._known)

    def objective(self, weights: Floats, kept: Mapping[str, NDArray[np.bool_]]) -> float:
        """The objective over the questions that are kept of each set; a set without any is left out."""
        found = self.of(weights)
        return float(np.mean([found[name][mask].mean() for name, mask in kept.items() if mask.any()]))

    def everything(self) -> dict[str, NDArray[np.bool_]]:
        """All questions are kept."""
        return {name: np.ones(len(one.conversation), np.bool_) for name, one in self.sets.items()}

    def _first(self) -> list[Floats]:
        if not self._drawn:
            draw = np.random.default_rng(self.seed)
            self._drawn.append(self.start)
            for _ in range(self.draws):
                drawn = draw.choice(LADDER, len(self.names)) * (draw.random(len(self.names)) < 0.7)
                drawn[self.names.index(self.anchor)] = self.start[self.names.index(self.anchor)]
                self._drawn.append(drawn)
        return self._drawn

    def best(self, kept: Mapping[str, NDArray[np.bool_]]) -> Floats:
        """The best weighting for the questions that are kept."""
        found = max(self._first(), key=lambda one: self.objective(one, kept))
        reached = self.objective(found, kept)
        for _ in range(self.rounds):
            before = reached
            for place, name in enumerate(self.names):
                for value in LADDER if name != self.anchor else ():
                    tried = found.copy()
                    tried[place] = value
                    if (gained := self.objective(tried, kept)) > reached + GAIN:
                        found, reached = tried, gained
            if reached <= before + GAIN:
                break
        return found

    def cross_validated(self, done: Callable[[int], None] = lambda _count: None) -> dict[str, Floats]:
        """Each set's scores, every conversation by weights that were found without it."""
        out = {name: np.zeros((len(one.conversation), 2)) for name, one in self.sets.items()}
        for name, one in self.sets.items():
            of = np.array(one.conversation)
            for conversation in dict.fromkeys(one.conversation):
                kept = self.everything()
                kept[name] = of != conversation
                if not any(mask.any() for mask in kept.values()):
                    continue  # nothing else to learn from
                out[name][~kept[name]] = self.of(self.best(kept))[name][~kept[name]]
                done(1)
        return out
