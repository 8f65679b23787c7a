"""Verifies a claim: memory supports it, contradicts it, or does not know; with the memories for and against it.

No language model is asked. The offline extractor reads the claim as if it were a message; nothing is stored. What it
finds is compared with the known facts about the same nodes, and the claim itself with the sentences of recalled
messages (``memsvc.chat.statements``). A wrong verdict is worse than none, so in doubt it is ``unknown``: if words of
the claim are in none of the facts that would decide it, if facts and messages disagree, or if a fact is contested.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

import msgspec

from memsvc.access.users import Owner, own_names
from memsvc.chat.statements import NEGATIONS, OWN, agreement, speaks_of, telling_words
from memsvc.db.engine import Database
from memsvc.db.short_ids import short_id
from memsvc.errors import ClaimIsQuestionError, ExtractorMissingError, InvalidRequestError
from memsvc.extract.boilerplate import injected_spans
from memsvc.extract.comparing import opposite, turned
from memsvc.extract.extraction import Change, Extractor
from memsvc.extract.grounding import ground
from memsvc.extract.names import folded
from memsvc.extract.offline.lexicon_places import COUNTRIES, REGIONS
from memsvc.extract.plan import Made
from memsvc.extract.registry import OFFLINE
from memsvc.extract.run import Extractors, look
from memsvc.extract.unread import NOTHING, Turns
from memsvc.extract.window import Turn
from memsvc.extract.write import Found, prepare
from memsvc.graph import read
from memsvc.graph.operations import new_id
from memsvc.recall.asks import asks
from memsvc.recall.options import Filters
from memsvc.recall.results import Memory
from memsvc.recall.search import QueryEmbedder, recall
from memsvc.settings import Settings
from memsvc.text.characters import is_visible
from memsvc.text.storable import check_storable

Verdict = Literal["supported", "contradicted", "unknown"]
MOST_CHARS = 1_000
MOST_RECALLED, MOST_RELATED = 12, 5
LEAST_DESCRIBED = 2
"""A description with fewer telling words fits too many things: "bike"."""
SAME_TIME = timedelta(days=1)
"""How far the start that a claim gives may lie from the one that is known."""
PEOPLE = ("user", "other")
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


class ClaimEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """A memory for or against a claim."""

    id: str
    """GET /v1/memories/{id} opens it."""
    memory_id: UUID
    kind: Literal["fact", "message"]
    text: str
    """The fact's sentence, or the sentence of the message that decides; else the message."""
    speaker: str = ""
    said_at: datetime | None = None
    """Of a message: when it was said."""
    valid_from: datetime | None = None
    """Of a fact: since when it holds; null: not known."""
    valid_to: datetime | None = None
    """Of a fact: when it ended; null: it has not, as far as known."""


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What memory says about a claim."""

    claim: str
    verdict: Verdict
    reason: str
    """Why, as a sentence."""
    supporting: list[ClaimEvidence]
    contradicting: list[ClaimEvidence]
    related: list[ClaimEvidence]
    """Messages about the same names, that do not decide."""
    degraded: list[str]
    """What the verdict had to do without: facts (the offline extractor is not installed), vector, words."""


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


@dataclass(slots=True)
class Weighed:
    """Memories for and against, and what they decide."""

    verdict: Verdict = "unknown"
    reason: str = ""
    supporting: list[ClaimEvidence] = field(default_factory=list)
    contradicting: list[ClaimEvidence] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """The two times at which memory is asked."""

    as_of: datetime | None = None
    """What was true then; None: now."""
    known_at: datetime | None = None
    """What was recorded by then; None: now."""


async def verify(
    db: Database,
    owner: Owner,
    claim: str,
    settings: Settings,
    *,
    extractors: Extractors | None,
    embedder: QueryEmbedder | None = None,
    when: When = When(),
) -> Verified:
    """Verify a claim.

    Args:
        db: the database.
        owner: whose memory.
        claim: one statement, at most 1,000 characters; "I" is the owner.
        settings: limits.
        extractors: the offline one reads the claim; None, or without that one, it is compared with messages alone.
        embedder: embeds the claim for recall.
        when: as of when.

    Raises:
        InvalidRequestError, InvalidTextError: the claim is empty, too long, or no text.
        ClaimIsQuestionError: it is a question.
    """
    check_storable(claim, "claim")
    if not is_visible(claim) or len(claim) > MOST_CHARS:
        raise InvalidRequestError(f"A claim has 1 to {MOST_CHARS:,} characters.", field="claim")
    if asks(claim):
        raise ClaimIsQuestionError(field="claim")
    extractor = await _reader(extractors)
    at = when.as_of or datetime.now(UTC)
    claimed = await _read(db, owner, claim, extractor, at) if extractor is not None else []
    facts = await _weigh_facts(db, owner, claim, claimed, when)
    filters = Filters(kinds=("message",), as_of=when.as_of, known_at=when.known_at)
    found = await recall(
        db, owner, claim, settings, embedder=embedder, limit=MOST_RECALLED, filters=filters
    )  # fmt: skip
    own = await own_names(db, owner)
    names = [own.label, *own.aliases]
    said, related = _weigh_messages(claim, found.memories, names)
    whole = _together(facts, said)
    return Verified(
        claim=claim,
        verdict=whole.verdict,
        reason=whole.reason or ("Memories speak of it, but none decides it." if related else "Nothing is known of it."),
        supporting=whole.supporting,
        contradicting=whole.contradicting,
        related=related,
        degraded=[*(() if extractor is not None else ("facts",)), *found.degraded],
    )


async def _reader(extractors: Extractors | None) -> Extractor | None:
    """The offline extractor, if it is installed."""
    try:
        return await extractors.get(OFFLINE) if extractors is not None else None
    except ExtractorMissingError:
        return None


async def _read(db: Database, owner: Owner, claim: str, extractor: Extractor, at: datetime) -> list[Claimed]:
    """The facts that a claim states about nodes that are known."""
    turn = Turn(passage_id=new_id(), speaker="", role="user", text=claim, said_at=at)
    turns = Turns(turns=(turn,), before=(), upto=NOTHING)
    async with db.transaction(owner.user_id) as connection:
        grounded = await ground(connection, owner, turns)
    checked = await look(extractor, grounded)
    async with db.transaction(owner.user_id) as connection:
        planner = await prepare(connection, owner, None, Found(turns, grounded, checked, extractor.name, ""))
    made: list[Claimed] = []
    for sound in checked.facts:
        fact = sound.fact
        start, end = planner.nodes.get(fact.subject), planner.nodes.get(fact.object)
        if start is None or start.known is None:
            return []  # a part of the claim is about somebody unknown
        names = [checked.entities[key].name for key in (fact.subject, fact.object)]
        edge = grounded.window.ontology.edge_types[fact.type]
        made.append(
            Claimed(
                subject=start.node_id,
                type=fact.type,
                object=end.node_id if end is not None and end.known is not None else None,
                object_name=names[1],
                change=fact.change,
                since=fact.since,
                relation=folded(str(fact.data.get("relation", ""))),
                functional=edge.functional,
                words=frozenset(
                    word for name in (*names, *_names(start), *_names(end)) for word in telling_words(name)
                ),
            )
        )
    return made


def _names(made: Made | None) -> list[str]:
    return [made.known.label, *made.known.names] if made is not None and made.known is not None else []


async def _weigh_facts(db: Database, owner: Owner, claim: str, claimed: Sequence[Claimed], when: When) -> Weighed:
    """Compare what a claim states with what is known: it is supported if all of it is, contradicted if a part is."""
    weighed = Weighed()
    if not claimed:
        return weighed
    nodes = {node for one in claimed for node in (one.subject, one.object) if node is not None}
    at = when.as_of or datetime.now(UTC)
    known = await read.facts(db, owner, list(nodes), as_of=read.ALWAYS, known_at=when.known_at)
    cards = await read.cards(
        db, owner, list({node for fact in known for node in (fact.from_node, fact.to_node)}), known_at=when.known_at
    )
    labels = {node: card.label or "" for node, card in cards.items()}
    deciding: list[read.Fact] = []
    verdicts: list[Verdict] = []
    reasons: list[str] = []
    for one in claimed:
        verdict, fact = _decide(one, known, at, labels)
        verdicts.append(verdict)
        if fact is None:
            continue
        deciding.append(fact)
        reasons.append(_reason(one, fact, at))
        side = weighed.supporting if verdict == "supported" else weighed.contradicting
        side.append(_fact_evidence(fact))
    covered = _words_of_facts(claimed, deciding, labels)
    rest = [word for word in telling_words(claim) if word not in covered]
    contested = any(fact.contested for fact in deciding)
    if rest or contested:
        if deciding:
            weighed.reason = (
                "A fact that would decide it is contested." if contested else "Only a part of the claim is known."
            )
        weighed.supporting, weighed.contradicting = [], []
    elif "contradicted" in verdicts:
        weighed.verdict = "contradicted"
        weighed.reason = reasons[[one for one in verdicts if one != "unknown"].index("contradicted")]
    elif verdicts and set(verdicts) == {"supported"}:
        weighed.verdict, weighed.reason = "supported", "It is a known fact."
    return weighed


def _decide(
    one: Claimed, known: Iterable[read.Fact], at: datetime, labels: dict[UUID, str]
) -> tuple[Verdict, read.Fact | None]:
    """What the known facts say about one that is claimed, and which of them says so."""
    facts = [fact for fact in known if fact.valid_from is None or fact.valid_from <= at]
    holding = [fact for fact in facts if fact.valid_to is None or fact.valid_to > at]
    ended = [fact for fact in facts if fact.valid_to is not None and fact.valid_to <= at]
    denies = one.change == "ended"
    if (fact := next((fact for fact in holding if _same(one, fact)), None)) is not None:
        if denies:
            return "contradicted", fact
        if one.since is not None and (fact.valid_from is None or abs(fact.valid_from - one.since) > SAME_TIME):
            return "unknown", None
        return "supported", fact
    rival = next((fact for fact in holding if _rivals(one, fact, known, labels)), None)
    if fact := next((fact for fact in ended if _same(one, fact)), None) or _described(one, facts, ended, labels):
        return ("supported", fact) if denies else ("contradicted", rival or fact)
    return ("contradicted", rival) if rival is not None and not denies else ("unknown", None)


def _described(
    one: Claimed, facts: Iterable[read.Fact], ended: Iterable[read.Fact], labels: dict[UUID, str]
) -> read.Fact | None:
    """The ended fact about what the claim describes more closely ("the green cargo bike"), if only one fact fits."""
    wanted = set(telling_words(one.object_name))
    fitting = [
        fact
        for fact in facts
        if (fact.from_node, fact.type) == (one.subject, one.type)
        and len(words := set(telling_words(labels.get(fact.to_node, "")))) >= LEAST_DESCRIBED
        and words <= wanted
    ]
    edges = {fact.edge_id for fact in fitting}
    return next((fact for fact in ended if fact.edge_id in edges), None) if len(edges) == 1 else None


def _same(one: Claimed, fact: read.Fact) -> bool:
    """Whether a known fact is the claimed one, or the same the other way round."""
    if one.object is None or folded(str(fact.data.get("relation", ""))) != one.relation:
        return False
    stated = (one.subject, one.type, one.object)
    return (fact.from_node, fact.type, fact.to_node) in (stated, turned(*stated))


def _rivals(one: Claimed, fact: read.Fact, known: Iterable[read.Fact], labels: dict[UUID, str]) -> bool:
    """Whether a known fact and the claimed one cannot both hold."""
    if one.object is not None and (fact.from_node, fact.type, fact.to_node) == opposite(
        one.subject, one.type, one.object
    ):
        return True
    if not one.functional or (fact.from_node, fact.type) != (one.subject, one.type) or fact.to_node == one.object:
        return False
    value = labels.get(fact.to_node, "")
    if set(telling_words(value)) & set(telling_words(one.object_name)):
        return False  # "Siemens" and "Siemens Energy": perhaps the same
    if (folded(value) in WIDE) != (folded(one.object_name) in WIDE):
        return False
    ends = {fact.to_node, one.object}
    return not any(other.type in INSIDE and {other.from_node, other.to_node} == ends for other in known)


def _words_of_facts(
    claimed: Iterable[Claimed], deciding: Iterable[read.Fact], labels: dict[UUID, str]
) -> Collection[str]:
    """Words of a claim that the facts which decide it account for."""
    covered = set(OWN)
    for one in claimed:
        covered |= one.words | set(telling_words(SAID_BY_TYPE.get(one.type, "")))
        if one.change == "ended":
            covered |= NEGATIONS | {"longer", "anymore", "more", "any", "used", "to"}
    for fact in deciding:
        covered |= set(telling_words(f"{fact.fact} {labels.get(fact.from_node, '')} {labels.get(fact.to_node, '')}"))
    return covered


def _reason(one: Claimed, fact: read.Fact, at: datetime) -> str:
    if fact.valid_to is not None and fact.valid_to <= at:
        return f"It ended on {fact.valid_to.date().isoformat()}."
    if one.change == "ended":
        return "It still holds."
    since = f" since {fact.valid_from.date().isoformat()}" if fact.valid_from is not None else ""
    return f"Something else holds{since}."


def _fact_evidence(fact: read.Fact) -> ClaimEvidence:
    return ClaimEvidence(
        id=f"f:{short_id(fact.version_id)}",
        memory_id=fact.version_id,
        kind="fact",
        text=fact.fact,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
    )


def _weigh_messages(claim: str, memories: Iterable[Memory], own: Sequence[str]) -> tuple[Weighed, list[ClaimEvidence]]:
    """Messages that state or deny the claim in its own words, of each speaker the latest; and those related to it."""
    weighed, related = Weighed(), list[ClaimEvidence]()
    latest: dict[str, tuple[Memory, str, str]] = {}
    for memory in sorted(memories, key=lambda one: one.said_at, reverse=True):
        text = _own_words(memory.text)
        speaker = _called(memory, own)
        found = agreement(claim, text, speaker) if memory.role in PEOPLE else None
        if found is not None and not memory.stale and not memory.remark:
            latest.setdefault(speaker[0] if speaker else "", (memory, *found))
        elif speaks_of(claim, text, speaker) and len(related) < MOST_RELATED:
            related.append(_message_evidence(memory, memory.text))
    for memory, how, sentence in latest.values():
        side = weighed.supporting if how == "same" else weighed.contradicting
        side.append(_message_evidence(memory, sentence))
    if weighed.supporting and not weighed.contradicting:
        weighed.verdict, weighed.reason = "supported", "A message says so."
    elif weighed.contradicting and not weighed.supporting:
        weighed.verdict, weighed.reason = "contradicted", "A message denies it."
    elif latest:
        weighed.reason = "What people said disagrees."
    return weighed, related


def _own_words(text: str) -> str:
    """A message without the context blocks that came back in it."""
    for begin, end in sorted(injected_spans(text), reverse=True):
        text = f"{text[:begin]}\n{text[end:]}"
    return text


def _called(memory: Memory, own: Sequence[str]) -> list[str]:
    """The names of who said a message: the owner's, if a user's message has no other speaker."""
    if memory.role == "user" and (not memory.speaker or folded(memory.speaker) in {folded(name) for name in own}):
        return list(own)
    return [memory.speaker] if memory.speaker else []


def _message_evidence(memory: Memory, text: str) -> ClaimEvidence:
    return ClaimEvidence(
        id=f"m:{short_id(memory.memory_id)}",
        memory_id=memory.memory_id,
        kind="message",
        text=text,
        speaker=memory.speaker,
        said_at=memory.said_at,
    )


def _together(facts: Weighed, said: Weighed) -> Weighed:
    """One verdict of facts and messages: that of those who have one; unknown where they disagree."""
    verdicts = {one.verdict for one in (facts, said)} - {"unknown"}
    decided = facts if facts.verdict != "unknown" else said
    split = len(verdicts) > 1 or (bool(said.supporting) and bool(said.contradicting))
    return Weighed(
        "unknown" if split else decided.verdict,
        "What is known disagrees." if split else decided.reason or facts.reason,
        [*facts.supporting, *said.supporting],
        [*facts.contradicting, *said.contradicting],
    )
