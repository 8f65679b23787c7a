"""How extraction is judged: which names mean the same, and what counts as right, neutral and wrong; no database."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from bench.direct import read_directly
from bench.gold import SETS, Conversation, Labels, Said, load
from bench.harness import Outcome
from bench.matching import Claim, Found, Tally, Thing, assign, compare
from bench.naming import same_name
from bench.observations import Observation
from bench.scoring import figures
from bench.shares import reached
from tests.fakes.extractors import SayingExtractor


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zoë", "zoe"),
        ("the Royal Stoke", "Royal Stoke"),
        ("Mrs Geraghty", "Geraghty"),
        ("Paweł", "Pawel"),
        ("Ana's sister", "my sister"),
        ("the blue van", "van"),
        ("walking boots", "boot"),
        ("model of a ship", "old model"),
        ("swimming", "swim"),
    ],
)
def test_names_that_mean_the_same(one: str, other: str) -> None:
    assert same_name(one, other)
    assert same_name(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hyde Park", "park"),
        ("Ana", "Anna"),
        ("model of a ship", "ship"),
        ("St Mary's Church", "church"),
        ("bus stop", "bus"),
    ],
)
def test_names_that_do_not(one: str, other: str) -> None:
    assert not same_name(one, other)
    assert not same_name(other, one)


def test_a_task_is_known_by_its_content() -> None:
    assert same_name("take on an apprentice", "apprentice", task=True)
    assert same_name("learning to weld", "learn to weld properly", task=True)
    assert not same_name("learn to weld", "learn to cook", task=True)
    assert not same_name("do it", "get", task=True), "nothing is left to compare"


ENTITIES = [
    ("ana", "Person", ["Ana"], True),
    ("ben", "Person", ["Ben", "brother"], True),
    ("lidl", "Organization", ["Lidl"], True),
    ("porto", "Place", ["Porto"], True),
    ("lyon", "Place", ["Lyon"], True),
    ("van", "Object", ["van", "blue van"], False),
]


def fact(number: int, start: str, kind: str, end: str, **more: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {
        "turn": "S1:1",
        "quote": "…",
        "since": None,
        "until": None,
        "required": True,
        "also": [],
        "replaces": None,
    }
    return {"id": f"f{number}", "from": start, "type": kind, "to": end, **usual, **more}


def talk(
    facts: Sequence[dict[str, Any]], not_facts: Sequence[dict[str, str]] = (), texts: Sequence[str] = ("…",)
) -> Conversation:
    """A conversation of one person's turns."""
    at = datetime.fromisoformat("2025-09-06T23:30:00+02:00")
    turns = [Said("talk", "S1", at, f"S1:{number}", "Ana", "user", text) for number, text in enumerate(texts, 1)]
    entities = [
        {"id": key, "type": kind, "names": names, "turns": ["S1:1"], "required": required}
        for key, kind, names, required in ENTITIES
    ]
    labels = {"entities": entities, "facts": list(facts), "not_facts": list(not_facts)}
    return Conversation("talk", turns, msgspec.convert(labels, Labels))


def found(*claims: Claim, **things: Thing) -> Found:
    usual: dict[Hashable, Thing] = {key: Thing(kind, (names[0],)) for key, kind, names, _ in ENTITIES}
    return Found(usual | dict(things), claims)


def counts(tally: Tally) -> tuple[int, int, int, int]:
    return tally.right, tally.neutral, tally.wrong, tally.required


def test_a_required_fact_is_right_an_optional_one_neutral_and_the_rest_wrong() -> None:
    gold = talk(
        [fact(1, "ana", "WORKS_AT", "lidl"), fact(2, "ana", "OWNS", "van", required=False)],
        [{"from": "ben", "type": "WORKS_AT", "to": "lidl", "turn": "S1:1", "why": "assistant guess, denied"}],
    )
    tally = compare(
        gold,
        found(
            Claim("ana", "WORKS_AT", "lidl"),
            Claim("ana", "WORKS_AT", "lidl", since=datetime(2020, 1, 1, tzinfo=UTC)),
            Claim("ana", "OWNS", "van"),
            Claim("lidl", "WORKS_AT", "ana"),
            Claim("ben", "WORKS_AT", "lidl"),
            Claim("ben", "LIVES_IN", "porto", believed=False),
        ),
    )
    assert counts(tally) == (1, 1, 2, 1), "the same twice counts once, what is not believed not at all"
    assert tally.fell_for == {"negated": 1}
    assert tally.wrong_of == {"WORKS_AT": 2}


