"""Who is judged to be the same: names, attributes, company, and what is never merged without asking."""

from __future__ import annotations

import time
from itertools import combinations
from uuid import UUID, uuid5

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsvc.identity.cards import Card
from memsvc.identity.contrast import told_apart
from memsvc.identity.judging import frequencies, judge, judge_many
from memsvc.identity.names import Agreement, agree
from memsvc.identity.relations import same

HERE = UUID(int=1)


def node(number: int) -> UUID:
    return uuid5(HERE, str(number))


def card(*names: str, number: int = 0, node_type: str = "Person", **more: object) -> Card:
    return Card(node_id=node(number), type=node_type, names=names, **more)  # type: ignore[arg-type]


def employed(*firms: int) -> frozenset[tuple[str, str, UUID]]:
    return frozenset(("WORKS_AT", "out", node(firm)) for firm in firms)


@pytest.mark.parametrize(
    ("one", "two", "agreement"),
    [
        ("Ana Berg", "ana  bérg", Agreement.EQUAL),
        ("Berg, Ana", "Ana Berg", Agreement.ORDER),
        ("Ана Берг", "Ana Berg", Agreement.EQUAL),
        ("Ana Berg", "Ana Bergh", Agreement.TYPO),
        ("Robert Miles", "Bob Miles", Agreement.NICKNAME),
        ("R. Miles", "Robert Miles", Agreement.INITIAL),
        ("Dr. Miles", "Robert Miles", Agreement.PART),
        ("Robert", "Robert Miles", Agreement.PART),
        ("Mr. Bennet", "Mrs. Bennet", Agreement.CONTRARY),
        ("Ana Berg", "Eva Berg", Agreement.CONTRARY),
        ("Tom Reed jr", "Tom Reed sr", Agreement.CONTRARY),
        ("Robert", "Roberts", Agreement.NONE),
        ("Tim", "Tom", Agreement.NONE),
        ("Ana Berg", "Joe Quill", Agreement.NONE),
    ],
)
def test_names_of_people_agree_or_contradict_each_other(one: str, two: str, agreement: Agreement) -> None:
    assert agree(one, two) == agree(two, one) == agreement


@pytest.mark.parametrize(
    ("one", "two", "node_type", "agreement"),
    [
        ("Acme Inc.", "ACME", "Organization", Agreement.EQUAL),
        ("Москва", "Moskva", "Place", Agreement.EQUAL),
        ("London", "London Bridge", "Place", Agreement.PART),
        ("Area 51", "Area 52", "Place", Agreement.NONE),
        ("Lyon", "Porto", "Place", Agreement.NONE),
        ("Gate B12", "Gate B13", "Place", Agreement.NONE),
        ("Terminal 1", "Terminal Two", "Place", Agreement.NONE),
        ("Terminal 1", "Terminal One", "Place", Agreement.EQUAL),
        ("Shan Xi", "Shanxi", "Place", Agreement.EQUAL),
        ("First Avenue", "1st Avenue", "Place", Agreement.EQUAL),
    ],
)
def test_names_of_things_agree(one: str, two: str, node_type: str, agreement: Agreement) -> None:
    assert agree(one, two, node_type) == agree(two, one, node_type) == agreement


