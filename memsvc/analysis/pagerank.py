"""Personalised PageRank: how often a random walk along facts is at each node, if it often restarts at given nodes.

Page, Brin, Motwani and Winograd, "The PageRank Citation Ranking" (1999), section 6, by power iteration.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from memsvc.analysis.network import Network
from memsvc.analysis.stopping import Check, go_on

DAMPING = 0.85
"""Probability that the walk goes on instead of restarting."""
NEAR_ENOUGH = 1e-7
"""The iteration ends when a step moves less than this, of 1 in total."""
MOST_STEPS = 200


def pagerank(network: Network, seeds: Sequence[int], damping: float = DAMPING, check: Check = go_on) -> array[float]:
    """Return the share of the walk's time at each node; the shares add up to 1.

    Args:
        network: the graph.
        seeds: nodes at which the walk starts, at least one; equally probable.
        damping: from 0 to below 1.
        check: called at each visit of a node; may raise, to stop.
    """
    size, starts, ends, weights = network.size, network.starts, network.ends, network.weights
    home = 1 / len(seeds)
    rank = array("d", bytes(8 * size))
    for seed in seeds:
        rank[seed] += home
    for _ in range(MOST_STEPS):
        following = array("d", bytes(8 * size))
        going = 0.0
        for node, (here, strength) in enumerate(zip(rank, network.strength, strict=True)):
            check()
            if here and strength:
                going += here
                share = damping * here / strength
                for position in range(starts[node], starts[node + 1]):
                    following[ends[position]] += share * weights[position]
        again = home * (1 - damping * going)
        for seed in seeds:
            following[seed] += again
        moved = sum(abs(new - old) for new, old in zip(following, rank, strict=True))
        rank = following
        if moved < NEAR_ENOUGH:
            break
    return rank
