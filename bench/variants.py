"""Ways to ask that ``bench.recall`` compares: single arms, the defaults, published weightings, and ablations.

All are ``Weights`` of ``memsvc.recall.options``, taken field by field: a weight that is added there is measured here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from memsvc.recall.options import DEFAULT, Form, Mode, Weights

NAMES = tuple(one.name for one in msgspec.structs.fields(Weights))
NONE = Weights(**dict.fromkeys(NAMES, 0.0))
"""Nothing counts; to be built upon."""
RELEVANCE = ("words", "nearby", "session", "vector", "nearby_vector", "session_vector", "late")
"""The standardised scores: together what papers call relevance."""
VECTORS = ("vector", "nearby_vector", "session_vector", "late")
"""What needs the query's vector."""
AGES = ("recency", "strength")
"""What depends on when it is asked."""
PUBLISHED = {"published_70_20_10": (0.7, 0.2, 0.1), "published_50_30_20": (0.5, 0.3, 0.2)}
"""Relevance, recency, importance."""
TRIAL: Mapping[str, float] = {
    "words": 0.5, "vector": 0.5, "nearby": 0.1, "session": 0.25, "nearby_vector": 0.1, "session_vector": 0.25,
    "late": 0.5, "names": 0.5, "speaker": 0.25, "time": 0.5, "order": 0.25, "recency": 0.25,
    "importance": 0.25, "strength": 0.25,
    "familiarity": 0.25, "usefulness": 0.25, "kind": 0.25, "distance": 0.25, "place": 2.0,
    "sentiment": 0.25, "staleness": 0.25,
}  # fmt: skip
"""What a weight that is off by default gets where it is tried."""
LACKING: Mapping[str, str] = {
    "names": "a graph", "kind": "a graph", "distance": "a graph", "place": "places", "staleness": "facts that ended",
    "strength": "earlier recalls", "familiarity": "earlier recalls", "usefulness": "feedback",
    "importance": "judgements", "sentiment": "judgements",
}  # fmt: skip
"""Weights for which a set of messages holds nothing, and what it would need: they are not tried there."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to ask."""

    weights: Weights
    form: Form = "stemmed"
    facts: bool = True
    """Facts may be answers; single arms are asked for messages alone."""
    mode: Mode = "balanced"
    diversity: float = 0.0

    @property
    def embeds(self) -> bool:
        """It needs the query's vector."""
        return any(getattr(self.weights, name) for name in VECTORS)

    @property
    def dated(self) -> bool:
        """Ages count, so that questions are asked as of the end of their conversation, not years later."""
        return any(getattr(self.weights, name) for name in AGES)


def changed(weights: Weights, **values: float) -> Weights:
    """The weights with some of them replaced."""
    return msgspec.structs.replace(weights, **values)


def published(relevance: float, recency: float, importance: float, *, base: Weights = DEFAULT) -> Weights:
    """A weighting of three, as papers give it.

    Our relevance is a sum of several scores. Their weights keep their proportions and are scaled so that they add up
    to ``relevance``; recency and importance lie between 0 and 1 and get theirs as they are; all else is off.

    Raises:
        ValueError: the base has no relevance at all.
    """
    total = sum(getattr(base, name) for name in RELEVANCE)
    if total <= 0:
        raise ValueError("The weights to start from have no relevance.")
    scaled = {name: getattr(base, name) * relevance / total for name in RELEVANCE}
    return changed(NONE, **scaled, recency=recency, importance=importance)


VARIANTS: Mapping[str, Variant] = {
    "bm25_simple": Variant(changed(NONE, words=1.0), "simple", facts=False),
    "bm25_english": Variant(changed(NONE, words=1.0), facts=False),
    "vector": Variant(changed(NONE, vector=1.0), facts=False),
    "fused": Variant(changed(NONE, words=0.5, vector=0.5), facts=False),
    "default": Variant(DEFAULT),
    **{name: Variant(published(*ratio)) for name, ratio in PUBLISHED.items()},
}
MODES: Mapping[str, Variant] = {
    "eager": Variant(DEFAULT, mode="eager"),
    "default": VARIANTS["default"],
    "deliberate": Variant(DEFAULT, mode="deliberate"),
}
"""How hard recall looks; the default is balanced."""
DIVERSE: Mapping[str, Variant] = {
    "diversity_30": Variant(DEFAULT, diversity=0.3),
    "diversity_50": Variant(DEFAULT, diversity=0.5),
}
"""Maximal marginal relevance."""
ALL: Mapping[str, Variant] = {**VARIANTS, **MODES, **DIVERSE}
"""What can be asked for by name; without saying, ``VARIANTS`` are asked."""
PLAIN = ("bm25_simple", "bm25_english")


def ablations(base: Weights = DEFAULT, *, graph: bool = False) -> dict[str, Variant]:
    """Weight -> the defaults with it taken out or, where it is off and has something to act upon, put in."""
    return {
        name: Variant(changed(base, **{name: 0.0 if getattr(base, name) else TRIAL[name]}))
        for name in NAMES
        if getattr(base, name) or name not in untried(base, graph=graph)
    }


def untried(base: Weights = DEFAULT, *, graph: bool = False) -> dict[str, str]:
    """Weights that no ablation shows on a set of messages, or of messages and a graph, and why."""
    lacking = {name: what for name, what in LACKING.items() if not (graph and what == "a graph")}
    return {
        name: f"needs {lacking[name]}, which this set does not hold" if name in lacking else "has no trial weight"
        for name in NAMES
        if not getattr(base, name) and (name in lacking or name not in TRIAL)
    }
