"""What the known facts say about a claim that was read as facts.

A fact that holds supports the same claim. A claim is contradicted if its own fact has ended, if its opposite holds, or
if it says that something is over which still holds. That another value holds is not enough: the other place or employer
may be the same by another name, or lie in the claimed one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from uuid import UUID

from memsvc.access.users import Owner, valid_zone
from memsvc.chat.weighing import ClaimEvidence, Verdict, Weighed
from memsvc.chat.wording import LIMITING, OWN, telling_words, written_out
from memsvc.db.engine import Database
from memsvc.db.short_ids import short_id
from memsvc.extract.comparing import opposite, turned
from memsvc.extract.extraction import Change
from memsvc.extract.names import folded
from memsvc.extract.offline.lexicon_places import COUNTRIES, REGIONS
from memsvc.graph import read
from memsvc.graph.draw import day
from memsvc.graph.operations import BESIDE
from memsvc.times.untold import begin_is_untold, end_is_untold, told_begin

LEAST_DESCRIBED = 2
"""A description with fewer telling words fits too many things: "bike"."""
SAME_TIME = timedelta(days=1)
"""How far the start that a claim gives may lie from the one that is known."""
WIDE = COUNTRIES | REGIONS
"""Places that others lie in: to live in one does not deny living in a town."""
INSIDE = ("LOCATED_AT", "PART_OF")
SAID_BY_TYPE = {
    "WORKS_AT": "work works working for employed by job employee at",
    "LIVES_IN": "live lives living in home",
    "LOCATED_AT": "located in at",
    "OWNS": "own owns has have",
    "LIKES": "like likes love loves fond of",
    "DISLIKES": "dislike dislikes hate hates",
    "KNOWS": "know knows",
    "FAMILY_OF": "family of",
    "USES": "use uses",
}
"""Words that say no more than the type of a fact."""


OVER = re.compile(r"\b(?:no longer|not\b.*\b(?:any ?more|any longer))\b", re.IGNORECASE)
USED_TO = re.compile(r"\bused to\b", re.IGNORECASE)
MOST_STEPS = 4
"""How many places around a place are looked at, each inside the next."""
Within = dict[UUID, set[UUID]]
"""A place and the places that it lies in, at once or by others."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A fact that the claim states, with the nodes that it is about."""

    subject: UUID
    type: str
    object: UUID | None
    """None: the claim names something that memory does not know."""
    object_name: str
    change: Change
    since: datetime | None
    relation: str
    functional: bool
    words: frozenset[str]
    """Words of the claim that name its ends."""


@dataclass(frozen=True, slots=True)
class Known:
    """What memory knows about the nodes of a claim."""

    holding: list[read.Fact]
    ended: list[read.Fact]
    labels: dict[UUID, str]
    within: Within
    at: datetime


async def weigh_facts(
    db: Database,
    owner: Owner,
    claim: str,
    claimed: Sequence[Claimed],
    *,
    as_of: datetime | None,
    known_at: datetime | None,
) -> Weighed:
    """Compare what a claim states with what is known: it is supported if all of it is, contradicted if a part is.

    Args:
        db: the database.
        owner: whose memory.
        claim: the claim.
        claimed: the facts that it states.
        as_of: what was true then; None: now.
        known_at: what was recorded by then; None: now.
    """
    weighed = Weighed()
    if not claimed:
        return weighed
    known = await _known(db, owner, claimed, as_of or datetime.now(UTC), known_at)
    over = OVER.search(written_out(claim)) is not None
    deciding: list[read.Fact] = []
    verdicts: list[Verdict] = []
    for one in claimed:
        verdict, fact = _decide(one, known, over=over)
        verdicts.append(verdict)
        if fact is None:
            continue
        weighed.doubt = weighed.doubt or fact.contested or verdict != "supported"
        if verdict == "unknown":
            weighed.reason = weighed.reason or "Something else is known, which may or may not be the same."
            continue
        deciding.append(fact)
        (weighed.supporting if verdict == "supported" else weighed.contradicting).append(_evidence(fact))
    covered = _covered(claim, claimed, deciding, known.labels)
    rest = [word for word in telling_words(claim) if word not in covered]
    contested = any(fact.contested for fact in deciding)
    if contested or (rest and deciding):
        weighed.reason = (
            "A fact that would decide it is contested." if contested else "Only a part of the claim is known."
        )
        weighed.supporting, weighed.contradicting = [], []
    elif "contradicted" in verdicts:
        weighed.verdict = "contradicted"
        place = [verdict for verdict in verdicts if verdict != "unknown"].index("contradicted")
        weighed.reason = _reason(deciding[place], known.at, valid_zone(owner.time_zone), over=over)
    elif set(verdicts) == {"supported"}:
        weighed.verdict, weighed.reason = "supported", "It is a known fact."
    return weighed


