"""How the judge of LoCoMo's observations sees pairs, learns, and is compared with labels; no database, no data set."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from bench import covered
from bench.covered import Pair, Seen, Side, measure, strata, take_labels, write_pairs
from bench.covered_judge import (
    EACH,
    NO_FACT,
    Label,
    Reader,
    Signs,
    agreement,
    chance_of,
    drawn,
    kappa,
    learn,
    share_by_labels,
)
from bench.harness import Outcome
from bench.observations import Observation
from memsvc.errors import ConfigurationError

ABOUT = "Mira plays the cello in a small orchestra."
SAME = "Mira plays the cello"
DENIED = "Mira never plays the cello"
OTHER = "Mira lives in Ghent"


def signs(cosine: float, said: float = 0.0, *, subject: float = 1.0) -> Signs:
    """Signs of a pair that differ from others in a few things."""
    return Signs(cosine, said, said, subject, 1.0)


def labelled(number: int, cosine: float, *, label: bool) -> Label:
    """A pair of one of three conversations."""
    return Label(f"talk {number % 3}", number, signs(cosine, cosine), label)


GOLD = [labelled(number, number / 60, label=number >= 40) for number in range(60)]


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader([ABOUT, SAME, DENIED, OTHER])


def observation(text: str = ABOUT) -> Observation:
    """One by Mira."""
    return Observation("talk 0", text, "Mira", ["1"])


def test_words_count_in_both_directions_without_the_speakers_name(reader: Reader) -> None:
    same, other = reader.signs(observation(), SAME, "Mira"), reader.signs(observation(), OTHER, "Mira")
    assert same.told == 1.0, "play and cello are in the observation"
    assert same.said == 0.5, "of play, cello, small and orchestra the fact has two"
    assert (other.said, other.told) == (0.0, 0.0), "a shared name is not a shared word"
    assert same.cosine > other.cosine


def test_a_fact_that_begins_elsewhere_or_denies_differs(reader: Reader) -> None:
    assert reader.signs(observation(), SAME, "mira").subject == 1.0
    assert reader.signs(observation(), SAME, "Noor").subject == 0.0
    assert reader.signs(observation(), SAME, "Mira").negation == 1.0
    assert reader.signs(observation(), DENIED, "Mira").negation == 0.0


def test_a_text_is_as_near_to_itself_as_can_be(reader: Reader) -> None:
    found = reader.signs(observation(SAME), SAME, "Mira")
    assert found.cosine == pytest.approx(1.0, abs=1e-3)
    assert found == Signs(found.cosine, 1.0, 1.0, 1.0, 1.0)


def test_the_judge_follows_its_labels_and_no_sign_speaks_against_a_pair() -> None:
    judge = learn(GOLD)
    assert chance_of(judge, signs(0.95, 0.95)) > 0.9
    assert chance_of(judge, signs(0.3, 0.3)) < 0.1
    turned = learn([Label(one.conversation, one.observation, one.signs, not one.label) for one in GOLD])
    assert all(weight >= 0 for weight in turned.weights.values())


def test_agreement_is_of_conversations_that_the_judge_has_not_seen() -> None:
    found = agreement(GOLD)
    assert found["accuracy"] > 0.9
    assert found["kappa"] > 0.8
    apart = [
        Label("one" if one.label else "other", one.observation, one.signs, one.label) for one in GOLD
    ]  # each conversation has one kind of label, so whoever has not seen it expects the other kind
    assert agreement(apart)["accuracy"] == 0.0


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ([True, False], [True, False], 1.0), ([True, False], [False, True], -1.0),
        ([True, True, False, False], [True, False, True, False], 0.0), ([True, True], [True, True], 0.0),
        # Cohen's formula by hand: 7 of 10 agree, by chance .4 * .5 + .6 * .5 = .5 would
        ([True] * 4 + [False] * 6, [True] * 3 + [False, True, True] + [False] * 4, 0.4),
    ],
)  # fmt: skip
def test_kappa_is_agreement_beyond_chance(first: list[bool], second: list[bool], wanted: float) -> None:
    assert kappa(first, second) == pytest.approx(wanted)


def test_a_stratum_counts_by_its_size_whatever_was_labelled_of_it() -> None:
    near = [Label("a", number, signs(0.9), number % 2 == 0) for number in range(10)]
    far = [Label("a", number, signs(0.1), False) for number in range(10)]
    share, low, high = share_by_labels(near + far, [4] * 20 + [0] * 70 + [NO_FACT] * 10)
    assert share == pytest.approx(0.2 * 0.5)
    assert (share - low, high - share) == pytest.approx((1.96 * 0.2 * (0.25 / 9) ** 0.5,) * 2)


def test_pairs_are_drawn_from_each_stratum_and_the_same_each_time() -> None:
    given = [0] * 100 + [3] * 5 + [NO_FACT] * 50
    chosen = drawn(given)
    assert chosen == drawn(given)
    assert len(set(chosen)) == len(chosen) == EACH + 5
    assert all(given[number] != NO_FACT for number in chosen)


def test_labels_are_kept_without_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covered, "GOLD", tmp_path / "gold.jsonl")
    file, given = tmp_path / "pairs.jsonl", [observation(), observation(OTHER)]
    write_pairs(given, [[Seen(signs(0.8), SAME)], []], file)
    with pytest.raises(ConfigurationError, match="1 of 1 pairs have no label"):
        take_labels(file)
    pair = msgspec.json.decode(file.read_bytes(), type=Pair)
    assert (pair.text, pair.fact, pair.observation) == (ABOUT, SAME, 0)
    pair.label = True
    file.write_bytes(msgspec.json.encode(pair))
    take_labels(file)
    assert b"cello" not in (tmp_path / "gold.jsonl").read_bytes()
    assert covered.labels() == [Label("talk 0", 0, signs(0.8), label=True)]


def test_an_observation_is_covered_by_any_of_its_facts_and_sides_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(covered, "GOLD", tmp_path / "gold.jsonl")
    covered.GOLD.write_bytes(b"\n".join(map(msgspec.json.encode, GOLD)))
    far, near, less = Seen(signs(0.1, 0.1), OTHER), Seen(signs(0.9, 0.9), SAME), Seen(signs(0.95, 0.0), OTHER)
    pairs = {"before": [[far], [far], []], "after": [[near, far], [less, near], []]}
    assert strata(pairs["after"]) == [4, 4, NO_FACT]
    one = Side([], {"offline.locomo.facts": 3})
    outcome = Outcome("covered")
    measure({"before": one, "after": one}, pairs, outcome)
    figures = outcome.figures
    assert (figures["before.share"], figures["after.share"]) == pytest.approx((0.0, 2 / 3))
    assert figures["after.share.nearest"] == pytest.approx(1 / 3), "what is nearest shares no word"
    assert figures["difference.share"] == pytest.approx(2 / 3)
    assert (figures["labels.pairs"], figures["labels.covered"]) == (60, 20)


def test_the_gold_has_a_hundred_pairs_and_no_text() -> None:
    lines = covered.GOLD.read_bytes().splitlines()
    read = covered.labels()
    assert len(lines) == len(read) == 100
    assert [msgspec.json.encode(one) for one in read] == lines, "nothing but ids, signs and the label"
    assert {len(one.conversation) for one in read} == {len("conv-30")}
    assert any(one.label for one in read)
    assert not all(one.label for one in read)
