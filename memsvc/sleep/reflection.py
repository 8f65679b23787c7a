"""Sleep's task ``reflection``: tells what several memories say together, each with the messages that it rests on.

Without a model: habits, changed minds, contradictions and open loops (``memsvc.sleep.patterns``). With one: it asks
itself a few questions about what was said lately, recalls for each, and keeps what follows (``memsvc.sleep.insights``).
A page is one change, so ``memsvc undo`` takes it back as a whole; what was undone stays away until its evidence
changes. What is not so any more ends.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.history import write_in
from memsvc.graph.operations import Close, Operation, Thread, new_id
from memsvc.lessons.reflections import WRITER, Found, Known, known_reflections, operations
from memsvc.settings import Settings
from memsvc.sleep.insights import Thinker
from memsvc.sleep.patterns import patterns
from memsvc.sleep.tasks import Applied, Offer, Page, Place, Scope

NAME = "reflection"
AT_ONCE = 50
"""Reflections of a page: so many are one change."""


class _Plan(NamedTuple):
    due: list[Found]
    known: Mapping[str, Known]
    over: list[UUID]
    """Nodes of what is not so any more."""


class Reflecting:
    """See ``memsvc.sleep.tasks.Task``; its ``place`` says whether the run has thought by a model."""

    name = NAME
    gives_way = True

    def __init__(self, settings: Settings) -> None:
        """Take the settings of recall, and of the language model where one thinks."""
        self._settings = settings

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether there is something new to say, something to end, or to think about."""
        plan = await self._plan(db, owner)
        return bool(plan.due or plan.over) or await Thinker(db, owner, self._settings).has_news()

    @staticmethod
    async def _plan(db: Database, owner: Owner) -> _Plan:
        found = await patterns(db, owner)
        async with db.transaction(owner.user_id) as connection:
            known = await known_reflections(connection, owner)
        keys = {one.key for one in found}
        over = [one.node_id for key, one in known.items() if one.stands and one.kind != "insight" and key not in keys]
        return _Plan([one for one in found if _is_new(one, known)], known, over)

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield what is to be ended, then what is to be told. For one node there is nothing to do."""
        if scope.from_node is not None:
            return
        plan = await self._plan(db, owner)
        thinker = Thinker(db, owner, self._settings)
        left = len(plan.due)
        if scope.dry:
            yield Page(place={}, examined=left, left=0)
            return
        if plan.over:
            now = datetime.now(UTC)
            work: list[Operation] = [Close(thread=Thread(node=node), at=now) for node in plan.over]
            yield Page(place={"thought": False}, examined=0, left=left, work=work)
        for start in range(0, len(plan.due), AT_ONCE):
            some = plan.due[start : start + AT_ONCE]
            left -= len(some)
            steps = list(_steps(some, plan.known))
            yield Page(place={"thought": False}, examined=len(some), left=left, work=steps)
        if (place is None or not place.get("thought")) and await thinker.has_news():
            found = [one for one in await thinker.insights() if _is_new(one, plan.known)]
            yield Page(place={"thought": True}, examined=len(found), left=0, work=list(_steps(found, plan.known)))
            thinker.end()

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Write a page as one change."""
        if not page.work:
            return Applied()
        change = await write_in(connection, owner, page.work, asserted_by=WRITER)
        of_nodes = [one for one in change.results if one.node_id is not None and one.edge_id is None]
        return Applied(applied=sum(one.outcome in {"written", "closed"} for one in of_nodes))


def _is_new(found: Found, known: Mapping[str, Known]) -> bool:
    return found.key not in known or found.digest not in known[found.key].digests


def _steps(some: Sequence[Found], known: Mapping[str, Known]) -> Iterator[Operation]:
    for one in some:
        yield from operations(known[one.key].node_id if one.key in known else new_id(), one)


OFFER = Offer(
    make=lambda means: Reflecting(means.settings),
    help="tells habits, changed minds, contradictions and open loops, and what follows from them",
    order=450,
    done="reflected",
    on=lambda settings: settings.reflection != "off",
    switch="Set MEMSVC_REFLECTION to words or model.",
    of_node=False,
)
