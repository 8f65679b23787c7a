"""Sleep's task ``versions``: deletes old versions of documents, where MEMSVC_VERSIONS_KEPT says how many are enough.

The newest ones stay, those that a turn of an agent refers to, and the last one always. The chunks that only a deleted
version had go with it, unless something that is known rests on them. It cannot be undone.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.settings import Settings
from memsvc.sleep.tasks import Applied, Offer, Page, Place, Scope

NAME = "versions"
READ = 500
"""Versions of a page."""


class Versions:
    """See ``memsvc.sleep.tasks.Task``; its ``place`` is the last version that was looked at."""

    name = NAME
    gives_way = True

    def __init__(self, settings: Settings) -> None:
        """Take ``versions_kept``."""
        self._keep = settings.versions_kept

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether any version may go."""
        return bool(await self._prunable(db, owner, None, 1))

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield pages in the order of documents; a run that concerns one node, or what is new, has none."""
        if scope.from_node is not None or (scope.since is not None and not scope.nightly):
            return
        while rows := await self._prunable(db, owner, place, READ):
            place = {"document": str(rows[-1].source_id), "version": rows[-1].version}
            yield Page(place=place, examined=len(rows), left=0, work=rows)

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Delete a page's versions; those that a turn refers to meanwhile stay."""
        values = {
            "user_id": owner.user_id, "keep": self._keep, "documents": [row.source_id for row in page.work],
            "versions": [row.version for row in page.work],
        }  # fmt: skip
        return Applied(applied=(await connection.execute(query("prune_versions"), values)).scalar_one())

    async def _prunable(self, db: Database, owner: Owner, place: Place | None, limit: int) -> list[Any]:
        values = {
            "user_id": owner.user_id, "keep": self._keep, "limit": limit,
            "after": UUID(place["document"]) if place else UUID(int=0), "version": place["version"] if place else 0,
        }  # fmt: skip
        async with db.transaction(owner.user_id) as connection:
            return list((await connection.execute(query("prunable_versions"), values)).all())


OFFER = Offer(
    make=lambda means: Versions(means.settings),
    help="deletes old versions of documents to which no turn refers",
    order=900,
    done="pruned",
    of_node=False,
    on=lambda settings: settings.versions_kept > 0,
    switch="Set MEMSVC_VERSIONS_KEPT to how many versions of a document are enough.",
    stays={"pruned": "deleted versions of documents: they are gone"},
)
