"""Plans that are off, and what is said again with another name: neither leaves a fact that is not so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from bench.direct import ONTOLOGY
from memsvc.extract.extraction import Extraction
from memsvc.extract.offline.calibration import by_gold
from memsvc.extract.offline.extractor import read
from memsvc.extract.validation import DOUBTFUL
from memsvc.extract.window import Candidate, Turn, Window

pytestmark = pytest.mark.slow
NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)


def extraction(*texts: str) -> Extraction:
    """What is read of messages that Max writes, ten days apart."""
    turns = tuple(
        Turn(passage_id=uuid4(), speaker="Max", role="user", text=text, said_at=NOW + at * timedelta(10))
        for at, text in enumerate(texts)
    )
    owner = Candidate(number=0, node_id=uuid4(), label="Max", type="Person")
    return read(Window(turns=turns, candidates=(owner,), speakers={"Max": 0}, ontology=ONTOLOGY), by_gold)


def said(found: Extraction) -> list[str]:
    """Its facts that need no review; what is off has an "off" before it."""
    names = {entity.key: entity.name for entity in found.entities}
    how = {"ended": "over ", "corrects": "no, "}
    return [
        f"{'off ' if fact.never else how.get(fact.change, '')}{names[fact.subject]} {fact.type} {names[fact.object]}"
        for fact in found.facts
        if fact.confidence >= DOUBTFUL and fact.type not in {"FAMILY_OF", "KNOWS"}
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lena is not moving to Vienna after all.", ["off Lena LIVES_IN Vienna"]),
        ("Lena won't move to Vienna after all.", ["off Lena LIVES_IN Vienna"]),
        ("Lena's not going to move to Vienna.", ["off Lena LIVES_IN Vienna"]),
        ("Lena is no longer moving to Vienna.", ["off Lena LIVES_IN Vienna"]),
        ("Lena isn't moving to Vienna any more.", ["off Lena LIVES_IN Vienna"]),
        ("Turns out Lena isn't moving to Vienna.", ["off Lena LIVES_IN Vienna"]),
        ("Lena decided not to move to Vienna.", ["off Lena LIVES_IN Vienna"]),
        ("Lena decided against moving to Vienna.", ["off Lena LIVES_IN Vienna"]),
        ("Lena changed her mind about moving to Vienna.", ["off Lena LIVES_IN Vienna"]),
        ("Lena didn't move to Vienna after all.", ["off Lena LIVES_IN Vienna"]),
        ("Lena ended up not moving to Vienna.", ["off Lena LIVES_IN Vienna"]),
        ("Lena called off the move to Vienna.", ["off Lena LIVES_IN Vienna"]),
        ("Lena's move to Vienna fell through.", ["off Lena LIVES_IN Vienna"]),
        ("Lena's move to Vienna has been cancelled.", ["off Lena LIVES_IN Vienna"]),
        ("The move to Vienna is off.", ["off Max LIVES_IN Vienna"]),
        ("Lena isn't taking the job at Siemens after all.", ["off Lena WORKS_AT Siemens"]),
        ("Lena turned down the job at Siemens.", ["off Lena WORKS_AT Siemens"]),
        ("The job at Siemens fell through.", ["off Max WORKS_AT Siemens"]),
        ("We won't be going to Crete.", ["off Max LOCATED_AT Crete"]),
        ("We're not flying to Lisbon on Friday after all.", ["off Max LOCATED_AT Lisbon"]),
        ("We're not buying the boat after all.", ["off Max OWNS boat"]),
        # These deny no plan.
        ("Lena is moving to Vienna after all.", ["Lena LIVES_IN Vienna"]),
        ("Lena doesn't live in Vienna any more.", ["over Lena LIVES_IN Vienna"]),
        ("Lena isn't working at Siemens any more.", ["over Lena WORKS_AT Siemens"]),
        ("I quit my job at Siemens.", ["over Max WORKS_AT Siemens"]),
        ("If the trip to Rome is cancelled I'll cry.", []),
        ("I hope the trip to Rome isn't cancelled.", []),
        ("Is the trip to Rome off?", []),
        ("The trip to Rome wasn't cancelled.", []),
        ("The meeting is off to a good start.", []),
        ("I'm not going to lie, Crete is nice.", []),
        ("Lena didn't go to Vienna yesterday.", []),
        ("I wouldn't move to Vienna.", []),
    ],
)
def test_a_plan_that_is_off(text: str, expected: list[str]) -> None:
    assert said(extraction(text)) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("I'm moving to Berlin in March.", "We're staying in Bonn after all."), "off Max LIVES_IN Berlin"),
        (("Lena works at Siemens.", "She takes the job in Graz instead."), "over Lena WORKS_AT Siemens"),
        (("Lena starts at Siemens in May.", "Lena took the job in Graz instead."), "off Lena WORKS_AT Siemens"),
        (("We're going to Italy in May.", "Our trip to Italy was cancelled."), "off Max LOCATED_AT Italy"),
    ],
)
def test_what_is_off_by_what_is_done_instead(texts: Sequence[str], expected: str) -> None:
    assert expected in said(extraction(*texts))


@pytest.mark.parametrize(
    "texts",
    [
        ("I live in Berlin.", "We're staying in Bonn after all."),
        ("Lena works at Siemens.", "She takes the bus instead."),
        ("Lena works at Siemens.", "Tom takes the job in Graz instead."),
    ],
)
def test_what_goes_on_beside_something_else(texts: Sequence[str]) -> None:
    assert not [fact for fact in said(extraction(*texts)) if fact.startswith(("off", "over"))]


def test_the_times_of_a_denied_plan_are_not_the_end_of_anything() -> None:
    [fact] = [one for one in extraction("We're not flying to Lisbon on Friday after all.").facts if one.never]
    assert (fact.since, fact.until) == (None, None)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("My brother Jan is going to Spain in May. Actually no, scratch that, he's going to Greece.",),
         ["Jan LOCATED_AT Spain", "no, Jan LOCATED_AT Greece"]),
        (("My brother Jan is going to Spain in May.", "No wait, he's going to Greece."),
         ["Jan LOCATED_AT Spain", "no, Jan LOCATED_AT Greece"]),
        (("My aunt Ida lives in Graz. Hang on, she lives in Linz.",),
         ["Ida LIVES_IN Graz", "no, Ida LIVES_IN Linz"]),
        (("I work at Lidl. Sorry, I mean I work at Aldi.",), ["Max WORKS_AT Lidl", "no, Max WORKS_AT Aldi"]),
        (("We've been to Rome. No idea why. We've been to Milan.",), ["Max LOCATED_AT Rome", "Max LOCATED_AT Milan"]),
        (("We've been to Rome. Then we went to Milan.",), ["Max LOCATED_AT Rome", "Max LOCATED_AT Milan"]),
        (("My aunt Ida lives in Graz. No, my uncle Tim lives in Linz.",), ["Ida LIVES_IN Graz", "Tim LIVES_IN Linz"]),
    ],
)  # fmt: skip
def test_what_is_said_again_with_another_name_corrects_the_first(texts: Sequence[str], expected: list[str]) -> None:
    assert said(extraction(*texts)) == expected