def test_fair_types_count_and_a_second_prediction_of_a_fact_is_neutral() -> None:
    gold = talk([fact(1, "ana", "LIVES_IN", "porto", also=["LOCATED_AT"])])
    assert counts(compare(gold, found(Claim("ana", "LOCATED_AT", "porto")))) == (1, 0, 0, 1)
    both = found(Claim("ana", "LOCATED_AT", "porto"), Claim("ana", "LIVES_IN", "porto"))
    assert counts(compare(gold, both)) == (1, 1, 0, 1)
    assert counts(compare(gold, found(Claim("ana", "WANTS", "porto")))) == (0, 0, 1, 1)


def test_kinship_holds_in_both_directions_and_employment_in_one() -> None:
    gold = talk([fact(1, "ana", "FAMILY_OF", "ben")])
    assert counts(compare(gold, found(Claim("ben", "FAMILY_OF", "ana")))) == (1, 0, 0, 1)
    gold = talk([fact(1, "ana", "LIKES", "ben")])
    assert counts(compare(gold, found(Claim("ben", "LIKES", "ana")))) == (0, 0, 1, 1)


def test_predictions_are_given_so_that_most_facts_are_found() -> None:
    gold = talk(
        [fact(1, "ana", "LIKES", "porto", also=["WANTS"]), fact(2, "ana", "LOCATED_AT", "porto", also=["LIKES"])]
    )
    tally = compare(gold, found(Claim("ana", "LIKES", "porto"), Claim("ana", "WANTS", "porto")))
    assert counts(tally) == (2, 0, 0, 2)
    assert assign(["a", "b"], {"a": [1, 2], "b": [1]}.__getitem__) == {1: "b", 2: "a"}


def test_the_same_gold_twice_is_one_fact() -> None:
    gold = talk([
        fact(1, "ana", "OWNS", "van", until="2025-08"),
        fact(2, "ana", "OWNS", "van", until="2025-08", replaces="f1"),
    ])  # fmt: skip
    ended = Claim("ana", "OWNS", "van", until=datetime(2025, 9, 1, tzinfo=UTC))
    tally = compare(gold, found(ended))
    assert counts(tally) == (1, 0, 0, 1)
    assert (tally.dates, tally.dates_right) == (1, 0), "the first of September in London is no day of August in Berlin"
    assert (tally.changes, tally.changes_found, tally.changes_closed) == (1, 1, 1)
    assert compare(gold, found(Claim("ana", "OWNS", "van"))).changes_closed == 0


def test_dates_are_read_on_the_clock_of_the_place_and_to_their_precision() -> None:
    gold = talk([
        fact(1, "ana", "LIVES_IN", "porto", since="2025-09-07", until="past"),
        fact(2, "ana", "LIVES_IN", "lyon", since="2024"),
    ])  # fmt: skip
    porto = Claim("ana", "LIVES_IN", "porto", since=datetime(2025, 9, 6, 22, tzinfo=UTC))
    tally = compare(gold, found(porto, Claim("ana", "LIVES_IN", "lyon", since=datetime(2023, 5, 5, tzinfo=UTC))))
    assert (tally.dates, tally.dates_right) == (2, 1)
    assert (tally.ended, tally.ended_right) == (1, 0)


def test_what_was_corrected_does_not_go_on() -> None:
    gold = talk([fact(1, "ana", "LIVES_IN", "porto"), fact(2, "ana", "LIVES_IN", "lyon", replaces="f1")])
    tally = compare(gold, found(Claim("ana", "LIVES_IN", "porto", believed=False), Claim("ana", "LIVES_IN", "lyon")))
    assert (tally.changes_found, tally.changes_closed) == (1, 1)
    assert counts(tally) == (1, 0, 0, 2)


