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
from memsvc.extract.offline.calibration import by_authors
from memsvc.extract.offline.extractor import read
from memsvc.extract.offline.traits import traits

if TYPE_CHECKING:
    from memsvc.extract.extraction import Change, Extraction
    from memsvc.extract.offline.findings import Finding

Traits = dict[str, float]


@dataclass(frozen=True, slots=True)
class Example:
    """A fact that the rules found."""

    traits: Traits
    claim: Claim
    change: Change
    said_at: datetime
    rule: str
    prior: float
    true: bool
    """It matches a fact of gold, required or not."""


@dataclass(slots=True)
class Lesson:
    """What was found in a conversation."""

    set: str
    gold: Conversation
    facts: list[Example]
    things: dict[Hashable, Thing]
    """All that something was found of."""
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


def lesson_of(name: str, gold: Conversation) -> Lesson:
    """Read a conversation of the set ``name``."""
    pipeline.load()
    memory, lesson = Recorder(), Lesson(name, gold, [], {}, Matcher(gold, Found({}, [])))
    noted: dict[tuple[int, str, int, str], tuple[str, Traits]] = {}

    def judge(same: Sequence[Finding]) -> float:
        one = same[0]
        noted[one.subject, one.type, one.object, one.change] = one.rule, traits(same)
        return by_authors(same)

    for turns, window in windows_of(gold, memory):
        before = list(memory.things)
        said = read(window, judge)
        memory.learn(turns, said)
        ends = memory.ends(said, before)
        lesson.things = memory.others | memory.things
        lesson.matcher = Matcher(gold, Found(lesson.things, []))
        for fact in said.facts:
            rule, seen = noted[fact.subject, fact.type, fact.object, fact.change]
            turn = turns[fact.turn]
            claim = Claim(
                ends[fact.subject], fact.type, ends[fact.object], fact.since, fact.until, turns=(turn.turn_id,)
            )
            if claim.type not in UNLABELLED:
                true = any(lesson.matcher.says(claim, relation) for relation in lesson.matcher.relations)
                lesson.facts.append(Example(seen, claim, fact.change, turn.session_time, rule, fact.confidence, true))
    return lesson


def retold(lesson: Lesson, chosen: Sequence[Example]) -> Found:
    """What a memory would hold that had been told only these facts."""
    memory = Memory(things=dict(lesson.things))
    for one in chosen:
        memory.settle(one.claim, one.change, one.said_at)
    return Found(memory.things, memory.claims)
