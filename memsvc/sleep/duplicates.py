"""Sleep's task ``duplicates``: who and what stands in the graph twice.

All nodes with a proper name get blocking keys (``memsvc.sleep.blocking``), pairs that share rare ones are judged by
their cards (``memsvc.identity.judging``). Whom the judge calls the same become one, by a merge that can be undone; of
whom it is unsure goes to the review of pairs, and so do pairs whose merge was taken back. A pair that a person rejected
never comes back. Nobody becomes another
through a third: everybody who would be one must be judged so, pair by pair, and none of them different.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.graph.history import write_in
from memsvc.graph.operations import MAX_OPERATIONS, Merge
from memsvc.identity import candidates
from memsvc.identity.cards import Card, Verdict
from memsvc.identity.judging import judge, judge_many
from memsvc.sleep.blocking import Blocks, keys_of
from memsvc.sleep.tasks import Applied, Page, Place, Proposal, Scope

READ, COMPARED = 5_000, MAX_OPERATIONS
"""Nodes that one statement reads; pairs of a page, all of which may become merges of one change."""
MOST_TOGETHER = 20
"""More nodes than this never become one in one page: it would be a judge that calls everything the same."""
Pair = tuple[UUID, UUID]


class Duplicates:
    """See ``memsvc.sleep.tasks.Task``; its place is the last pair that was compared."""

    name = "duplicates"

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Pairs worth comparing, in the order of their ids, judged."""
        found, frequencies = await _candidates(db, owner, scope)
        behind = (UUID(place["node"]), UUID(place["other"])) if place else None
        todo = found if behind is None else [pair for pair in found if pair > behind]
        pairs = iter(todo)
        while page := list(islice(pairs, COMPARED)):
            nodes = sorted({node for pair in page for node in pair})
            async with db.transaction(owner.user_id) as connection:
                cards = await candidates.cards(connection, owner, nodes)
                refused = await candidates.refused(connection, owner, page)
                parted = await _parted(connection, owner, nodes)
            judged = [pair for pair in page if pair[0] in cards and pair[1] in cards and pair not in refused]
            proposals = await asyncio.to_thread(_propose, judged, cards, frequencies, refused | parted)
            last = page[-1]
            yield Page(
                place={"node": str(last[0]), "other": str(last[1])},
                examined=len(page),
                total=len(todo),
                proposals=proposals,
            )

    async def apply(self, connection: AsyncConnection, owner: Owner, proposals: Sequence[Proposal]) -> Applied:
        """Merge the same, note the unsure; whoever was merged meanwhile is left for the next run."""
        merges = await _still_apart(connection, owner, [item for item in proposals if item.action == "merge"])
        if merges:
            operations = [
                Merge(node=node, canonical=into, confidence=max(item.score, 1e-6), reason=_reason(item.evidence))
                for item in merges
                for node, into in [item.nodes]
            ]
            await write_in(connection, owner, operations, asserted_by=f"sleep:{self.name}")
            await _settle(connection, owner, merges, by=f"sleep:{self.name}")
        unsure = [
            candidates.Suspicion(node=item.nodes[0], other=item.nodes[1], score=item.score, evidence=item.evidence)
            for item in proposals
            if item.action == "review"
        ]
        noted = await candidates.note(connection, owner, unsure, found_by=f"sleep:{self.name}")
        return Applied(applied=len(merges), proposed=noted)


async def _parted(connection: AsyncConnection, owner: Owner, nodes: Sequence[UUID]) -> set[Pair]:
    """Pairs among nodes that had been merged and are apart again: only a person makes them one again."""
    rows = await connection.execute(query("parted_pairs"), {"user_id": owner.user_id, "nodes": nodes})
    return {(row.node_id, row.other_id) for row in rows}


async def _still_apart(connection: AsyncConnection, owner: Owner, merges: Sequence[Proposal]) -> list[Proposal]:
    """Merges of nodes that still stand for themselves."""
    if not merges:
        return []
    nodes = list({node for item in merges for node in item.nodes})
    rows = await connection.execute(query("standing_nodes"), {"user_id": owner.user_id, "nodes": nodes})
    standing = {row.node_id for row in rows if row.node_id == row.canonical_id}
    return [item for item in merges if standing.issuperset(item.nodes)]


async def _settle(connection: AsyncConnection, owner: Owner, merges: Sequence[Proposal], *, by: str) -> None:
    """Pairs that waited for a person, and are one node now, wait no more."""
    groups: dict[UUID, list[UUID]] = {}
    for item in merges:
        node, into = item.nodes
        groups.setdefault(into, [into]).append(node)
    pairs = [pair for group in groups.values() for pair in combinations(sorted(group), 2)]
    nodes, others = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    values = {"user_id": owner.user_id, "nodes": nodes, "others": others, "decided_by": by}
    await connection.execute(query("settle_pairs"), values)


def _reason(evidence: Mapping[str, float]) -> str:
    """The evidence as people read it: "name +9.1, phone +6.0"."""
    return ", ".join(f"{name} {bits:+.1f}" for name, bits in sorted(evidence.items(), key=lambda item: -abs(item[1])))


