"""Compares what an extractor found in a conversation with its gold labels; ``bench.extract`` makes figures of it.

**Facts.** Gold facts with the same ends and type are one (the later one tells that it ended). A prediction matches a
gold fact where both ends do (``bench.naming``; any of a thing's names with any of the entity's) and its type is the
fact's or one that the label calls fair (``also``); KNOWS and FAMILY_OF hold in both directions. Required facts are
given to predictions one to one, as many as can be. A prediction that got one is *right*. One that matches an optional
fact, or a required one that another prediction got, is *neutral*: it is true. Any other is *wrong*, and told apart by
the reason of the ``not_facts`` that it fell for. Predictions with the same ends and type count once; what is not
believed any more is not said; HAPPENED_ON has no labels and does not count.

**Entities.** A thing matches an entity where a name does and, for required ones, the types are equal or of one family
of ``FAIR``, between which people waver. Required entities are given to things one to one; *right*, *neutral* and
*wrong* as above, but a second thing for the same entity is neutral only where it has no proper name, else the graph
holds somebody twice.

**Times.** Of gold facts that were found: a ``since`` or ``until`` is right where the prediction's begins with it, on
the clock of the place (an end may be the first moment after). A *change* is a gold fact that replaces another; it was
understood where the other was found and is not believed to go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import TypeVar

from bench.gold import PAST, SYMMETRIC, Conversation, GoldEntity, GoldFact, NotFact
from bench.naming import same_name

FAIR = (
    frozenset({"Organization", "Place"}), frozenset({"Event", "Task", "Project", "Concept"}),
    frozenset({"Object", "Media", "Document", "Project"}),
)  # fmt: skip
Left = TypeVar("Left")
Right = TypeVar("Right")
UNLABELLED = frozenset({"HAPPENED_ON"})
REASONS = {
    "question": ("question",), "negated": ("negat", "denied", "refus"), "hypothesis": ("hypothe", "if ", "consider"),
    "assistant guess": ("assistant", "guess", "suggestion"), "joke": ("joke", "irony", "sarcas"),
    "said of somebody else": ("said of", "somebody", "someone", "'s "),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Thing:
    """A node that was found."""

    type: str
    names: tuple[str, ...]
    """Label and aliases."""
    named: bool = True
    """False: its name only describes it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A version of a fact that was found."""

    start: Hashable
    """Key of a thing."""
    type: str
    end: Hashable
    since: datetime | None = None
    until: datetime | None = None
    believed: bool = True
    """False: it was taken back or replaced."""
    turns: tuple[str, ...] = ()
    """That support it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in one conversation."""

    things: Mapping[Hashable, Thing]
    claims: Sequence[Claim]
    quotes: int = 0
    """Pieces of evidence."""
    verified: int = 0
    """Those whose words stand in the message."""


@dataclass(slots=True)
class Tally:
    """Counts of one conversation."""

    right: int = 0
    neutral: int = 0
    wrong: int = 0
    required: int = 0
    entities_right: int = 0
    entities_neutral: int = 0
    entities_wrong: int = 0
    entities_required: int = 0
    entities_split: int = 0
    """Of those that are wrong: a second time the same."""
    dates: int = 0
    dates_right: int = 0
    ended: int = 0
    """Facts found that are over, without a date."""
    ended_right: int = 0
    changes: int = 0
    changes_found: int = 0
    changes_closed: int = 0
    quotes: int = 0
    verified: int = 0
    required_of: Counter[str] = field(default_factory=Counter)
    """Edge type -> required facts."""
    right_of: Counter[str] = field(default_factory=Counter)
    """Edge type of the gold -> those found."""
    wrong_of: Counter[str] = field(default_factory=Counter)
    """Edge type of the prediction -> wrong ones."""
    fell_for: Counter[str] = field(default_factory=Counter)
    """Reason -> tempting wrong facts that were said."""
    lines: list[str] = field(default_factory=list)
    """What is missing and what is wrong, in words."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Gold facts with the same ends and type."""

    facts: tuple[GoldFact, ...]

    @property
    def required(self) -> bool:
        """One of them is."""
        return any(fact.required for fact in self.facts)

    @property
    def types(self) -> frozenset[str]:
        """All that are fair."""
        return frozenset(name for fact in self.facts for name in (fact.type, *fact.also))

    def date(self, side: str) -> tuple[str, str] | None:
        """The first ``since``, or last ``until``, that is known, with its turn."""
        order = self.facts if side == "since" else self.facts[::-1]
        return next(((value, fact.turn) for fact in order if (value := getattr(fact, side))), None)


