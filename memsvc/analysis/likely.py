"""Likely missing links of a graph: pairs of nodes that have neighbours in common, by a weighted Adamic-Adar index.

A common neighbour counts the more, the stronger its links to both are and the fewer others it has: Adamic and Adar,
"Friends and neighbors on the Web" (2003), weighted as by Lü and Zhou, "Link prediction in weighted networks" (2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log1p
from typing import NamedTuple

from memsvc.analysis.network import Network
from memsvc.analysis.stopping import Check, go_on

MOST_NEIGHBOURS = 200
"""A node with more neighbours says nothing of them: everybody knows it."""
MOST_STEPS = 20_000_000
"""Steps along links that one search takes, about half a minute; nodes that come later in the order are left out."""
LEAST_COMMON = 2


class Likely(NamedTuple):
    """Two nodes without a link."""

    score: float
    """0 or more; comparable only within one graph."""
    one: int
    other: int
    common: int
    """How many neighbours they have in common."""


def likely_links(
    network: Network, counts: Sequence[bool], order: Iterable[int], most: int, check: Check = go_on
) -> list[Likely]:
    """Return the pairs with the highest scores, the highest first, then by index.

    Args:
        network: the graph.
        counts: by index; only such nodes are linked, and only such are neighbours that count.
        order: nodes whose pairs are looked for, in this order.
        most: pairs to return.
        check: called for each node; may raise, to stop.
    """
    shares = _shares(network, counts)
    found: list[Likely] = []
    done = bytearray(network.size)
    steps = 0
    for node in order:
        if not counts[node] or done[node]:
            continue
        check()
        done[node] = 1
        if steps > MOST_STEPS:
            break
        scores: dict[int, float] = {}
        common: dict[int, int] = {}
        near = {node}
        for middle, weight in network.around(node):
            near.add(middle)
            if not (share := shares[middle]):
                continue
            steps += network.starts[middle + 1] - network.starts[middle]
            for other, further in network.around(middle):
                if counts[other] and not done[other]:
                    scores[other] = scores.get(other, 0.0) + (weight + further) * share
                    common[other] = common.get(other, 0) + 1
        found += [
            Likely(score, min(node, other), max(node, other), common[other])
            for other, score in scores.items()
            if common[other] >= LEAST_COMMON and other not in near
        ]
        if len(found) > 20 * most:
            found = best(found, most)
    return best(found, most)


def _shares(network: Network, counts: Sequence[bool]) -> list[float]:
    """Return what each node counts as a common neighbour; 0: not at all."""
    shares = [0.0] * network.size
    for node, strength in enumerate(network.strength):
        neighbours = network.starts[node + 1] - network.starts[node]
        if counts[node] and strength and neighbours <= MOST_NEIGHBOURS:
            shares[node] = 1 / log1p(strength)
    return shares


def best(found: Iterable[Likely], most: int) -> list[Likely]:
    """Return the pairs with the highest scores, the highest first, then by index."""
    return sorted(found, key=lambda pair: (-pair.score, pair.one, pair.other))[:most]
