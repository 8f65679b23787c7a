"""Weights tried in memory rank and score as recall and the benches' metrics do; no database."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import pytest

from bench.datasets import Key
from bench.grid import probe, standardised, values_of
from bench.metrics import score
from bench.reweigh import Candidates, Search, gather, order, scores
from bench.variants import LACKING, NAMES, NONE, changed
from memsvc.recall.results import Memory

FACTORS = ("words", "vector", "late")


def by_lot(seed: int, questions: int = 12) -> tuple[list[list[tuple[Key, Mapping[str, float]]]], list[frozenset[Key]]]:
    """Candidates with parts of the same turns among them, and evidence that is not all there."""
    lot = random.Random(seed)
    found: list[list[tuple[Key, Mapping[str, float]]]] = []
    evidence = []
    for _ in range(questions):
        keys = [("talk", str(lot.randrange(18))) for _ in range(lot.randrange(15, 40))]
        found.append([(key, {name: lot.gauss(0, 1) for name in FACTORS}) for key in keys])
        evidence.append(frozenset({("talk", str(lot.randrange(18))) for _ in range(lot.randrange(1, 5))}))
        evidence[-1] |= {("talk", "nowhere")} if lot.random() < 0.3 else set()
    return found, evidence


@pytest.mark.parametrize("seed", range(5))
def test_reranking_scores_as_the_metrics_do(seed: int) -> None:
    found, evidence = by_lot(seed)
    weights = {"words": 0.5, "vector": 0.25, "late": 0.75}
    made = gather(found, evidence, ["talk"] * len(found), FACTORS)
    got = scores(made, np.array(list(weights.values())))
    for number, candidates in enumerate(found):
        ranked = sorted(candidates, key=lambda one: -sum(weights[name] * value for name, value in one[1].items()))
        wanted = score([turn for turn, _ in ranked], evidence[number])
        assert got[number].tolist() == pytest.approx([wanted["recall@10"], wanted["ndcg@10"]])


def test_missing_candidates_come_last_and_equals_keep_their_order() -> None:
    found: list[list[tuple[Key, Mapping[str, float]]]] = [
        [(("a", "1"), {"words": -1.0}), (("a", "2"), {"words": -1.0}), (("a", "3"), {"vector": 1.0})],
        [(("a", "4"), {"words": -5.0})],
    ]
    made = gather(found, [frozenset({("a", "1")}), frozenset({("a", "4")})], ["a", "a"], FACTORS)
    assert order(made, np.array([1.0, 0.0, 0.0]))[:, 0].tolist() == [2, 0]
    assert order(made, np.array([0.0, 0.0, 1.0]))[0].tolist() == [0, 1, 2]
    assert scores(made, np.array([1.0, 0.0, 0.0]))[1].tolist() == [1.0, 1.0]


def planted(conversations: int) -> Candidates:
    """Questions whose one piece of evidence stands out by its late factor, and is drowned by the words."""
    lot = np.random.default_rng(3)
    found, evidence, of = [], [], []
    for number in range(conversations * 6):
        talk = f"talk {number % conversations}"
        keys: list[Key] = [(talk, str(n)) for n in range(30)]
        values = [{"words": float(lot.normal(0, 2)), "vector": 0.0, "late": float(n == 7)} for n in range(30)]
        found.append(list(zip(keys, values, strict=True)))
        evidence.append(frozenset({(talk, "7")}))
        of.append(talk)
    return gather(found, evidence, of, FACTORS)


def test_the_search_finds_what_was_planted_and_says_what_it_is_worth_elsewhere() -> None:
    start = np.array([0.5, 0.5, 0.0])
    search = Search({"planted": planted(4)}, FACTORS, start, "words", draws=20)
    best = search.best(search.everything())
    assert best[0] == 0.5, "the anchor stays"
    assert best[2] == 1.0
    before, after = (search.of(one)["planted"].mean() for one in (start, best))
    assert after > before + 0.2
    apart = search.cross_validated()["planted"]
    assert before < apart.mean() <= after + 1e-9
    again = Search({"planted": planted(4)}, FACTORS, start, "words", draws=20)
    assert again.best(again.everything()).tolist() == best.tolist(), "seeded"


def test_weights_of_a_conversation_are_found_without_it() -> None:
    """Noise alone: with one conversation to learn from and another to be judged, nothing carries over."""
    found, evidence = by_lot(9, 20)
    made = gather(found, evidence, [f"talk {number % 2}" for number in range(20)], FACTORS)
    search = Search({"noise": made}, FACTORS, np.array([0.5, 0.5, 0.0]), "words", draws=60)
    tuned = search.of(search.best(search.everything()))["noise"].mean()
    assert search.cross_validated()["noise"].mean() < tuned


def test_values_are_points_over_weights() -> None:
    weights = changed(NONE, words=0.5, late=0.25)
    one = remade(factors={"words": 1.0, "late": -0.5, "gone": 3.0})
    assert values_of([one], weights) == [{"words": 2.0, "late": -2.0}]


def test_without_points_the_raw_scores_of_the_arms_are_standardised() -> None:
    raw = [{"words": {"score": 3.0}}, {"vector": {"score": 0.4}}, {"words": {"score": 3.0}, "vector": {"score": 0.6}}]
    values = values_of([remade(arms=arms) for arms in raw], NONE)
    assert [one["words"] for one in values] == pytest.approx([0.7071, -1.4142, 0.7071], abs=1e-4)
    assert [one["vector"] for one in values] == pytest.approx([0.0, -1.0, 1.0])
    assert standardised([2.0, 2.0], lacking=0.0) == [0.0, 0.0]


def remade(**changes: object) -> Memory:
    """A memory with such scores."""
    now = datetime(2026, 6, 1, tzinfo=UTC)
    fields: dict[str, object] = {
        "memory_id": UUID(int=7), "passage_id": UUID(int=7), "conversation_id": UUID(int=8), "conversation": "talk",
        "session": "S1", "ordinal": 3, "part": 0, "message_id": "m3", "speaker": "Ada", "role": "user", "text": "Oak.",
        "caption": None, "said_at": now, "recorded_at": now, "score": 1.5, "arms": {}, "matched": [], "why": "",
    }  # fmt: skip
    return Memory(**(fields | changes))  # type: ignore[arg-type]


def test_the_probe_has_everything_on_that_can_act() -> None:
    found = probe(changed(NONE, words=0.5))
    assert all(getattr(found, name) > 0 for name in NAMES if name not in LACKING)
    assert not any(getattr(found, name) for name in LACKING)
