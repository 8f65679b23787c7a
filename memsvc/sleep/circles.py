"""Circles of the task ``concepts``: people and things that facts join more than by chance, each told in a few lines.

Communities by Leiden (``memsvc.analysis.leiden``) over the graph without the user's own node, which is joined to nearly
all. The circles that are stored stay as long as new communities are not clearly better, so news move few nodes. A
circle's text is the strongest facts among its members, in their own words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.analysis.leiden import leiden, modularity
from memsvc.analysis.network import Network, load
from memsvc.analysis.stopping import Check, in_thread
from memsvc.concepts.stored import Child, Known, Wanted
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.summaries.abstractive import Writer
from memsvc.summaries.extractive import Line, Quoted
from memsvc.summaries.words import words_of

LEAST_MEMBERS, MOST_MEMBERS = 4, 40
"""Nodes of a circle; the strongest of a larger one are its members."""
CLEARLY, ROUNDS = 0.05, 3
"""How much more modularity new communities must have than the stored circles to take their place; how often nodes that
are in no circle look for theirs."""
MOST_CIRCLES = 200
"""Those that are stored, then the largest."""
TOLD_WORDS, TOLD_FACTS, SHOWN_FACTS = 70, 8, 24
"""Of a circle's text; facts that a model is shown."""
NAMED, IN_LABEL = 12, 3
"""Members that the text and the label name."""
KEY = "circle "


class Circle(NamedTuple):
    """A community, found again or new."""

    key: str
    members: Sequence[UUID]
    """Those that are stored first, then the strongest."""


class _Fact(NamedTuple):
    ends: tuple[UUID, UUID]
    text: str
    passage_id: UUID | None
    at: datetime


async def find_circles(db: Database, owner: Owner, known: Mapping[str, Known]) -> list[Circle]:
    """Return the communities of a user's graph; those that are stored keep their key, and come first."""
    async with db.transaction(owner.user_id) as connection:
        own = set((await connection.execute(query("own_nodes"), {"user_id": owner.user_id})).scalars())
    network, nodes, _ = await load(db, owner, own)
    stored = {
        key: {node for node, tie in one.edges.items() if tie.stands}
        for key, one in known.items()
        if one.stands and key.startswith(KEY)
    }
    return await in_thread(lambda check: circles(network, nodes, stored, check))


def circles(network: Network, nodes: Sequence[UUID], stored: Mapping[str, set[UUID]], check: Check) -> list[Circle]:
    """Return the communities of a graph, stored ones first, then the largest.

    Args:
        network: the graph.
        nodes: the ids of its nodes.
        stored: members of the circles that there are, by key.
        check: as in ``leiden``.
    """
    groups: dict[int, list[UUID]] = defaultdict(list)
    by_strength = sorted(range(network.size), key=lambda one: (-network.strength[one], nodes[one]))
    of_node = leiden(network, check=check)
    if stored:
        kept = _kept(network, nodes, stored, by_strength, of_node)
        if modularity(network, of_node) - modularity(network, kept) < CLEARLY:
            of_node = kept
    for number in by_strength:
        groups[of_node[number]].append(nodes[number])
    members = sorted(
        (group for group in groups.values() if len(group) >= LEAST_MEMBERS), key=lambda some: (-len(some), some[0])
    )
    keys = _keys(members, stored)
    ranked = sorted(zip(keys, members, strict=True), key=lambda one: one[0] not in stored)
    return [
        Circle(key, sorted(some, key=lambda node: node not in stored.get(key, ()))[:MOST_MEMBERS])
        for key, some in ranked[:MOST_CIRCLES]
    ]


def _kept(
    network: Network, nodes: Sequence[UUID], stored: Mapping[str, set[UUID]], by_strength: Sequence[int],
    fresh: Sequence[int],
) -> list[int]:  # fmt: skip
    """The stored circles, each with the nodes that are joined to it most; the rest as the new communities have it."""
    index = {node: number for number, node in enumerate(nodes)}
    home = [-1] * network.size
    for place, key in enumerate(sorted(stored)):
        for node in stored[key]:
            if node in index:
                home[index[node]] = place
    free = [number for number in by_strength if home[number] < 0]
    for _ in range(ROUNDS):
        for number in free:
            weights: dict[int, float] = defaultdict(float)
            for end, weight in network.around(number):
                if home[end] >= 0 and end != number:
                    weights[home[end]] += weight
            if weights:
                home[number] = max(weights, key=lambda place: (weights[place], -place))
    numbers: dict[int, int] = {}
    return [
        place if place >= 0 else numbers.setdefault(fresh[number], len(stored) + len(numbers))
        for number, place in enumerate(home)
    ]


