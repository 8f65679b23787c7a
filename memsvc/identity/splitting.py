"""Splits a node that mixes two people or things, by the sources that mention it.

If nodes were merged into it, those that only the given sources mention leave together; the others stay together, and
are merged again if a merge that held them led through a leaving node. Otherwise a new node is made, and facts and names
that only these sources support move to it: they are taken back on the old node and asserted on the new one, with the
same times and evidence, in one change of the history that can be undone. What other sources support too stays with
both. The two nodes are never proposed as duplicates again.
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
    """The result of a split."""

    node_id: UUID
    """The node that stays, with what other sources say."""
    other_id: UUID
    """The node that the given sources mention."""
    unmerged: bool
    """True: the two were merged, and the merge was undone; False: a new node was made."""
    change_id: UUID
    """The change that split them; undoing it makes them one again."""
    facts: int
    """How many facts moved; 0 if a merge was undone, because each node then has its own."""
    names: int


class _Known(msgspec.Struct, frozen=True):
    """All that is known of a node and the nodes merged into it, with the evidence of each item."""

    nodes: Sequence[UUID]
    """Stored nodes, the canonical one first."""
    states: Sequence[Any]
    names: Sequence[Any]
    facts: Sequence[Any]
    evidence: dict[UUID, list[Any]]
    """By version; evidence of the nodes themselves by node."""
    source_of: dict[UUID, UUID]

    def sources(self, subject: UUID) -> set[UUID]:
        """Return the sources that support a version or a node."""
        return {self.source_of[row.passage_id] for row in self.evidence[subject]}

    @property
    def spoken(self) -> dict[UUID, set[UUID]]:
        """Return the sources that mention each stored node, by itself, its names or its facts."""
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
        """Return the evidence of a version or a node from some sources."""
        return [_evidence(row) for row in self.evidence[subject] if self.source_of[row.passage_id] in sources]


async def split(db: Database, owner: Owner, node: UUID, sources: Collection[UUID], *, by: str = "user") -> Split:
    """Split a node by its sources.

    Args:
        db: the database.
        owner: the user whose memory it is.
        node: the node, or one that is merged with it.
        sources: conversations and files that mention the other person or thing.
        by: who decides.

    Raises:
        NodeUnknownError: there is no such node.
        NothingToSplitError: none of these sources mentions it, or no other source does.
        BatchTooLargeError: more than about 500 facts and names would move.
    """

    async def work(connection: AsyncConnection) -> Split:
        return await split_in(connection, owner, node, sources, by=by)

    return await db.attempt(owner.user_id, work)


async def split_in(
    connection: AsyncConnection, owner: Owner, node: UUID, sources: Collection[UUID], *, by: str = "user"
) -> Split:
    """Do ``split`` in the caller's transaction."""
    actor, wanted = valid_name(by, "by"), frozenset(sources)
    # No other writer may add evidence while the node is being read.
    await connection.execute(query("write_facts_alone"), {"user_id": owner.user_id})
    known = await _read(connection, owner, node)
    leaving = _leaving(known, wanted)
    if leaving:
        return await _part(connection, owner, known, leaving, actor)
    other, operations, facts, names = _moves(known, wanted)
    change = await write_in(connection, owner, operations, asserted_by=actor)
    await decide(connection, owner, (known.nodes[0], other), "split", by=actor)
    return _made(known.nodes[0], other, change, facts, names)


def _made(node: UUID, other: UUID, change: Change, facts: int, names: int) -> Split:
    return Split(node_id=node, other_id=other, unmerged=False, change_id=change.change_id, facts=facts, names=names)


async def _read(connection: AsyncConnection, owner: Owner, node: UUID) -> _Known:
    """Read all that is known now of a node, at any valid time."""
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
    """Return nodes that only the given sources mention; the canonical one only if one has no such source."""
    mentioned = {node: sources for node, sources in known.spoken.items() if sources}
    leaving = {node for node, sources in mentioned.items() if sources <= wanted}
    return leaving if any(not sources & wanted for sources in mentioned.values()) else leaving - {known.nodes[0]}


async def _part(connection: AsyncConnection, owner: Owner, known: _Known, leaving: set[UUID], actor: str) -> Split:
    """Undo the merges between nodes that leave and nodes that stay; each side becomes one node."""
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
    """Return the new node, the operations that make it, and how many facts and names it gets."""
    other = new_id()
    facts = [fact for fact in known.facts if known.sources(fact.version_id) & wanted]
    names = [name for name in known.names if known.sources(name.alias_id) & wanted]
    seen = [piece for node in known.nodes for piece in known.cited(node, wanted)]
    seen += [piece for state in known.states for piece in known.cited(state.version_id, wanted)]
    if not facts and not names and not seen:
        raise NothingToSplitError("These sources say nothing about it.")
    if _all_sources(known) <= wanted:
        raise NothingToSplitError("Everything that is known about it comes from these sources.")
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