def assign(lefts: Sequence[Left], edges: Callable[[Left], Sequence[Right]]) -> dict[Right, Left]:
    """Give as many of the left side as can be one of the right side each (Kuhn 1955, augmenting paths).

    Args:
        lefts: who is to get one, the most important first.
        edges: what each may get, the best first; hashable.

    Returns:
        What was given, to whom.
    """
    given: dict[Right, Left] = {}

    def settle(left: Left, tried: set[Right]) -> bool:
        for right in edges(left):
            if right not in tried:
                tried.add(right)
                if right not in given or settle(given[right], tried):
                    given[right] = left
                    return True
        return False

    for left in lefts:
        settle(left, set())
    return given


class Matcher:
    """One conversation's labels beside what was found."""

    def __init__(self, gold: Conversation, found: Found) -> None:
        """Prepare: names are compared once for each pair."""
        self.gold = gold
        self.found = found
        self.entities = {one.id: one for one in gold.labels.entities}
        self.meant = {
            key: frozenset(one.id for one in gold.labels.entities if self._called(one, thing))
            for key, thing in found.things.items()
        }
        grouped: dict[tuple[str, str, str], list[GoldFact]] = {}
        for fact in gold.labels.facts:
            ends = sorted((fact.start, fact.end)) if fact.type in SYMMETRIC else (fact.start, fact.end)
            grouped.setdefault((ends[0], fact.type, ends[1]), []).append(fact)
        self.relations = [Relation(tuple(facts)) for facts in grouped.values()]

    @staticmethod
    def _called(entity: GoldEntity, thing: Thing) -> bool:
        task = "Task" in {entity.type, thing.type}
        return any(same_name(one, other, task=task) for one in entity.names for other in thing.names)

    def fits(self, key: Hashable, entity: GoldEntity) -> bool:
        """Whether a thing is an entity, by a name and, where that is required, the type or one of its family."""
        types = {self.found.things[key].type, entity.type}
        fair = not entity.required or len(types) == 1 or any(types <= family for family in FAIR)
        return fair and entity.id in self.meant[key]

    def joins(self, claim: Claim, start: str, end: str) -> bool:
        """Whether a prediction is about these two entities, in this direction or, where it says the same, the other."""
        starts, ends = self.meant.get(claim.start, frozenset()), self.meant.get(claim.end, frozenset())
        return (start in starts and end in ends) or (claim.type in SYMMETRIC and start in ends and end in starts)

    def says(self, claim: Claim, relation: Relation) -> bool:
        """Whether a prediction says a gold fact."""
        fact = relation.facts[0]
        return claim.type in relation.types and self.joins(claim, fact.start, fact.end)

    def words(self, claim: Claim) -> str:
        """A prediction, to be read."""
        ends = [self.found.things[key].names[0] for key in (claim.start, claim.end)]
        return f"{ends[0]} {claim.type} {ends[1]} ({', '.join(claim.turns)})"

    def gold_words(self, fact: GoldFact | NotFact) -> str:
        """A label, to be read."""
        return f"{self.entities[fact.start].names[0]} {fact.type} {self.entities[fact.end].names[0]} ({fact.turn})"

    def reason(self, claim: Claim) -> str | None:
        """Why it is wrong, if that was to be feared."""
        for label in self.gold.labels.not_facts:
            if claim.type == label.type and self.joins(claim, label.start, label.end):
                return next((name for name, signs in REASONS.items() if any(s in label.why for s in signs)), "other")
        return None


def unique(claims: Iterable[Claim]) -> list[Claim]:
    """The first of those that say the same."""
    kept: dict[tuple[object, ...], Claim] = {}
    for claim in claims:
        ends: object = frozenset((claim.start, claim.end)) if claim.type in SYMMETRIC else (claim.start, claim.end)
        kept.setdefault((ends, claim.type), claim)
    return list(kept.values())


def compare(gold: Conversation, found: Found) -> Tally:
    """Everything that is counted of a conversation."""
    tally, matcher = Tally(quotes=found.quotes, verified=found.verified), Matcher(gold, found)
    count_facts(matcher, tally)
    count_entities(matcher, tally)
    for relation in matcher.relations:
        claims = [claim for claim in found.claims if claim.believed and matcher.says(claim, relation)]
        if claims:
            count_times(relation, claims, gold.clocks, tally)
    count_changes(matcher, tally)
    return tally


