"""What analyses rest on, without a database: communities, PageRank, chance, and what is a habit."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
import threading
from collections import deque
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memsvc.analysis.chance import binomial, poisson, together
from memsvc.analysis.habits import Days, come_together, weekly
from memsvc.analysis.leiden import leiden, modularity
from memsvc.analysis.network import Network
from memsvc.analysis.pagerank import pagerank
from memsvc.analysis.stopping import Check, StoppedError, in_thread

KARATE = """1-2 1-3 1-4 1-5 1-6 1-7 1-8 1-9 1-11 1-12 1-13 1-14 1-18 1-20 1-22 1-32 2-3 2-4 2-8 2-14 2-18 2-20 2-22
2-31 3-4 3-8 3-9 3-10 3-14 3-28 3-29 3-33 4-8 4-13 4-14 5-7 5-11 6-7 6-11 6-17 7-17 9-31 9-33 9-34 10-34 14-34 15-33
15-34 16-33 16-34 19-33 19-34 20-34 21-33 21-34 23-33 23-34 24-26 24-28 24-30 24-33 24-34 25-26 25-28 25-32 26-32 27-30
27-34 28-34 29-32 29-34 30-33 30-34 31-33 31-34 32-33 32-34 33-34"""
"""Zachary's karate club (1977): friendships among 34 members."""
Pairs = dict[tuple[int, int], float]


def karate() -> Network:
    pairs = [pair.split("-") for pair in KARATE.split()]
    return Network(34, ((int(one) - 1, int(other) - 1, 1.0) for one, other in pairs))


def graphs(most: int) -> st.SearchStrategy[tuple[int, Pairs]]:
    """A number of nodes, and pairs of them with weights; loops among them."""

    def of_size(size: int) -> st.SearchStrategy[tuple[int, Pairs]]:
        node = st.integers(0, size - 1)
        pair = st.tuples(node, node).map(lambda ends: (min(ends), max(ends)))
        return st.tuples(st.just(size), st.dictionaries(pair, st.floats(0.1, 5), max_size=3 * size))

    return st.integers(1, most).flatmap(of_size)


def network(size: int, pairs: Pairs) -> Network:
    return Network(size, ((one, other, weight) for (one, other), weight in pairs.items()))


def test_the_karate_club_parts_as_well_as_it_can() -> None:
    club = karate()
    best = max(modularity(club, leiden(club, seed=seed)) for seed in range(8))
    assert best == pytest.approx(0.41979, abs=1e-5)  # the optimum, Brandes et al. 2008
    assert leiden(club) == leiden(club)
    assert max(leiden(club, resolution=4.0)) > max(leiden(club))


def test_cliques_in_a_ring_are_the_communities() -> None:
    """Louvain joins neighbours here once there are many: Fortunato and Barthelemy 2007."""
    cliques, size = 24, 6
    pairs: Pairs = {}
    for first in range(0, cliques * size, size):
        pairs |= dict.fromkeys(itertools.combinations(range(first, first + size), 2), 1.0)
        ends = sorted((first, (first + size) % (cliques * size)))
        pairs[ends[0], ends[1]] = 1.0
    found = leiden(network(cliques * size, pairs))
    assert [len(set(found[n : n + size])) for n in range(0, cliques * size, size)] == [1] * cliques
    assert max(found) + 1 == cliques


@given(graphs(14))
def test_communities_hang_together_and_are_numbered_by_size(graph: tuple[int, Pairs]) -> None:
    built = network(*graph)
    found = leiden(built)
    sizes = [found.count(number) for number in range(max(found) + 1)]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) > 0
    for number in range(len(sizes)):
        members = {node for node in range(built.size) if found[node] == number}
        reached, queue = {min(members)}, deque([min(members)])
        while queue:
            for end, _ in built.around(queue.popleft()):
                if end in members and end not in reached:
                    reached.add(end)
                    queue.append(end)
        assert reached == members
    assert modularity(built, found) >= modularity(built, list(range(built.size))) - 1e-9


@given(graphs(7))
@example((5, {(0, 1): 2.0, (0, 4): 2.0, (1, 2): 3.0, (1, 3): 2.0, (2, 3): 2.0, (2, 4): 3.0}))  # the first three fail
def test_no_other_parting_of_a_small_graph_is_much_better(graph: tuple[int, Pairs]) -> None:
    """Each start may end in a place from which no single step leads upwards; not all of ten do."""

    def partings(size: int) -> Sequence[Sequence[int]]:
        found: list[list[int]] = [[0]]
        for _ in range(size - 1):
            found = [[*one, number] for one in found for number in range(max(one) + 2)]
        return found

    built = network(*graph)
    best = max(modularity(built, parting) for parting in partings(built.size))
    assert max(modularity(built, leiden(built, seed=seed)) for seed in range(10)) >= best - 0.05


