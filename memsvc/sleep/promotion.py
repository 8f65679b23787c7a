"""Sleep's task ``promotion``: proposes what is recalled again and again as a line of core memory.

A message that is recalled often speaks for the fact that it supports; where it supports none that holds, for itself. A
person decides (``memsvc.sleep.proposals``); what is accepted stands in the block "remembered".
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.sleep import proposals
from memsvc.sleep.proposals import MOST_OPEN, Found
from memsvc.sleep.proposing import Proposing
from memsvc.sleep.tasks import Offer, Page, Place, Scope

LEAST_RECALLS = 5
LEAST_STRENGTH = 0.4
"""Of strength (half-life 30 days, longer with each recall) times familiarity (n / (n + 5)): 5 recalls, the last one
some weeks ago, have .4."""


class Promotion(Proposing):
    """See ``memsvc.sleep.tasks.Task``; it has one page."""

    name = "promotion"

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether anything was recalled since the last run."""
        values = {"user_id": owner.user_id, "task": self.name}
        async with db.transaction(owner.user_id) as connection:
            return bool((await connection.execute(query("recalled_since_run"), values)).scalar_one())

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield what is recalled most."""
        if place is not None:
            return
        async with db.transaction(owner.user_id) as connection:
            known = await proposals.known_keys(connection, owner, "core")
            values: dict[str, Any] = {
                "user_id": owner.user_id, "recalls": LEAST_RECALLS, "least": LEAST_STRENGTH, "node": scope.from_node,
                "limit": len(known) + MOST_OPEN["core"],
            }  # fmt: skip
            rows = (await connection.execute(query("worth_core"), values)).all()
        found = [
            Found(
                kind="core", key=row.version_id or row.passage_id, version_id=row.version_id,
                passage_id=row.passage_id, score=round(row.strength, 4), evidence={"recalls": float(row.recalls)},
                text=("", row.text),
            )
            for row in rows
            if (None, row.version_id or row.passage_id) not in known
        ]  # fmt: skip
        yield Page(place={"done": True}, examined=len(rows), left=0, work=found)


OFFER = Offer(
    make=lambda _means: Promotion(),
    help="proposes what is recalled again and again as a line of core memory",
    order=650,
    stays={},
)
