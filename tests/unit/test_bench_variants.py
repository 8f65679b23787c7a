"""Ways to ask that the benches compare, and what becomes of them in figures; no database."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from uuid import UUID

import pytest

from bench.contexts import share_of_evidence, share_of_text, smallest_budget
from bench.corpus_graph import dressed, labels, said_at
from bench.corpus_vectors import question_tokens
from bench.datasets import DataSet, Form, Question, Ranking, Turn, made
from bench.harness import Outcome
from bench.judging import ablate, judge, scores_of
from bench.metrics import auroc, auroc_interval
from bench.observations import about
from bench.recall import Plan, named
from bench.variants import (
    ALL,
    LACKING,
    MODES,
    NAMES,
    TRIAL,
    VARIANTS,
    ablations,
    changed,
    untried,
)
from memsvc.recall.items import Item
from memsvc.recall.options import BY_VECTORS, EFFORTS, LEARNT, LINEAR, NOTHING
from memsvc.recall.presets import RELEVANCE, published


def test_every_weight_has_a_trial_value_or_a_reason_to_have_none() -> None:
    assert set(TRIAL) | set(LACKING) == set(NAMES)
    assert set(RELEVANCE) < set(NAMES)
    assert set(LINEAR) == set(NAMES)


def test_a_published_weighting_keeps_the_proportions_within_relevance() -> None:
    base = changed(NOTHING, words=0.6, session=0.2, late=0.4, speaker=0.3, recency=0.9)
    found = published(0.5, 0.3, 0.2, base=base)
    assert sum(found[name] for name in RELEVANCE) == pytest.approx(0.5)
    assert found["words"] / found["session"] == pytest.approx(3)
    assert found["late"] / found["session"] == pytest.approx(2)
    assert (found["recency"], found["importance"], found["speaker"]) == (0.3, 0.2, 0.0)
    with pytest.raises(ValueError, match="no relevance"):
        published(0.5, 0.3, 0.2, base=NOTHING)


def test_ablations_take_out_what_is_on_and_put_in_what_is_off() -> None:
    base = changed(NOTHING, words=0.5, session=0.3, names=0.2)
    found = ablations(base)
    assert found["words"].weights == changed(base, words=0.0)
    assert found["names"].weights == changed(base, names=0.0), "on, so it is taken out whatever the sets hold"
    assert found["late"].weights == changed(base, late=TRIAL["late"])
    assert not found.keys() & untried(base).keys()
    assert found.keys() | untried(base).keys() == set(NAMES)
    assert "feedback" in untried(base)["usefulness"]
    assert ablations(NOTHING, graph=True).keys() - ablations(NOTHING).keys() == {"names", "kind", "distance"}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Gina lost her job at Door Dash.", "Door Dash"),
        ("Gina's favourite style is contemporary.", "contemporary"),
        ("Gina and Gina dance.", "dance"),
        ("?", "something"),
    ],
)
def test_what_an_observation_is_about(text: str, label: str) -> None:
    assert about(text, "Gina") == ("Concept", label)


def test_what_needs_vectors_and_what_needs_a_moment() -> None:
    plain = ablations(changed(NOTHING, words=1.0))
    assert [name for name, one in plain.items() if one.embeds] == list(BY_VECTORS)
    assert [name for name, one in plain.items() if one.dated] == ["recency"]


def a_set() -> DataSet:
    """Two conversations whose turns have the same ids."""
    turns = {
        talk: [Turn(talk, f"D1:{n}", "S1", f"2024-05-0{n}T10:00:00", "Ada", "text") for n in (1, 2, 3)]
        for talk in ("one", "two")
    }
    questions = [
        Question("q1", "one", "?", "plain", ["D1:1"]),
        Question("q2", "two", "?", "plain", ["D1:1", "D1:2"]),
        Question("q3", "two", "?", "trap", ["D1:3"], answerable=False),
        Question("q4", "two", "?", "trap", [], answerable=False),
        Question("q5", "two", "?", "plain", []),
    ]
    return made("small", Form(without={"no_traps": frozenset({"trap"})}, main="no_traps"), turns, questions)


def test_questions_without_evidence_are_kept_where_they_have_no_answer() -> None:
    data = a_set()
    assert [one.question_id for one in data.questions] == ["q1", "q2", "q3"]
    assert [one.question_id for one in data.unanswerable] == ["q4"]
    assert [one.question_id for one in data.main()] == ["q1", "q2"]
    assert data.moments()["one"].isoformat() == "2024-05-04T10:00:00+00:00"


def test_a_turn_of_another_conversation_with_the_same_id_is_no_hit() -> None:
    data = a_set()
    rankings: dict[str, Ranking] = {"q1": [("two", "D1:1")], "q2": [("two", "D1:1")], "q3": []}
    scores = scores_of(data.questions, rankings)
    assert [scores[one]["recall@10"] for one in ("q1", "q2", "q3")] == [0.0, 0.5, 0.0]


def test_an_ablation_above_zero_means_that_the_weight_pays(capsys: pytest.CaptureFixture[str]) -> None:
    data, outcome = a_set(), Outcome("test")
    good: dict[str, Ranking] = {one.question_id: sorted(one.evidence) for one in data.questions}
    scores = {name: scores_of(data.questions, found) for name, found in {"good": good, "bad": {}}.items()}
    weights = {"words": 0.5, "late": 0.0}
    ablate(data, scores["good"], {"words": scores["bad"], "late": scores["bad"]}, weights, outcome)
    assert outcome.figures["ablation.words.no_traps.recall@10"] == 1.0, "taken out, everything was lost"
    assert outcome.figures["ablation.late.no_traps.recall@10"] == -1.0, "put in, everything was lost"
    assert outcome.figures["ablation.words.no_traps.ndcg@10.low"] == 1.0
    assert "off" in capsys.readouterr().out


def test_the_worst_category_is_found_against_the_better_form_of_words() -> None:
    data, outcome = a_set(), Outcome("test")
    right: dict[str, Ranking] = {one.question_id: sorted(one.evidence) for one in data.questions}
    trap = right | {"q1": [], "q2": []}
    judge(data, {"bm25_simple": trap, "bm25_english": {}, "default": right | {"q3": []}}, outcome)
    assert outcome.figures["default.worst_category_difference"] == -1.0
    assert outcome.configuration["worst_category"] == "trap"
    assert outcome.figures["default.plain.recall@10"] == 1.0


def test_auroc_counts_pairs() -> None:
    assert auroc([0.9, 0.8], [0.1, 0.2]) == 1.0
    assert auroc([0.1], [0.9]) == 0.0
    assert auroc([0.5, 0.5], [0.5]) == 0.5
    # Pairs: (3, 1) and (3, 2) won, (2, 1) won, (2, 2) a tie.
    assert auroc([3, 2], [1, 2]) == pytest.approx(3.5 / 4)
    low, high = auroc_interval([0.3, 0.6, 0.9, 0.7], [0.1, 0.4, 0.5, 0.2], resamples=200)
    assert 0.4 < low < auroc([0.3, 0.6, 0.9, 0.7], [0.1, 0.4, 0.5, 0.2]) <= high == 1.0


def test_the_smallest_budget_that_recalls_enough() -> None:
    recall = {100: 0.2, 200: 0.5, 300: 0.5, 400: 0.7}
    assert smallest_budget(0.5, lambda budget: recall[budget], list(recall)) == 200
    assert smallest_budget(0.8, lambda budget: recall[budget], list(recall)) is None
    assert share_of_evidence([("a", "1"), ("b", "1")], [("a", "1"), ("a", "2")]) == 0.5


def test_of_a_shortened_turn_counts_what_is_left_of_it() -> None:
    def item(number: int, text: str) -> Item:
        return Item(id="m:1", kind="message", memory_id=UUID(int=number), text=text, why="x")

    passages = {UUID(int=1): (("a", "1"), 10), UUID(int=2): (("a", "1"), 10), UUID(int=3): (("a", "2"), 5)}
    lengths = {("a", "1"): 20, ("a", "2"): 5}
    evidence = [("a", "1"), ("a", "2")]
    assert share_of_text([item(1, "x" * 10)], evidence, passages, lengths) == 0.25
    assert share_of_text([item(1, "x" * 10), item(2, "x" * 4), item(3, "x" * 5)], evidence, passages, lengths) == 0.85
    assert share_of_text([item(9, "x" * 10)], evidence, passages, lengths) == 0.0


def test_a_run_of_some_variants_leaves_the_figures_of_whole_runs_alone() -> None:
    data = a_set()
    whole = Plan(latency=False, ablation=(), one_user=False, peers=False, facts=True)
    part = replace(whole, variants=named(ALL)("eager,default"))
    assert (whole.set_name(data), part.set_name(data)) == ("small-facts", "small-facts-variants")
    assert (whole.asked(), list(part.asked())) == (VARIANTS, ["eager", "default"])
    assert [one.mode for one in part.asked().values()] == ["eager", "balanced"]
    assert {one.mode for one in MODES.values()} == set(EFFORTS)
    with pytest.raises(argparse.ArgumentTypeError, match="not known: fast"):
        named(ALL)("eager,fast")


def test_a_question_has_token_vectors_of_its_own() -> None:
    found = question_tokens("Which rose?")
    assert found == question_tokens("Which rose?") != question_tokens("Which oak?")
    assert re.fullmatch(r"\{[01]{128}(,[01]{128}){5}\}", found)


def test_questions_of_the_corpus_name_nodes_months_and_speakers_in_turn() -> None:
    names = labels(5_000, 1)
    asked = [dressed("brai loo?", number, names) for number in range(8)]
    assert [one for one in asked if one == "brai loo?"] == [asked[0], asked[4]]
    assert all(any(name in one for name in names) for one in asked[1::4])
    assert [one.endswith(("2023?", "2024?", "2025?")) for one in asked] == [False, False, True, False] * 2
    assert "What did Ada say" in asked[3]
    assert len(set(names)) == 100
    assert said_at(0, 10) < said_at(9, 10) < "2026"


def test_defaults_are_weights_like_any() -> None:
    assert changed(LEARNT, words=0.1) == {"words": 0.1}
