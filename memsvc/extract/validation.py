"""Trusts nothing in what an extractor gave back: what stands is what the turns say, in types that there are.

What fails is not lost: it is kept with a reason, one of ``REASONS``, and a person can accept it all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import msgspec

from memsvc.extract.boilerplate import boilerplate_spans, injected_spans, touches
from memsvc.extract.extraction import Entity, Extraction, Fact, ProposedType, Signs
from memsvc.extract.names import telling, words_of
from memsvc.extract.proposals import End, Proposal
from memsvc.extract.quotes import Span, find_name, find_quote
from memsvc.extract.relations import with_relations
from memsvc.extract.spoken import Spoken
from memsvc.extract.stems import Stems
from memsvc.extract.window import EdgeType, Turn, Window
from memsvc.text.characters import is_visible, trimmed

DOUBTFUL = 0.5
"""Below this confidence a person is asked."""
EARLIEST = datetime(1000, 1, 1, tzinfo=UTC)
FARTHEST = timedelta(days=50 * 365.25)
MOST_FACTS = 200
"""Of one window; a model that finds more repeats itself."""
MOST_NAME_CHARS, MOST_SENTENCE_CHARS = 200, 1_000
REASONS = {
    "doubtful": "its confidence is low",
    "role": "an assistant, a tool or the system said it, and nobody accepted it",
    "quote": "its quote does not stand in the message",
    "injected": "it was read out of memory that was given back",
    "boilerplate": "it stands in code, a table, quoted mail or a signature",
    "voice": "another's words in a message are no facts about its author or the owner",
    "type": "there is no such type",
    "endpoint": "the ontology does not let this edge join these nodes",
    "self": "both ends are the same",
    "ungrounded": "one end is not spoken of",
    "date": "its times cannot be",
    "too_many": "the window has too many facts",
    "merged": "both ends turned out to be the same",
    "unwritable": "the history refused it",
    "unsaid": "the language model found that its message does not say it",
    "denied": "the language model found that its message says the opposite",
    "hypothetical": "the language model found that it is a question, a wish, a plan, a guess or a joke",
    "unsure": "its confidence is low, and the language model could not tell",
}
REFUSAL = re.compile(r"\W*(?:no|nope|nah|not|never|wrong|nein|non|nee|nej|nei|não|nie|нет|いいえ|不)\b", re.IGNORECASE)
"""How an answer begins that accepts nothing."""
UNSTEMMED: Stems = {}


@dataclass(frozen=True, slots=True)
class Sound:
    """A fact that stands."""

    fact: Fact
    turn: Turn
    span: Span | None
    """None: all of it, where a person says so."""


@dataclass(frozen=True, slots=True)
class Left:
    """A fact that is not written."""

    proposal: Proposal
    turn: Turn
    span: Span | None
    reason: str


@dataclass(slots=True)
class Checked:
    """An extraction, sorted."""

    entities: dict[int, Entity] = field(default_factory=dict)
    """Those that may become nodes, by key."""
    mentions: dict[int, tuple[Turn, Span]] = field(default_factory=dict)
    """Where entities are spoken of, by key; not all of them are found."""
    facts: list[Sound] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    signs: list[Signs] = field(default_factory=list)
    proposed: list[ProposedType] = field(default_factory=list)
    dropped: int = 0
    """Facts that were too garbled to be kept."""


def check(window: Window, extraction: Extraction, stems: Stems = UNSTEMMED) -> Checked:
    """Sort out an extraction.

    Args:
        window: what the extractor was given.
        extraction: what it gave back.
        stems: of the words of both (``stems.stems_for``); without them, words count as they are written.
    """
    entities = _entities(window, extraction.entities)
    made = Checked(entities=_with_known_ends(window, entities, extraction.facts))
    spoken = Spoken(window, stems)
    for entity in made.entities.values():
        turn = window.turns[entity.turn]
        found = find_quote(turn.text, entity.quote) if entity.quote else None
        span = (find_name(turn.text, entity.name) if entity.named else None) or found
        if span is not None and turn.role == "user":
            made.mentions[entity.key] = (turn, span)
    facts = with_relations(window, made.entities, extraction.facts)
    for place, fact in enumerate(facts):
        if not _whole(window, made.entities, fact):
            made.dropped += 1
            continue
        turn = window.turns[fact.turn]
        span = find_quote(turn.text, fact.quote)
        reason = "too_many" if place >= MOST_FACTS else _wrong(window, made.entities, spoken, fact, span)
        ends = (made.entities[fact.subject], made.entities[fact.object])
        said = msgspec.structs.replace(fact, sentence=spoken.sentence_of(fact, ends))
        if reason is None and span is not None:
            made.facts.append(Sound(said, turn, span))
        else:
            made.left.append(Left(proposal_of(window, made.entities, said), turn, span, reason or "quote"))
    made.signs = _signs(window, extraction.signs)
    made.proposed = [one for one in extraction.proposed if 0 <= one.turn < len(window.turns)]
    return made


def _entities(window: Window, entities: Iterable[Entity]) -> dict[int, Entity]:
    """Entities that can be used, each key once; what they refer to and cannot is taken off."""
    usable: dict[int, Entity] = {}
    for entity in entities:
        name = " ".join(trimmed(entity.name).split())
        if entity.key in usable or not name or len(name) > MOST_NAME_CHARS or "\0" in name:
            continue
        known = entity.known if entity.known is not None and 0 <= entity.known < len(window.candidates) else None
        usable[entity.key] = msgspec.structs.replace(
            entity,
            name=name,
            known=known,
            turn=entity.turn if 0 <= entity.turn < len(window.turns) else 0,
            aliases=tuple(alias for alias in entity.aliases if is_visible(alias) and len(alias) <= MOST_NAME_CHARS),
        )
    return {
        key: entity if entity.of in usable and entity.of != key else msgspec.structs.replace(entity, of=None)
        for key, entity in usable.items()
    }


def _with_known_ends(window: Window, entities: dict[int, Entity], facts: Iterable[Fact]) -> dict[int, Entity]:
    """The entities; what a fact says to be over, and only describes, is the one candidate that can be described so.

    "We sold the van" ends that the owner has the blue van, if no other van is known.
    """
    found = dict(entities)
    for fact in facts:
        thing = found.get(fact.object)
        if fact.change != "ended" or thing is None or thing.named or thing.known is not None:
            continue
        words = set(telling(thing.name))
        alike = [card for card in window.candidates if card.type == thing.type and words <= set(words_of(card.label))]
        if len(alike) == 1:
            found[fact.object] = msgspec.structs.replace(thing, known=alike[0].number)
    return found


def type_of(window: Window, entity: Entity) -> str:
    """Its node type: that of the node that it is, where it is known."""
    return window.candidates[entity.known].type if entity.known is not None else entity.type


def _whole(window: Window, entities: dict[int, Entity], fact: Fact) -> bool:
    """Whether anything can be said about it at all."""
    return (
        fact.subject in entities
        and fact.object in entities
        and 0 <= fact.turn < len(window.turns)
        and 0 < len(trimmed(fact.sentence)) <= MOST_SENTENCE_CHARS
        and 0 < fact.confidence <= 1
        and "\0" not in fact.sentence
    )


def _wrong(window: Window, entities: dict[int, Entity], spoken: Spoken, fact: Fact, span: Span | None) -> str | None:
    """The first reason not to write a fact; None: there is none."""
    turn = window.turns[fact.turn]
    ends = (entities[fact.subject], entities[fact.object])
    if turn.role != "user" and not _accepted(window, fact):
        return "role"
    if span is None:
        return "quote"
    if touches(span, injected_spans(turn.text)):
        return "injected"
    if touches(span, boilerplate_spans(turn.text)):
        return "boilerplate"
    if spoken.is_anothers(fact, ends, span):
        return "voice"
    return (
        _wrong_types(window, fact, ends)
        or (None if _grounded(spoken, fact, ends, span) else "ungrounded")
        or ("date" if not sane_times(fact, turn) else None)
        or ("doubtful" if fact.confidence < DOUBTFUL else None)
    )


def _accepted(window: Window, fact: Fact) -> bool:
    """Whether a fact stands in an assistant's turn, and the next person who speaks is said to accept it."""
    if window.turns[fact.turn].role != "assistant":
        return False
    people = (place for place, turn in enumerate(window.turns) if place > fact.turn and turn.role == "user")
    following = next(people, None)
    return following is not None and fact.accepted == following and REFUSAL.match(window.turns[following].text) is None


