"""From checked facts and resolved mentions to operations of the history: pure, nothing is read or written here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec

from memsvc.extract.compared_facts import KnownFact, NewFact
from memsvc.extract.comparing import SYMMETRIC, compared
from memsvc.extract.extraction import Entity
from memsvc.extract.names import folded
from memsvc.extract.quotes import Span
from memsvc.extract.timeline import Fate, Timeline
from memsvc.extract.validation import Checked, Left, Sound, fits, proposal_of
from memsvc.extract.window import Turn, Window
from memsvc.graph.operations import BESIDE, MAX_OPERATIONS, Alias, Correct, Evidence, Node, Operation, new_id
from memsvc.identity.candidates import Suspicion
from memsvc.identity.mentions import Mention, Resolved
from memsvc.identity.relations import apart, canonical

MOST_EVIDENCE = 20
"""Places at which a node that is new is said to be mentioned."""


Said = tuple[UUID, UUID | str, str, UUID | str]
"""A passage, and start, type and end of a fact that it says: nodes, or their folded names."""


class KnownNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node as it is known now."""

    node_id: UUID
    """The one that stands for it."""
    stored_id: UUID
    """The one whose properties are shown."""
    version_id: UUID
    """The version that shows them."""
    type: str
    label: str
    description: str
    data: dict[str, Any]
    importance: float
    valid_from: datetime | None
    valid_to: datetime | None
    names: list[str]
    supported: bool
    """Passages speak for it; what was entered by hand gets no evidence, or it would go with the message."""


@dataclass(frozen=True, slots=True)
class Made:
    """An entity's node."""

    node_id: UUID
    type: str
    known: KnownNode | None
    """None: it is new."""


@dataclass(slots=True)
class Plan:
    """What is to be written of a window."""

    operations: list[Operation] = field(default_factory=list)
    of_fact: list[int | None] = field(default_factory=list)
    """For each operation the fact that it is for (place in ``Checked.facts``); None: it is for a node or name."""
    fates: dict[int, Fate] = field(default_factory=dict)
    """What becomes of each fact that is not left."""
    left: list[Left] = field(default_factory=list)
    """Facts that turned out not to be writable."""
    nodes: dict[int, Made] = field(default_factory=dict)
    """The node of each entity that has one."""
    suspicions: list[Suspicion] = field(default_factory=list)


def digest_of(subject: str, type_: str, object_: str) -> str:
    """Names a fact of a passage, in hexadecimal: the same ends and type are the same fact, however it is put."""
    return sha256("\0".join([folded(subject), type_, folded(object_)]).encode()).hexdigest()


def mentions_of(window: Window, checked: Checked) -> list[Mention]:
    """What resolution is asked: entities that facts use, and those with a name that the turns speak of."""
    company: dict[int, set[int]] = {}
    for sound in checked.facts:
        company.setdefault(sound.fact.subject, set()).add(sound.fact.object)
        company.setdefault(sound.fact.object, set()).add(sound.fact.subject)
    wanted = set(company) | {
        key
        for key in checked.mentions
        if checked.entities[key].named and checked.entities[key].type in window.ontology.node_types
    }
    for key in tuple(wanted):  # those from whom others are counted
        of = checked.entities[key].of
        while of is not None and of not in wanted:
            wanted.add(of)
            of = checked.entities[of].of
    return [
        Mention(
            key=key,
            name=entity.name,
            type=entity.type,
            named=entity.named,
            aliases=entity.aliases,
            known=window.candidates[entity.known].node_id if entity.known is not None else None,
            of=entity.of,
            relation=entity.relation,
            company=frozenset(company.get(key, ())),
        )
        for key, entity in checked.entities.items()
        if key in wanted
    ]


def roles_of(checked: Checked) -> dict[int, tuple[int | None, str]]:
    """What people of one name are to whom, by entity, where that tells that they are several."""
    roles = {
        key: (entity.of, canonical(entity.relation))
        for key, entity in checked.entities.items()
        if entity.named and entity.of is not None and entity.relation
    }
    several = {
        folded(checked.entities[key].name)
        for key, (of, relation) in roles.items()
        for other, (whose, role) in roles.items()
        if folded(checked.entities[key].name) == folded(checked.entities[other].name)
        and (of != whose or apart(relation, role))
    }
    return {key: role for key, role in roles.items() if folded(checked.entities[key].name) in several}


