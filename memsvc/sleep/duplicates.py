"""Sleep's task ``duplicates``: finds nodes that are the same person or thing.

All nodes with a proper name get blocking keys (``memsvc.sleep.blocking``). Pairs that share rare keys are judged by
their cards (``memsvc.identity.judging``). Pairs that the judge calls the same are merged, by a merge that can be
undone. Unsure pairs go to review, and so do pairs whose merge was undone. A pair that a person rejected never comes
back. Nodes are not merged through a third one alone: every pair of a group must be judged the same, and none different.
After these pairs come those that are described alike (``memsvc.sleep.described``).
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
from memsvc.sleep.described import cards_left, described_alike, keep_mark
from memsvc.sleep.recalled import nodes_first
from memsvc.sleep.tasks import Applied, Offer, Page, Place, Proposal, Scope

READ, COMPARED = 5_000, MAX_OPERATIONS
"""Nodes that one statement reads, and pairs of a page, all of which may become merges of one change."""
MOST_TOGETHER = 20
"""Most nodes that become one in one page: a larger group would mean that the judge calls everything the same."""
Pair = tuple[UUID, UUID]


class Duplicates:
    """See ``memsvc.sleep.tasks.Task``; its ``place`` is the last pair that was compared, or the last card."""

    name = "duplicates"
    gives_way = False

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether the graph was changed since the last run, by others than sleep, or cards were not compared.

        What tasks of sleep wrote is compared, too, as soon as something else has changed.
        """
        async with db.transaction(owner.user_id) as connection:
            values = {"user_id": owner.user_id, "task": self.name}
            changed = bool((await connection.execute(query("changed_since_run"), values)).scalar_one())
        return changed or await cards_left(db, owner, Scope(nightly=True)) > 0

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield pages of pairs worth comparing, judged; then those described alike.

        Pairs with a node about which much is recalled come first; within both parts they come by their ids.
        """
        proposed: set[Pair] = set()
        cards = place if place is not None and "card" in place else None
        if cards is None:
            later = await cards_left(db, owner, scope)
            async for page in self._named_alike(db, owner, scope, place):
                proposed |= {(min(item.nodes), max(item.nodes)) for item in page.proposals}
                yield msgspec.structs.replace(page, left=page.left + later)
        async for page in described_alike(db, owner, scope, cards, proposed):
            yield page

    async def _named_alike(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        found, frequencies = await _candidates(db, owner, scope)
        first = await nodes_first(db, owner, place)
        hot = set(first)

        def position(pair: Pair) -> tuple[bool, Pair]:
            return pair[0] not in hot and pair[1] not in hot, pair

        found.sort(key=position)
        last_done = position((UUID(place["node"]), UUID(place["other"]))) if place else None
        todo = found if last_done is None else [pair for pair in found if position(pair) > last_done]
        pairs, left = iter(todo), len(todo)
        while page := list(islice(pairs, COMPARED)):
            nodes = sorted({node for pair in page for node in pair})
            async with db.transaction(owner.user_id) as connection:
                cards = await candidates.cards(connection, owner, nodes)
                refused = await candidates.refused(connection, owner, page)
                parted = await _parted(connection, owner, nodes)
            judged = [pair for pair in page if pair[0] in cards and pair[1] in cards and pair not in refused]
            proposals = await asyncio.to_thread(_propose, judged, cards, frequencies, refused | parted)
            last, left = page[-1], left - len(page)
            yield Page(
                place={"node": str(last[0]), "other": str(last[1]), "first": [str(node) for node in first]},
                examined=len(page),
                left=left,
                proposals=proposals,
            )

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Merge the same and store the unsure for review; nodes merged in the meantime are left for the next run."""
        if page.mark is not None:
            await keep_mark(connection, owner, page.mark)
        proposals = page.proposals
        if not proposals:
            return Applied()
        merges = await _still_apart(connection, owner, [item for item in proposals if item.action == "merge"])
        if merges:
            operations = [
                Merge(node=node, canonical=into, confidence=max(item.score, 1e-6), reason=reason(item.evidence))
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
        return Applied(applied=len(merges), proposed=noted, counts={"merged": len(merges), "proposed": noted})


async def _parted(connection: AsyncConnection, owner: Owner, nodes: Sequence[UUID]) -> set[Pair]:
    """Return pairs among nodes whose merge was undone: only a person may merge them again."""
    rows = await connection.execute(query("parted_pairs"), {"user_id": owner.user_id, "nodes": nodes})
    return {(row.node_id, row.other_id) for row in rows}


async def _still_apart(connection: AsyncConnection, owner: Owner, merges: Sequence[Proposal]) -> list[Proposal]:
    """Return the merges whose nodes are all canonical still."""
    if not merges:
        return []
    nodes = list({node for item in merges for node in item.nodes})
    rows = await connection.execute(query("standing_nodes"), {"user_id": owner.user_id, "nodes": nodes})
    canonical = {row.node_id for row in rows if row.node_id == row.canonical_id}
    return [item for item in merges if canonical.issuperset(item.nodes)]


async def _settle(connection: AsyncConnection, owner: Owner, merges: Sequence[Proposal], *, by: str) -> None:
    """Close pairs that waited for review and are one node now."""
    groups: dict[UUID, list[UUID]] = {}
    for item in merges:
        node, into = item.nodes
        groups.setdefault(into, [into]).append(node)
    pairs = [pair for group in groups.values() for pair in combinations(sorted(group), 2)]
    nodes, others = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    values = {"user_id": owner.user_id, "nodes": nodes, "others": others, "decided_by": by}
    await connection.execute(query("settle_pairs"), values)


def reason(evidence: Mapping[str, float]) -> str:
    """Return the evidence for people: "name +9.1, phone +6.0"."""
    return ", ".join(f"{name} {bits:+.1f}" for name, bits in sorted(evidence.items(), key=lambda item: -abs(item[1])))


async def _candidates(db: Database, owner: Owner, scope: Scope) -> tuple[list[Pair], dict[str, float]]:
    """Return pairs worth comparing, in their order, and the share of nodes whose names have each word."""
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
    pairs = await asyncio.to_thread(lambda: list(blocks.pairs(None if all_of_them else wanted)))
    return [(nodes[low], nodes[high]) for low, high in pairs], frequencies


def _add_keys(blocks: Blocks, words: Counter[str], rows: Sequence[Any]) -> None:
    """Add nodes to the blocks, and count the words of their names."""
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
    """Return proposals for some pairs: first merges, each into the canonical node of its group, then reviews.

    Pairs in ``apart`` are not merged; those that are among the pairs go to review.
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
    """Groups of nodes that become one within a page."""

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
        """Whether two nodes are in one group."""
        return other in self._group.get(one, ())

    def join(self, one: UUID, other: UUID) -> None:
        """Join the groups of two nodes, unless a pair of their members is different or must stay apart."""
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
        """Yield a merge for each node but the canonical one of its group: the one with most facts, then the oldest."""
        for group in {id(group): group for group in self._group.values()}.values():
            canonical = min(group, key=lambda node: (-len(self._cards[node].facts), node))
            for node in sorted(group - {canonical}):
                verdict = self._verdict(min(node, canonical), max(node, canonical))
                yield _proposal("merge", (node, canonical), self._cards, verdict)


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """A pair in the output of a dry run."""

    action: str
    labels: tuple[str, str]
    score: float
    reason: str


def preview(proposal: Proposal) -> Preview:
    """Return a proposal in a form for people."""
    return Preview(
        action=proposal.action, labels=proposal.labels, score=proposal.score, reason=reason(proposal.evidence)
    )


OFFER = Offer(
    make=lambda _means: Duplicates(),
    help="finds people and things that are in the graph twice",
    order=100,
    done="merged",
)
