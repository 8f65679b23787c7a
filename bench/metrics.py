"""What a ranking is worth, how long things take, and whether a difference is real.

``score`` follows the definitions of the bench sets (their ``tools``): recall@k is the share of the evidence in the
first k; NDCG@10 has gain 1 for evidence (Järvelin & Kekäläinen 2002); MRR is 1 / rank of the first evidence within the
ranking that is given. Questions without evidence have no score.
"""

from __future__ import annotations

import math
import random
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Mapping, Sequence

DEPTHS = (5, 10, 20)
METRICS = (*(f"recall@{k}" for k in DEPTHS), "ndcg@10", "mrr")
RESAMPLES = 10_000

Score = Mapping[str, float]


def score(ranked: Sequence[Hashable], evidence: Collection[Hashable]) -> dict[str, float]:
    """Score one ranking, best first; an id counts at its first rank only.

    Args:
        ranked: ids of turns, one a rank.
        evidence: ids that should be there, at least one.

    Returns:
        A value between 0 and 1 for each of ``METRICS``.
    """
    wanted = frozenset(evidence)
    places = [place for place, found in enumerate(dict.fromkeys(ranked)) if found in wanted]
    values = {f"recall@{k}": sum(place < k for place in places) / len(wanted) for k in DEPTHS}
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(wanted))))
    values["ndcg@10"] = sum(1 / math.log2(place + 2) for place in places if place < 10) / ideal
    values["mrr"] = 1 / (places[0] + 1) if places else 0.0
    return values


def means(scores: Collection[Score]) -> dict[str, float]:
    """Mean of each metric over questions; at least one."""
    return {metric: statistics.fmean(one[metric] for one in scores) for metric in METRICS}


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed (nearest rank).

    Args:
        values: at least one, in any order.
        share: above 0, at most 1; 0.5 is the median.
    """
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def paired_bootstrap(
    first: Sequence[float], second: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 1
) -> tuple[float, float, float]:
    """Mean of ``second - first`` over the same questions, with its 95 % percentile interval (Efron & Tibshirani 1993).

    The difference is significant at the 5 % level where the interval does not hold 0.

    Returns:
        (difference, low, high).
    """
    differences = [after - before for before, after in zip(first, second, strict=True)]
    draw = random.Random(seed)
    count = len(differences)
    drawn = sorted(sum(draw.choices(differences, k=count)) / count for _ in range(resamples))
    return statistics.fmean(differences), percentile(drawn, 0.025), percentile(drawn, 0.975)


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """How often a positive has a higher value than a negative, ties counting half: the area under the ROC curve.

    That is the Mann-Whitney U of the two, over the number of pairs (Hanley & McNeil 1982).

    Args:
        positive: values of at least one that should be high.
        negative: values of at least one that should be low.

    Returns:
        0 to 1; 0.5: the values tell nothing.
    """
    ordered = sorted(negative)
    won = sum(bisect_left(ordered, value) + bisect_right(ordered, value) for value in positive)
    return won / (2 * len(positive) * len(negative))


def auroc_interval(
    positive: Sequence[float], negative: Sequence[float], *, resamples: int = 1_000, seed: int = 1
) -> tuple[float, float]:
    """The 95 % percentile interval of ``auroc``, both sides drawn anew."""
    draw = random.Random(seed)
    drawn = [
        auroc(draw.choices(positive, k=len(positive)), draw.choices(negative, k=len(negative)))
        for _ in range(resamples)
    ]
    return percentile(drawn, 0.025), percentile(drawn, 0.975)