class Planner:
    """Plans a window, again without those facts that could not be written."""

    def __init__(
        self,
        window: Window,
        checked: Checked,
        resolved: Sequence[Resolved],
        known_nodes: Mapping[UUID, KnownNode],
    ) -> None:
        """Give every resolved entity its node; new ones get their ids here."""
        self._window = window
        self._checked = checked
        self._resolved = {one.key: one for one in resolved}
        self.nodes: dict[int, Made] = {}
        fresh: dict[tuple[object, ...], UUID] = {}
        roles = roles_of(checked)
        for one in resolved:
            entity = checked.entities[one.key]
            known = known_nodes.get(one.node_id) if one.node_id is not None else None
            if known is not None:
                self.nodes[one.key] = Made(known.node_id, known.type, known)
            elif entity.type in window.ontology.node_types:
                same = (
                    folded(entity.name),
                    entity.type,
                    entity.named,
                    roles.get(one.key) if entity.named else entity.of,
                )
                self.nodes[one.key] = Made(fresh.setdefault(same, new_id()), entity.type, None)

    def ends(self) -> list[tuple[UUID, str, UUID | None]]:
        """Start, type and end (None: any) of the known facts that the new ones are compared with."""
        asked: list[tuple[UUID, str, UUID | None]] = []
        for sound in self._checked.facts:
            made = self._ends_of(sound)
            if made is None or made[0].known is None:
                continue
            start, type_, end = made[0].node_id, sound.fact.type, made[1]
            if self._functional(type_) or sound.fact.change == "corrects":
                asked.append((start, type_, None))
            if end.known is not None:
                asked += compared(start, type_, end.node_id)
        return asked

    def _functional(self, type_: str) -> bool:
        edge = self._window.ontology.edge_types.get(type_)
        return edge is not None and edge.functional

    def _ends_of(self, sound: Sound) -> tuple[Made, Made] | None:
        start, end = self.nodes.get(sound.fact.subject), self.nodes.get(sound.fact.object)
        return (start, end) if start is not None and end is not None else None

    def plan(
        self,
        known: Sequence[KnownFact],
        rejected: Collection[tuple[UUID, str]],
        bad: Mapping[int, str],
        retracted: Collection[Said] = (),
    ) -> Plan:
        """The operations.

        Args:
            known: facts to compare with.
            rejected: passages and digests of facts that a person rejected.
            bad: facts that could not be written, with the reason.
            retracted: facts that a person took back after they had been read from these passages.
        """
        made = Plan()
        timeline = Timeline(known)
        in_time = sorted(enumerate(self._checked.facts), key=lambda each: (each[1].turn.said_at, each[1].fact.turn))
        for place, sound in in_time:
            proposal = proposal_of(self._window, self._checked.entities, sound.fact)
            digest = digest_of(proposal.subject.name, proposal.type, proposal.object.name)
            if (sound.turn.passage_id, digest) in rejected:
                continue
            ends = self._ends_of(sound)
            if ends is not None and retracted and self._says(sound, ends) & set(retracted):
                continue
            reason = bad.get(place) or self._misfit(sound, ends)
            if ends is None or reason is not None:
                made.left.append(Left(proposal, sound.turn, sound.span, reason or "type"))
            else:
                timeline.add(self._new_fact(place, sound, ends))
        used = {
            key
            for place in timeline.fates
            for key in (self._checked.facts[place].fact.subject, self._checked.facts[place].fact.object)
        }
        for operation in self._node_operations(made, used):
            made.operations.append(operation)
            made.of_fact.append(None)
        for edge, place in timeline.operations():
            made.operations.append(edge)
            made.of_fact.append(place)
        made.fates = timeline.fates
        del made.operations[MAX_OPERATIONS:], made.of_fact[MAX_OPERATIONS:]
        return made

    def _says(self, sound: Sound, ends: tuple[Made, Made]) -> set[Said]:
        """What a fact says, by nodes and by names, both ways round where that is the same."""
        start, end = (
            (made.node_id, folded(self._checked.entities[key].name))
            for made, key in zip(ends, (sound.fact.subject, sound.fact.object), strict=True)
        )
        said: set[Said] = {(sound.turn.passage_id, one, sound.fact.type, other) for one in start for other in end}
        if sound.fact.type in SYMMETRIC:
            said |= {(passage, other, type_, one) for passage, one, type_, other in said}
        return said

    def _misfit(self, sound: Sound, ends: tuple[Made, Made] | None) -> str | None:
        """What is wrong with a fact once its ends are nodes."""
        edge = self._window.ontology.edge_types.get(sound.fact.type)
        if ends is None or edge is None:
            return "type"
        if ends[0].node_id == ends[1].node_id:
            return "merged"
        return None if fits(edge, ends[0].type, ends[1].type) else "endpoint"

    def _new_fact(self, place: int, sound: Sound, ends: tuple[Made, Made]) -> NewFact:
        fact = sound.fact
        functional, beside = self._functional(fact.type), bool(fact.data.get(BESIDE))
        return NewFact(
            place=place, from_node=ends[0].node_id, type=fact.type, to_node=ends[1].node_id,
            sentence=fact.sentence.strip(), said_at=sound.turn.said_at, change=fact.change, since=fact.since,
            until=fact.until, confidence=round(fact.confidence, 3),
            data={name: value for name, value in fact.data.items() if name != BESIDE},
            functional=functional and not beside, beside=functional and beside, earlier=fact.earlier,
            lasts=fact.lasts, moved=fact.moved, never=fact.never,
            evidence=Evidence(passage_id=sound.turn.passage_id, span=sound.span, confidence=round(fact.confidence, 3)),
        )  # fmt: skip

    # Nodes and names ----------------------------------------------------------------------------------------------

    def _node_operations(self, plan: Plan, used: Collection[int]) -> list[Operation]:
        """Nodes that are new, evidence for those that are known, and names."""
        operations: list[Operation] = []
        keys: dict[UUID, list[int]] = {}
        for key, made in self.nodes.items():
            entity = self._checked.entities[key]
            if key in used or made.known is not None or (entity.named and key in self._checked.mentions):
                keys.setdefault(made.node_id, []).append(key)
        for same in keys.values():
            evidence = self._evidence(same, used)
            if not evidence:
                continue
            made = self.nodes[same[0]]
            entities = [self._checked.entities[key] for key in same]
            for key in same:
                plan.nodes[key] = made
            operations += self._node(made, entities, evidence)
            operations += self._names(made, same, entities, evidence)
            plan.suspicions += [
                Suspicion(node=made.node_id, other=rival.node_id, score=rival.score, evidence=rival.evidence)
                for key in same
                for rival in self._resolved[key].rivals
                if rival.node_id != made.node_id
            ]
        return operations

    def _evidence(self, keys: Sequence[int], used: Collection[int]) -> list[Evidence]:
        """Where some entities are spoken of: their own words, else those of their facts."""
        found: list[tuple[Turn, Span | None]] = [
            self._checked.mentions[key] for key in keys if key in self._checked.mentions
        ]
        if not found:
            found = [
                (sound.turn, sound.span)
                for sound in self._checked.facts
                if {sound.fact.subject, sound.fact.object} & set(keys) & set(used)
            ][:1]
        places = dict.fromkeys((turn.passage_id, span) for turn, span in found)
        return [Evidence(passage_id=passage, span=span) for passage, span in places][:MOST_EVIDENCE]

    @staticmethod
    def _node(made: Made, entities: Sequence[Entity], evidence: Sequence[Evidence]) -> list[Operation]:
        proper = next((entity for entity in entities if entity.named), None)
        known = made.known
        if known is None:
            entity = proper or entities[0]
            data: dict[str, Any] = {} if proper is not None else {"named": False}
            return [Node(node=made.node_id, make=True, type=made.type, label=entity.name, data=data, evidence=evidence)]
        if not known.supported:
            return []
        same = Node(
            node=known.stored_id, type=known.type, label=known.label, description=known.description, data=known.data,
            importance=known.importance, valid_from=known.valid_from, valid_to=known.valid_to, evidence=evidence,
        )  # fmt: skip
        if proper is None or known.data.get("named") is not False or folded(proper.name) == folded(known.label):
            return [same]
        data = {name: value for name, value in known.data.items() if name != "named"}
        named = {"label": proper.name, "data": data}
        return [Correct(version=known.version_id, content=named, refines=True, evidence=evidence)]

    def _names(
        self, made: Made, keys: Sequence[int], entities: Sequence[Entity], evidence: Sequence[Evidence]
    ) -> list[Operation]:
        """Names that the node does not have yet."""
        label = next((entity.name for entity in entities if entity.named), entities[0].name)
        if made.known is not None:
            label = made.known.label if made.known.data.get("named") is not False else label
        has = {folded(label), *(folded(name) for name in (made.known.names if made.known else ()))}
        operations: list[Operation] = []
        for key, entity in zip(keys, entities, strict=True):
            learned = self._resolved[key].learned
            own = (entity.name,) if entity.named and made.known is None else ()
            for name in (*own, *entity.aliases, *learned):
                if folded(name) and folded(name) not in has:
                    has.add(folded(name))
                    operations.append(Alias(node=made.node_id, alias=name, evidence=evidence[:1]))
        return operations
