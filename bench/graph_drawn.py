"""Graphs drawn by lot, for ``bench.graph``: what they hold, and how they are written."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from bench.harness import Outcome
from bench.metrics import percentile
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.operations import Edge, Evidence, Operation
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append

BATCH = 1_000
SKEW = 0.75
"""Node n is an end with a weight of (n + 1) ** -SKEW: the first of 10,000 has about a fortieth of all ends."""
TYPES = ("RELATED_TO", "PART_OF", "PRECEDES")
PASSAGES, ENDED, TAKEN_BACK = 200, 0.1, 0.02


@dataclass(slots=True)
class Drawn:
    """A user's graph as it was drawn by lot, by places."""

    owner: Owner
    size: int
    pairs: list[tuple[int, int]]
    ended: list[bool]
    taken_back: set[int]
    nodes: list[UUID] = field(default_factory=list)
    edges: list[UUID] = field(default_factory=list)
    known_at: datetime | None = None
    """Before facts were taken back."""

    def holding(self, *, known: bool) -> list[tuple[int, int]]:
        """Facts that hold now; as known before some were taken back, or now."""
        return [
            pair
            for place, pair in enumerate(self.pairs)
            if not self.ended[place] and (known or place not in self.taken_back)
        ]


def draw(owner: Owner, seed: int, nodes: int, edges: int) -> Drawn:
    """Draw a graph by lot."""
    lot = random.Random(seed)
    weights = list(itertools.accumulate((n + 1) ** -SKEW for n in range(nodes)))
    starts, ends = (lot.choices(range(nodes), cum_weights=weights, k=edges) for _ in range(2))
    order = lot.sample(range(nodes), nodes)  # strong ones anywhere among the ids
    return Drawn(
        owner,
        nodes,
        [(order[a], order[b]) for a, b in zip(starts, ends, strict=True)],
        [lot.random() < ENDED for _ in range(edges)],
        set(lot.sample(range(edges), int(edges * TAKEN_BACK))),
    )


def facts(drawn: Drawn, passages: Sequence[UUID], begin: int, lot: random.Random) -> list[Operation]:
    """A batch of facts, each with a piece of evidence."""
    ended = datetime(2024, 1, 1, tzinfo=UTC)
    return [
        Edge(
            from_node=drawn.nodes[drawn.pairs[place][0]], to_node=drawn.nodes[drawn.pairs[place][1]],
            type=TYPES[place % len(TYPES)], key=str(place), fact=f"What number {place} of a user's facts says.",
            weight=round(lot.random(), 2), valid_to=ended if drawn.ended[place] else None,
            evidence=[Evidence(passage_id=lot.choice(passages), span=(0, 7))],
        )
        for place in range(begin, min(begin + BATCH, len(drawn.pairs)))
    ]  # fmt: skip


async def said(db: Database, owner: Owner, settings: Settings) -> list[UUID]:
    """Messages of a user that facts may rest on: their passages."""
    messages = [MessageIn(conversation="talk", text=f"Message number {n}.") for n in range(PASSAGES)]
    return [one.passage_id for one in await append(db, owner, messages, settings) if one.passage_id]


def summary(outcome: Outcome, name: str, times: Sequence[float]) -> None:
    """Median and 95th percentile, in milliseconds."""
    outcome.figures[f"{name}.p50_ms"] = percentile(times, 0.5)
    outcome.figures[f"{name}.p95_ms"] = percentile(times, 0.95)
