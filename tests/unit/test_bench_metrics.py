"""The benches' own measures, against values computed by hand."""

from __future__ import annotations

import math

import pytest

from bench.metrics import METRICS, means, paired_bootstrap, percentile, score


def test_one_hit_at_the_second_rank() -> None:
    found = score(["x", "a", "y"], ["a"])
    assert found == {
        "recall@5": 1.0, "recall@10": 1.0, "recall@20": 1.0, "ndcg@10": pytest.approx(1 / math.log2(3)), "mrr": 0.5,
    }  # fmt: skip


def test_evidence_is_counted_at_each_depth() -> None:
    ranking = [f"x{n}" for n in range(25)]
    ranking[0], ranking[6], ranking[14], ranking[22] = "a", "b", "c", "d"
    found = score(ranking, ["a", "b", "c", "d"])
    assert [found[f"recall@{k}"] for k in (5, 10, 20)] == [0.25, 0.5, 0.75]
    # Gains at ranks 1 and 7: 1 + 1/3; ideal for four: 1 + 0.6309 + 0.5 + 0.4307.
    assert found["ndcg@10"] == pytest.approx((1 + 1 / 3) / 2.5616, abs=1e-4)
    assert found["mrr"] == 1.0


def test_nothing_found_is_zero_everywhere() -> None:
    assert set(score(["x", "y"], ["a"]).values()) == {0.0}
    assert set(score([], ["a"]).values()) == {0.0}


def test_a_perfect_ranking_of_many_is_one_and_repeats_do_not_count() -> None:
    evidence = [f"e{n}" for n in range(12)]
    found = score(evidence, evidence)
    assert found["ndcg@10"] == pytest.approx(1.0)
    assert found["recall@10"] == pytest.approx(10 / 12)
    assert score(["x", "x", "a"], ["a"])["mrr"] == 0.5


def test_means_are_taken_by_metric() -> None:
    assert means([dict.fromkeys(METRICS, 0.0), dict.fromkeys(METRICS, 1.0)]) == dict.fromkeys(METRICS, 0.5)


@pytest.mark.parametrize(("share", "wanted"), [(0.5, 10), (0.95, 19), (1.0, 20), (0.01, 1)])
def test_percentiles_are_values_that_occurred(share: float, wanted: int) -> None:
    assert percentile(list(range(20, 0, -1)), share) == wanted


def test_bootstrap_of_a_constant_difference_has_no_width() -> None:
    assert paired_bootstrap([0.25, 0.5, 0.75], [0.5, 0.75, 1.0], resamples=200) == (0.25, 0.25, 0.25)


def test_bootstrap_interval_is_the_one_of_the_binomial() -> None:
    """100 differences, half of them 1: the mean's interval is 0.5 ± 1.96 * 0.05."""
    mean, low, high = paired_bootstrap([0.0] * 100, [0.0, 1.0] * 50)
    assert mean == 0.5
    assert low == pytest.approx(0.402, abs=0.015)
    assert high == pytest.approx(0.598, abs=0.015)
    assert paired_bootstrap([0.0] * 100, [0.0, 1.0] * 50) == (mean, low, high), "seeded"
