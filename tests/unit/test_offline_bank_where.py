"""A bank of wordings: where people live, go, work and take part, since when, and what changed.

Each line of ``banks/where_*.txt`` is a text that Sam types on Saturday, 6 September 2025, and what it says. The offline
extractor has to find nearly all of it, and must not be tempted by the near misses; no rule is made for a single line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest

from memsvc.extract.extraction import Extraction, Fact
from memsvc.extract.offline.extractor import read
from memsvc.extract.validation import DOUBTFUL
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window

pytestmark = pytest.mark.slow
BANKS = Path(__file__).parent / "banks"
SAID_AT = datetime(2025, 9, 6, 10, 15, tzinfo=UTC)
TYPES = "KNOWS FAMILY_OF WORKS_AT LIVES_IN LOCATED_AT PARTICIPATED_IN OWNS LIKES WANTS CREATED USES PART_OF RELATED_TO"
ONTOLOGY = Ontology(node_types=frozenset(), edge_types={name: EdgeType(name=name) for name in TYPES.split()})
FOUND, TEMPTED, TIMES, CHANGES = 0.85, 0.05, 0.85, 0.85


def rows(table: str) -> list[list[str]]:
    """The lines of a table, split."""
    text = (BANKS / f"where_{table}.txt").read_text(encoding="utf-8")
    return [[part.strip() for part in line.split("|")] for line in text.splitlines()]


def extraction(text: str) -> Extraction:
    """What is read of the turns of a text, which slashes part."""
    turns = tuple(
        Turn(passage_id=uuid4(), speaker="Sam", role="user", text=part.strip(), said_at=SAID_AT)
        for part in text.split("//")
    )
    owner = Candidate(number=0, node_id=uuid4(), label="Sam", type="Person")
    return read(Window(turns=turns, candidates=(owner,), speakers={"Sam": 0}, ontology=ONTOLOGY))


class Said(NamedTuple):
    """A fact in words."""

    start: str
    type: str
    end: str
    over: bool

    def answers(self, wanted: Said) -> bool:
        """Whether it is the one that was looked for; the name of its end may say more than need be."""
        same = (self.type, self.over) == (wanted.type, wanted.over) and self.start.endswith(wanted.start)
        return same and (self.end == wanted.end or self.end.endswith(" " + wanted.end))


def facts(text: str) -> list[tuple[Said, Fact]]:
    """What is told for sure in a text."""
    found = extraction(text)
    names = {entity.key: entity.name.casefold() for entity in found.entities}
    return [
        (Said(names[fact.subject], fact.type, names[fact.object], fact.change == "ended"), fact)
        for fact in found.facts
        if fact.confidence >= DOUBTFUL
    ]


def wanted(words: str) -> list[Said]:
    """The facts of a column: "no longer: Sam WORKS_AT Aldi; Sam WORKS_AT Lidl"."""
    found = []
    for one in words.split(";"):
        parts = re.fullmatch(r"(no longer: )?(.+?) ([A-Z_]{4,}) (.+)", one.strip())
        if parts:
            found.append(Said(parts[2].casefold(), parts[3], parts[4].casefold(), bool(parts[1])))
    return found


def share(failing: Sequence[str], cases: int) -> float:
    """How much of a table failed; those lines are shown where a test fails."""
    sys.stdout.write("\n".join(failing))
    return len(failing) / cases


def test_wordings_are_found() -> None:
    cases = [(text, one) for text, column in rows("wordings") for one in wanted(column)]
    told = {text: [said for said, _ in facts(text)] for text, _ in cases}
    missing = [f"{text} -> {one}" for text, one in cases if not any(said.answers(one) for said in told[text])]
    assert share(missing, len(cases)) <= 1 - FOUND


def test_near_misses_are_not_said() -> None:
    cases = rows("near_misses")
    said = [
        f"{text} -> {one.start} {one.type} {one.end}"
        for text, types in cases
        for one, _ in facts(text)
        if one.type in types.split() and not one.over
    ]
    assert share(said, len(cases)) <= TEMPTED


def test_times_are_read() -> None:
    cases = rows("times")
    failing = []
    for text, column in cases:
        type_, since, until = column.split()
        spans = [(fact.since, fact.until) for one, fact in facts(text) if one.type == type_]
        if not any(begins(span[0], since) and begins(span[1], until) for span in spans):
            failing.append(f"{text} -> {[(str(span[0])[:10], str(span[1])[:10]) for span in spans]}")
    assert share(failing, len(cases)) <= 1 - TIMES


def begins(moment: datetime | None, date: str) -> bool:
    """Whether a time is the one of a table: "-" is none; the first moment after is the end of a day, month or year."""
    if date == "-" or moment is None:
        return date == "-"
    return any(each.isoformat().startswith(date) for each in (moment, moment - timedelta(microseconds=1)))


def test_changes_are_understood() -> None:
    cases = rows("changes")
    failing = []
    for text, column, replaced in cases:
        found = facts(text)
        said = [one for one, _ in found]
        right = all(any(each.answers(one) for each in said) for one in wanted(column))
        corrected = replaced == "-" or any(fact.change == "corrects" for _, fact in found)
        if not (right and corrected):
            failing.append(f"{text} -> {[(one, fact.change) for one, fact in found]}")
    assert share(failing, len(cases)) <= 1 - CHANGES