ONE_NUMBER = [
    ("iPhone 12", "iPhone12"), ("World War 2", "World War Two"), ("World War II", "World War 2"),
    ("World War Two", "World War II"), ("F-150", "F150"), ("F 150", "F150"), ("Audi A-4", "Audi A4"),
    ("COVID-19", "Covid 19"), ("3D printer", "3-D printer"), ("PS5", "PS 5"), ("iPhone 6s", "iPhone 6 S"),
    ("Terminal Eins", "Terminal 1"), ("Kapitel fünf", "Kapitel 5"), ("Kapitel fuenf", "Kapitel fünf"),
    ("Kapitel zwölf", "Kapitel 12"), ("Type I diabetes", "Type 1 diabetes"),
    ("2nd World War", "Second World War"), ("Twelve Monkeys", "12 Monkeys"), ("Super Bowl XIX", "Super Bowl 19"),
]  # fmt: skip
OTHER_NUMBERS = [
    ("iPhone 12", "iPhone 13"), ("iPhone12", "iPhone 13"), ("Terminal 1", "Terminal 2"), ("Day 1", "Day 10"),
    ("Day1", "Day 10"), ("World War I", "World War II"), ("World War One", "World War II"), ("F-150", "F-250"),
    ("F-150", "E-150"), ("F 150", "E150"), ("Audi A4", "Audi B4"), ("Audi A4", "Audi 4"), ("iOS 17.2", "iOS 172"),
    ("iPhone 6s", "iPhone 6"), ("Kapitel fünf", "Kapitel 6"), ("Season one", "Season 2"), ("3 x 4", "3 x 5"),
    ("Volvo V60", "Volvo S60"), ("Volvo V 60", "Volvo S60"), ("World War II memorial", "World War I memorial"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two"), ONE_NUMBER)
def test_a_number_is_the_same_in_each_way_to_write_it(one: str, two: str) -> None:
    assert agree(one, two, "Object") == agree(two, one, "Object") == Agreement.EQUAL
    assert not told_apart(f"{one} case", f"{two} case", "Object")


@pytest.mark.parametrize(("one", "two"), OTHER_NUMBERS)
def test_other_numbers_are_other_things(one: str, two: str) -> None:
    assert agree(one, two, "Object") == agree(two, one, "Object") == Agreement.NONE
    assert told_apart(one, two, "Object")


@pytest.mark.parametrize(
    ("one", "two", "agreement"),
    [
        ("Ford F-150", "F150", Agreement.NONE),
        ("iPhone12", "Apple iPhone 12", Agreement.NONE),
        ("iPhone", "iPhone12", Agreement.PART),
        ("First World War", "World War I", Agreement.ORDER),
    ],
)
def test_a_number_is_found_within_a_longer_name(one: str, two: str, agreement: Agreement) -> None:
    assert agree(one, two, "Object") == agree(two, one, "Object") == agreement
    assert not told_apart(one, two, "Object")


def test_a_full_name_and_something_else_is_the_same() -> None:
    one = card("Ana Berg", number=1, attributes={"phone": "+49 30 1234"})
    two = card("Ana Berg", number=2, attributes={"phone": "0049301234", "city": "Lyon"})
    assert judge(one, card("Ana Berg", number=2, attributes={"phone": "+49 (30) 1234"})).decision == "same"
    assert judge(one, two).decision == "unsure"
    assert judge(
        card("Ana Berg", number=1, facts=employed(7)), card("Ana Berg", number=2, facts=employed(7))
    ).decision == ("same")


@pytest.mark.parametrize("node_type", ["Person", "Place", "Organization", "Object", "Project"])
def test_equal_names_alone_are_never_merged(node_type: str) -> None:
    pair = (
        card("Quillhaven Xanthe Obrist", number=1, node_type=node_type),
        card("Quillhaven Xanthe Obrist", number=2, node_type=node_type),
    )
    assert judge(*pair).decision == "unsure"


def test_what_speaks_against_it_keeps_apart() -> None:
    same_phone = {"phone": "+49 30 1234"}
    one = card("Ana Berg", number=1, attributes={**same_phone, "birthday": "1980-01-02"})
    other_day = card("Ana Berg", number=2, attributes={**same_phone, "birthday": "1991-07-30"})
    assert judge(one, other_day).decision == "unsure"
    sister = card("Eva Berg", number=3, attributes=same_phone, facts=employed(7))
    assert judge(card("Ana Berg", number=1, attributes=same_phone, facts=employed(7)), sister).decision != "same"
    knows = frozenset({("KNOWS", "out", node(2))})
    assert judge(card("Tom Reed", number=1, facts=knows), card("Tom Reed", number=2)).decision == "different"
    assert judge(card("Florence", number=1), card("Florence", number=2, node_type="Place")).decision == "different"


def test_a_first_name_needs_more_than_company() -> None:
    pair = card("Ana", number=1, facts=employed(7)), card("Ana", number=2, facts=employed(7))
    assert judge(*pair).decision == "unsure"
    described = card("blue van", number=1, node_type="Object", named=False, facts=employed(7))
    assert judge(described, card("blue van", number=2, node_type="Object", facts=employed(7))).decision != "same"


def test_what_is_rare_in_a_memory_weighs_more() -> None:
    many = [card(f"Ana Berg{number}", number=number) for number in range(50)]
    few = [card(f"Zoe{number} Quill{number}", number=100 + number) for number in range(50)]
    known = frequencies([*many, *few])
    common = judge(card("Ana", number=1), card("Ana", number=2), known)
    rare = judge(card("Zoe7", number=1), card("Zoe7", number=2), known)
    assert common.score < rare.score
    assert set(common.evidence) <= {
        "name", "attributes", "company", "type", "attributes_against", "company_against",
    }  # fmt: skip


@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(["Person", "Place", "Organization"]))
@settings(max_examples=200, deadline=None)
def test_any_text_can_be_a_name_and_order_does_not_matter(one: str, two: str, node_type: str) -> None:
    forth = judge(card(one, number=1, node_type=node_type), card(two, number=2, node_type=node_type))
    back = judge(card(two, number=2, node_type=node_type), card(one, number=1, node_type=node_type))
    assert forth.decision == back.decision != "same"
    assert forth.score == pytest.approx(back.score)
    assert 0 <= forth.score <= 1


def test_it_is_fast() -> None:
    cards = [
        card(f"{first} {last}", number=number, attributes={"street": f"{last} street", "postcode": str(4000 + number)})
        for number, (first, last) in enumerate(
            (a, b) for a in ("ana", "tom", "zoe", "bob") for b in map(str, range(40))
        )
    ]
    pairs = list(combinations(cards, 2))
    started = time.process_time()
    judge_many(pairs)
    assert len(pairs) / (time.process_time() - started) > 4_000  # 20,000 and more on a quiet core


@pytest.mark.parametrize(
    ("one", "two", "alike"),
    [
        ("mom", "mother", True), ("My older sister", "sis", True), ("wife", "partner", True), ("boss", "manager", True),
        ("wife", "husband", False), ("mother", "father", False), ("", "", False), ("co-worker", "colleague", True),
    ],
)  # fmt: skip
def test_words_for_relations(one: str, two: str, alike: bool) -> None:
    assert same(one, two) is alike
