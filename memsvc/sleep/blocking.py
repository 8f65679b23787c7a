"""Chooses pairs of nodes worth comparing: those that share a rare key (blocking; Christen, Data Matching, 2012, ch. 4).

Each node gets several keys of each kind from its names and attributes, so that a typo spoils only some of them. Nodes
with the same key form a block. Blocks of more than ``LARGEST`` nodes are left out, because keys made of two parts split
them. A pair scores the sum of the weights of its common keys, log2(nodes / block), and each node keeps its best
``NEAREST``. The work is linear in the number of keys; a million keys take some seconds and 100 MB.
"""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

LARGEST = 60
NEAREST = 12
MOST_WORDS = 6
MOST_ATTRIBUTES = 12
SMALL = 10_000
"""Up to this many nodes, one rare common key is enough for a comparison."""
LEAST_WEIGHT = 8.0
"""Least score of a pair in a small graph, in bits. In a large graph it is 2 log2(nodes): twice what identifies one node
by chance, because the keys of one name depend on each other. Measured on Febrl's records among 100,000 others: .978 of
the true pairs among 131,612 candidates; 8 bits give .985 among 757,696."""
INDEX_BITS = 24
"""Bits of a node's index: at most 16 million nodes."""
SOUNDS = str.maketrans(
    {
        **dict.fromkeys("bfpv", "1"), **dict.fromkeys("cgjkqsxz", "2"), **dict.fromkeys("dt", "3"), "l": "4",
        **dict.fromkeys("mn", "5"), "r": "6", **dict.fromkeys("aeiouyhw", ""),
    }
)  # fmt: skip


def sound(word: str) -> str:
    """Return a code for how a word sounds: its first letter, then classes of consonants, four signs in all.

    No class occurs twice in a row. Soundex without its rule for h and w (Russell 1918), on words in normal form; other
    scripts are kept.
    """
    code = word[:1]
    for sign in word[1:].translate(SOUNDS):
        if sign != code[-1:]:
            code += sign
    return code[:4]


def keys_of(names: Iterable[str], attributes: Mapping[str, str]) -> set[str]:
    """Return the keys of a node.

    Args:
        names: in normal form.
        attributes: properties with one value, in normal form.
    """
    keys: set[str] = set()
    firsts: set[str] = set()
    for name in names:
        words = name.split()[:MOST_WORDS]
        firsts.update(word[0] for word in words)
        keys.add("=" + " ".join(sorted(words)))
        keys.update("w" + word for word in words if len(word) > 1)
        keys.update("g" + name.replace(" ", "")[:5] for _ in words[:1])
        sounds = sorted({sound(word) for word in words})
        keys.update(f"s{one}|{two}" for one, two in combinations(sounds, 2))
        if len(words) == 1:
            keys.add("s" + sounds[0])
    values = [(name, value) for name, value in sorted(attributes.items()) if value][:MOST_ATTRIBUTES]
    for name, value in values:
        keys.add(f"a{name}={value}")
        keys.update(f"b{name}={value}|{first}" for first in firsts)
    keys.update(f"c{one[0]}={one[1]}|{two[0]}={two[1]}" for one, two in combinations(values, 2))
    return keys


class Blocks:
    """Collects the keys of nodes, then yields the pairs worth comparing."""

    def __init__(self) -> None:
        """Start without nodes."""
        self._entries = array("Q")
        self.nodes = 0

    def add(self, keys: Iterable[str]) -> int:
        """Add a node, and return its index, from 0."""
        index = self.nodes
        for key in keys:
            raw = key.encode()
            digest = zlib.crc32(raw) | zlib.adler32(raw) << 32
            self._entries.append((digest * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF) >> INDEX_BITS << INDEX_BITS | index)
        self.nodes += 1
        return index

    def pairs(self, wanted: Sequence[bool] | None = None) -> Iterator[tuple[int, int]]:
        """Yield pairs of indexes in order, the smaller index first.

        Args:
            wanted: by index; only pairs with at least one wanted node are yielded. None: all.
        """
        blocks, of_node = self._blocks()
        least = 2 * math.log2(self.nodes) if self.nodes > SMALL else LEAST_WEIGHT
        best: list[list[int]] = [[] for _ in range(self.nodes)]
        for index, mine in enumerate(of_node):
            if wanted is not None and not wanted[index]:
                continue
            weights: dict[int, float] = {}
            for number in mine:
                block = blocks[number]
                weight = math.log2(self.nodes / len(block)) if self.nodes > LARGEST else LEAST_WEIGHT
                for other in block:
                    weights[other] = weights.get(other, 0.0) + weight
            weights.pop(index, None)
            near = sorted((-weight, other) for other, weight in weights.items() if weight >= least)[:NEAREST]
            for _, other in near:
                low, high = (index, other) if index < other else (other, index)
                best[low].append(high)
        for low, others in enumerate(best):
            for high in sorted(set(others)):
                yield low, high

    def _blocks(self) -> tuple[list[array[int]], list[array[int]]]:
        """Return the members of each block that is kept, and the blocks of each node."""
        blocks: list[array[int]] = []
        of_node = [array("I") for _ in range(self.nodes)]
        mask = (1 << INDEX_BITS) - 1
        members = array("I")
        last = -1
        for entry in [*sorted(self._entries), -1]:
            key = entry >> INDEX_BITS
            if key != last:
                if 1 < len(members) <= LARGEST:
                    for index in members:
                        of_node[index].append(len(blocks))
                    blocks.append(members)
                members = array("I")
                last = key
            if entry >= 0:
                members.append(entry & mask)
        self._entries = array("Q")
        return blocks, of_node
