"""One node that is two: parted by the sources that speak of it.

Where it had been merged, those nodes that only these sources speak of leave, together; the others stay together, merged
anew where a merge that held them led through one that leaves. Else a new node is made, and
facts and names that only these sources support go over to it: taken back there and asserted here, with the same times
and evidence, in one change of the history, which can be undone. What other sources support too stays with both. The two
are never proposed as duplicates again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_name
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import NodeUnknownError, NothingToSplitError
from memsvc.graph.history import Change, write_in
from memsvc.graph.operations import (
    MAX_EVIDENCE,
    Alias,
    Edge,
    Evidence,
    Merge,
    Node,
    Operation,
    Retract,
    Thread,
    Unmerge,
    new_id,
)
from memsvc.identity.review import decide


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a node."""

    node_id: UUID
    """It, with what other sources say."""
    other_id: UUID
    """Whom the named sources speak of."""
    unmerged: bool
    """True: the two had been merged and are themselves again; False: a new node was made."""
    change_id: UUID
    """The change of the history that did it; undoing it makes them one again."""
    facts: int
    """How many facts went over; 0 where a merge was undone, for then each has its own."""
    names: int


class _Known(msgspec.Struct, frozen=True):
    """What is known of a node and all that are the same, with the evidence of each piece."""

    nodes: Sequence[UUID]
    """As they are stored; the one that stands for them first."""
    states: Sequence[Any]
    names: Sequence[Any]
    facts: Sequence[Any]
    evidence: dict[UUID, list[Any]]
    """By version, and for nodes as such by node."""
    source_of: dict[UUID, UUID]

    def sources(self, subject: UUID) -> set[UUID]:
        """Sources that speak for a version or a node."""
        return {self.source_of[row.passage_id] for row in self.evidence[subject]}

    @property
    def spoken(self) -> dict[UUID, set[UUID]]:
        """Sources that speak of each stored node, by itself, its names or its facts."""
        found = {node: self.sources(node) for node in self.nodes}
        for state in self.states:
            found[state.node_id] |= self.sources(state.version_id)
        for name in self.names:
            found[name.node_id] |= self.sources(name.alias_id)
        for fact in self.facts:
            for end in {fact.stored_from, fact.stored_to} & found.keys():
                found[end] |= self.sources(fact.version_id)
        return found

    def cited(self, subject: UUID, sources: Collection[UUID]) -> list[Evidence]:
        """Evidence of a version or a node from some sources."""
        return [_evidence(row) for row in self.evidence[subject] if self.source_of[row.passage_id] in sources]


async def split(db: Database, owner: Owner, node: UUID, sources: Collection[UUID], *, by: str = "user") -> Split:
    """Part a node by its sources.

    Args:
        db: the database.
        owner: whose memory.
        node: it, or one that is merged with it.
        sources: conversations and files that speak of the other one.
        by: who decides so.

    Raises:
        NodeUnknownError: there is no such node.
        NothingToSplitError: these sources say nothing of it, or nobody else does.
        BatchTooLargeError: more than some 500 facts and names would go over.
    """
    actor, wanted = valid_name(by, "by"), frozenset(sources)

    async def work(connection: AsyncConnection) -> Split:
        await connection.execute(query("write_facts_alone"), {"user_id": owner.user_id})  # or evidence comes meanwhile
        known = await _read(connection, owner, node)
        leaving = _leaving(known, wanted)
        if leaving:
            return await _part(connection, owner, known, leaving, actor)
        other, operations, facts, names = _moves(known, wanted)
        change = await write_in(connection, owner, operations, asserted_by=actor)
        await decide(connection, owner, (known.nodes[0], other), "split", by=actor)
        return _made(known.nodes[0], other, change, facts, names)

    return await db.attempt(owner.user_id, work)


def _made(node: UUID, other: UUID, change: Change, facts: int, names: int) -> Split:
    return Split(node_id=node, other_id=other, unmerged=False, change_id=change.change_id, facts=facts, names=names)


async def _read(connection: AsyncConnection, owner: Owner, node: UUID) -> _Known:
    """All that is known now of a node, of any valid time."""
    user = {"user_id": owner.user_id}
    times = {"as_of": None, "known_at": None}
    same = (await connection.execute(query("same_nodes"), {**user, "nodes": [node]})).all()
    stored = sorted((row.node_id for row in same), key=lambda one: (one != same[0].canonical_id, one))
    states = (await connection.execute(query("node_states"), {**user, "nodes": [node], **times})).all()
    if not states:
        raise NodeUnknownError(f"There is no node {node}.")
    names = (await connection.execute(query("node_names"), {**user, "nodes": [node], **times})).all()
    facts = (
        await connection.execute(query("facts"), {**user, "nodes": [node], **times, "types": None, "side": "both"})
    ).all()
    evidence: defaultdict[UUID, list[Any]] = defaultdict(list)
    for kind, versions in (
        ("node", [row.version_id for row in states]),
        ("alias", [row.alias_id for row in names]),
        ("edge", [row.version_id for row in facts]),
    ):
        parameters = {**user, "kind": kind, "versions": versions, "known_at": None}
        for row in await connection.execute(query("evidence"), parameters):
            if row.stance == "supports":
                evidence[row.version_id].append(row)
    for row in await connection.execute(query("node_evidence"), {**user, "nodes": stored}):
        evidence[row.node_id].append(row)
    passages = list({row.passage_id for found in evidence.values() for row in found})
    rows = await connection.execute(query("passage_sources"), {**user, "passages": passages})
    return _Known(stored, states, names, facts, evidence, {row.passage_id: row.source_id for row in rows})