def count_facts(matcher: Matcher, tally: Tally) -> None:
    """Right, neutral and wrong predictions; required facts that were found."""
    said = unique(one for one in matcher.found.claims if one.believed and one.type not in UNLABELLED)
    required = [relation for relation in matcher.relations if relation.required]

    def predictions(relation: Relation) -> list[Claim]:
        exact = {fact.type for fact in relation.facts}
        return sorted(
            (claim for claim in said if matcher.says(claim, relation)), key=lambda claim: claim.type not in exact
        )

    given = assign(required, predictions)
    tally.required += len(required)
    tally.required_of.update(relation.facts[0].type for relation in required)
    tally.right += len(given)
    tally.right_of.update(relation.facts[0].type for relation in given.values())
    got = {id(relation) for relation in given.values()}
    tally.lines += [f"- missing {matcher.gold_words(one.facts[0])}" for one in required if id(one) not in got]
    for claim in said:
        if claim in given:
            continue
        if any(matcher.says(claim, relation) for relation in matcher.relations):
            tally.neutral += 1
            continue
        reason = matcher.reason(claim)
        tally.wrong += 1
        tally.wrong_of[claim.type] += 1
        tally.fell_for.update([reason] if reason else [])
        tally.lines.append(f"+ wrong {matcher.words(claim)}" + (f": {reason}" if reason else ""))


def count_entities(matcher: Matcher, tally: Tally) -> None:
    """The same of things."""
    things = matcher.found.things

    required = [one for one in matcher.entities.values() if one.required]

    def candidates(entity: GoldEntity) -> list[Hashable]:
        return sorted(
            (key for key in things if matcher.fits(key, entity)),
            key=lambda key: (not things[key].named, things[key].type != entity.type),
        )

    given = assign(required, candidates)
    tally.entities_required += len(required)
    tally.entities_right += len(given)
    got = {entity.id for entity in given.values()}
    tally.lines += [f"- missing {one.type} {one.names[0]}" for one in required if one.id not in got]
    for key, thing in things.items():
        if key in given:
            continue
        fitting = [entity for entity in matcher.entities.values() if matcher.fits(key, entity)]
        if any(not entity.required for entity in fitting) or (fitting and not thing.named):
            tally.entities_neutral += 1
        else:
            tally.entities_wrong += 1
            tally.entities_split += bool(fitting)
            tally.lines.append(f"+ {'second' if fitting else 'wrong'} {thing.type} {' = '.join(thing.names)}")


def count_times(relation: Relation, claims: Sequence[Claim], clocks: Mapping[str, tzinfo], tally: Tally) -> None:
    """Whether what was found of a gold fact has its times."""
    if since := relation.date("since"):
        value, turn = since
        tally.dates += 1
        tally.dates_right += any(begins(claim.since, value, clocks[turn]) for claim in claims)
    if not (until := relation.date("until")):
        return
    value, turn = until
    if value == PAST:
        tally.ended += 1
        tally.ended_right += any(claim.until for claim in claims)
        return
    tally.dates += 1
    tally.dates_right += any(
        begins(claim.until and claim.until - less, value, clocks[turn])
        for claim in claims
        for less in (timedelta(), timedelta(microseconds=1))
    )


def begins(moment: datetime | None, date: str, clock: tzinfo) -> bool:
    """Whether a moment lies in a day, month or year, on a clock."""
    return moment is not None and moment.astimezone(clock).isoformat().startswith(date)


def count_changes(matcher: Matcher, tally: Tally) -> None:
    """How many facts that were replaced are not believed to go on."""
    of = {fact.id: relation for relation in matcher.relations for fact in relation.facts}
    for fact in matcher.gold.labels.facts:
        if fact.replaces is None:
            continue
        claims = [claim for claim in matcher.found.claims if matcher.says(claim, of[fact.replaces])]
        tally.changes += 1
        tally.changes_found += bool(claims)
        over = matcher.gold.ended
        closed = bool(claims) and not any(one.believed and (one.until is None or one.until > over) for one in claims)
        tally.changes_closed += closed
        if claims and not closed:
            tally.lines.append(f"! goes on {matcher.gold_words(of[fact.replaces].facts[0])}, replaced {fact.turn}")