@given(graphs(10), st.data())
def test_pagerank_is_where_the_walker_stays(graph: tuple[int, Pairs], data: st.DataObject) -> None:
    built = network(*graph)
    seeds = data.draw(st.lists(st.integers(0, built.size - 1), min_size=1, max_size=3, unique=True))
    rank = pagerank(built, seeds)
    assert sum(rank) == pytest.approx(1, abs=1e-9)
    stepped = [0.0] * built.size
    for node in range(built.size):
        for end, weight in built.around(node):
            stepped[end] += 0.85 * rank[node] * weight / built.strength[node]
    again = (1 - sum(stepped)) / len(seeds)
    for node in range(built.size):
        assert rank[node] == pytest.approx(stepped[node] + (again if node in seeds else 0), abs=1e-5)


STOPPABLE: dict[str, Callable[[Network, Check], object]] = {
    "network": lambda club, check: Network(34, [(n, n + 1, 1.0) for n in range(33)], check),
    "leiden": lambda club, check: leiden(club, check=check),
    "pagerank": lambda club, check: pagerank(club, [0], check=check),
}


@pytest.mark.parametrize("work", STOPPABLE.values(), ids=STOPPABLE.keys())
def test_work_asks_at_every_node_whether_to_go_on(work: Callable[[Network, Check], object]) -> None:
    club, asked, most = karate(), 0, math.inf

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked > most:
            raise StoppedError

    work(club, check)
    assert asked >= 2 * 33  # more than one pass over all of it
    for most in range(0, asked, 7):
        asked = 0
        with pytest.raises(StoppedError):
            work(club, check)
        assert asked == most + 1


async def test_a_thread_for_which_nobody_waits_ends() -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless(check: Check) -> None:
        try:
            while True:
                begun.set()
                check()
        finally:
            ended.set()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await in_thread(endless)
    assert begun.is_set()
    assert await asyncio.to_thread(ended.wait, 10)
    assert await in_thread(lambda _check: 7) == 7


def test_chances_are_those_of_the_book() -> None:
    assert binomial(3, 3, 0.5) == pytest.approx(-math.log10(1 / 8))
    assert binomial(0, 9, 0.1) == 0
    assert binomial(1, 9, 0.0) == 300
    exact = sum(math.comb(30, k) * 0.2**k * 0.8 ** (30 - k) for k in range(12, 31))
    assert binomial(12, 30, 0.2) == pytest.approx(-math.log10(exact))
    assert poisson(4, 1.5) == pytest.approx(
        -math.log10(1 - sum(math.exp(-1.5) * 1.5**k / math.factorial(k) for k in range(4)))
    )
    drawn = sum(math.comb(8, k) * math.comb(12, 6 - k) for k in range(5, 7)) / math.comb(20, 6)
    assert together(5, 8, 6, 20) == pytest.approx(-math.log10(drawn))
    assert together(6, 20, 6, 20) == pytest.approx(0)


MONDAY = date(2024, 1, 1)


def told(days: Sequence[int]) -> Days:
    return Days((uuid4(), uuid4()), "PARTICIPATED_IN", [MONDAY + timedelta(days=day) for day in sorted(set(days))])


def test_what_is_weekly_and_what_is_not() -> None:
    lot = random.Random(4)
    every_day = dict.fromkeys(range(1, 8), 100)
    kept = [7 * week + 3 for week in range(20) if week % 5]
    habits = {
        "kept with gaps": told(kept), "with strays": told([*kept, 1, 36, 75]),
        "twice a week": told([day for week in range(20) for day in (7 * week + 1, 7 * week + 3)]),
    }  # fmt: skip
    others = {
        "daily": told(range(140)), "too short": told([3, 10, 17]), "by chance": told(lot.sample(range(140), 20)),
        "rare": told([7 * week + 3 for week in range(0, 60, 4)]), "a trip": told(range(40, 47)),
        "any weekend day": told([7 * week + 5 + week % 2 for week in range(0, 40, 3)]),
    }  # fmt: skip
    assert len(list(weekly([*habits.values()], every_day))) == len(habits)
    assert [name for name, one in others.items() if list(weekly([one], every_day))] == []
    [twice] = weekly([habits["twice a week"]], every_day)
    assert twice.figures["weekdays"] == [2, 4]
    sundays = told([7 * week + 6 for week in range(30)])
    assert list(weekly([sundays], every_day))
    assert not list(weekly([sundays], {7: 30})), "nothing was said on other days"


def test_who_comes_together_and_who_does_not() -> None:
    lot = random.Random(4)
    ana, bo, cy, dee = (uuid4() for _ in range(4))

    def days(numbers: Sequence[int]) -> list[date]:
        return [MONDAY + timedelta(days=number) for number in sorted(set(numbers))]

    both = list(range(5, 200, 11))
    trip = list(range(100, 106))
    people: dict[UUID, Sequence[date]] = {
        ana: days([*both, *range(0, 200, 9)]), bo: days([*both, *range(3, 200, 13)]),
        cy: days([*trip, *lot.sample(range(200), 30)]), dee: days([*trip, *lot.sample(range(200), 30)]),
        uuid4(): days(range(200)),
    }  # fmt: skip
    pairs = [Days((ana, bo), "", days(both)), Days((cy, dee), "", days(trip))]
    pairs += [Days((node, one), "", people[node]) for one in [list(people)[-1]] for node in (ana, cy)]
    assert [one.nodes for one in come_together(pairs, people)] == [(ana, bo)]
