"""Answers that lean on their questions, corrections, lists of relatives, events by their day, lines without a verb."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from memsvc.extract.extraction import Extraction
from memsvc.extract.offline.extractor import read
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window

SAID = datetime(2025, 9, 6, 10, 15, tzinfo=UTC)
TYPES = "KNOWS FAMILY_OF WORKS_AT LIVES_IN LOCATED_AT PARTICIPATED_IN OWNS LIKES DISLIKES FEELS WANTS CREATED USES"
ONTOLOGY = Ontology(
    node_types=frozenset(), edge_types={name: EdgeType(name=name) for name in [*TYPES.split(), "RELATED_TO"]}
)


def chat(*texts: str) -> Extraction:
    """What is read of a chat of Sam with the assistant, whose turns begin with ">"."""
    turns = tuple(
        Turn(
            passage_id=uuid4(), speaker="Assistant" if text.startswith(">") else "Sam",
            role="assistant" if text.startswith(">") else "user", text=text.lstrip("> "), said_at=SAID,
        )
        for text in texts
    )  # fmt: skip
    owner = Candidate(number=0, node_id=uuid4(), label="Sam", type="Person")
    return read(Window(turns=turns, candidates=(owner,), speakers={"Sam": 0}, ontology=ONTOLOGY))


def said(*texts: str) -> set[str]:
    """The facts that count, as "Sam OWNS bike"; behind "corrects: " those that put another right."""
    found = chat(*texts)
    names = {entity.key: entity.name for entity in found.entities}
    return {
        ("corrects: " if fact.change == "corrects" else "") + f"{names[fact.subject]} {fact.type} {names[fact.object]}"
        for fact in found.facts
        if fact.confidence >= 0.5
    }


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("> Where do you live now?", "In Madrid."), "Sam LIVES_IN Madrid"),
        (("> And where do you work?", "Lidl, in the bakery"), "Sam WORKS_AT Lidl"),
        (("> What does your sister do?", "nurse at Lidl"), "sister WORKS_AT Lidl"),
        (("> Are you a doctor then?", "No, a lawyer."), "Sam RELATED_TO lawyer"),
        (("> Do you have children?", "Two. Ana and Tom."), "Sam FAMILY_OF Tom"),
        (("We have two kids, Ana and Tom",), "Sam FAMILY_OF Ana"),
        (("I live in Lisbon.", "no, Porto"), "corrects: Sam LIVES_IN Porto"),
        (("My sister Ana works at Volvo.", "sorry, Scania"), "corrects: Ana WORKS_AT Scania"),
        (("I've got the assessment on the 2nd",), "Sam PARTICIPATED_IN assessment"),
        (("I'm hoping to visit Japan",), "Sam WANTS visit Japan"),
        (("My brother Tom is obsessed with trains",), "Tom LIKES trains"),
        (("I don't do eggs",), "Sam DISLIKES eggs"),
        (("New job - Bosch",), "Sam WORKS_AT Bosch"),
        (("bought a house in Kilkenny",), "house LOCATED_AT Kilkenny"),
        (("gutted about the result",), "Sam FEELS gutted"),
    ],
)
def test_what_is_read(texts: tuple[str, ...], expected: str) -> None:
    assert expected in said(*texts)


@pytest.mark.parametrize(
    "texts",
    [
        ("> Where do you live now?", "Why do you ask?"),
        ("> Where do you live now?", "not in Madrid"),
        ("> Where would you like to go?", "no idea"),
        ("I live in Lisbon.", "no, Porto was where we met"),
    ],
)
def test_what_is_no_answer_and_no_correction(texts: tuple[str, ...]) -> None:
    assert said(*texts) <= {"Sam LIVES_IN Lisbon"}