async def _known(
    db: Database, owner: Owner, claimed: Sequence[Claimed], at: datetime, known_at: datetime | None
) -> Known:
    """What is known about the nodes of a claim, what is to come left out."""
    nodes = {node for one in claimed for node in (one.subject, one.object) if node is not None}
    facts = await read.facts(db, owner, list(nodes), as_of=read.ALWAYS, known_at=known_at)
    cards = await read.cards(
        db, owner, list({node for fact in facts for node in (fact.from_node, fact.to_node)}), known_at=known_at
    )
    begun = [fact for fact in facts if fact.valid_from is None or fact.valid_from <= at]
    holding = [fact for fact in begun if fact.valid_to is None or fact.valid_to > at]
    values = {fact.to_node for one in claimed for fact in holding if _is_other_value(one, fact)}
    return Known(
        holding=holding,
        ended=[fact for fact in begun if fact.valid_to is not None and fact.valid_to <= at],
        labels={node: card.label or "" for node, card in cards.items()},
        within=await _within(db, owner, values | nodes, known_at) if values else {},
        at=at,
    )


async def _within(db: Database, owner: Owner, places: Collection[UUID], known_at: datetime | None) -> Within:
    """In which other places some places lie, or lay once."""
    around: Within = {}
    new = set(places)
    for _ in range(MOST_STEPS):
        around |= {place: set() for place in new}
        for fact in await read.facts(
            db, owner, list(new), types=INSIDE, as_of=read.ALWAYS, known_at=known_at, side="from"
        ):
            around[fact.from_node].add(fact.to_node)
        new = {outer for outers in around.values() for outer in outers} - around.keys()
        if not new:
            break
    for _ in range(MOST_STEPS):
        around = {
            place: outers.union(*(around.get(outer, set()) for outer in outers)) for place, outers in around.items()
        }
    return around


def _decide(one: Claimed, known: Known, *, over: bool) -> tuple[Verdict, read.Fact | None]:
    """What the known facts say about one that is claimed, and which of them says so.

    "unknown" with a fact: that fact stands against the claim without deciding it.
    """
    denies = one.change == "ended"
    if (fact := next((fact for fact in known.holding if _same(one, fact)), None)) is not None:
        if denies:  # "used to", "lived": what is said of the past is no word about now
            return ("contradicted", fact) if over else ("unknown", None)
        begun = told_begin(fact.valid_from, fact.data)
        if one.since is not None and (begun is None or abs(begun - one.since) > SAME_TIME):
            return "unknown", fact
        return "supported", fact
    against = next((fact for fact in known.holding if _is_opposite(one, fact)), None)
    if against is not None:
        return ("unknown", None) if denies else ("contradicted", against)
    other = next((fact for fact in known.holding if _is_other_value(one, fact)), None)
    if fact := next((fact for fact in known.ended if _same(one, fact)), None) or _described(one, known):
        if denies:
            return "supported", fact
        return ("unknown", other) if other is not None and _may_be_same(one, other, known) else (
            "contradicted", other or fact
        )  # fmt: skip
    return "unknown", None if denies else other


