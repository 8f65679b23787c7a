"""A graph, speakers, times and such questions for ``bench.corpus``: so that all arms of recall have something to do.

A user with n passages gets n / 50 nodes with invented names and n / 10 facts between them, each shown by a passage of
the user's; both ends are drawn by a power law, so that some nodes are hubs. Messages are spread over three years. Of
four questions one is plain words, one names a node, one names a month, and one names who spoke.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from bench.corpus import vocabulary
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Evidence, Node

SPEAKERS = ("Ada", "Bo")
PASSAGES_A_NODE, PASSAGES_A_FACT, MOST_NODES, MOST_FACTS = 50, 10, 5_000, 50_000
SKEW = 0.75
BATCH = 1_000
TYPES = ("RELATED_TO", "PART_OF", "PRECEDES")
FIRST, DAYS = datetime(2023, 1, 1, 8), 1_095  # noqa: DTZ001 - on the user's clock
MONTHS = ("January", "March", "May", "July", "September", "November")


def said_at(number: int, size: int) -> str:
    """When a user's passage was said: all of them are spread evenly over three years."""
    return (FIRST + timedelta(days=DAYS * number / size)).isoformat(timespec="seconds")


def labels(size: int, seed: int) -> list[str]:
    """Names of a user's nodes: two rare words each, as "Brailoond Frosh"."""
    draw, rare = random.Random(seed), vocabulary()[2_000:]
    wanted = max(2, min(MOST_NODES, size // PASSAGES_A_NODE))
    return [" ".join(word.capitalize() for word in draw.sample(rare, 2)) for _ in range(wanted)]


async def write_graph(db: Database, owner: Owner, names: Sequence[str], passages: Sequence[UUID], seed: int) -> int:
    """Write a user's nodes and facts; how many facts."""
    draw = random.Random(seed)
    nodes: list[UUID] = []
    for start in range(0, len(names), BATCH):
        made = [Node(type="Concept", label=name) for name in names[start : start + BATCH]]
        change = await write(db, owner, made, asserted_by="bench")
        nodes += [result.node_id for result in change.results if result.node_id]
    weights = list(itertools.accumulate((place + 1) ** -SKEW for place in range(len(nodes))))
    wanted = max(1, min(MOST_FACTS, len(passages) // PASSAGES_A_FACT))
    for start in range(0, wanted, BATCH):
        facts = []
        for number in range(start, min(start + BATCH, wanted)):
            one, other = draw.choices(range(len(nodes)), cum_weights=weights, k=2)
            facts.append(
                Edge(
                    from_node=nodes[one], to_node=nodes[other], type=TYPES[number % len(TYPES)], key=str(number),
                    fact=f"{names[one]} has to do with {names[other]}.",
                    evidence=[Evidence(passage_id=draw.choice(passages))],
                )
            )  # fmt: skip
        await write(db, owner, facts, asserted_by="bench")
    return wanted


def dressed(question: str, number: int, names: Sequence[str]) -> str:
    """A question in one of four ways, in turn; ``names`` are those of the user's nodes, hubs first."""
    words = question.rstrip("?")
    month = f"{MONTHS[number // 4 % len(MONTHS)]} {FIRST.year + number // 24 % 3}"
    ways = (
        question,
        f"{words} {names[(number // 4) ** 2 % len(names)]}?",
        f"{words} in {month}?",
        f"What did {SPEAKERS[number // 4 % 2]} say about {words}?",
    )
    return ways[number % 4]