def _grounded(spoken: Spoken, fact: Fact, ends: tuple[Entity, Entity], span: Span) -> bool:
    """Whether the window speaks of both ends."""
    return spoken.has(ends[0]) and (spoken.has(ends[1]) or spoken.ends_what_is_known(fact, ends[1], span))


def _wrong_types(window: Window, fact: Fact, ends: tuple[Entity, Entity]) -> str | None:
    edge = window.ontology.edge_types.get(fact.type)
    types = [type_of(window, entity) for entity in ends]
    if edge is None or any(
        kind not in window.ontology.node_types for kind, entity in zip(types, ends, strict=True) if entity.known is None
    ):
        return "type"
    if not fits(edge, types[0], types[1]):
        return "endpoint"
    if fact.subject == fact.object or (ends[0].known is not None and ends[0].known == ends[1].known):
        return "self"
    return None


def fits(edge: EdgeType, start: str, end: str) -> bool:
    """Whether the ontology lets an edge join nodes of these types."""
    return (not edge.from_types or start in edge.from_types) and (not edge.to_types or end in edge.to_types)


def sane_times(fact: Fact, turn: Turn) -> bool:
    """Whether its times are times, and in order; an end needs some time to have passed."""
    for moment in (fact.since, fact.until):
        if moment is not None and (moment.utcoffset() is None or not EARLIEST <= moment <= turn.said_at + FARTHEST):
            return False
    return fact.since is None or fact.until is None or fact.since < fact.until


def _signs(window: Window, signs: Sequence[Signs]) -> list[Signs]:
    """Signs of turns, each once, within their scales."""
    kept: dict[int, Signs] = {}
    for sign in signs:
        if 0 <= sign.turn < len(window.turns) and sign.turn not in kept:
            kept[sign.turn] = msgspec.structs.replace(
                sign,
                sentiment=None if sign.sentiment is None or not -1 <= sign.sentiment <= 1 else sign.sentiment,
                importance=None if sign.importance is None else min(10, max(1, sign.importance)),
            )
    return [sign for sign in kept.values() if sign.sentiment is not None or sign.importance is not None]


def proposal_of(window: Window, entities: dict[int, Entity], fact: Fact) -> Proposal:
    """A fact as it is shown and kept."""

    def end(key: int) -> End:
        entity = entities[key]
        card = window.candidates[entity.known] if entity.known is not None else None
        return End(
            name=card.label if card is not None and not entity.named else entity.name,
            type=type_of(window, entity),
            node_id=card.node_id if card is not None else None,
            named=entity.named,
            aliases=entity.aliases,
            relation=entity.relation,
        )

    return Proposal(
        subject=end(fact.subject),
        type=fact.type[:60],
        object=end(fact.object),
        sentence=fact.sentence.strip(),
        quote=fact.quote.strip()[:MOST_SENTENCE_CHARS],
        change=fact.change,
        since=fact.since,
        until=fact.until,
        confidence=fact.confidence,
        data=dict(fact.data),
    )
