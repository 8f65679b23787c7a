"""Names that tell two things apart, though they are described alike."""

from __future__ import annotations

from uuid import UUID

import pytest

from memsvc.identity.cards import Card
from memsvc.identity.contrast import may_be_same, told_apart
from memsvc.identity.names import Agreement, agree

TOLD_APART = [
    ("iPhone 12", "iPhone 13"), ("iPhone12", "iPhone13"), ("Team meeting on May 3", "Team meeting on June 7"),
    ("Physiotherapy on Monday", "Physiotherapy on Thursday"), ("The Crown season one", "The Crown season two"),
    ("Winter tyres", "Summer tyres"), ("Weather App", "Recipe App"), ("Breakfast with Lena", "Dinner with Lena"),
    ("Type 1 diabetes", "Type 2 diabetes"), ("Kapitel fünf", "Kapitel sechs"),
]  # fmt: skip
NOT_TOLD_APART = [
    ("Smartphone", "Mobile phone"), ("Memory App", "Memory System"), ("Kitchen renovation", "Kitchen remodel"),
    ("Marathon 2024", "Marathon"), ("Camper", "Travel van"), ("Marathon 2024", "2024 Berlin race"),
    ("App", "Memory App"),
]  # fmt: skip


def card(number: int, *names: str, node_type: str = "Object", **more: object) -> Card:
    return Card(node_id=UUID(int=number), type=node_type, names=names, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("one", "other"), TOLD_APART)
def test_numbers_times_and_what_stands_before_the_same_word_tell_apart(one: str, other: str) -> None:
    assert told_apart(one, other, "Object")
    assert told_apart(other, one, "Object")


@pytest.mark.parametrize(("one", "other"), NOT_TOLD_APART)
def test_other_words_for_it_do_not(one: str, other: str) -> None:
    assert not told_apart(one, other, "Object")
    assert may_be_same(card(1, one), card(2, other)) is not None


@pytest.mark.parametrize("names", [("Visit on Monday", "Visit on Tuesday"), ("Season one", "Season two")])
def test_names_with_other_times_do_not_agree_but_for_places(names: tuple[str, str]) -> None:
    assert agree(*names, "Event") == Agreement.NONE
    assert agree("Sun City", "Sun City", "Place") == Agreement.EQUAL


def test_people_with_two_names_are_two_people() -> None:
    meyer, anna = (card(n, name, node_type="Person") for n, name in ((1, "Dr. Meyer"), (2, "Anna")))
    doctor = card(3, "the heart specialist", node_type="Person", named=False)
    mother = card(4, "the user's mother", node_type="Person", named=False)
    assert may_be_same(meyer, doctor) is not None
    for pair in ((meyer, anna), (doctor, mother)):
        assert may_be_same(*pair) is None


def test_what_speaks_against_it_counts() -> None:
    laptop = card(1, "Laptop", attributes={"id": "A-117"})
    assert may_be_same(laptop, card(2, "Notebook computer", attributes={"id": "XX90"})) is None
    assert may_be_same(laptop, card(2, "Notebook computer", node_type="Concept")) is None
    assert may_be_same(laptop, card(2, "Notebook computer", facts=frozenset({("LIKES", "out", UUID(int=1))}))) is None
    assert may_be_same(laptop, card(2)) is None, "it has no name"