def test_entities_of_fair_types_are_right_and_somebody_twice_is_wrong() -> None:
    gold = talk([])
    tally = compare(gold, found(lidl=Thing("Place", ("Lidl",)), brother=Thing("Person", ("my brother",), named=False)))
    assert (tally.entities_right, tally.entities_neutral, tally.entities_wrong) == (5, 2, 0), "the van and the brother"
    tally = compare(
        gold,
        found(
            lidl=Thing("Person", ("Lidl",)), twin=Thing("Person", ("Ana",)), rome=Thing("Place", ("Rome",)),
            van=Thing("Event", ("blue van",), named=False),
        ),
    )  # fmt: skip
    assert (tally.entities_right, tally.entities_neutral, tally.entities_wrong) == (4, 1, 3)
    assert tally.entities_split == 1


def test_an_extractor_is_read_directly_window_by_window() -> None:
    texts = [
        "I LIVES_IN Porto.",
        "I OWNS van.",
        *["Hm."] * 12,
        "I LIVES_IN Lyon.",
        "no longer I OWNS van.",
        "maybe I LIKES tea.",
    ]
    gold = talk(
        [
            fact(1, "ana", "LIVES_IN", "porto", until="2025-09-06"),
            fact(2, "ana", "OWNS", "van", until="past"),
            fact(3, "ana", "LIVES_IN", "lyon", replaces="f1"),
        ],
        texts=texts,
    )
    extractor = SayingExtractor()
    read = asyncio.run(read_directly(extractor, gold))
    assert [len(window.turns) for window in extractor.windows] == [12, 5]
    assert [len(window.before) for window in extractor.windows] == [0, 6]
    assert [one.label for one in extractor.windows[1].candidates] == ["Ana", "Porto", "van"]
    tally = compare(gold, read)
    assert counts(tally) == (3, 0, 0, 3), "what is doubtful is not said"
    assert (tally.dates_right, tally.ended_right, tally.changes_closed) == (1, 1, 1)
    assert (read.quotes, read.verified) == (5, 5)


def test_an_observation_is_reached_by_a_fact_of_its_turn_with_its_person() -> None:
    read = found(Claim("ana", "LIKES", "porto", turns=("D1:1",)))
    assert reached(read, Observation("c", "Ana likes Porto.", "Ana", ["D1:1", "D1:2"]))
    assert not reached(read, Observation("c", "Ana likes Porto.", "Ana", ["D1:2"]))
    assert not reached(read, Observation("c", "Ana likes Porto.", "Porto", ["D1:1"])), "a place is nobody"


@pytest.mark.parametrize("name", [name for name in SETS if name != "kept"])
def test_gold_is_whole(name: str) -> None:
    conversations = load(name)
    assert conversations
    for one in conversations:
        assert one.labels.entities, one.name
        assert one.labels.facts, one.name
        entities, texts = {entity.id for entity in one.labels.entities}, {turn.turn_id: turn.text for turn in one.turns}
        facts = {label.id for label in one.labels.facts}
        for label in one.labels.facts:
            assert {label.start, label.end} <= entities, (one.name, label.id)
            assert label.quote in texts[label.turn], (one.name, label.id)
            assert label.replaces is None or label.replaces in facts, (one.name, label.id)


def test_figures_come_with_their_interval(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = Outcome("test")
    good, bad = Tally(right=3, wrong=1, required=4, neutral=1), Tally(right=0, wrong=2, required=2)
    figures("offline", [good, bad], outcome, resamples=200)
    assert outcome.figures["offline.facts.precision"] == 0.5
    assert outcome.figures["offline.facts.recall"] == 0.5
    assert outcome.figures["offline.facts.precision.low"] == 0.0
    assert outcome.figures["offline.facts.precision.high"] == 0.75
    assert outcome.figures["offline.facts.true"] == pytest.approx(4 / 7)
    assert outcome.figures["offline.entities.f1"] == 0.0
    assert "by type" in capsys.readouterr().out
