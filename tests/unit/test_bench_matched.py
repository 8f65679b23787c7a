"""At which setting other programs are compared: going up the ladders, and the choice; no database."""

from __future__ import annotations

import pytest

from bench.harness import Outcome
from bench.latency_peers import OURS, compare, divided, turns
from bench.matched import EXACT, LADDERS, Rung, Tried, choose, climb
from bench.peers import PEERS

WANTED = 0.99


def tried(number: int, recall: float, milliseconds: float) -> Tried:
    return Tried(Rung({"ef": number}), recall, milliseconds)


async def rungs_tried(recalls: dict[int, float]) -> list[object]:
    """Which rungs of two ladders are tried, the seventh being the exact way."""

    async def attempt(rung: Rung) -> Tried:
        return Tried(rung, recalls[int(rung.search["ef"])], 1.0)

    ladders = [[Rung({"ef": number}) for number in rungs] for rungs in ((1, 2, 3), (4, 5, 6))]
    return [one.rung.search["ef"] for one in await climb(ladders, Rung({"ef": 7}), attempt, WANTED)]


async def test_a_ladder_is_left_where_its_program_finds_enough_and_the_next_one_is_climbed() -> None:
    assert await rungs_tried({1: 0.5, 2: 0.981, 3: 1.0, 4: 0.6, 5: 0.979, 6: 0.9, 7: 1.0}) == [1, 2, 4, 5, 6]


async def test_where_no_ladder_gets_there_the_exact_way_is_tried() -> None:
    assert await rungs_tried({1: 0.5, 2: 0.6, 3: 0.9, 4: 0.6, 5: 0.97, 6: 0.9, 7: 1.0}) == [1, 2, 3, 4, 5, 6, 7]


def test_the_fastest_that_finds_enough_is_chosen() -> None:
    assert choose([tried(1, 0.7, 1), tried(2, 0.98, 9), tried(3, 1.0, 4), tried(4, 0.979, 2)], WANTED).milliseconds == 4


def test_where_none_finds_enough_the_one_that_finds_most_is_chosen_and_of_equals_the_faster() -> None:
    assert choose([tried(1, 0.7, 1), tried(2, 0.9, 9), tried(3, 0.9, 8), tried(4, 0.8, 2)], WANTED).milliseconds == 8


@pytest.mark.parametrize(("recall", "enough"), [(0.984, True), (0.9839, False), (1.0, True)])
def test_a_hundredth_less_counts_as_the_same(recall: float, enough: bool) -> None:
    assert tried(1, recall, 1).reaches(0.994) is enough


def test_every_peer_has_ladders_and_each_begins_with_one_index() -> None:
    assert set(LADDERS) == set(EXACT) == set(PEERS)
    for ladders in LADDERS.values():
        for rungs in ladders:
            assert len({str(rung.index) for rung in rungs}) == 1  # an index is built once for a ladder


def test_each_program_asks_every_question_once_and_none_is_systematically_the_first_or_the_last() -> None:
    names = [f"program {number}" for number in range(7)]
    asked = [one for turn in turns(names, 200) for one in turn]
    assert sorted(asked) == [(name, number) for name in names for number in range(200)]
    for way in (asked, asked[::-1]):
        first = {number: name for name, number in reversed(way)}
        counts = [list(first.values()).count(name) for name in names]
        assert sum(counts) == 200
        assert min(counts) > 10, counts  # of 29 on average


def test_ratios_stand_beside_defaults_and_beside_equal_recall() -> None:
    outcome = Outcome("latency")
    times = {"langgraph": 10, "langgraph_matched": 20, "lancedb": 5, "lancedb_matched": 4, **dict.fromkeys(OURS, 8)}
    outcome.figures = {f"peers.{name}.100k.p95_ms": time for name, time in times.items()}
    compare("100k", outcome)
    found = {name.removeprefix("peers."): value for name, value in outcome.figures.items() if "ratio" in name}
    assert found == {
        "ratio.server": 0.8, "ratio.server_vector": 0.8, "ratio.in_process": 1.6, "ratio.in_process_words_vector": 1.6,
        "ratio_matched.server": 0.4, "ratio_matched.server_vector": 0.4, "ratio_matched.in_process": 2.0,
        "ratio_matched.in_process_words_vector": 2.0,
    }  # fmt: skip


def test_every_third_question_is_kept_for_setting_the_peers() -> None:
    questions = [((str(number), ""), {str(number)}) for number in range(300)]
    timed, untimed = divided(questions)
    assert (len(timed), len(untimed)) == (200, 100)
    assert not {asked for asked, _ in timed} & {asked for asked, _ in untimed}
    assert untimed[0] == questions[2]
