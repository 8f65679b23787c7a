"""Likely links and salience: how many hidden links are found among the first 20, and what a large graph costs.

``python -m bench.links`` draws graphs in which people of a group tend to know each other, hides a tenth of the links,
and compares the task's score with common neighbours alone and with chance; descriptions are vectors that a group has in
common, with noise. Then it times PageRank and the search over 20,000 nodes and 100,000 links, in memory, without the
statements that read them. Results: bench/results/links.json.
"""

from __future__ import annotations

import json
import math
import random
import time
from pathlib import Path

from memsvc.analysis.likely import likely_links
from memsvc.analysis.network import Network
from memsvc.analysis.pagerank import pagerank
from memsvc.sleep.links import CONSIDERED, combined

RESULTS = Path(__file__).parent / "results" / "links.json"
SEEDS = range(301, 321)
NODES, GROUPS, LINKS, FIRST = 300, 15, 1_200, 20
WITHIN = 0.75
"""Share of links that stay in a group."""
DIMENSIONS, NOISE = 32, 1.2
LARGE = (20_000, 100_000)
Pair = tuple[int, int]


def drawn(lot: random.Random, nodes: int, links: int, group_of: list[int]) -> dict[Pair, float]:
    """Links with weights; a few nodes have many, whatever their index, so that no order of ties tells which."""
    known = lot.sample(range(nodes), nodes)
    members: dict[int, list[int]] = {}
    for node in range(nodes):
        members.setdefault(group_of[node], []).append(node)
    found: dict[Pair, float] = {}
    while len(found) < links:
        one = known[int(nodes * lot.random() ** 1.5)]
        other = lot.choice(members[group_of[one]]) if lot.random() < WITHIN else lot.randrange(nodes)
        if one != other:
            found[min(one, other), max(one, other)] = lot.uniform(0.5, 1)
    return found


def described(lot: random.Random, group_of: list[int]) -> list[list[float]]:
    """A unit vector for each node: that of its group, with noise."""
    centres = [[lot.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(max(group_of) + 1)]
    vectors = []
    for group in group_of:
        vector = [value + lot.gauss(0, NOISE) for value in centres[group]]
        length = math.sqrt(sum(value * value for value in vector))
        vectors.append([value / length for value in vector])
    return vectors


def one_graph(seed: int) -> dict[str, float]:
    """Precision among the first 20 of each way to rank pairs without a link."""
    lot = random.Random(seed)
    group_of = [lot.randrange(GROUPS) for _ in range(NODES)]
    links = drawn(lot, NODES, LINKS, group_of)
    hidden = set(lot.sample(sorted(links), len(links) // 10))
    shown = {pair: weight for pair, weight in links.items() if pair not in hidden}
    network = Network(NODES, [(*pair, weight) for pair, weight in shown.items()])
    vectors = described(lot, group_of)
    near = [{end for end, _ in network.around(node)} for node in range(NODES)]
    free = [(one, other) for one in range(NODES) for other in range(one + 1, NODES) if (one, other) not in shown]
    likely = likely_links(network, [True] * NODES, range(NODES), CONSIDERED)

    def meaning(one: int, other: int) -> float:
        return max(sum(a * b for a, b in zip(vectors[one], vectors[other], strict=True)), 0.0)

    ranked = {
        "neighbours_and_meaning": [
            (pair.one, pair.other)
            for pair in sorted(likely, key=lambda pair: -combined(pair.score, meaning(pair.one, pair.other)))
        ],
        "weighted_adamic_adar": [(pair.one, pair.other) for pair in likely],
        "common_neighbours": sorted(free, key=lambda pair: (-len(near[pair[0]] & near[pair[1]]), pair)),
    }
    figures = {name: sum(pair in hidden for pair in pairs[:FIRST]) / FIRST for name, pairs in ranked.items()}
    return figures | {"random": len(hidden) / len(free)}


def cost() -> dict[str, float]:
    """Seconds of a processor for a large graph."""
    lot = random.Random(11)
    nodes, count = LARGE
    links = drawn(lot, nodes, count, [lot.randrange(nodes // 20) for _ in range(nodes)])
    begun = time.process_time()
    network = Network(nodes, [(*pair, weight) for pair, weight in links.items()])
    built = time.process_time()
    pagerank(network, [0, *lot.sample(range(nodes), 20)])
    ranked = time.process_time()
    likely_links(network, [True] * nodes, range(nodes), CONSIDERED)
    return {
        "cost.network_s": built - begun, "cost.pagerank_s": ranked - built,
        "cost.likely_links_s": time.process_time() - ranked,
    }  # fmt: skip


def main() -> None:
    """Measure, print and store."""
    each = [one_graph(seed) for seed in SEEDS]
    figures = {f"precision_at_{FIRST}.{name}": sum(one[name] for one in each) / len(each) for name in each[0]}
    figures |= cost()
    configuration = {
        "seeds": list(SEEDS), "nodes": NODES, "links": LINKS, "groups": GROUPS, "hidden": LINKS // 10, "large": LARGE,
    }  # fmt: skip
    RESULTS.write_text(json.dumps({"configuration": configuration, "figures": figures}, indent=2) + "\n", "utf-8")
    for name, value in figures.items():
        print(f"{name:45} {value:.3f}")


if __name__ == "__main__":
    main()
