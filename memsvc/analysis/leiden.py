"""Communities by the Leiden algorithm: groups of nodes with more weight inside than expected by chance.

Traag, Waltman and van Eck, "From Louvain to Leiden: guaranteeing well-connected communities" (2019), by modularity.
Implemented from the paper, because the known programs are under the GPL (ADR 0029). Three steps are repeated: nodes
move to the neighbouring community with the highest gain; each community is refined into connected parts; the parts
become the nodes of a smaller graph. Each round visits each pair of nodes a few times; 100,000 pairs take some seconds.
"""

from __future__ import annotations

import math
import random
from array import array
from collections import deque
from collections.abc import Sequence

from memsvc.analysis.network import Network
from memsvc.analysis.stopping import Check, go_on

RANDOMNESS = 0.01
"""Randomness of the refinement (theta in the paper): how often a part joins one that is not the best."""
TIE = 1e-12
"""Gains that differ by less count as equal, so that rounding errors do not move a node endlessly."""
SEED = 1
"""A fixed seed: the same graph gives the same communities."""


def modularity(network: Network, community: Sequence[int], resolution: float = 1.0) -> float:
    """Return how much more weight lies within communities than expected by chance, -0.5 to 1 (Newman 2004)."""
    if not network.total:
        return 0.0
    within, strength = 0.0, [0.0] * (max(community, default=-1) + 1)
    for node in range(network.size):
        strength[community[node]] += network.strength[node]
        within += sum(weight for end, weight in network.around(node) if community[end] == community[node])
    chance = sum(part * part for part in strength) / network.total
    return (within - resolution * chance) / network.total


