"""What a caller may let count in place of what was learnt: named sets of weights, and single weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from memsvc.errors import InvalidRequestError
from memsvc.recall.options import FACTORS, LEARNT, LINEAR, NOTHING, Weights

HEAVIEST = 100.0
"""The largest weight, either way."""
RELEVANCE = (
    "words", "nearby", "session", "vector", "nearby_vector", "session_vector", "late", "session_late",
)  # fmt: skip
"""The standardised scores: together what papers call relevance."""


def published(relevance: float, recency: float, importance: float, *, base: Weights = LINEAR) -> Weights:
    """A weighting of three, as papers give it.

    Our relevance is a sum of several scores. Their weights keep their proportions and are scaled so that they add up
    to ``relevance``; recency and importance lie between 0 and 1 and get theirs as they are; all else is off.

    Raises:
        ValueError: the base has no relevance at all.
    """
    total = sum(base[name] for name in RELEVANCE)
    if total <= 0:
        raise ValueError("The weights to start from have no relevance.")
    scaled = {name: base[name] * relevance / total for name in RELEVANCE}
    return {**NOTHING, **scaled, "recency": recency, "importance": importance}


PRESETS: Mapping[str, Weights] = {
    "learnt": LEARNT,
    "linear": LINEAR,
    "70-20-10": published(0.7, 0.2, 0.1),
    "50-30-20": published(0.5, 0.3, 0.2),
}
"""learnt: the default; linear: one set of weights for all queries; the others: relevance, recency and importance as
published by others."""


def chosen_weights(preset: str | None, weights: Mapping[str, float] | None) -> Weights:
    """The weights of a preset, with single ones replaced.

    Args:
        preset: a name of ``PRESETS``; None: learnt.
        weights: by names of ``FACTORS``, -100 to 100.

    Raises:
        InvalidRequestError: there is no such preset or factor, or a weight is not a number within these bounds.
    """
    if preset is not None and preset not in PRESETS:
        raise InvalidRequestError(
            f"There is no preset {preset!r:.60}.", hint=f"One of: {', '.join(PRESETS)}.", field="preset"
        )
    for name, weight in (weights or {}).items():
        if name not in FACTORS:
            raise InvalidRequestError(
                f"There is no factor {name!r:.60}.", hint=f"One of: {', '.join(FACTORS)}.", field="weights"
            )
        if not math.isfinite(weight) or abs(weight) > HEAVIEST:
            raise InvalidRequestError(
                f"The weight of {name} must be a number from {-HEAVIEST:g} to {HEAVIEST:g}.", field="weights"
            )
    return {**PRESETS[preset or "learnt"], **(weights or {})}


def read_weights(written: Sequence[str]) -> dict[str, float]:
    """Weights as a command line has them: ``recency=0.5``.

    Raises:
        InvalidRequestError: one is not of this form.
    """
    found: dict[str, float] = {}
    for one in written:
        name, given, number = one.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            given = ""
        if not given:
            raise InvalidRequestError(
                f"{one!r:.60} is not a weight.", hint="Write FACTOR=NUMBER, such as recency=0.5.", field="weights"
            )
    return found


def read_metadata(written: str | None) -> dict[str, Any] | None:
    """Metadata as a command line has it: a JSON object.

    Raises:
        InvalidRequestError: it is none.
    """
    if written is None:
        return None
    try:
        return msgspec.json.decode(written, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        raise InvalidRequestError(
            f"{written!r:.60} is no JSON object.", hint='Write one, such as {"tags": ["garden"]}.', field="metadata"
        ) from None
