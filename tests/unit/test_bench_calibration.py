"""Learning how sure to be: the regression finds what is there, sees nothing of what it is judged by, and repeats."""

from __future__ import annotations

import random
from math import exp

import numpy as np
import pytest

from bench import calibration
from bench.calibration import learn, rounded, said
from bench.examples import Lesson, lesson_of
from bench.gold import load
from bench.logistic import Examples, Model, fit, loss, unseen


def drawn(count: int) -> Examples:
    """Examples whose log odds are 1 + 2 a - b; c says nothing."""
    draw = random.Random(7)
    seen = [{name: draw.uniform(-1, 1) for name in "abc"} for _ in range(count)]
    true = [draw.random() < 1 / (1 + exp(-1 - 2 * one["a"] + one["b"])) for one in seen]
    return Examples.of(seen, true, [1.0] * count)


def test_weights_are_found_and_a_ridge_shrinks_them() -> None:
    examples = drawn(4_000)
    free, held = fit(examples, 0.1), fit(examples, 1_000.0)
    assert [free.bias, *free.weights.values()] == pytest.approx([1, 2, -1, 0], abs=0.2)
    assert all(abs(held.weights[name]) < abs(free.weights[name]) for name in "ab")


def test_a_weight_that_must_rise_does_not_fall() -> None:
    assert "b" not in fit(drawn(400), 1.0, rising="ab").weights
    assert "a" in fit(drawn(400), 1.0, rising="ab").weights


def test_examples_count_as_they_are_told_to() -> None:
    both = [{"a": 1.0}] * 8
    leaning = Examples.of(both, [True] * 4 + [False] * 4, [1.0] * 4 + [0.0] * 4)
    assert fit(leaning, 1.0).bias > fit(Examples.of(both, [True] * 4 + [False] * 4, [1.0] * 8), 1.0).bias


def test_a_chance_is_that_of_a_model_that_has_not_seen_the_fold() -> None:
    """What marks a fold alone says everything inside it, and nothing outside."""
    seen = [{f"mark {place}": 1.0} for place in range(20)]
    examples = Examples.of(seen, [place % 2 == 0 for place in range(20)], [1.0] * 20)
    chances = unseen(examples, list(range(20)), 1_000.0)
    assert np.allclose(chances, [9 / 19 if place % 2 == 0 else 10 / 19 for place in range(20)], atol=1e-3)
    assert loss(examples, chances) > np.log(2)


def test_the_least_chance_becomes_one_half() -> None:
    kept = rounded(Model(0.5, {"a": 1.2345, "b": 0.001}), 0.8)
    assert kept.weights == {"a": 1.234}
    odds = np.log(0.8 / 0.2) - 0.5  # where the model gives .8
    assert kept.confidence({"a": odds / 1.2345}) == pytest.approx(0.5, abs=0.01)


@pytest.fixture(scope="module")
def lessons() -> list[Lesson]:
    return [lesson_of("practice", one) for one in load("practice")[:2]]


@pytest.mark.slow
def test_what_is_learnt_repeats_and_says_no_more_than_was_found(
    lessons: list[Lesson], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "RIDGES", (4.0,))
    first, second = (learn(lessons) for _ in range(2))
    assert first.calibration == second.calibration
    assert set(first.calibration.weights) <= {
        trait for lesson in lessons for one in lesson.facts for trait in one.traits
    }
    everything, half = (said(lessons, first.chances, least) for least in (0.0, float(np.median(first.chances))))
    assert half.right + half.wrong < everything.right + everything.wrong
    assert everything.required == half.required


def test_facts_are_labelled_as_the_bench_judges_them(lessons: list[Lesson]) -> None:
    for lesson in lessons:
        tally = said([lesson], np.ones(len(lesson.facts)), 0.5)
        wrong = {(one.claim.start, one.claim.type, one.claim.end) for one in lesson.facts if not one.true}
        assert tally.wrong <= len(wrong)
        assert tally.right + tally.neutral <= sum(one.true for one in lesson.facts)
        assert tally.right