def _keys(members: Sequence[Sequence[UUID]], stored: Mapping[str, set[UUID]]) -> list[str]:
    """The key of each community: that of the stored circle that shares most members, else a new one."""
    home = {node: key for key, some in stored.items() for node in some}
    shared = [
        (count, -place, key)
        for place, some in enumerate(members)
        for key, count in Counter(home[node] for node in some if node in home).items()
        if 2 * count > min(len(some), len(stored[key]))
    ]
    found: dict[int, str] = {}
    for _, place, key in sorted(shared, reverse=True):
        if -place not in found and key not in found.values():
            found[-place] = key
    taken = {*found.values(), *stored}
    for place, some in enumerate(members):
        if place not in found:
            free = (f"{KEY}{node}" for node in some)
            found[place] = next((key for key in free if key not in taken), f"{KEY}{some[0]} again")
            taken.add(found[place])
    return [found[place] for place in range(len(members))]


async def told(db: Database, owner: Owner, some: Sequence[Circle], writer: Writer) -> list[Wanted]:
    """Return circles with their texts: by the model where the writer has one, else the facts themselves."""
    place = {node: number for number, circle in enumerate(some) for node in circle.members}
    values = {"user_id": owner.user_id, "nodes": list(place)}
    facts: list[list[_Fact]] = [[] for _ in some]
    async with db.transaction(owner.user_id) as connection:
        labels = {row.node_id: row.label for row in await connection.execute(query("concept_labels"), values)}
        for row in await connection.execute(query("concept_facts"), values):
            if place[row.from_node] == place[row.to_node]:
                at = row.said_at or row.recorded_from
                facts[place[row.from_node]].append(
                    _Fact((row.from_node, row.to_node), row.fact, row.passage_id, at)
                )  # fmt: skip
    return [await _told(circle, labels, among, writer) for circle, among in zip(some, facts, strict=True)]


async def _told(circle: Circle, labels: Mapping[UUID, str], facts: Sequence[_Fact], writer: Writer) -> Wanted:
    members = [node for node in circle.members if node in labels]
    first: dict[UUID, UUID] = {}
    for fact in facts:
        for end in fact.ends:
            if fact.passage_id is not None:
                first.setdefault(end, fact.passage_id)
    chosen = _chosen(facts)
    lines, by = [fact.text for fact in chosen], ""
    quoted = [fact.passage_id for fact in chosen]
    if writer.writes and chosen:
        shown = [line for fact in facts[:SHOWN_FACTS] if (line := _line(fact)) is not None]
        written, by = await writer.told(shown, [], TOLD_WORDS) if shown else ([], "")
        if by:
            lines = [line.text for line in written]
            quoted = [one.passage_id for line in written for one in line.quoted]
    named = members[:NAMED]
    quoted += [first.get(node) for node in named]
    more = f" and {len(members) - len(named)} more" if len(members) > len(named) else ""
    return Wanted(
        sort="circle", key=circle.key, label=listed([labels[node] for node in members[:IN_LABEL]]),
        text="\n".join([f"{', '.join(labels[node] for node in named)}{more}", *lines]),
        children=[
            Child(node_id=node, name=labels[node], passages=[first[node]] if node in first else []) for node in members
        ],
        quoted=[one for one in quoted if one is not None], by=by,
    )  # fmt: skip


def _line(fact: _Fact) -> Line | None:
    if fact.passage_id is None:
        return None
    return Line(
        text=fact.text, quoted=(Quoted(passage_id=fact.passage_id, begin=0, end=1),), at=fact.at, worth=1.0
    )  # fmt: skip


def _chosen(facts: Sequence[_Fact]) -> list[_Fact]:
    """The strongest facts, each of which tells of somebody new."""
    chosen, seen, words = list[_Fact](), set[UUID](), 0
    for fact in facts:
        size = len(words_of(fact.text))
        if len(chosen) < TOLD_FACTS and words + size <= TOLD_WORDS and not seen.issuperset(fact.ends):
            chosen.append(fact)
            seen.update(fact.ends)
            words += size
    return chosen


def listed(names: Sequence[str]) -> str:
    """Return names as a phrase: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
