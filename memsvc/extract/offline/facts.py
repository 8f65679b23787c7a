"""What readings say, as facts: every pattern is asked of every clause, and what they find is dated and put in words.

``patterns`` lists the patterns; ``clauses`` takes the grammar apart for them; ``when`` and ``sentences`` finish a fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

import msgspec

from memsvc.extract.comparing import SYMMETRIC
from memsvc.extract.extraction import Change, Entity, Fact
from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.answers import of_somebody_else, read_answer
from memsvc.extract.offline.calibration import LEAST, Judge, by_authors
from memsvc.extract.offline.changes import read_changes, stands_in, take_back, withdrawn
from memsvc.extract.offline.clauses import Clause, clauses
from memsvc.extract.offline.corrections import may_correct, read_corrections, read_replaced, read_times_put_right
from memsvc.extract.offline.doubts import doubted
from memsvc.extract.offline.findings import DOUBTFUL, MAYBE, Finding, attributed
from memsvc.extract.offline.homes import born, origins
from memsvc.extract.offline.patterns import PATTERNS
from memsvc.extract.offline.people import loose_bonds, partners
from memsvc.extract.offline.phases import Phases
from memsvc.extract.offline.reading import Reading
from memsvc.extract.offline.sentences import sentence
from memsvc.extract.offline.several import several, spoken_for
from memsvc.extract.offline.when import Span, lasts, span
from memsvc.extract.offline.work import colleagues
from memsvc.extract.window import Ontology, Window
from memsvc.graph.operations import BESIDE
from memsvc.times.untold import TIMES

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
CHILDREN = frozenset(
    {"son", "daughter", "child", "kid", "boy", "girl", "baby", "eldest", "youngest", "twin", "toddler"}
)


def read_facts(window: Window, readings: Sequence[Reading], judge: Judge = by_authors) -> list[Fact]:
    """The facts of a window's turns, each once.

    Args:
        window: as it was given.
        readings: one for each turn that is read (none for assistants' turns), in their order; those of turns before the
            window have a negative index and give no facts.
        judge: says how sure a fact is.
    """
    judged = [(replace(same[0], confidence=sure(same, judge)), same) for same in alike(window, readings)]
    functional = {name for name, edge in window.ontology.edge_types.items() if edge.functional}
    weighed = list(spoken_for([finding for finding, _ in judged], functional))
    told = {id(finding): same for finding, (_, same) in zip(weighed, judged, strict=True)}
    return [fact(finding, told[id(finding)]) for finding in settled(weighed)]


def sure(same: Sequence[Finding], judge: Judge) -> float:
    """How sure a fact is; what all findings doubt waits for a person."""
    return min(judge(same), DOUBTFUL) if all(finding.doubted for finding in same) else judge(same)


def alike(window: Window, readings: Sequence[Reading]) -> list[list[Finding]]:
    """What is found in a window: the findings of one fact together, the one of which its rule is surest first.

    What is told again after it ended, or after another value of it, is another fact.
    """
    spouse = spouses(readings)
    functional = {name for name, edge in window.ontology.edge_types.items() if edge.functional}
    phases = Phases(functional)
    same: dict[tuple[int, str, int, str, int], list[Finding]] = {}
    before: list[Finding] = []
    gone = [sentence for reading in readings if (sentence := withdrawn(reading)) is not None]
    told: dict[int, list[Finding]] = {}
    for reading in readings:
        said = list(with_corrections(reading, told))
        if reading.index >= 0:
            said = [one for one in said if not any(stands_in(one, sentence) for sentence in gone)]
        said = list(several(said, functional, before))
        if reading.index >= 0:
            said += attributed(take_back(reading, before))
        said += attributed(read_changes(reading, [*before, *said]))
        told[id(reading)] = said
        before += said
    for reading in readings:
        said = told[id(reading)]
        for one in said if reading.index >= 0 else ():
            whose = reading.whose  # two entities may have turned out to be one
            finding = replace(one, subject=whose(one.subject).key, object=whose(one.object).key)
            if not allowed(finding, window.ontology):
                continue
            if finding.type == "FAMILY_OF" and finding.data.get("relation") == "partner" and finding.change == "holds":
                spouse.setdefault(finding.subject, finding.object)
            for each in of_both(finding, spouse):
                pair = (each.subject, each.object)
                first, second = sorted(pair) if each.type in SYMMETRIC else pair
                phase = phases.of(each, (first, each.type, second))
                same.setdefault((first, each.type, second, each.change, phase), []).append(each)
    groups = [together(found) for found in same.values()]
    firsts = origins([found[0] for found in groups])
    groups = [[first, *found[1:]] for first, found in zip(firsts, groups, strict=True)]
    return [*groups, *([one] for one in attributed(colleagues(firsts, readings)))]


def together(found: Sequence[Finding]) -> list[Finding]:
    """Findings of one fact, the surest first; it holds beside another where one of them says so."""
    ordered = sorted(found, key=lambda finding: -finding.confidence)
    if any(BESIDE in finding.data for finding in ordered):
        ordered[0] = replace(ordered[0], data={**ordered[0].data, BESIDE: True})
    if any(finding.never for finding in ordered):
        ordered[0] = replace(ordered[0], never=True)
    return ordered


def spouses(readings: Sequence[Reading]) -> dict[int, int]:
    """The one whom each speaker calls a husband, wife or partner: "we" and "our" mean both."""
    bonds = [bond for reading in readings for bond in reading.bonds if bond.relation in kin.PARTNERS and not bond.over]
    found = {bond.whose: bond.who for bond in bonds}
    return found if all(found[bond.whose] == bond.who for bond in bonds) else {}


def of_both(finding: Finding, spouse: dict[int, int]) -> Iterator[Finding]:
    """What "we" do together that couples share: where they live."""
    yield finding
    both = any(token.lower_ in {"we", "our", "us"} for token in finding.clause.own)
    other = spouse.get(finding.subject)
    children = finding.type == "FAMILY_OF" and finding.data.get("relation") in CHILDREN and finding.object != other
    shared = finding.type == "LIVES_IN" or children
    if both and other is not None and shared and finding.subject == finding.clause.reading.speaker:
        yield replace(finding, subject=other, confidence=min(finding.confidence, MAYBE), rule="facts.of_both")


def with_corrections(reading: Reading, told: dict[int, list[Finding]]) -> Iterator[Finding]:
    """What is found in a turn, and what it puts right of what the same person said just before.

    Args:
        reading: the turn.
        told: what was found in each turn before, by the identity of its reading; of it goes what had a wrong time.
    """
    found = list(findings(reading))
    if not may_correct(reading):
        yield from found
        return
    mine = next((each for each in reading.earlier if not each.heard and each.speaker == reading.speaker), None)
    before = told.get(id(mine), [])
    for old, new in read_times_put_right(reading, [*before, *found]):
        for each in [one for one in (*before, *found) if is_same(one, old)]:
            (found if each in found else before).remove(each)
        if old.clause.reading.index < 0:
            yield from attributed(iter([replace(old, clause=new.clause, change="ended", over_at=begin_of(old))]))
        found.append(replace(new, rule=old.rule))
    yield from read_replaced(reading, found, before)
    yield from attributed(read_corrections(reading, [*before, *found]))


def is_same(one: Finding, other: Finding) -> bool:
    """Whether two findings are of one relation, in one turn."""
    relations = ((each.subject, each.type, each.object, each.change) for each in (one, other))
    return len(set(relations)) == 1 and one.clause.reading is other.clause.reading


def begin_of(finding: Finding) -> datetime:
    """When what was found began, as far as is told."""
    told = span(finding.clause, finding.type, finding.change)
    return told.since or told.until or finding.clause.reading.now


def findings(reading: Reading) -> Iterator[Finding]:
    """What the patterns find in a turn."""
    taken: set[int] = set()
    others = of_somebody_else(reading)
    for clause in clauses(reading):
        taken.update(token.i for token in clause.own)
        said_of_you = [token.lower_ for token in clause.subjects] == ["you"]  # as a rule everybody, or a guess
        for pattern in PATTERNS:
            for finding in attributed(pattern(clause)):
                if others is not None and clause.verb in others and finding.subject == reading.speaker:
                    continue
                left = doubted(finding)
                if left is not None:
                    yield replace(left, confidence=DOUBTFUL) if said_of_you else left
    yield from attributed(read_answer(reading))
    yield from attributed(loose_bonds(reading, taken))
    yield from attributed(partners(reading))


def allowed(finding: Finding, ontology: Ontology) -> bool:
    """Whether the ontology lets these two be so related."""
    silent_of = finding.clause.reading.silent_of
    told = {finding.subject, finding.object} if finding.type in SYMMETRIC else {finding.subject}
    if finding.subject == finding.object or told & silent_of:
        return False
    edge = ontology.edge_types.get(finding.type)
    if edge is None:
        return False
    whose = finding.clause.reading.whose
    subject, thing = whose(finding.subject).type, whose(finding.object).type
    if not subject or not thing:
        return False  # one of several of a name, who knows which
    if (finding.type in OF_PEOPLE and subject != PERSON) or (finding.type in BETWEEN_PEOPLE and thing != PERSON):
        return False
    return (not edge.from_types or subject in edge.from_types) and (not edge.to_types or thing in edge.to_types)


def settled(found: list[Finding]) -> list[Finding]:
    """Without what another finding of the same turns makes needless or denies.

    Relatives are not said to know each other as well, where one lives one need not be, and what ended in the same
    breath in which it was mentioned did not begin. What is doubtful itself makes nothing needless.
    """
    sure = [each for each in found if each.confidence >= LEAST]
    family = {frozenset((each.subject, each.object)) for each in sure if each.type == "FAMILY_OF"}
    homes = {(each.subject, each.object) for each in sure if each.type == "LIVES_IN"}
    ended = {
        (each.subject, each.type, each.object, id(each.clause.reading))
        for each in found
        if each.change == "ended" and each.over_at is None
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


def told_apart(clause: Clause, key: int) -> Entity:
    """An entity under a name that says which one is meant: "Nora's colleague Tom", where there is another Tom.

    A relative without a name is somebody's in any case: "Nora's husband".
    """
    reading = clause.reading
    entity = reading.whose(key)
    if entity.of is None or not entity.relation or entity.type != PERSON:
        return entity
    whose = told_apart(clause, entity.of) if entity.of != key else entity
    if not entity.named:
        return msgspec.structs.replace(entity, name=f"{whose.name}'s {entity.name}") if whose.named else entity
    if not reading.shares_name(key):
        return entity
    return msgspec.structs.replace(entity, name=f"{whose.name}'s {entity.relation} {entity.name}")


def fact(finding: Finding, all_told: Sequence[Finding]) -> Fact:
    """A finding with its words, and its time by the first of all that tell the same and name one."""
    clause: Clause = finding.clause
    spans = [span(each.clause, each.type, each.change) for each in (finding, *all_told) if each.dated]
    told = next((found for found in spans if found.told), Span())
    since, until = told.since, told.until
    if finding.over_at is not None:
        since, until = None, finding.over_at
    if finding.never:
        since, until = None, None  # the times of a clause that denies a plan are the plan's
    whose = clause.reading.whose
    now = clause.reading.now
    past = (clause.past and not (since is not None and since > now)) or (until is not None and until <= now)
    change: Change = finding.change
    if until is not None:  # as it is at this time
        change = "ended" if until <= clause.reading.now else "holds"
    earlier = since is None and (born(finding) or any(found.earlier for found in spans))
    subject, thing = (told_apart(clause, key) for key in (finding.subject, finding.object))
    if finding.type in BETWEEN_PEOPLE and thing.of == subject.key:
        thing = whose(finding.object)  # "Tom is Nora's colleague": that says it
    return Fact(
        subject=whose(finding.subject).key,
        type=finding.type,
        object=whose(finding.object).key,
        sentence=sentence(
            subject, finding.type, thing, change, past=past, relation=finding.data.get("relation", ""),
            born=clause.lemma == "bear",
        ),
        turn=clause.reading.index,
        quote=clause.words,
        since=since,
        until=until,
        change=finding.change,
        confidence=finding.confidence,
        data=finding.data | ({TIMES: {"since": told.about}} if told.about else {}),
        earlier=earlier,
        never=finding.never,
        lasts=earlier and any(lasts(each.clause) for each in (finding, *all_told)),
        moved=finding.type == "LIVES_IN" and finding.change == "holds" and any(
            each.clause.means(verbs.MOVE) for each in (finding, *all_told)
        ),
    )  # fmt: skip
