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
from memsvc.extract.offline.calibration import prior
from memsvc.extract.offline.extractor import read
from memsvc.extract.offline.traits import traits

if TYPE_CHECKING:
    from memsvc.extract.extraction import Change, Extraction, Fact
    from memsvc.extract.offline.findings import Finding

Seen = dict[tuple[int, str, int, str], "tuple[Finding, dict[str, float]]"]
"""Subject, type, object and change of a fact -> the finding that it is from, and its traits."""


@dataclass(frozen=True, slots=True)
class Example:
    """A fact that the rules found."""

    traits: dict[str, float]
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
    examples: list[Example]
    things: dict[Hashable, Thing]
    matcher: Matcher


@dataclass(slots=True)
class Recorder(Memory):
    """A memory that keeps what is too doubtful to be remembered as well, apart."""

    others: dict[Hashable, Thing] = field(default_factory=dict)
    """Things that only doubtful facts are about."""

    def claims_of(self, said: Extraction, before: Sequence[Hashable], turns: Sequence[str]) -> list[Claim]:
        """Each fact of an extraction as a claim; what was said is learnt already.

        Args:
            said: of a window.
            before: keys of the window's candidates.
            turns: ids of its turns.
        """
        ends: dict[int, Hashable] = {}
        for entity in said.entities:
            key = before[entity.known] if entity.known is not None else self._same(entity)
            if key not in self.things:
                self.others.setdefault(key, Thing(entity.type, (entity.name, *entity.aliases), entity.named))
            ends[entity.key] = key
        return [
            Claim(ends[one.subject], one.type, ends[one.object], one.since, one.until, turns=(turns[one.turn],))
            for one in said.facts
        ]


def lesson_of(name: str, gold: Conversation) -> Lesson:
    """Read a conversation of the set ``name``."""
    pipeline.load()
    memory = Recorder()
    found: list[tuple[Claim, Fact, datetime, Finding, dict[str, float]]] = []
    seen: Seen = {}

    def judge(same: Sequence[Finding]) -> float:
        one = same[0]
        seen[one.subject, one.type, one.object, one.change] = one, traits(same)
        return prior(same)

    for turns, window in windows_of(gold, memory):
        seen.clear()
        before = list(memory.things)
        said = read(window, judge)
        memory.learn(turns, said)
        claims = memory.claims_of(said, before, [turn.turn_id for turn in turns])
        for claim, fact in zip(claims, said.facts, strict=True):
            kept = seen[fact.subject, fact.type, fact.object, fact.change]
            found.append((claim, fact, turns[fact.turn].session_time, *kept))
    things = memory.others | memory.things
    matcher = Matcher(gold, Found(things, []))
    examples = [
        Example(
            seen_traits, claim, fact.change, said_at, finding.rule, fact.confidence,
            any(matcher.says(claim, relation) for relation in matcher.relations),
        )
        for claim, fact, said_at, finding, seen_traits in found
        if claim.type not in UNLABELLED
    ]  # fmt: skip
    return Lesson(name, gold, examples, things, matcher)


def retold(lesson: Lesson, chosen: Sequence[Example]) -> Found:
    """What a memory would hold that had been told only these examples."""
    memory = Memory(things=dict(lesson.things))
    for one in chosen:
        memory.settle(one.claim, one.change, one.said_at)
    return Found(memory.things, memory.claims)
