"""An extractor read directly, without a database: what it says of a gold conversation, and how fast it is.

Windows are those of a run (``TURNS`` turns, ``BEFORE`` of context), and things of earlier windows are candidates of
later ones; but nothing validates, resolves or supersedes. So it shows the extractor alone, in seconds, while rules are
being made. ``bench.stored`` has the real way.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID, uuid5

from bench.gold import Conversation, Said
from bench.matching import Claim, Found, Thing
from bench.naming import WORD, name_of
from memsvc.extract.extraction import Entity, Extraction, Extractor
from memsvc.extract.window import OWNER, Candidate, EdgeType, Ontology, Turn, Window

TURNS, BEFORE = 12, 6
SURE = 0.5
"""Facts below this confidence are asked about, not said."""
SPACE = UUID("6f1c9a52-7d0e-5b43-9a3e-2f4d1c8b7a60")
PERSON = frozenset({"Person"})
PLACE = frozenset({"Place"})
ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "KNOWS": (PERSON, frozenset({"Person", "Organization"})), "FAMILY_OF": (PERSON, PERSON),
    "WORKS_AT": (PERSON, frozenset({"Organization"})), "LIVES_IN": (PERSON, PLACE), "LOCATED_AT": (frozenset(), PLACE),
    "PARTICIPATED_IN": (PERSON | {"Organization"}, frozenset({"Event", "Project"})),
    "HAPPENED_ON": (frozenset({"Event"}), frozenset({"Event", "Concept"})),
    "OWNS": (PERSON | {"Organization"}, frozenset()), "LIKES": (PERSON, frozenset()), "DISLIKES": (PERSON, frozenset()),
    "FEELS": (PERSON, frozenset({"Emotion"})), "WANTS": (PERSON | {"Organization"}, frozenset()),
    "CREATED": (PERSON | {"Organization"}, frozenset()),
    **dict.fromkeys(("USES", "DEPENDS_ON", "PART_OF", "ABOUT", "CAUSED_BY", "RELATED_TO"), (frozenset(), frozenset())),
}  # fmt: skip
"""Edge types that extractors use, with the node types at their ends (docs/ontology.md); empty: any."""
ONTOLOGY = Ontology(
    node_types=frozenset(
        WORD.findall("Person Organization Place Event Object Concept Project Document Task Emotion Media")
    ),
    edge_types={
        name: EdgeType(name=name, from_types=starts, to_types=ends, functional=name in {"WORKS_AT", "LIVES_IN"})
        for name, (starts, ends) in ENDS.items()
    },
)  # fmt: skip


@dataclass(slots=True)
class Memory:
    """What earlier windows of a conversation said: candidates of the next ones."""

    things: dict[Hashable, Thing] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    quotes: int = 0
    verified: int = 0

    def candidates(self, owner: str) -> list[Candidate]:
        """All things, the owner first."""
        self.things.setdefault(_key("Person", owner), Thing("Person", (owner,)))
        return [
            Candidate(
                number=number, node_id=uuid5(SPACE, str(key)), label=thing.names[0], type=thing.type,
                aliases=thing.names[1:],
            )
            for number, (key, thing) in enumerate(self.things.items())
        ]  # fmt: skip

    def learn(self, turns: Sequence[Said], said: Extraction) -> None:
        """Keep what the turns of a window say; a thing is known again by its number, else by a name of its type."""
        keys = list(self.things)
        spoken = {end for fact in said.facts if fact.confidence >= SURE for end in (fact.subject, fact.object)}
        places: dict[int, Hashable] = {}
        for entity in said.entities:
            if not entity.named and entity.key not in spoken:
                continue
            key = keys[entity.known] if entity.known is not None else self._same(entity)
            names = (*(self.things[key].names if key in self.things else ()), entity.name, *entity.aliases)
            named = entity.named or (key in self.things and self.things[key].named)
            self.things[key] = Thing(entity.type, tuple(dict.fromkeys(names)), named)
            places[entity.key] = key
        for fact in said.facts:
            turn = turns[fact.turn]
            self.quotes += 1
            self.verified += bool(fact.quote) and fact.quote in turn.text
            if fact.confidence >= SURE and fact.subject in places and fact.object in places:
                ends = places[fact.subject], places[fact.object]
                claim = Claim(ends[0], fact.type, ends[1], fact.since, fact.until, turns=(turn.turn_id,))
                known = any((old.start, old.end, old.type) == (*ends, fact.type) for old in self.claims)
                if known or not fact.never:
                    self.settle(claim, fact.change, turn.session_time)

    def _same(self, entity: Entity) -> Hashable:
        """The key of a thing with one of these names and this type; a new one where there is none."""
        wanted = {name_of(name).words for name in (entity.name, *entity.aliases)}
        for key, thing in self.things.items():
            if thing.type == entity.type and wanted & {name_of(name).words for name in thing.names}:
                return key
        return _key(entity.type, entity.name)

    def settle(self, claim: Claim, change: str, said_at: datetime) -> None:
        """Add a claim, and close or take back what it ends, replaces or corrects."""
        if change == "ended":
            claim = replace(claim, until=claim.until or said_at)
        new = claim.until is None and ONTOLOGY.edge_types[claim.type].functional
        for place, old in enumerate(self.claims):
            if (old.start, old.type) != (claim.start, claim.type):
                continue
            if old.end == claim.end:
                if change == "ended":
                    self.claims[place] = replace(old, until=claim.until)
            elif change == "corrects":
                self.claims[place] = replace(old, believed=False)
            elif new and old.until is None:
                self.claims[place] = replace(old, until=claim.since or said_at)
        self.claims.append(claim)


def _key(kind: str, name: str) -> Hashable:
    return kind, name_of(name).words


def windows_of(conversation: Conversation, memory: Memory) -> Iterator[tuple[Sequence[Said], Window]]:
    """Turns with the window in which they are read, each made when those before it are known."""
    for start in range(0, len(conversation.turns), TURNS):
        candidates = memory.candidates(conversation.owner)
        numbers = {name: one.number for one in candidates for name in (one.label, *one.aliases) if one.type == "Person"}
        before, turns = conversation.turns[max(0, start - BEFORE) : start], conversation.turns[start : start + TURNS]
        yield (
            turns,
            Window(
                turns=tuple(map(turn_of, turns)),
                before=tuple(map(turn_of, before)),
                candidates=tuple(candidates),
                speakers={
                    one.speaker: OWNER if one.speaker == conversation.owner else numbers.get(one.speaker)
                    for one in (*before, *turns)
                },
                zone=conversation.zone,
                ontology=ONTOLOGY,
            ),
        )


def turn_of(said: Said) -> Turn:
    """A turn as an extractor gets it."""
    name = f"{said.conversation_id} {said.turn_id}"
    return Turn(
        passage_id=uuid5(SPACE, name), speaker=said.speaker, role=said.role, text=said.text, said_at=said.session_time
    )


async def read_directly(extractor: Extractor, conversation: Conversation) -> Found:
    """What an extractor says of a conversation."""
    memory = Memory()
    for turns, window in windows_of(conversation, memory):
        memory.learn(turns, await extractor.extract(window))
    return Found(memory.things, memory.claims, memory.quotes, memory.verified)
