"""Siblings under one parent: what always holds, and names that are read rightly."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsvc.concepts.grouping import Group, Thing, grouped
from memsvc.concepts.lexicon import Lexicon, lexicon
from memsvc.concepts.words import plural, singular

NAMES = st.sampled_from(
    ["Gruyère", "Stilton", "squash", "badminton", "padel", "iPhone 12", "Pixel 6a", "naan", "rye sourdough", "judo",
     "cello", "banjo", "drum", "Violet", "Basil", "thyme", "hot dog", "inflatable flamingo", "swan", "ibuprofen",
     "cetirizine", "blue folder", "red folder", "Zib", "Zab", "gnarper", "cheese", "food", "plan B", "", "a"]
)  # fmt: skip
TEXTS = st.sampled_from(
    ["", "We ate it.", "I play squash on Sundays.", "Zib is a gnarper.", "Zab is a gnarper.", "A gnarper is a Zib.",
     "Our dog Violet barked.", "Herbs such as Basil and thyme.", "Zab and other cheeses."]
)  # fmt: skip
TYPES = st.sampled_from(["Object", "Concept", "Person", "Place", "Event"])
THINGS = st.lists(st.tuples(NAMES, TYPES, TEXTS), max_size=25).map(
    lambda some: [
        Thing(node_id=UUID(int=number), name=name, type=kind, texts=[(None, text)])
        for number, (name, kind, text) in enumerate(some)
    ]
)


def names_of(things: list[Thing], found: list[Group]) -> dict[str, set[str]]:
    """Word -> names of what is directly under it."""
    names = {thing.node_id: thing.name for thing in things}
    return {group.word: {names[node] for node in group.things} | set(group.groups) for group in found}


@settings(deadline=None)
@given(THINGS, st.randoms())
def test_each_thing_has_one_parent_at_most_and_no_order_or_rerun_changes_it(things: list[Thing], lot: object) -> None:
    found = grouped(things, lexicon())
    shuffled = list(things)
    lot.shuffle(shuffled)  # type: ignore[attr-defined]
    assert grouped(shuffled, lexicon()) == found
    held = Counter(node for group in found for node in group.things)
    within = Counter(word for group in found for word in group.groups)
    assert all(count == 1 for count in (held + within).values())
    assert len({group.word for group in found}) == len(found)
    told: set[str] = set()
    for group in found:
        assert len(group.things) + len(group.groups) > 1
        assert set(group.groups) <= told, "narrower groups come first, so none goes round"
        assert not (group.word in lexicon().roots and group.things), "a field is too broad for a thing"
        told.add(group.word)


@pytest.mark.parametrize(
    ("things", "word", "held"),
    [
        ([("Wilson tennis racket", "Object", "")], None, set()),
        ([("our new Fairphone 4", "Object", ""), ("iPhone 12 Pro Max", "Object", "")], "smartphone", None),
        ([("squash", "Concept", "I play squash at the club."), ("padel", "Concept", "")], "racket sport", None),
        ([("squash", "Object", "We ate the squash."), ("leek", "Object", "")], "vegetable", None),
        ([("Robin", "Person", "Robin waved."), ("Jay", "Person", "Jay waved.")], None, set()),
        ([("Rex", "Person", "Our dog Rex barked."), ("Bo", "Person", "Bo is a beagle.")], "dog", None),
        ([("inflatable flamingo", "Object", ""), ("swan", "Object", "")], None, set()),
        ([("hot dog", "Object", ""), ("whippet", "Concept", "")], None, set()),
        ([("judo", "Concept", "He got his yellow belt in judo."), ("scarf", "Object", "")], None, set()),
        ([("patience", "Concept", "It is no strength of mine."), ("canasta", "Concept", "")], None, set()),
    ],
)  # fmt: skip
def test_names_are_read_with_their_types_and_what_stands_beside_them(
    things: list[tuple[str, str, str]], word: str | None, held: set[str] | None
) -> None:
    given_ = [
        Thing(node_id=UUID(int=number), name=name, type=kind, texts=[(None, text)])
        for number, (name, kind, text) in enumerate(things)
    ]
    found = names_of(given_, grouped(given_, lexicon()))
    assert found == ({} if word is None else {word: {name for name, _, _ in things}})
    assert held is None or not found


@pytest.mark.parametrize(
    "lines",
    [["a < b: x", "b < a: y"], ["a < nowhere: x"], ["= f (Object): c", "a < f: x", "a < f: y"], ["what is this"]],
)
def test_a_table_whose_kinds_go_round_or_hang_in_the_air_is_refused(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="kind"):
        Lexicon(lines)


def test_words_of_the_table_are_found_in_both_numbers() -> None:
    table = lexicon()
    assert all(table.kind_of(plural(word)) == word for word in table.kinds)
    assert {singular(plural(word)) for word in ("berry", "knife", "match", "bus", "cheese", "tennis", "mouse")} == {
        "berry", "knife", "match", "bus", "cheese", "tennis", "mouse",
    }  # fmt: skip
