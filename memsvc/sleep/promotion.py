"""Sleep's task ``promotion``: proposes lines of core memory, and changes of lines that are outdated.

A message that is recalled often speaks for the fact that it supports; where it supports none that holds, for itself. A
line whose fact has ended since, or is contested, is to be replaced or to go (``memsvc.sleep.outdated``). A person
decides (``memsvc.sleep.proposals``); what is accepted stands in the block "remembered", a renewed line in its own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.sleep import proposals
from memsvc.sleep.outdated import CONTESTED, ENDED, ENDED_AND_FOLLOWED
from memsvc.sleep.proposals import MOST_OPEN, Found
from memsvc.sleep.proposing import Proposing
from memsvc.sleep.tasks import Applied, Offer, Page, Place, Scope

LEAST_RECALLS = 5
LEAST_STRENGTH = 0.4
"""Of strength (half-life 30 days, longer with each recall) times familiarity (n / (n + 5)): 5 recalls, the last one
some weeks ago, have .4."""


class Promotion(Proposing):
    """See ``memsvc.sleep.tasks.Task``; it has one page."""

    name = "promotion"

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether anything was recalled since the last run, or a line is outdated and not proposed to be changed."""
        values = {"user_id": owner.user_id, "task": self.name}
        async with db.transaction(owner.user_id) as connection:
            if (await connection.execute(query("recalled_since_run"), values)).scalar_one():
                return True
            return bool(await _outdated(connection, owner, None))

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield what is recalled most, and lines that are outdated."""
        if place is not None:
            return
        async with db.transaction(owner.user_id) as connection:
            known = await proposals.known_keys(connection, owner, "core")
            values: dict[str, Any] = {
                "user_id": owner.user_id, "recalls": LEAST_RECALLS, "least": LEAST_STRENGTH, "node": scope.from_node,
                "limit": len(known) + MOST_OPEN["core"],
            }  # fmt: skip
            rows = (await connection.execute(query("worth_core"), values)).all()
            outdated = await _outdated(connection, owner, scope.from_node)
        found = [
            Found(
                kind="core", key=row.version_id or row.passage_id, version_id=row.version_id,
                passage_id=row.passage_id, score=round(row.strength, 4), evidence={"recalls": float(row.recalls)},
                text=("", row.text),
            )
            for row in rows
            if (None, row.version_id or row.passage_id) not in known
        ]  # fmt: skip
        yield Page(place={"done": True}, examined=len(rows) + len(outdated), left=0, work=[*found, *outdated])

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Store a page's proposals; those about lines that are not outdated any more are taken back first."""
        await connection.execute(query("withdraw_outdated"), {"user_id": owner.user_id})
        return await super().apply(connection, owner, page)


async def _outdated(connection: AsyncConnection, owner: Owner, node: UUID | None) -> list[Found]:
    """Return what to propose of lines that are outdated."""
    known = await proposals.known_keys(connection, owner, "outdated")
    rows = await connection.execute(query("outdated_lines"), {"user_id": owner.user_id, "node": node})
    found = [
        Found(
            kind="outdated", key=row.key, version_id=row.version_id,
            score=(ENDED_AND_FOLLOWED if row.instead else ENDED) if row.ended else CONTESTED,
            evidence={"ended" if row.ended else "contested": 1.0}, text=(row.line, row.instead or ""),
        )
        for row in rows
        if (None, row.key) not in known
    ]  # fmt: skip
    return sorted(found, key=lambda one: -one.score)


OFFER = Offer(
    make=lambda _means: Promotion(),
    help="proposes lines of core memory, and changes of lines that are outdated",
    order=650,
    stays={},
)