def _leaving(known: _Known, wanted: frozenset[UUID]) -> set[UUID]:
    """Nodes that only the wanted sources speak of; the standing one only where nobody there speaks of another one."""
    told = {node: sources for node, sources in known.spoken.items() if sources}
    leaving = {node for node, sources in told.items() if sources <= wanted}
    return leaving if any(not sources & wanted for sources in told.values()) else leaving - {known.nodes[0]}


async def _part(connection: AsyncConnection, owner: Owner, known: _Known, leaving: set[UUID], actor: str) -> Split:
    """Undo the merges between those that leave and those that stay; each side is one node."""
    user = {"user_id": owner.user_id, "known_at": None}
    merges = (await connection.execute(query("merges_among"), {**user, "nodes": known.nodes})).all()
    broken = {row.node_id: row for row in merges if (row.node_id in leaving) != (row.canonical_id in leaving)}
    cited: defaultdict[UUID, list[Evidence]] = defaultdict(list)
    asked = {**user, "kind": "merge", "versions": [row.merge_id for row in broken.values()]}
    for row in await connection.execute(query("evidence"), asked):
        if row.stance == "supports":
            cited[row.version_id].append(_evidence(row))
    below = {row.node_id for row in merges} - broken.keys()
    tops = [node for node in known.nodes if node not in below]
    operations: list[Operation] = [Unmerge(node=node) for node in broken]
    sides = [[node for node in tops if node not in leaving], [node for node in tops if node in leaving]]
    for first, *others in sides:
        for node in others:
            held = broken[node]
            operations.append(
                Merge(
                    node=node, canonical=first, reason=held.reason, confidence=held.confidence,
                    evidence=_few(cited[held.merge_id]),
                )
            )  # fmt: skip
    change = await write_in(connection, owner, operations, asserted_by=actor)
    for one in known.nodes:
        for other in leaving if one not in leaving else ():
            await decide(connection, owner, (one, other), "split", by=actor)
    stays, goes = (side[0] for side in sides)
    return Split(node_id=stays, other_id=goes, unmerged=True, change_id=change.change_id, facts=0, names=0)


def _moves(known: _Known, wanted: frozenset[UUID]) -> tuple[UUID, list[Operation], int, int]:
    """The new node, what makes it, and how many facts and names it gets."""
    other = new_id()
    facts = [fact for fact in known.facts if known.sources(fact.version_id) & wanted]
    names = [name for name in known.names if known.sources(name.alias_id) & wanted]
    seen = [piece for node in known.nodes for piece in known.cited(node, wanted)]
    seen += [piece for state in known.states for piece in known.cited(state.version_id, wanted)]
    if not facts and not names and not seen:
        raise NothingToSplitError("These sources say nothing of it.")
    if _all_sources(known) <= wanted:
        raise NothingToSplitError("All that is known of it comes from these sources.")
    state = known.states[0]
    own = next((name.alias for name in names if known.sources(name.alias_id) <= wanted), state.label)
    made = Node(
        type=state.type, label=own, node=other, make=True, data=state.data, importance=state.importance,
        evidence=_few(seen or [piece for fact in facts for piece in known.cited(fact.version_id, wanted)]),
    )  # fmt: skip
    taken: list[Operation] = []
    asserted: list[Operation] = []
    for fact in facts:
        if known.sources(fact.version_id) <= wanted:
            taken.append(Retract(thread=Thread(edge=fact.edge_id), valid_from=fact.valid_from, valid_to=fact.valid_to))
        ends = {"from_node": fact.stored_from, "to_node": fact.stored_to}
        ends = {end: other if node in known.nodes else node for end, node in ends.items()}
        asserted.append(
            Edge(
                **ends, type=fact.type, fact=fact.fact, key=fact.key, data=fact.data, weight=fact.weight,
                confidence=fact.confidence, valid_from=fact.valid_from, valid_to=fact.valid_to,
                evidence=_few(known.cited(fact.version_id, wanted)),
            )
        )  # fmt: skip
    for name in names:
        if known.sources(name.alias_id) <= wanted:
            thread = Thread(node=name.node_id, alias=name.alias)
            taken.append(Retract(thread=thread, valid_from=name.valid_from, valid_to=name.valid_to))
        asserted.append(
            Alias(
                node=other, alias=name.alias, confidence=name.confidence, valid_from=name.valid_from,
                valid_to=name.valid_to, evidence=_few(known.cited(name.alias_id, wanted)),
            )
        )  # fmt: skip
    return other, [made, *taken, *asserted], len(facts), len(names)


def _all_sources(known: _Known) -> set[UUID]:
    return {known.source_of[row.passage_id] for found in known.evidence.values() for row in found}


def _evidence(row: Any) -> Evidence:
    span = (row.span_from, row.span_to) if row.span_from is not None else None
    return Evidence(passage_id=row.passage_id, span=span, confidence=row.confidence)


def _few(evidence: Iterable[Evidence]) -> list[Evidence]:
    return list(dict.fromkeys(evidence))[:MAX_EVIDENCE]
