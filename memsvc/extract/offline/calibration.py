"""How sure facts and names are: what gold says of those that look alike, rather than what a rule's author thinks.

Logistic regressions over ``traits``; ``bench/calibration.py`` learns their weights and writes ``calibration.json``, so
that a confidence of ``LEAST`` is where saying it is worth it (docs/adr/0020-learnt-confidence.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from memsvc.extract.offline.traits import of_fact, of_name

if TYPE_CHECKING:
    from spacy.tokens import Span

    from memsvc.extract.offline.cast import Entry
    from memsvc.extract.offline.findings import Finding

LEAST = 0.5
"""Facts of less confidence are put before a person; ``memsvc.extract.validation`` has the same."""
FILE = Path(__file__).with_name("calibration.json")


class Weights(msgspec.Struct, frozen=True):
    """Of one regression."""

    bias: float
    weights: dict[str, float]
    """Trait -> how much it adds to the log odds; what is not here adds nothing."""

    def confidence(self, traits: Mapping[str, float]) -> float:
        """The chance that what has these traits is right, moved so that it is .5 where it is just worth saying."""
        odds = self.bias + sum(self.weights.get(trait, 0.0) * value for trait, value in traits.items())
        return 1 / (1 + exp(-odds))


class Calibration(msgspec.Struct, frozen=True):
    """``calibration.json``."""

    facts: Weights
    names: Weights


class Judge(NamedTuple):
    """Who says how sure something is; chances are above 0 and at most 1."""

    fact: Callable[[Sequence[Finding]], float]
    """By all findings that tell a fact, the one of the highest prior first."""
    name: Callable[[Entry, Sequence[Span]], float]
    """That a name is one, and of its type: by its entry, and where it stands."""


@cache
def load() -> Calibration:
    """The calibration that comes with the rules."""
    return msgspec.json.decode(FILE.read_bytes(), type=Calibration)


AUTHORS = Judge(fact=lambda same: same[0].confidence, name=lambda _entry, _where: 1.0)
"""The authors of the rules: the prior of the surest one; they trust every name."""
GOLD = Judge(
    fact=lambda same: load().facts.confidence(of_fact(same)),
    name=lambda entry, where: load().names.confidence(of_name(entry, where)),
)
"""What was learnt from gold."""
