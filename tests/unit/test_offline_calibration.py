"""How sure the offline extractor is: which rule found a fact, and what is learnt of it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import msgspec

from memsvc.extract.offline.calibration import FILE, LEAST, Calibration, by_authors, by_gold
from memsvc.extract.offline.cast import Cast
from memsvc.extract.offline.extractor import read, read_turns
from memsvc.extract.offline.facts import alike
from memsvc.extract.offline.findings import DOUBTFUL, LIKELY, MAYBE, SURE, Finding, attributed, told
from memsvc.extract.validation import DOUBTFUL as ASKED
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window

MOST_WEIGHTS = 150
TEXT = "My sister Ines moved to Porto. I love hiking, and we met Joe there."
EDGES = ("FAMILY_OF", "LIVES_IN", "LIKES", "KNOWS", "LOCATED_AT")


def window(text: str) -> Window:
    said_at = datetime(2025, 9, 6, 10, 15, tzinfo=UTC)
    return Window(
        turns=(Turn(passage_id=uuid4(), speaker="Sam", role="user", text=text, said_at=said_at),),
        candidates=(Candidate(number=0, node_id=uuid4(), label="Sam", type="Person"),),
        speakers={"Sam": 0},
        ontology=Ontology(node_types=frozenset(), edge_types={name: EdgeType(name=name) for name in EDGES}),
    )


def findings(text: str) -> list[list[Finding]]:
    shown = window(text)
    return alike(shown, read_turns(shown, Cast(shown)))


def exists(rule: str) -> bool:
    """Whether there is such a function."""
    module, _, function = rule.partition(".")
    return hasattr(importlib.import_module(f"memsvc.extract.offline.{module}"), function)


def direct(finding: Finding) -> Iterator[Finding]:
    yield finding


def delegating(finding: Finding) -> Iterator[Finding]:
    yield from told([finding.subject], finding.type, finding.object, finding.clause)
    yield from direct(finding)


def test_a_finding_bears_the_name_of_the_innermost_rule_that_yields_it() -> None:
    found = findings(TEXT)[0][0]
    bare = replace(found, rule="")
    assert [one.rule.partition(".")[2] for one in attributed(delegating(bare))] == ["delegating", "direct"]
    assert [one.rule for one in attributed(direct(found))] == [found.rule]


def test_every_finding_of_a_text_has_a_rule() -> None:
    rules = {one.rule for same in findings(TEXT) for one in same}
    assert rules
    assert all(map(exists, rules))


def test_the_weights_are_few_and_of_rules_that_there_are() -> None:
    learnt = msgspec.json.decode(FILE.read_bytes(), type=Calibration)
    assert len(learnt.weights) <= MOST_WEIGHTS
    rules = [trait.removeprefix("rule=") for trait in learnt.weights if trait.startswith("rule=")]
    assert rules
    assert [rule for rule in rules if not exists(rule)] == [], "run `make bench-calibration` after changing rules"
    assert all(learnt.weights.get(trait, 0) >= 0 for trait in ("prior", "rules", "clauses"))


def test_what_was_not_learnt_leaves_the_prior() -> None:
    traits = {"rule=nobody.knows": 1.0, "type=ADMIRES": 1.0}
    weights = Calibration(bias=-0.3, weights={"prior": 0.5, "rule=places.lives": 0.8})
    chances = [weights.confidence(traits | {"prior": prior}) for prior in (-0.4, 0.4, 1.1, 2.2)]
    assert chances == sorted(set(chances))
    assert weights.confidence(traits) == weights.confidence({})


def test_confidence_rises_with_the_prior() -> None:
    (same,) = findings("I live in Porto")
    chances = [
        by_gold([replace(one, confidence=prior) for one in same]) for prior in (DOUBTFUL, MAYBE, LIKELY, SURE, 1)
    ]
    assert chances == sorted(chances)
    assert all(0 < chance < 1 for chance in chances)


def test_plain_facts_are_said_and_none_is_lost() -> None:
    learnt, authors = read(window(TEXT), by_gold), read(window(TEXT), by_authors)
    names = {entity.key: entity.name for entity in learnt.entities}
    said = {(names[one.subject], one.type, names[one.object]) for one in learnt.facts if one.confidence >= LEAST}
    assert {("Sam", "FAMILY_OF", "Ines"), ("Ines", "LIVES_IN", "Porto")} <= said
    assert {(one.subject, one.type, one.object) for one in learnt.facts} == {
        (one.subject, one.type, one.object) for one in authors.facts
    }
    assert LEAST == ASKED
