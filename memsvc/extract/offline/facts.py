"""What readings say, as facts: every pattern is asked of every clause, and what they find is dated and put in words.

``patterns`` lists the patterns; ``clauses`` takes the grammar apart for them; ``when`` and ``sentences`` finish a fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memsvc.extract.extraction import Fact
from memsvc.extract.offline.clauses import Clause, clauses
from memsvc.extract.offline.findings import DOUBTFUL, Finding
from memsvc.extract.offline.patterns import PATTERNS
from memsvc.extract.offline.people import loose_bonds, partners
from memsvc.extract.offline.reading import Reading
from memsvc.extract.offline.sentences import sentence
from memsvc.extract.offline.when import span
from memsvc.extract.window import Ontology, Window

PERSON = "Person"
BETWEEN_PEOPLE = frozenset({"KNOWS", "FAMILY_OF"})
OF_PEOPLE = BETWEEN_PEOPLE | {
    "FEELS",
    "LIVES_IN",
    "WORKS_AT",
    "WANTS",
    "LIKES",
    "DISLIKES",
    "OWNS",
    "PARTICIPATED_IN",
    "CREATED",
    "USES",
}
SYMMETRIC = frozenset({"KNOWS", "FAMILY_OF"})


def read_facts(window: Window, readings: Sequence[Reading]) -> list[Fact]:
    """The facts of a window's turns, each once.

    Args:
        window: as it was given.
        readings: one for each turn that is read (none for assistants' turns), in their order; those of turns before the
            window have a negative index and give no facts.
    """
    best: dict[tuple[int, str, int, str], Finding] = {}
    for reading in readings:
        if reading.index < 0:
            continue
        for finding in findings(reading):
            if not allowed(finding, window.ontology):
                continue
            pair = (finding.subject, finding.object)
            first, second = sorted(pair) if finding.type in SYMMETRIC else pair
            key = (first, finding.type, second, finding.change)
            if key not in best or finding.confidence > best[key].confidence:
                best[key] = finding
    return [fact(finding) for finding in settled(list(best.values()))]


def findings(reading: Reading) -> Iterator[Finding]:
    """What the patterns find in a turn."""
    taken: set[int] = set()
    for clause in clauses(reading):
        taken.update(token.i for token in clause.own)
        said_of_you = [token.lower_ for token in clause.subjects] == ["you"]  # as a rule everybody, or a guess
        for pattern in PATTERNS:
            for finding in pattern(clause):
                yield replace(finding, confidence=DOUBTFUL) if said_of_you else finding
    yield from loose_bonds(reading, taken)
    yield from partners(reading)


def allowed(finding: Finding, ontology: Ontology) -> bool:
    """Whether the ontology lets these two be so related."""
    if finding.subject == finding.object:
        return False
    edge = ontology.edge_types.get(finding.type)
    if edge is None:
        return False
    whose = finding.clause.reading.whose
    subject, thing = whose(finding.subject).type, whose(finding.object).type
    if (finding.type in OF_PEOPLE and subject != PERSON) or (finding.type in BETWEEN_PEOPLE and thing != PERSON):
        return False
    return (not edge.from_types or subject in edge.from_types) and (not edge.to_types or thing in edge.to_types)


def settled(found: list[Finding]) -> list[Finding]:
    """Without what another finding of the same turns makes needless or denies.

    Relatives are not said to know each other as well, where one lives one need not be, and what ended in the same
    breath in which it was mentioned did not begin.
    """
    family = {frozenset((each.subject, each.object)) for each in found if each.type == "FAMILY_OF"}
    homes = {(each.subject, each.object) for each in found if each.type == "LIVES_IN"}
    ended = {
        (each.subject, each.type, each.object, id(each.clause.reading)) for each in found if each.change == "ended"
    }
    kept = []
    for each in found:
        if each.type == "KNOWS" and frozenset((each.subject, each.object)) in family:
            continue
        if each.type == "LOCATED_AT" and (each.subject, each.object) in homes:
            continue
        if each.change == "holds" and (each.subject, each.type, each.object, id(each.clause.reading)) in ended:
            continue
        kept.append(each)
    return kept


def fact(finding: Finding) -> Fact:
    """A finding with its time and its words."""
    clause: Clause = finding.clause
    since, until = span(clause, finding.type, finding.change)
    whose = clause.reading.whose
    past = clause.past or (until is not None and until <= clause.reading.now)
    return Fact(
        subject=finding.subject,
        type=finding.type,
        object=finding.object,
        sentence=sentence(
            whose(finding.subject), finding.type, whose(finding.object), finding.change, past=past,
            relation=finding.data.get("relation", ""),
        ),
        turn=clause.reading.index,
        quote=clause.words,
        since=since,
        until=until,
        change=finding.change,
        confidence=finding.confidence,
        data=finding.data,
    )  # fmt: skip
