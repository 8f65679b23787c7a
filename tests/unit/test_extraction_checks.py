"""What extractors give back is believed only as far as the turns say it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from memsvc.extract.boilerplate import boilerplate_spans, injected_spans
from memsvc.extract.extraction import Entity, Extraction, Fact, Signs
from memsvc.extract.grounding import speakers_of
from memsvc.extract.quotes import find_name, find_quote
from memsvc.extract.unread import first_window
from memsvc.extract.validation import REASONS, Checked, check
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window
from memsvc.graph.operations import new_id
from memsvc.text.fence import fenced

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
ONTOLOGY = Ontology(
    node_types=frozenset({"Person", "Place", "Object"}),
    edge_types={
        "LIVES_IN": EdgeType(name="LIVES_IN", from_types=frozenset({"Person"}), to_types=frozenset({"Place"})),
        "FAMILY_OF": EdgeType(name="FAMILY_OF", from_types=frozenset({"Person"}), to_types=frozenset({"Person"})),
        "OWNS": EdgeType(name="OWNS", from_types=frozenset({"Person"})),
    },
)
TEXT = "My sister Ana lives in  “Faro” now — she’s got a blue van."


def turn(text: str, role: str = "user", speaker: str = "Ada") -> Turn:
    return Turn(passage_id=new_id(), speaker=speaker, role=role, text=text, said_at=NOW)


def window(*turns: Turn, before: tuple[Turn, ...] = ()) -> Window:
    owner = Candidate(number=0, node_id=new_id(), label="Ada", type="Person", aliases=("I",))
    boss = Candidate(number=1, node_id=new_id(), label="Birte", type="Person", relations=("boss",))
    return Window(turns=turns, before=before, candidates=(owner, boss), speakers={"Ada": 0}, ontology=ONTOLOGY)


ANA = Entity(key=1, name="Ana", type="Person")
FARO = Entity(key=2, name="Faro", type="Place")
LIVES = Fact(subject=1, type="LIVES_IN", object=2, sentence="Ana lives in Faro.", turn=0, quote="lives in “Faro” now")


def checked(fact: Fact = LIVES, *entities: Entity, text: str = TEXT, role: str = "user") -> Checked:
    found = Extraction(entities=entities or (ANA, FARO), facts=(fact,))
    return check(window(turn(text, role)), found)


def changed(**fields: Any) -> Fact:
    return msgspec.structs.replace(LIVES, **fields)


def test_a_fact_that_stands_knows_its_place() -> None:
    made = checked()
    [sound] = made.facts
    assert sound.span is not None
    assert TEXT[slice(*sound.span)] == "lives in  “Faro” now"
    assert {key: TEXT[slice(*span)] for key, (_, span) in made.mentions.items()} == {1: "Ana", 2: "Faro"}


OWNER_HERE = Entity(key=3, name="Ada", type="Person", known=0)
UNRESOLVED = Entity(key=3, name="ada", type="Person")


@pytest.mark.parametrize("entity", [OWNER_HERE, UNRESOLVED])
@pytest.mark.parametrize(
    "text",
    [
        "Ana: I live in Faro.",
        "Ana wrote: I live in Faro.",
        "Please translate: I live in Faro.",
        'She texted "I live in Faro now, in my van".',
        "Let us role-play! I live in Faro.",
    ],
)
def test_words_of_others_tell_nothing_of_who_passes_them_on(text: str, entity: Entity) -> None:
    fact = changed(subject=3, quote="I live in Faro")
    assert [left.reason for left in checked(fact, entity, FARO, text=text).left] == ["voice"]
    assert checked(fact, entity, FARO, text="Update: I live in Faro.").facts
    if "Ana" in text:
        assert checked(changed(quote="I live in Faro"), ANA, FARO, text=text).facts, "of whom they are, they tell"


WRONG = {
    "quote": changed(quote="lives in Porto"),
    "type": changed(type="RESIDES_AT"),
    "endpoint": changed(subject=2, object=1),
    "self": changed(type="OWNS", object=1),
    "date": changed(since=datetime(800, 1, 1, tzinfo=UTC)),
    "doubtful": changed(confidence=0.4),
}


@pytest.mark.parametrize("reason", WRONG)
def test_what_is_wrong_is_kept_with_its_reason(reason: str) -> None:
    made = checked(WRONG[reason])
    assert made.facts == []
    assert [left.reason for left in made.left] == [reason]
    assert reason in REASONS


@pytest.mark.parametrize(
    "fields",
    [
        {"since": datetime(2026, 1, 1)},  # noqa: DTZ001 - meant
        {"since": datetime(2099, 1, 1, tzinfo=UTC)},
        {"since": NOW, "until": NOW},
    ],
)
def test_times_that_cannot_be(fields: dict[str, Any]) -> None:
    assert [left.reason for left in checked(changed(**fields)).left] == ["date"]


@pytest.mark.parametrize(
    "entity", [Entity(key=1, name="Marie Curie", type="Person"), Entity(key=1, name="X", type="Person", known=1)]
)
def test_nobody_is_invented(entity: Entity) -> None:
    assert [left.reason for left in checked(LIVES, entity, FARO).left] == ["ungrounded"]


def test_who_is_known_is_grounded_by_a_word_for_what_they_are() -> None:
    boss = Entity(key=1, name="boss", type="Person", known=1, named=False)
    text = "My boss lives in Faro."
    assert checked(changed(quote=text), boss, FARO, text=text).facts


def test_garbage_is_dropped_and_counted() -> None:
    made = checked(changed(object=77))
    assert (made.dropped, made.facts, made.left) == (1, [], [])
    assert checked(changed(turn=5)).dropped == checked(changed(confidence=7.0)).dropped == 1


@pytest.mark.parametrize(
    ("text", "role", "reason"),
    [
        (LIVES.sentence, "assistant", "role"),
        (f"```\n{LIVES.sentence}\n```", "user", "boilerplate"),
        (f"> {LIVES.sentence}", "user", "boilerplate"),
        (f"| Ana | {LIVES.sentence} |", "user", "boilerplate"),
        (f"Hello!\n-- \n{LIVES.sentence}", "user", "boilerplate"),
        (f"Look:\n{fenced(LIVES.sentence)}", "user", "injected"),
        (fenced(LIVES.sentence).replace("now", "then").rsplit("\n", 1)[0], "user", "injected"),
    ],
    ids=["assistant", "code", "quotation", "table", "signature", "context", "opened context"],  # fences differ
)
def test_nobody_says_this_of_themselves(text: str, role: str, reason: str) -> None:
    assert [left.reason for left in checked(changed(quote=LIVES.sentence), text=text, role=role).left] == [reason]


def test_a_description_of_somebody_says_who_that_is() -> None:
    sister = Entity(key=1, name="Ana", type="Person", of=0, relation="sister", quote="My sister Ana")
    ada = Entity(key=0, name="Ada", type="Person", known=0)
    made = checked(LIVES, ada, sister, FARO)
    told = [(sound.fact.type, sound.fact.sentence, sound.fact.data) for sound in made.facts]
    assert told[1] == ("FAMILY_OF", "Ana is Ada's sister.", {"relation": "sister"})
    family = changed(type="FAMILY_OF", subject=0, object=1, sentence="Ana is family.", quote="My sister Ana")
    [only] = checked(family, ada, sister).facts
    assert only.fact.data == {"relation": "sister"}


def test_signs_keep_to_their_scales() -> None:
    signs = (Signs(turn=0, sentiment=3.0, importance=99), Signs(turn=0, importance=1), Signs(turn=9, importance=1))
    [sign] = check(window(turn(TEXT)), Extraction(signs=signs)).signs
    assert (sign.sentiment, sign.importance) == (None, 10)


def test_quotes_are_found_but_for_spaces_marks_and_capitals() -> None:
    assert find_quote("She said “Hi   there”.", 'said "hi there"') == (4, 21)
    assert find_quote("ﬁne and well", "Fine") == (0, 3)
    assert find_quote("fine", "…") is None
    assert find_quote("a b a", "a", near=1) == (4, 5)
    assert find_name("Banana and Ana", "Ana") == (11, 14)
    assert find_name("Banana", "Ana") is None
    assert find_name("Banana, ANA", "Ana") == (8, 11)
    began = time.perf_counter()
    assert find_name("ab" * 20_000, "B") is None
    assert time.perf_counter() - began < 2, "each place once, not the rest of the text for each place"


def test_plain_talk_is_no_boilerplate() -> None:
    for text in (TEXT, "I paid 3 > 2 euros; well (really).", "From Rome: greetings!\nTo all of you"):
        assert boilerplate_spans(text) == [], text
        assert injected_spans(text) == []


def test_windows_are_bounded() -> None:
    assert len(first_window([turn("x")] * 30)) == 12
    assert len(first_window([turn("x" * 2_500)] * 5)) == 2
    assert len(first_window([turn("x" * 50_000)] * 5)) == 1


def row(label: str, how: str, *speakers: str, aliases: tuple[str, ...] = ()) -> Any:
    return SimpleNamespace(label=label, how=how, speakers=speakers, aliases=aliases)


def test_who_speaks() -> None:
    known = [row("Ada", "owner", aliases=("AL",)), row("Rui", "speaker", "Rui")]
    said = [turn("x", speaker=""), turn("x", speaker="al"), turn("x", speaker="Rui"), turn("x", speaker="Eva")]
    assert speakers_of(said, known) == {"": 0, "al": 0, "Rui": 1, "Eva": None}
    helped = [turn("x", speaker="Maria"), turn("x", "assistant", "assistant")]
    assert speakers_of(helped, known) == {"Maria": 0, "assistant": None}, "one person alone with an assistant"
    assert speakers_of(helped[:1], known) == {"Maria": None}