def _described(one: Claimed, known: Known) -> read.Fact | None:
    """The ended fact about what the claim describes more closely ("the green cargo bike"), if only one fact fits."""
    wanted = set(telling_words(one.object_name))
    near = {
        fact.edge_id: words
        for fact in (*known.holding, *known.ended)
        if (fact.from_node, fact.type) == (one.subject, one.type)
        and (words := set(telling_words(known.labels.get(fact.to_node, "")))) & wanted
    }
    within = [edge for edge, words in near.items() if words <= wanted]
    if len(within) != 1 or len(near[within[0]]) < LEAST_DESCRIBED:
        return None
    if any(len(words & wanted) >= len(near[within[0]]) for edge, words in near.items() if edge != within[0]):
        return None  # "the Bullitt cargo bike" may be green
    return next((fact for fact in known.ended if fact.edge_id == within[0]), None)


def _same(one: Claimed, fact: read.Fact) -> bool:
    """Whether a known fact is the claimed one, or the same the other way round."""
    if one.object is None or folded(str(fact.data.get("relation", ""))) != one.relation:
        return False
    stated = (one.subject, one.type, one.object)
    return (fact.from_node, fact.type, fact.to_node) in (stated, turned(*stated))


def _is_opposite(one: Claimed, fact: read.Fact) -> bool:
    """Whether a known fact denies the claimed one."""
    return one.object is not None and (fact.from_node, fact.type, fact.to_node) == opposite(
        one.subject, one.type, one.object
    )


def _is_other_value(one: Claimed, fact: read.Fact) -> bool:
    """Whether a known fact has another value of what has one value at a time."""
    same_line = (fact.from_node, fact.type) == (one.subject, one.type) and fact.key != BESIDE
    return one.functional and same_line and fact.to_node != one.object


def _may_be_same(one: Claimed, fact: read.Fact, known: Known) -> bool:
    """Whether another value may be the claimed one by another name ("Siemens Energy"), or one may lie in the other."""
    value = known.labels.get(fact.to_node, "")
    if set(telling_words(value)) & set(telling_words(one.object_name)):
        return True
    if (folded(value) in WIDE) != (folded(one.object_name) in WIDE):
        return True
    if one.object is None:
        return False
    return one.object in known.within.get(fact.to_node, ()) or fact.to_node in known.within.get(one.object, ())


def _covered(
    claim: str, claimed: Iterable[Claimed], deciding: Iterable[read.Fact], labels: dict[UUID, str]
) -> Collection[str]:
    """Words of a claim that the facts which decide it account for.

    "not", "only", "except" are never among them; but the words by which the claim was read as something that is over.
    """
    covered = set(OWN)
    for one in claimed:
        covered |= one.words | set(telling_words(SAID_BY_TYPE.get(one.type, "")))
    for fact in deciding:
        covered |= set(telling_words(f"{fact.fact} {labels.get(fact.from_node, '')} {labels.get(fact.to_node, '')}"))
    covered -= LIMITING
    if any(one.change == "ended" for one in claimed):
        if OVER.search(written_out(claim)):
            covered |= {"no", "not", "any", "anymore", "more", "longer"}
        if USED_TO.search(claim):
            covered |= {"used", "to"}
    return covered


def _reason(fact: read.Fact, at: datetime, zone: tzinfo, *, over: bool) -> str:
    if fact.valid_to is not None and fact.valid_to <= at:
        word = "by" if end_is_untold(fact.valid_to, fact.data) else "on"
        return f"It ended {word} {day(fact.valid_to, zone, clock=False)}."
    if over:
        return "It still holds."
    begun = told_begin(fact.valid_from, fact.data)
    since = f" since {day(begun, zone, clock=False)}" if begun is not None else ""
    return f"Something else holds{since}."


def _evidence(fact: read.Fact) -> ClaimEvidence:
    return ClaimEvidence(
        id=f"f:{short_id(fact.version_id)}",
        memory_id=fact.version_id,
        kind="fact",
        text=fact.fact,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        begin_untold=begin_is_untold(fact.valid_from, fact.data),
        end_untold=end_is_untold(fact.valid_to, fact.data),
    )
