"""Ways to ask that ``bench.recall`` compares: single arms, the defaults, published weightings, and ablations.

All are ``Weights`` of ``memsvc.recall.options``: a factor that is added there is measured here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memsvc.recall.options import BY_VECTORS, FACTORS, LEARNT, LINEAR, NOTHING, Form, Mode, Weights
from memsvc.recall.presets import PRESETS

NAMES = tuple(FACTORS)
AGES = ("recency", "strength")
"""What depends on when it is asked."""
PUBLISHED = {"published_70_20_10": "70-20-10", "published_50_30_20": "50-30-20"}
"""Weightings of others, by preset."""
TRIAL: Mapping[str, float] = {
    "words": 0.5, "vector": 0.5, "nearby": 0.1, "session": 0.25, "nearby_vector": 0.1, "session_vector": 0.25,
    "late": 0.5, "session_late": 0.25, "length": 0.5, "asks": -0.5, "answers": 0.4,
    "names": 0.5, "speaker": 0.25, "time": 0.5, "order": 0.25, "recency": 0.25,
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
        return any(self.weights.get(name, 1.0) for name in BY_VECTORS)

    @property
    def dated(self) -> bool:
        """Ages count, so that questions are asked as of the end of their conversation, not years later."""
        return any(counts(self.weights, name) for name in AGES)


def changed(weights: Weights, **values: float) -> Weights:
    """The weights with some of them replaced."""
    return {**weights, **values}


VARIANTS: Mapping[str, Variant] = {
    "bm25_simple": Variant(changed(NOTHING, words=1.0), "simple", facts=False),
    "bm25_english": Variant(changed(NOTHING, words=1.0), facts=False),
    "vector": Variant(changed(NOTHING, vector=1.0), facts=False),
    "fused": Variant(changed(NOTHING, words=0.5, vector=0.5), facts=False),
    "default": Variant(LEARNT),
    "linear": Variant(LINEAR),
    **{name: Variant(PRESETS[preset]) for name, preset in PUBLISHED.items()},
}
MODES: Mapping[str, Variant] = {
    "eager": Variant(LEARNT, mode="eager"),
    "default": VARIANTS["default"],
    "deliberate": Variant(LEARNT, mode="deliberate"),
}
"""How hard recall looks; the default is balanced."""
DIVERSE: Mapping[str, Variant] = {
    "diversity_30": Variant(LEARNT, diversity=0.3),
    "diversity_50": Variant(LEARNT, diversity=0.5),
}
"""Maximal marginal relevance."""
ALL: Mapping[str, Variant] = {**VARIANTS, **MODES, **DIVERSE}
"""What can be asked for by name; without saying, ``VARIANTS`` are asked."""
PLAIN = ("bm25_simple", "bm25_english")


def ablations(base: Weights = LEARNT, *, graph: bool = False) -> dict[str, Variant]:
    """Factor -> the base with it taken out or, where it is off and has something to act upon, put in."""
    return {
        name: Variant(changed(base, **{name: 0.0 if counts(base, name) else TRIAL[name]}))
        for name in NAMES
        if counts(base, name) or name not in untried(base, graph=graph)
    }


def counts(weights: Weights, name: str) -> float:
    """What a factor counts; what was learnt does where the linear order does."""
    return weights.get(name, LINEAR[name])


def untried(base: Weights = LEARNT, *, graph: bool = False) -> dict[str, str]:
    """Factors that no ablation shows on a set of messages, or of messages and a graph, and why."""
    lacking = {name: what for name, what in LACKING.items() if not (graph and what == "a graph")}
    return {
        name: f"needs {lacking[name]}, which this set does not hold" if name in lacking else "has no trial weight"
        for name in NAMES
        if not counts(base, name) and (name in lacking or name not in TRIAL)
    }
