"""What the rules find in gold conversations, doubtful or not, each with its traits and whether gold says so.

Windows and what is known in them are those of ``bench.direct`` with the authors' priors, so that examples do not depend
on what was learnt before.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from bench.direct import Memory, windows_of
from bench.gold import Conversation
from bench.matching import UNLABELLED, Claim, Found, Matcher, Thing
from memsvc.extract.offline import pipeline
from memsvc.extract.offline.calibration import AUTHORS, Judge
from memsvc.extract.offline.extractor import read
from memsvc.extract.offline.traits import of_fact, of_name

if TYPE_CHECKING:
    from spacy.tokens import Span

    from memsvc.extract.extraction import Change, Extraction
    from memsvc.extract.offline.cast import Entry
    from memsvc.extract.offline.findings import Finding

Traits = dict[str, float]


@dataclass(frozen=True, slots=True)
class FactExample:
    """A fact that the rules found."""

    traits: Traits
    claim: Claim
    change: Change
    said_at: datetime
    rule: str
    prior: float
    true: bool
    """It matches a fact of gold, required or not."""


@dataclass(frozen=True, slots=True)
class NameExample:
    """A name that a window names first."""

    traits: Traits
    true: bool
    """It names an entity of gold and is of its type."""
    required: bool
    """One that has to be found."""


@dataclass(slots=True)
class Lesson:
    """What was found in a conversation."""

    set: str
    gold: Conversation
    facts: list[FactExample]
    names: list[NameExample]
    things: dict[Hashable, Thing]
    """All that something was found of."""
    listed: dict[Hashable, Thing]
    """Those that are said, by the authors' priors."""
    matcher: Matcher
    """Gold beside them."""


@dataclass(slots=True)
class Recorder(Memory):
    """A memory that keeps what is too doubtful to be remembered as well, apart."""

    others: dict[Hashable, Thing] = field(default_factory=dict)
    """Things that only doubtful facts are about."""

    def ends(self, said: Extraction, before: Sequence[Hashable]) -> dict[int, Hashable]:
        """The thing of each entity of an extraction; what was said is learnt already.

        Args:
            said: of a window.
            before: keys of the window's candidates.
        """
        found: dict[int, Hashable] = {}
        for entity in said.entities:
            key = before[entity.known] if entity.known is not None else self._same(entity)
            if key not in self.things:
                self.others.setdefault(key, Thing(entity.type, (entity.name, *entity.aliases), entity.named))
            found[entity.key] = key
        return found


@dataclass(slots=True)
class Listener:
    """A judge that notes traits, and lets the authors judge."""

    facts: dict[tuple[int, str, int, str], tuple[Finding, Traits]] = field(default_factory=dict)
    """By subject, type, object and change."""
    names: dict[int, Traits] = field(default_factory=dict)

    def judge(self) -> Judge:
        """It, as the extractor asks it."""
        return Judge(self.fact, self.name)

    def fact(self, same: Sequence[Finding]) -> float:
        """Note a fact."""
        one = same[0]
        self.facts[one.subject, one.type, one.object, one.change] = one, of_fact(same)
        return AUTHORS.fact(same)

    def name(self, entry: Entry, where: Sequence[Span]) -> float:
        """Note a name."""
        self.names[entry.key] = of_name(entry, where)
        return AUTHORS.name(entry, where)


def lesson_of(name: str, gold: Conversation) -> Lesson:
    """Read a conversation of the set ``name``."""
    pipeline.load()
    memory, lesson = Recorder(), Lesson(name, gold, [], [], {}, {}, Matcher(gold, Found({}, [])))
    for turns, window in windows_of(gold, memory):
        listener, before = Listener(), list(memory.things)
        said = read(window, listener.judge())
        memory.learn(turns, said)
        ends = memory.ends(said, before)
        lesson.things, lesson.listed = memory.others | memory.things, memory.things
        lesson.matcher = Matcher(gold, Found(lesson.things, []))
        for fact in said.facts:
            finding, traits = listener.facts[fact.subject, fact.type, fact.object, fact.change]
            turn = turns[fact.turn]
            claim = Claim(
                ends[fact.subject], fact.type, ends[fact.object], fact.since, fact.until, turns=(turn.turn_id,)
            )
            if claim.type not in UNLABELLED:
                true = any(lesson.matcher.says(claim, relation) for relation in lesson.matcher.relations)
                lesson.facts.append(
                    FactExample(traits, claim, fact.change, turn.session_time, finding.rule, fact.confidence, true)
                )
        for key, traits in listener.names.items():
            if key in ends:
                fitting = [one for one in gold.labels.entities if lesson.matcher.fits(ends[key], one)]
                lesson.names.append(NameExample(traits, bool(fitting), any(one.required for one in fitting)))
    return lesson


def retold(lesson: Lesson, chosen: Sequence[FactExample]) -> Found:
    """What a memory would hold that had been told only these facts."""
    memory = Memory(things=dict(lesson.things))
    for one in chosen:
        memory.settle(one.claim, one.change, one.said_at)
    return Found(memory.things, memory.claims)