def leiden(network: Network, resolution: float = 1.0, seed: int = SEED, check: Check = go_on) -> list[int]:
    """Return the community of each node, numbered from 0, the largest first.

    Args:
        network: the graph; nodes without neighbours are communities of their own.
        resolution: above 1 for more and smaller communities, below 1 for fewer.
        seed: seed of the order in which nodes are visited.
        check: called at each visit of a node; may raise, to stop.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    small = network
    part = list(range(network.size))  # the node of the small graph to which each node of the whole graph belongs
    community = list(range(network.size))
    while True:
        community = _move(small, community, resolution, rng, check)
        if len(set(community)) == small.size:
            break
        refined = _refine(small, community, resolution, rng, check)
        parts = _numbered(refined)
        if max(parts) + 1 == small.size:  # the refinement joined no nodes, so the communities are final
            break
        above = [0] * (max(parts) + 1)
        for node, number in enumerate(parts):
            above[number] = community[node]
        small = _aggregate(small, parts, check)
        part = [parts[node] for node in part]
        community = _numbered(above)
    return _by_size([community[node] for node in part])


def _move(network: Network, given: Sequence[int], resolution: float, rng: random.Random, check: Check) -> list[int]:
    """Move nodes to the neighbouring community with the highest gain, until no node gains (fast local moving)."""
    community = list(given)
    strength = [0.0] * (network.size + 1)  # one more, because there is always an empty community
    members = [0] * (network.size + 1)
    for node, number in enumerate(community):
        strength[number] += network.strength[node]
        members[number] += 1
    order = list(range(network.size))
    rng.shuffle(order)
    waiting, queue = bytearray(b"\x01" * network.size), deque(order)
    empty = [number for number in range(network.size + 1) if not members[number]]
    factor = resolution / network.total if network.total else 0.0
    while queue:
        check()
        node = queue.popleft()
        waiting[node] = 0
        home, mine = community[node], network.strength[node]
        strength[home] -= mine
        members[home] -= 1
        if not members[home]:
            empty.append(home)
        between: dict[int, float] = {home: 0.0, empty[-1]: 0.0}
        for end, weight in network.around(node):
            if end != node:
                number = community[end]
                between[number] = between.get(number, 0.0) + weight
        best = _best(home, between, strength, factor * mine)
        community[node] = best
        strength[best] += mine
        members[best] += 1
        if best == empty[-1]:
            empty.pop()
        if best != home:
            for end, _ in network.around(node):
                if not waiting[end] and community[end] != best:
                    waiting[end] = 1
                    queue.append(end)
    return community


def _best(home: int, between: dict[int, float], strength: Sequence[float], mine: float) -> int:
    """Return the community in which a node gains most; its present one if no other gains more.

    Args:
        home: the present community.
        between: weight between the node and each community.
        strength: strength of each community, without the node.
        mine: the node's strength as a share of the whole graph's.
    """
    best, most = home, between[home] - mine * strength[home] + TIE
    for number, weight in between.items():
        gain = weight - mine * strength[number]
        if gain > most:
            best, most = number, gain
    return best


def _refine(
    network: Network, community: Sequence[int], resolution: float, rng: random.Random, check: Check
) -> list[int]:
    """Split communities into parts: single nodes join parts of their own community to which they are well connected."""
    part = list(range(network.size))
    strength, outside = list(network.strength), [0.0] * network.size  # of parts; outside: to the rest of the community
    whole = [0.0] * (max(community) + 1)
    for node, number in enumerate(community):
        whole[number] += network.strength[node]
        outside[node] = sum(w for end, w in network.around(node) if end != node and community[end] == number)
    alone = bytearray(b"\x01" * network.size)
    factor = resolution / network.total if network.total else 0.0
    order = list(range(network.size))
    rng.shuffle(order)
    for node in order:
        check()
        number, mine = community[node], network.strength[node]
        if not alone[node] or outside[node] < factor * mine * (whole[number] - mine):
            continue
        between: dict[int, float] = {}
        for end, weight in network.around(node):
            if end != node and community[end] == number:
                between[part[end]] = between.get(part[end], 0.0) + weight
        chosen = _choose(
            [
                (one, weight - factor * mine * strength[one], weight)
                for one, weight in between.items()
                if outside[one] >= factor * strength[one] * (whole[number] - strength[one])
            ],
            rng,
        )
        if chosen is not None:
            one, weight = chosen
            part[node] = one
            outside[one] += outside[node] - 2 * weight
            strength[one] += mine
            alone[node] = alone[one] = 0
    return part


def _choose(options: Sequence[tuple[int, float, float]], rng: random.Random) -> tuple[int, float] | None:
    """Choose one of the parts (number, gain, weight) with a gain at random; higher gains are more probable."""
    good = [option for option in options if option[1] > 0]
    if not good:
        return None
    best = max(gain for _, gain, _ in good)
    odds = [math.exp((gain - best) / RANDOMNESS) for _, gain, _ in good]
    number, _, weight = rng.choices(good, odds)[0]
    return number, weight


def _aggregate(network: Network, parts: Sequence[int], check: Check) -> Network:
    """Return the graph whose nodes are the parts."""
    size = max(parts) + 1
    between: dict[int, float] = {}
    for node in range(network.size):
        check()
        one = parts[node]
        for end, weight in network.around(node):
            other = parts[end]
            if one <= other:  # a pair is found from both its nodes; within one part it becomes a loop of double weight
                key = one * size + other
                between[key] = between.get(key, 0.0) + (weight / 2 if one == other else weight)
    return Network(size, ((key // size, key % size, weight) for key, weight in between.items()), check)


def _numbered(labels: Sequence[int]) -> list[int]:
    """Return the same groups, numbered from 0 in the order in which they occur."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def _by_size(community: Sequence[int]) -> list[int]:
    """Return the same groups, numbered by size, the largest first."""
    size = array("I", bytes(4 * (max(community, default=-1) + 1)))
    for number in community:
        size[number] += 1
    order = sorted(range(len(size)), key=lambda number: -size[number])
    rank = {number: index for index, number in enumerate(order) if size[number]}
    return [rank[number] for number in community]
