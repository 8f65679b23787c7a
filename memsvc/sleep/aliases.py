"""Sleep's task ``aliases``: proposes other names of people, and splits of nodes that lead two lives.

Names come from conversations (``memsvc.identity.called``), those from which most is recalled first. A node leads two
lives if conversations give it different values of a fact that has one value at a time (two homes), and nothing that one
group of conversations says of it is said by the other, over the same weeks. Nothing is written by itself: a person
accepts or rejects (``memsvc.sleep.proposals``).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import datetime
from hashlib import md5
from itertools import groupby
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.analysis.findings import TIMEOUT
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.identity import candidates
from memsvc.identity.called import Called, Said, names_in
from memsvc.sleep import proposals
from memsvc.sleep.proposals import Found
from memsvc.sleep.proposing import Proposing
from memsvc.sleep.recalled import ordered, sources_first
from memsvc.sleep.tasks import Offer, Page, Place, Scope
from memsvc.text.counts import counted

SOURCES = 20
"""Conversations of a page."""
MOST_MESSAGES = 2_000
"""Messages of a conversation that are read, the newest."""
MOST_PEOPLE = 200
"""A conversation that mentions more people is passed over: a first name could mean too many."""
LEAST_FACTS = 2
"""Facts of each of two lives."""
USER = "user"


class Aliases(Proposing):
    """See ``memsvc.sleep.tasks.Task``; its ``place`` is the last conversation, with those that come first."""

    name = "aliases"

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether somebody said something, or changed the graph, since the last run."""
        values = {"user_id": owner.user_id, "task": self.name}
        async with db.transaction(owner.user_id) as connection:
            changed = (await connection.execute(query("changed_since_run"), values)).scalar_one()
            return bool(changed or (await connection.execute(query("said_since_run"), values)).scalar_one())

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield names, some conversations at a time, then nodes that may be two."""
        if place is not None and "lives" in place:
            return
        first = await sources_first(db, owner, place)
        hot = set(first)
        values: dict[str, Any] = {"user_id": owner.user_id, "since": scope.since}
        async with db.transaction(owner.user_id) as connection:
            await connection.exec_driver_sql(TIMEOUT)
            rows = (await connection.execute(query("people_of_sources"), values)).all()
            own = set((await connection.execute(query("own_nodes"), {"user_id": owner.user_id})).scalars())
        people = {
            row.source_id: row.nodes
            for row in sorted(rows, key=lambda row: row.source_id)
            if len(row.nodes) <= MOST_PEOPLE and scope.from_node in {None, *row.nodes}
        }

        def position(source: UUID) -> tuple[bool, UUID]:
            return source not in hot, source

        todo = ordered(people, lambda source: source in hot)
        if place is not None:
            done = position(UUID(place["source"]))
            todo = [source for source in todo if position(source) > done]
        for start in range(0, len(todo), SOURCES):
            some = todo[start : start + SOURCES]
            async with db.transaction(owner.user_id) as connection:
                found = await _names(connection, owner, scope, {source: people[source] for source in some}, own)
            yield Page(
                place={"source": str(some[-1]), "first": [str(one) for one in first]}, examined=len(some),
                left=len(todo) - start - len(some), work=found,
            )  # fmt: skip
        yield Page(place={"lives": True}, examined=0, left=0, work=await _splits(db, owner, scope))


async def _names(
    connection: AsyncConnection,
    owner: Owner,
    scope: Scope,
    people: Mapping[UUID, Collection[UUID]],
    own: Collection[UUID],
) -> list[Found]:
    """Return the names by which people are called in some conversations, and that nobody has."""
    wanted = sorted({node for nodes in people.values() for node in nodes} | {*own})
    cards = await candidates.cards(connection, owner, wanted)
    found: list[Called] = []
    for source, nodes in people.items():
        present = {node: cards[node].names for node in {*nodes, *own} if node in cards and cards[node].names}
        values: dict[str, Any] = {
            "user_id": owner.user_id, "source_id": source, "since": scope.since, "limit": MOST_MESSAGES,
        }  # fmt: skip
        rows = (await connection.execute(query("texts_of_source"), values)).all()
        speakers = {name.casefold(): node for node, names in present.items() for name in names}
        said = [
            Said(passage_id=row.passage_id, speaker=_speaker(row, speakers, own), text=row.text)
            for row in reversed(rows)
        ]
        found += await asyncio.to_thread(names_in, said, present)
    if scope.from_node is not None:
        found = [one for one in found if one.node_id == scope.from_node]
    if not found:
        return []
    free = (
        await connection.execute(query("names_taken"), {"user_id": owner.user_id, "names": [one.name for one in found]})
    ).all()
    known = await proposals.known_keys(connection, owner, "alias")
    best: dict[tuple[UUID, UUID], Found] = {}
    for row in free:
        one = found[row.nth - 1]
        key = UUID(bytes=md5(row.form.encode(), usedforsecurity=False).digest())
        proposal = Found(
            kind="alias", key=key, node_id=one.node_id, passage_id=one.passage_id, span_from=one.span[0],
            span_to=one.span[1], score=round(one.score, 3), evidence={one.rule: float(one.times)},
            text=(cards[one.node_id].names[0], one.name),
        )  # fmt: skip
        if (one.node_id, key) not in known and proposal.score > best.get((one.node_id, key), _NOTHING).score:
            best[one.node_id, key] = proposal
    # A name that may be that of two people is nobody's.
    nodes_of: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for node, key in best:
        nodes_of[key].add(node)
    return sorted((one for one in best.values() if len(nodes_of[one.key]) == 1), key=lambda one: -one.score)


_NOTHING = Found(kind="alias", key=UUID(int=0), score=0, evidence={})


def _speaker(row: Any, speakers: Mapping[str, UUID], own: Collection[UUID]) -> UUID | None:
    if row.speaker and row.speaker.casefold() in speakers:
        return speakers[row.speaker.casefold()]
    return next(iter(own), None) if row.role == USER else None


async def _splits(db: Database, owner: Owner, scope: Scope) -> list[Found]:
    values = {"user_id": owner.user_id, "node": scope.from_node}
    async with db.transaction(owner.user_id) as connection:
        await connection.exec_driver_sql(TIMEOUT)
        rows = (await connection.execute(query("lives_of"), values)).all()
        known = await proposals.known_keys(connection, owner, "split")
    found = []
    for node, told in groupby(rows, key=lambda row: row.node_id):
        if (node, node) not in known and (split := two_lives(node, list(told))) is not None:
            found.append(split)
    labels = await proposals.labels_of(db, owner, [one.key for one in found])
    named = [
        Found(
            kind=one.kind, key=one.key, node_id=one.node_id, sources=one.sources, score=one.score,
            evidence=one.evidence, text=(labels[one.key], counted(len(one.sources), "source")),
        )
        for one in found
    ]  # fmt: skip
    return sorted(named, key=lambda one: -one.score)


def two_lives(node: UUID, told: Sequence[Any]) -> Found | None:
    """Return a proposal to split a node, if what is told of it falls into two lives.

    Args:
        node: the node.
        told: rows of ``memsvc.lives_of`` about it: source_id, type, single, other_id, first_at, last_at.
    """
    lives = _groups(told)
    if len(lives) < 2:  # noqa: PLR2004 - two lives
        return None
    one, other = sorted(lives, key=lambda life: -len(life))[:2]
    if min(len(one), len(other)) < LEAST_FACTS or not _overlap(one, other):
        return None
    against = {row.type for row in one if row.single} & {row.type for row in other if row.single}
    if not against:
        return None
    return Found(
        kind="split", key=node, node_id=node, sources=sorted({row.source_id for row in other}),
        score=1 - 0.5 ** len(against) / min(len(one), len(other)),
        evidence={"contradictions": float(len(against)), "facts": float(len(other))},
    )  # fmt: skip


def _groups(told: Sequence[Any]) -> list[list[Any]]:
    """Put sources together that say the same of a node, or speak of the same others; return what each group says."""
    group: dict[UUID, set[UUID]] = {row.source_id: {row.source_id} for row in told}
    by_other: dict[UUID, UUID] = {}
    for row in told:
        mine, theirs = group[row.source_id], group[by_other.setdefault(row.other_id, row.source_id)]
        if mine is not theirs:
            mine |= theirs
            for source in mine:
                group[source] = mine
    distinct = {id(sources): sources for sources in group.values()}
    return [[row for row in told if row.source_id in sources] for sources in distinct.values()]


def _overlap(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two lives are told over the same time: else somebody may just have moved."""
    begun: datetime = max(min(row.first_at for row in life) for life in (one, other))
    ended: datetime = min(max(row.last_at for row in life) for life in (one, other))
    return begun < ended


OFFER = Offer(
    make=lambda _means: Aliases(),
    help="proposes other names of people, and splits of nodes that are two",
    order=800,
    stays={},
)