async def _candidates(db: Database, owner: Owner, scope: Scope) -> tuple[list[Pair], dict[str, float]]:
    """Pairs worth comparing, in their order; and the share of nodes whose names have each word."""
    blocks, nodes, wanted, words = Blocks(), [], [], Counter[str]()
    after: UUID | None = None
    while True:
        values = {"user_id": owner.user_id, "after": after, "since": scope.since, "limit": READ}
        async with db.transaction(owner.user_id) as connection:
            rows = (await connection.execute(query("named_nodes"), values)).all()
        if not rows:
            break
        after = rows[-1].node_id
        named = [row for row in rows if row.names]
        await asyncio.to_thread(_add_keys, blocks, words, named)
        nodes += [row.node_id for row in named]
        wanted += [row.touched and scope.from_node in {None, row.node_id} for row in named]
    frequencies = {word: count / len(nodes) for word, count in words.items() if count > 1}
    if not any(wanted):
        return [], frequencies
    all_of_them = all(wanted)
    places = await asyncio.to_thread(lambda: list(blocks.pairs(None if all_of_them else wanted)))
    return [(nodes[low], nodes[high]) for low, high in places], frequencies


def _add_keys(blocks: Blocks, words: Counter[str], rows: Sequence[Any]) -> None:
    """Add nodes to the blocks, and their words to those that are counted."""
    for row in rows:
        blocks.add(keys_of(row.names, _attributes(row.attributes)))
        words.update({word for name in row.names for word in name.split()})


def _attributes(data: Mapping[str, object]) -> dict[str, str]:
    return {
        name: str(value).casefold().strip()
        for name, value in data.items()
        if isinstance(value, (str, int, float)) and name not in candidates.NOT_ATTRIBUTES
    }


def _propose(
    pairs: Sequence[Pair], cards: Mapping[UUID, Card], frequencies: Mapping[str, float], apart: set[Pair]
) -> list[Proposal]:
    """What is to be done with some pairs: merges first, each into the node that stands for its group.

    None of ``apart`` are made one; those of them that are among the pairs go to review.
    """
    verdicts = judge_many([(cards[one], cards[other]) for one, other in pairs], frequencies)
    judged = dict(zip(pairs, verdicts, strict=True))
    same = sorted((pair for pair in pairs if judged[pair].decision == "same"), key=lambda pair: -judged[pair].score)
    groups = _Groups(cards, frequencies, judged, apart)
    for one, other in same:
        groups.join(one, other)
    doubtful = [pair for pair in pairs if judged[pair].decision != "different" and not groups.together(*pair)]
    return [*groups.merges(), *(_proposal("review", pair, cards, judged[pair]) for pair in doubtful)]


def _proposal(action: str, pair: Pair, cards: Mapping[UUID, Card], verdict: Verdict) -> Proposal:
    one, other = (next(iter(cards[node].names), "?") for node in pair)
    return Proposal(
        action="merge" if action == "merge" else "review",
        nodes=pair,
        labels=(one, other),
        score=verdict.score,
        evidence=dict(verdict.evidence),
    )


class _Groups:
    """Who becomes one with whom within a page."""

    def __init__(
        self,
        cards: Mapping[UUID, Card],
        frequencies: Mapping[str, float],
        judged: Mapping[Pair, Verdict],
        apart: set[Pair],
    ) -> None:
        self._cards, self._frequencies, self._judged, self._apart = cards, frequencies, dict(judged), apart
        self._group: dict[UUID, set[UUID]] = {}

    def together(self, one: UUID, other: UUID) -> bool:
        """Whether two are one now."""
        return other in self._group.get(one, ())

    def join(self, one: UUID, other: UUID) -> None:
        """Make the groups of two one, unless some pair of them is different, or is to stay apart."""
        mine, theirs = self._group.get(one, {one}), self._group.get(other, {other})
        if mine is theirs or len(mine) + len(theirs) > MOST_TOGETHER:
            return
        for pair in product(mine, theirs):
            low, high = min(pair), max(pair)
            if (low, high) in self._apart or self._verdict(low, high).decision == "different":
                return
        mine |= theirs
        for node in mine:
            self._group[node] = mine

    def _verdict(self, low: UUID, high: UUID) -> Verdict:
        if (low, high) not in self._judged:
            self._judged[low, high] = judge(self._cards[low], self._cards[high], self._frequencies)
        return self._judged[low, high]

    def merges(self) -> Iterator[Proposal]:
        """A merge for each node but the one that stands for its group: whoever has most facts, then the oldest."""
        for group in {id(group): group for group in self._group.values()}.values():
            standing = min(group, key=lambda node: (-len(self._cards[node].facts), node))
            for node in sorted(group - {standing}):
                verdict = self._verdict(min(node, standing), max(node, standing))
                yield _proposal("merge", (node, standing), self._cards, verdict)


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a dry run shows of a pair."""

    action: str
    labels: tuple[str, str]
    score: float
    reason: str


def preview(proposal: Proposal) -> Preview:
    """A proposal for people."""
    return Preview(
        action=proposal.action, labels=proposal.labels, score=proposal.score, reason=_reason(proposal.evidence)
    )
