"""Sleep's task ``forgetting``: archives what nobody recalls, so that recall and the index of vectors are rid of it.

How well a memory is retained is importance · strength / (1 + λ · days idle); ``sql/functions/recall/61_retention.sql``
computes it. What is archived keeps its text, is found by ``include_archived``, and is restored when it is recalled so.
Messages, facts and cards of nodes are archived, and conversations of agents that were silent for long, as a whole.
Pinned ones, what the profile or an instruction rests on, notes, instructions, blocks and chunks of documents never are.
docs/sleep.md has the figures behind the constants.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.settings import Settings
from memsvc.sleep.tasks import Applied, Offer, Page, Place, Scope

NAME = "forgetting"
DAYS = {"message": 14, "fact": 180, "card": 365, "turn": 14}
"""Kinds of memories that may be archived, and the fewest days that each must be idle before."""
SKIPPED = {"turns": ("turn",), "facts": ("fact", "card")}
"""Kinds of memories that MEMSVC_FORGETTING_SKIPS can name, besides kinds of sources."""
READ = 2_000
"""Memories of a page."""
PART, AT_LEAST = 20, 20
"""Most memories that one run archives: a 20th of the user's, or this number where that is more."""


class Fading(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that is to be archived."""

    memory_id: UUID
    parts: Sequence[UUID]
    """All passages of it."""
    retained: float
    """0 to 1, below the threshold."""


class Forgetting:
    """See ``memsvc.sleep.tasks.Task``; its ``place`` is the last memory that was looked at, and how many were archived.

    Its clock is the database's. Where anything of the user happened after now by that clock, it cannot be trusted, and
    nothing is archived.
    """

    name = NAME
    gives_way = False

    def __init__(self, settings: Settings) -> None:
        """Take the settings that ``docs/configuration.md`` lists under forgetting."""
        self._settings = settings
        self._left_out = settings.kinds_of("forgetting_skips")
        spared = {kind for name in self._left_out for kind in SKIPPED.get(name, ())}
        self._days = {kind: days for kind, days in DAYS.items() if kind not in spared}

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether forgetting is on for the user, and anything is to be archived."""
        async with aclosing(self.pages(db, owner, Scope(nightly=True), None)) as pages:
            async for page in pages:
                if page.work:
                    return True
        return False

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield pages in the order of the ids; a run that concerns one node, or what is new, has none."""
        if scope.from_node is not None or (scope.since is not None and not scope.nightly):
            return
        bound = await self._bound(db, owner)
        after, archived = (UUID(place["memory"]), int(place["archived"])) if place else (UUID(int=0), 0)
        while archived < bound:
            values = {
                "user_id": owner.user_id, "after": after, "limit": READ, "kinds": list(self._days),
                "days": list(self._days.values()), "left_out": self._left_out,
                "silent_days": self._settings.forgetting_silent_days,
                "half_life": timedelta(days=self._settings.forgetting_half_life_days),
                "lambda": self._settings.forgetting_lambda,
            }  # fmt: skip
            async with db.transaction(owner.user_id) as connection:
                rows = (await connection.execute(query("retained_memories"), values)).all()
            if not rows:
                return
            faded = [
                Fading(memory_id=row.memory_id, parts=row.parts, retained=row.retained)
                for row in rows
                if row.retained is not None and row.retained < self._settings.forgetting_threshold
            ][: bound - archived]
            after, archived = rows[-1].memory_id, archived + len(faded)
            yield Page(
                place={"memory": str(after), "archived": archived},
                examined=sum(row.retained is not None for row in rows),
                left=0,
                work=faded,
            )

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Archive a page's memories; what was pinned or erased in the meantime is left out."""
        faded: Sequence[Fading] = page.work or ()
        if not faded:
            return Applied()
        await connection.execute(query("keep_memories"), {"user_id": owner.user_id})
        values = {"user_id": owner.user_id, "passages": [part for one in faded for part in one.parts], "task": NAME}
        return Applied(applied=(await connection.execute(query("archive_memories"), values)).scalar_one())

    async def undo(self, connection: AsyncConnection, owner: Owner, run_id: UUID) -> int:
        """Take out of the archive what a run put there and is still in it; it counts as used now."""
        await connection.execute(query("keep_memories"), {"user_id": owner.user_id})
        values = {"user_id": owner.user_id, "ids": [], "run_id": run_id}
        restored: int = (await connection.execute(query("restore_memories"), values)).scalar_one()
        return restored

    async def _bound(self, db: Database, owner: Owner) -> int:
        """The most that a run may archive; 0: forgetting is off, nothing is old enough, or the clock is wrong."""
        values: dict[str, Any] = {
            "user_id": owner.user_id, "by_default": self._settings.forgetting, "kinds": list(self._days),
            "least_days": min(self._days.values()),
        }  # fmt: skip
        async with db.transaction(owner.user_id) as connection:
            row = (await connection.execute(query("forgettable"), values)).one()
        return max(AT_LEAST, row.memories // PART) if row.wanted and row.aged and row.clock_is_right else 0


OFFER = Offer(
    make=lambda means: Forgetting(means.settings),
    help="archives what says little and was not recalled for long",
    order=500,
    of_node=False,
    done="archived",
)
