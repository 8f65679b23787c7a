"""What may count in recall's order: the learnt one's file, presets, and weights of a caller."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from memsvc.errors import InvalidRequestError
from memsvc.recall.options import FACTORS, LEARNT, LINEAR, Filters
from memsvc.recall.order import TRAITS, Order, counting, read, shipped, weights
from memsvc.recall.presets import PRESETS, chosen_weights, read_metadata, read_weights
from memsvc.recall.search import check_filters

GOOD: dict[str, Any] = {
    "format": 1, "version": "test", "traits": list(TRAITS), "weights": {"words": [0.5, 0, 0, 0.1, 0]},
    "card": {},
}  # fmt: skip


def written(folder: Path, **changed: Any) -> Path:
    path = folder / "order.json"
    path.write_bytes(msgspec.json.encode(GOOD | changed))
    return path


def test_the_shipped_order_can_be_used_and_says_what_made_it() -> None:
    order = shipped()
    assert order is not None
    assert set(order.weights) <= set(FACTORS)
    assert order.version
    assert order.card["trained_on"]
    assert not [name for name in order.card["trained_on"] if "locomo" in name], "its licence forbids that"


def test_what_a_caller_chose_stands_in_place_of_what_was_learnt(tmp_path: Path) -> None:
    order = read(written(tmp_path))
    assert weights({"time": 0.0}, order) == {"words": [0.5, 0, 0, 0.1, 0], "time": 0.0}
    assert weights({"words": 1.0}, order) == {"words": 1.0}
    assert weights(LEARNT, None) == {}


@pytest.mark.parametrize("changed", [
    {"format": 2}, {"traits": ["apart"]}, {"weights": {"unheard_of": [0, 0, 0, 0, 0]}}, {"weights": {"words": [1]}},
    {"weights": {"words": [1e9, 0, 0, 0, 0]}}, {"weights": "none"}, {"version": None},
])  # fmt: skip
def test_a_file_that_does_not_fit_is_none(tmp_path: Path, changed: dict[str, Any]) -> None:
    assert read(written(tmp_path)) == msgspec.convert(GOOD, Order)
    assert read(written(tmp_path, **changed)) is None


def test_a_missing_or_broken_file_is_none(tmp_path: Path) -> None:
    assert read(tmp_path / "order.json") is None
    broken = tmp_path / "broken.json"
    broken.write_text('{"weights": {"words": [NaN]}}')
    assert read(broken) is None


def test_an_explanation_names_an_order_that_counts_for_something() -> None:
    order = shipped()
    assert order is not None
    assert counting(LEARNT) == counting({"time": 1.0}) == order.version
    assert counting(LINEAR) == ""


def test_presets_name_factors_that_there_are() -> None:
    assert all(set(one) <= set(FACTORS) for one in PRESETS.values())
    assert sum(PRESETS["70-20-10"].values()) == pytest.approx(1.0)
    assert chosen_weights(None, None) == LEARNT
    assert chosen_weights("linear", {"recency": 0.5}) == {**LINEAR, "recency": 0.5}


@pytest.mark.parametrize(("preset", "given", "field"), [
    ("best", {}, "preset"), ("", {}, "preset"), (None, {"charm": 1.0}, "weights"),
    (None, {"words": math.nan}, "weights"), (None, {"words": math.inf}, "weights"),
    (None, {"words": -100.5}, "weights"),
])  # fmt: skip
def test_what_cannot_count_is_refused_by_name(preset: str | None, given: dict[str, float], field: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        chosen_weights(preset, given)
    assert refused.value.details["field"] == field


def test_weights_are_read_from_a_command_line() -> None:
    assert read_weights(["recency=0.5", "words = -1"]) == {"recency": 0.5, "words": -1.0}
    for wrong in ("recency", "recency=", "recency=much", "=1=2"):
        with pytest.raises(InvalidRequestError):
            read_weights([wrong])


@pytest.mark.parametrize("wrong", ["", "oak", "[]", "1", '{"a":', '{"a": NaN}', '{"a":' * 50_000 + "1" + "}" * 50_000])
def test_metadata_that_a_command_line_cannot_send_is_refused(wrong: str) -> None:
    assert read_metadata('{"tags": ["garden"]}') == {"tags": ["garden"]}
    with pytest.raises(InvalidRequestError, match="is no JSON object") as refused:
        read_metadata(wrong)
    assert refused.value.details["field"] == "metadata"


def test_metadata_to_look_for_is_small_and_flat() -> None:
    deep: dict[str, Any] = {}
    for _ in range(1_000):
        deep = {"x": deep}
    for wrong, said in (
        ({"x": "y" * 1_000_000}, "larger than 10,000"), (deep, "too deeply"), ({"x": math.nan}, "not a finite number"),
    ):  # fmt: skip
        with pytest.raises(InvalidRequestError, match=said):
            check_filters(Filters(metadata=wrong))
