"""The bank of wordings of what people own, use, make, like, want and feel: a share of it has to be read rightly.

``banks/what_*.txt`` hold one wording a line with the facts that it tells, and near misses that tell none. A share is
asked rather than each line, since a parser that is small errs; the lines that fail are printed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest

from memsvc.extract.offline.extractor import read
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window

pytestmark = pytest.mark.slow
SAID = datetime(2025, 9, 6, 10, 15, tzinfo=UTC)
BANKS = ("things", "tastes", "fresh")
OWN = frozenset({
    "OWNS", "LIKES", "DISLIKES", "WANTS", "CREATED", "USES", "FEELS", "ABOUT", "PART_OF", "RELATED_TO", "CAUSED_BY",
    "DEPENDS_ON",
})  # fmt: skip
ONTOLOGY = Ontology(
    node_types=frozenset(), edge_types={name: EdgeType(name=name) for name in [*OWN, "KNOWS", "FAMILY_OF", "LIVES_IN"]}
)
FOUND, SLIPPED = 0.85, 0.05
"""Shares: of the facts told, at least; of the near misses that something is read of, at most."""
SURE = 0.5


class Told(NamedTuple):
    """A fact, "-" behind its type where it ended."""

    subject: str
    type: str
    thing: str


class Case(NamedTuple):
    """A wording."""

    text: str
    told: tuple[Told, ...]
    never: str
    """The type that must not be read of it; "-": none of all; empty: a wording of facts."""


def told(written: str) -> Told:
    """A fact as the bank writes it: "OWNS van" is Sam's.

    >>> told("my aunt Rosa OWNS- red van")
    Told(subject='my aunt rosa', type='OWNS-', thing='red van')
    """
    words = written.split()
    at = next(place for place, word in enumerate(words) if word.rstrip("-") in OWN)
    return Told(" ".join(words[:at]).casefold() or "sam", words[at], " ".join(words[at + 1 :]).casefold())


@cache
def bank(name: str) -> tuple[Case, ...]:
    """The cases of a bank; lines that are empty or begin with "#" are none."""
    cases = []
    for line in (Path(__file__).parent / "banks" / f"what_{name}.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            text, _, facts = (part.strip() for part in line.rpartition(" | "))
            never = facts.lstrip("!") if facts[0] in "-!" else ""
            cases.append(Case(text, () if never else tuple(map(told, facts.split(";"))), never))
    return tuple(cases)


@cache
def heard(text: str) -> tuple[Told, ...]:
    """What is read of a turn of Sam's."""
    owner = Candidate(number=0, node_id=uuid4(), label="Sam", type="Person")
    turns = (Turn(passage_id=uuid4(), speaker="Sam", role="user", text=text, said_at=SAID),)
    found = read(Window(turns=turns, candidates=(owner,), speakers={"Sam": 0}, ontology=ONTOLOGY))
    names = {entity.key: entity.name.casefold() for entity in found.entities}
    return tuple(
        Told(names[fact.subject], fact.type + "-" * (fact.change == "ended"), names[fact.object])
        for fact in found.facts
        if fact.type in OWN and fact.confidence >= SURE
    )


def same(one: Told, other: Told) -> bool:
    """Whether two facts are one; a name may lack or have words in front."""
    return one.type == other.type and all(
        f" {a}".endswith(f" {b}") or f" {b}".endswith(f" {a}")
        for a, b in ((one.subject, other.subject), (one.thing, other.thing))
    )


@pytest.mark.parametrize("name", BANKS)
def test_most_facts_of_a_bank_are_read(name: str) -> None:
    facts = [(case.text, fact) for case in bank(name) for fact in case.told]
    missed = [(text, fact) for text, fact in facts if not any(same(fact, each) for each in heard(text))]
    lines = [f"{text} | {' '.join(fact)} | read: {'; '.join(map(' '.join, heard(text)))}" for text, fact in missed]
    assert len(missed) <= (1 - FOUND) * len(facts), "\n".join(lines)


@pytest.mark.parametrize("name", BANKS)
def test_few_near_misses_are_taken_for_facts(name: str) -> None:
    near = [case for case in bank(name) if case.never]
    slips = {case.text: [each for each in heard(case.text) if case.never in {"-", each.type}] for case in near}
    slipped = {text: found for text, found in slips.items() if found}
    lines = [f"{text} | must not: {'; '.join(map(' '.join, found))}" for text, found in slipped.items()]
    assert len(slipped) <= SLIPPED * len(near), "\n".join(lines)


@pytest.mark.parametrize("name", BANKS)
def test_little_is_read_beside_the_facts_of_a_bank(name: str) -> None:
    said = [(case, each) for case in bank(name) if not case.never for each in heard(case.text)]
    more = [(case.text, each) for case, each in said if not any(same(each, fact) for fact in case.told)]
    lines = [f"{text} | beside: {' '.join(each)}" for text, each in more]
    assert len(more) <= 2 * SLIPPED * len(said), "\n".join(lines)
