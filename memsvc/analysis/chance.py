"""Upper tail probabilities of three distributions, as -log10, so that nothing underflows."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, inf, lgamma, log, log1p

TEN = log(10)
NEVER = 300.0
"""Upper limit of the results; anything less probable makes no difference."""


def _choose(n: int, k: int) -> float:
    """Return the logarithm of the binomial coefficient n over k."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _surprise(logs: Iterable[float]) -> float:
    """Return -log10 of the sum of probabilities, given by their logarithms; 0 to ``NEVER``."""
    terms = list(logs)
    most = max(terms, default=-inf)
    if most == -inf:
        return NEVER
    return min(max(-(most + log(sum(exp(term - most) for term in terms))) / TEN, 0.0), NEVER)


def binomial(hits: int, tries: int, chance: float) -> float:
    """Return -log10 P(X >= hits) of a binomial variable.

    Args:
        hits: 0 to ``tries``.
        tries: number of trials.
        chance: probability of a hit in one trial, 0 to 1.
    """
    if hits <= 0 or chance >= 1:
        return 0.0
    if chance <= 0:
        return NEVER
    yes, no = log(chance), log1p(-chance)
    return _surprise(_choose(tries, k) + k * yes + (tries - k) * no for k in range(hits, tries + 1))


def poisson(hits: int, expected: float) -> float:
    """Return -log10 P(X >= hits) of a Poisson variable with a mean above 0."""
    if hits <= 0:
        return 0.0
    last = hits + 60 + int(10 * expected**0.5 + expected)  # later terms are too small to matter
    return _surprise(k * log(expected) - expected - lgamma(k + 1) for k in range(hits, last))


def together(both: int, one: int, other: int, days: int) -> float:
    """Return -log10 of the probability that two random sets of days share ``both`` or more days (hypergeometric).

    Args:
        both: number of days in both sets.
        one: size of the first set, at most ``days``.
        other: size of the second set, at most ``days``.
        days: number of all days.
    """
    least = max(both, one + other - days)
    return _surprise(
        _choose(one, k) + _choose(days - one, other - k) - _choose(days, other)
        for k in range(least, min(one, other) + 1)
    )
