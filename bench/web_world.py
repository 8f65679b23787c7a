"""The users of ``bench.web``: one of 100,000 passages, whose screens are drawn, and one with a graph to draw."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from bench.corpus_users import Person, build
from bench.graph_drawn import draw, said
from bench.harness import Bench, Outcome
from bench.processes import HOST, Serving
from bench.store import new_user
from memsvc.access.keys import SCOPES, create_key
from memsvc.access.page import page_link
from memsvc.access.users import Owner, app_id
from memsvc.db.engine import Database
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Evidence, Node

NODES, EDGES, BATCH = 5_000, 20_000, 1_000
HUBS, OTHERS = 5, 5
"""Things that are opened: the most connected ones, and ordinary ones."""
MOST_CONNECTED = text(
    "SELECT subject_id FROM memsvc.facts_current GROUP BY subject_id ORDER BY count(*) DESC, subject_id"
)


@dataclass(frozen=True, slots=True)
class World:
    """A service and its two users."""

    bench: Bench
    serving: Serving
    big: Person
    key: str
    """Of the user with many passages; it may do everything."""
    things: Sequence[UUID]
    """Of the same user: the most connected, and some others."""
    grapher: Owner
    """Has the graph of 5,000 nodes."""

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.serving.port}/"

    def link(self, owner: Owner) -> str:
        """Sign in this user once."""
        db = self.bench.connect()
        try:
            settings = self.bench.settings.model_copy(update={"host": HOST, "port": self.serving.port})
            return page_link(db, settings, owner)
        finally:
            asyncio.run(db.close())


async def _graph(db: Database, bench: Bench) -> Owner:
    owner = await new_user(db, "grapher")
    drawn = draw(owner, 5, NODES, EDGES)
    passages, lot = await said(db, owner, bench.settings), random.Random(5)
    for start in range(0, NODES, BATCH):
        made = [Node(type="Concept", label=f"Thing {number}") for number in range(start, start + BATCH)]
        change = await write(db, owner, made, asserted_by="bench")
        drawn.nodes += [one.node_id for one in change.results if one.node_id]
    for start in range(0, EDGES, BATCH):
        facts = [
            Edge(
                from_node=drawn.nodes[one], to_node=drawn.nodes[other], type="RELATED_TO", key=str(number),
                fact=f"Thing {one} has to do with thing {other}.",
                evidence=[Evidence(passage_id=lot.choice(passages))],
            )
            for number, (one, other) in enumerate(drawn.pairs[start : start + BATCH], start)
        ]  # fmt: skip
        await write(db, owner, facts, asserted_by="bench")
    return owner


async def prepare(bench: Bench, outcome: Outcome, passages: int) -> tuple[Person, str, list[UUID], Owner]:
    db = bench.connect()
    users, _ = await build(db, bench, {"big": passages, "small": max(passages // 20, 10)}, outcome)
    big, grapher = users["big"], await _graph(db, bench)
    key = await create_key(db, await app_id(db, "bench"), scopes=SCOPES, user_id=big.owner.user_id, label="page")
    async with db.transaction(big.owner.user_id) as connection:
        hubs: list[UUID] = list((await connection.execute(MOST_CONNECTED)).scalars())
    await db.close()
    with bench.admin() as admin:
        admin.execute("VACUUM (ANALYZE)")
    return big, key, [*hubs[:HUBS], *hubs[len(hubs) // 2 :][:OTHERS]], grapher
