"""What the confidence is fitted on, and what it is worth; no database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from bench import confidence
from bench.confidence import COUNTS, Kind, Seen, below, examples_of, inputs, learn, threshold, with_impersonal
from bench.harness import Outcome
from bench.logistic import Traits, fit


def arms(late: float | None, cosine: float) -> dict[str, dict[str, float]]:
    """What the arms found of a passage."""
    return {"vector": {"score": cosine}} | ({"late": {"score": late}} if late is not None else {})


def seen(name: str, kind: Kind, late: float, named: float | None = None, conversation: str = "a") -> Seen:
    return Seen(name, conversation, kind, (0.5, late, False, named))


def test_inputs_are_of_passages_with_token_vectors_and_points_of_all() -> None:
    assert inputs([(arms(None, 0.9), True, 1.0)], says_i=True) is None
    given = [
        (arms(0.6, 0.4), True, 3.5), (arms(0.5, 0.7), False, 2.0), (arms(0.1, 0.2), True, 9.0),
        (arms(0.2, 0.1), False, 4.0),
    ]  # fmt: skip
    for says_i in (True, False):
        found = inputs(given, says_i=says_i) or ()
        assert found == pytest.approx((0.7, (0.6 + 0.5 + 0.2) / 3, says_i, 5.0))
    assert inputs([(arms(0.6, 0.4), False, 1.0)], says_i=True) == (0.4, 0.6, False, None)
    assert inputs([(arms(0.6, 0.4), True, 1.0)], says_i=False) == (0.4, 0.6, False, 1.0), "nobody else speaks"


def test_traits_are_bounded_and_only_of_those_who_are_named() -> None:
    def traits(*given: Any) -> Traits:
        return Seen("s", "a", "foreign", given).traits

    assert traits(0.5, 0.4, False, None) == {"cosine": 0.5, "late": 0.4, "mine": 0, "named": 0, "lead": 0}
    assert traits(0.5, 0.4, False, 9.0)["lead"] == confidence.WIDEST
    assert traits(0.5, 0.4, False, -0.25) == {"cosine": 0.5, "late": 0.4, "mine": 0, "named": 1, "lead": -0.25}
    assert traits(0.9, 0.4, True, 2.0) == {"cosine": 0.9, "late": 0.4, "mine": 1, "named": 0, "lead": 0}
    assert traits(0.4, 0.4, True, 2.0)["mine"] == pytest.approx(0.5)
    assert traits(0.3, 0.4, True, 2.0)["mine"] == 0


def test_answerable_and_foreign_questions_count_once_more_as_if_they_named_nobody() -> None:
    given = [seen("x", kind, 0.6, named=0.7) for kind in ("answerable", "unanswerable", "foreign")]
    more = with_impersonal(given)
    assert more[:3] == given
    assert [one.kind for one in more[3:]] == ["impersonal", "foreign_impersonal"]
    assert {one.inputs for one in more[3:]} == {(0.5, 0.6, False, None)}


def test_each_set_and_each_kind_of_question_counts_the_same() -> None:
    given = [seen("x", "answerable", 0.6)] * 6 + [seen("x", "foreign", 0.3)] + [seen("x", "unanswerable", 0.4)] * 2
    given += [seen("y", "answerable", 0.5)] * 2 + [seen("y", "foreign", 0.2)] * 4
    counts = examples_of(given).counts
    parts = [sum(counts[start:end]) for start, end in ((0, 6), (6, 7), (7, 9), (9, 11), (11, 15))]
    wanted = [COUNTS[kind] for kind in ("answerable", "foreign", "unanswerable", "answerable", "foreign")]
    assert parts == pytest.approx([confidence.EACH * one for one in wanted])
    assert fit(examples_of(given), 1.0).weights["late"] > 0


def test_the_threshold_keeps_the_answerable_questions_of_every_set() -> None:
    given = [seen(name, "answerable", 0.5) for name in "xy" for _ in range(100)] + [seen("x", "foreign", 0.1)]
    chances = np.array([*(n / 100 for n in range(100)), *(0.1 + n / 100 for n in range(100)), 0.01])
    assert below(chances[:100], 0.02) == 0.02
    outcome = Outcome("confidence")
    assert threshold(given, chances, "unseen", outcome) == 0.02, "0.04 would lose more than three of x"
    assert threshold(given[100:], chances[100:], "unseen", outcome) == 0.12, "y can do with more"


def test_what_is_told_apart_is_said_by_set_and_kind(tmp_path: Path) -> None:
    kinds: tuple[Kind, ...] = ("answerable", "unanswerable", "foreign")
    given = [
        seen(name, kind, late + 0.01 * number, named=late, conversation=f"{number % 3}")
        for name in "xy"
        for kind, late in zip(kinds, (0.6, 0.4, 0.2), strict=True)
        for number in range(9)
    ]
    kept = tmp_path / "kept.json"
    kept.write_bytes(msgspec.json.encode(given))
    assert msgspec.json.decode(kept.read_bytes(), type=list[Seen]) == given
    outcome = Outcome("confidence")
    learn(given, np.array([one.inputs[1] for one in given]), outcome)
    for way in ("shipped", "unseen", "other_sets"):
        assert outcome.figures[f"x.{way}.auroc.foreign"] == outcome.figures[f"y.{way}.auroc.unanswerable"] == 1
