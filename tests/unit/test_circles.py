"""Circles: what hangs together is found, and stays itself when little is new."""

from __future__ import annotations

import random
from collections.abc import Sequence
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from memsvc.analysis.network import Network
from memsvc.analysis.stopping import go_on
from memsvc.sleep.circles import LEAST_MEMBERS, MOST_MEMBERS, Circle, circles

Pairs = dict[tuple[int, int], float]


def found(pairs: Pairs, size: int, stored: Sequence[Circle] = ()) -> list[Circle]:
    """The circles of a graph."""
    nodes = [UUID(int=number + 1) for number in range(size)]
    network = Network(size, ((one, other, weight) for (one, other), weight in sorted(pairs.items())))
    return circles(network, nodes, {one.key: set(one.members) for one in stored}, go_on)


@settings(deadline=None, max_examples=25)
@given(st.integers(8, 60), st.sampled_from([0.6, 0.8, 1.0]), st.integers(1, 4), st.integers(0, 1_000_000))
def test_circles_keep_their_members_and_keys_when_one_node_in_a_hundred_is_new(
    crowd: int, inside: float, facts: int, seed: int
) -> None:
    lot, pairs = random.Random(seed), Pairs()
    for node in range(400):
        begin = node // crowd * crowd
        for _ in range(facts):
            near = lot.randrange(begin, min(begin + crowd, 400))
            other = near if lot.random() < inside else lot.randrange(400)
            if other != node:
                pairs[min(node, other), max(node, other)] = 1.0
    before = found(pairs, 400)
    assert all(LEAST_MEMBERS <= len(one.members) <= MOST_MEMBERS for one in before)
    assert len({one.key for one in before}) == len(before)
    assert len({node for one in before for node in one.members}) == sum(len(one.members) for one in before)
    again = {one.key: set(one.members) for one in found(pairs, 400, before)}
    assert all(again[one.key].issuperset(one.members) for one in before)
    for node in range(400, 404):
        pairs[lot.randrange(400), node] = pairs[lot.randrange(400), node] = 1.0
    after = {one.key: set(one.members) for one in found(pairs, 404, before)}
    kept = sum(len(after.get(one.key, set()).intersection(one.members)) for one in before)
    assert kept >= 0.9 * sum(len(one.members) for one in before)
