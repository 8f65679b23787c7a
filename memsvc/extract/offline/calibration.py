"""How sure a fact is: what gold says of those that look alike, rather than what a rule's author thinks.

A logistic regression over ``traits``; ``bench/calibration.py`` learns its weights and writes ``calibration.json``, so
that a confidence of ``LEAST`` is where saying a fact is worth it (docs/adr/0020-learnt-confidence.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import exp
from pathlib import Path

import msgspec

from memsvc.extract.offline.findings import Finding
from memsvc.extract.offline.traits import traits

LEAST = 0.5
"""Facts of less confidence are put before a person; ``memsvc.extract.validation`` has the same."""
FILE = Path(__file__).with_name("calibration.json")
Judge = Callable[[Sequence[Finding]], float]
"""How sure a fact is, above 0 and at most 1, by all findings that tell it, the one of the highest prior first."""


class Calibration(msgspec.Struct, frozen=True):
    """``calibration.json``."""

    bias: float
    weights: dict[str, float]
    """Trait -> how much it adds to the log odds; what is not here adds nothing."""

    def confidence(self, seen: Mapping[str, float]) -> float:
        """The chance that what has these traits is true, moved so that it is .5 where it is just worth saying."""
        odds = self.bias + sum(self.weights.get(trait, 0.0) * value for trait, value in seen.items())
        return 1 / (1 + exp(-odds))


@cache
def load() -> Calibration:
    """The calibration that comes with the rules."""
    return msgspec.json.decode(FILE.read_bytes(), type=Calibration)


def by_authors(same: Sequence[Finding]) -> float:
    """What the author of the surest rule thinks."""
    return same[0].confidence


def by_gold(same: Sequence[Finding]) -> float:
    """What gold says of findings like these."""
    return load().confidence(traits(same))
