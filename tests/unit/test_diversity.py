"""Maximal marginal relevance: the best first, then what is good and new."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.recall.diversity import diversify, jaccard, mmr, words_of
from tests.recalled import memory

scores = st.lists(st.integers(-40, 40).map(lambda score: score / 4), max_size=8)
share = st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0])
sets = st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=4), min_size=8, max_size=8)


def by_the_paper(rated: list[float], alike: list[frozenset[str]], limit: int, diversity: float) -> list[int]:
    """Carbonell and Goldstein's definition, word by word, at the cost of computing everything again each time."""
    least, highest = min(rated, default=0), max(rated, default=0)
    chosen: list[int] = []
    left = set(range(len(rated)))
    while left and len(chosen) < limit:

        def value(index: int) -> tuple[float, float, int]:
            relevance = (rated[index] - least) / (highest - least) if highest > least else 1.0
            nearest = max((jaccard(alike[index], alike[other]) for other in chosen), default=0.0)
            return (1 - diversity) * relevance - diversity * nearest, rated[index], -index

        chosen.append(max(left, key=value))
        left.remove(chosen[-1])
    return chosen


@given(scores, sets, st.integers(0, 9), share)
def test_it_chooses_as_the_paper_does(
    rated: list[float], alike: list[frozenset[str]], limit: int, diversity: float
) -> None:
    def similarity(one: int, other: int) -> float:
        return jaccard(alike[one], alike[other])

    found = mmr(rated, similarity, limit, diversity)
    assert found == by_the_paper(rated, alike, limit, diversity)
    assert len(found) == len(set(found)) == min(limit, len(rated))
    # Neither the scale of the scores nor their zero matters.
    assert mmr([4 * score + 8 for score in rated], similarity, limit, diversity) == found


@given(scores, sets, st.integers(0, 9))
def test_without_diversity_the_scores_alone_decide(rated: list[float], alike: list[frozenset[str]], limit: int) -> None:
    def similarity(one: int, other: int) -> float:
        return jaccard(alike[one], alike[other])

    by_score = sorted(range(len(rated)), key=lambda index: -rated[index])
    assert mmr(rated, similarity, limit, 0) == by_score[:limit]


@pytest.mark.parametrize(
    ("one", "other", "like"),
    [
        ("Oak desk", "oak DESK!", 1), ("oak desk", "blue lamp", 0), ("", "", 0), ("…", "!", 0),
        ("oak desk", "oak lamp", 1 / 3), ("我在上海", "我在北京", 1 / 3), ("Straße", "STRASSE", 1),
    ],
)  # fmt: skip
def test_texts_are_as_like_as_the_words_that_they_share(one: str, other: str, like: float) -> None:
    assert jaccard(words_of(one), words_of(other)) == pytest.approx(like)


def test_what_repeats_a_better_memory_makes_room_for_something_new() -> None:
    twice = "We moved the dinner with Ines to Friday"
    found = [memory(1, twice), memory(2, f"{twice}."), memory(3, "Marcel brings bread"), memory(4, "Beppo drums")]
    kept, alike = diversify(found, 2, 0.5)
    assert [one.memory_id.int for one in kept] == [1, 3]
    assert [one.memory_id.int for one in alike] == [2]
    assert diversify(found, 2, 0) == (found[:2], [])
    assert diversify(found[:2], 2, 1) == (found[:2], [])
    assert diversify([], 2, 0.5) == ([], [])


def test_a_rerankers_order_counts_where_the_scores_say_otherwise() -> None:
    found = [
        msgspec.structs.replace(memory(number, f"word{number}"), arms={"reranker": {"score": score}})
        for number, score in ((5, 0.9), (1, 0.8), (9, 0.1))
    ]
    assert diversify(found, 3, 0.5)[0] == found
    unread = [memory(2, "new"), memory(3, "newer")]
    assert diversify([*found, *unread], 9, 0.5)[0] == [*found, *unread], "what it has not read stands behind"


def test_scores_count_by_how_much_they_differ_where_they_do_not_fall() -> None:
    """Behind what late interaction compared, scores begin anew; by rank alone the third would come second."""
    twice = "We moved the dinner with Ines to Friday"
    found = [
        memory(1, twice, score=9.0), memory(2, f"{twice} evening", score=8.8), memory(3, "Beppo drums", score=1.0),
        memory(4, "Marcel brings bread", score=2.0),
    ]  # fmt: skip
    assert [one.memory_id.int for one in diversify(found, 4, 0.5)[0]] == [1, 2, 3, 4]
    assert [one.memory_id.int for one in diversify(found, 4, 0.8)[0]] == [1, 3, 4, 2]
