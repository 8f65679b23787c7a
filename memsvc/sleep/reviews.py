"""Sleep's task ``reviews``: a language model judges facts that wait in review; off unless a number is set.

One run asks one question about the facts that have waited longest (``memsvc.extract.verdicts``). What the model
confirms is written, what it refuses is refused with its reason, the rest waits for a person. When the model fails, all
of them wait, and the next night tries again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import MemsvcError
from memsvc.extract.review import accept_in, put_aside, waiting
from memsvc.extract.verdicts import Judgement, judge, judge_name
from memsvc.queue.execution import OF_THE_DATABASE
from memsvc.settings import Settings
from memsvc.sleep.tasks import Applied, Offer, Page, Place, Scope

NAME = "reviews"
DONE = {"accept": "accepted", "refuse": "refused", "wait": "unsure"}
log = structlog.get_logger()


class Reviews:
    """See ``memsvc.sleep.tasks.Task``; it has one page."""

    name = NAME
    gives_way = False

    def __init__(self, settings: Settings) -> None:
        """Take the model's settings, and how many facts one run asks about."""
        self._settings = settings

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether a fact waits that no model has judged."""
        async with db.transaction(owner.user_id) as connection:
            return bool(await waiting(connection, owner, limit=1))

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield the facts that were judged; a run that concerns one node asks about none."""
        if place is not None or scope.from_node is not None:
            return
        async with db.transaction(owner.user_id) as connection:
            asked = await waiting(connection, owner, limit=self._settings.llm_reviews_per_night)
        if asked:
            judged = await judge(db, owner, asked, self._settings)
            yield Page(place={"judged": len(judged)}, examined=len(judged), left=0, judgements=judged)

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Decide as the model did; facts that a person decided in the meantime stay as they are."""
        counts = {"accepted": 0, "refused": 0, "unsure": 0}
        for one in page.judgements:
            if await self._decide(connection, owner, one):
                counts[DONE[one.action]] += 1
        return Applied(applied=counts["accepted"] + counts["refused"], proposed=counts["unsure"], counts=counts)

    async def _decide(self, connection: AsyncConnection, owner: Owner, one: Judgement) -> bool:
        """Whether a fact was decided; one that cannot be written goes on waiting."""
        if one.action != "accept":
            refused = one.action == "refuse"
            return await put_aside(connection, owner, one.review_id, reason=one.reason, refused=refused)
        try:
            async with connection.begin_nested():
                await accept_in(connection, owner, one.review_id, by=judge_name(self._settings))
        except OF_THE_DATABASE:
            raise
        except MemsvcError as error:
            log.info("a confirmed fact cannot be written", code=error.code)
            return False
        return True


OFFER = Offer(
    make=lambda means: Reviews(means.settings),
    help="a language model judges facts that wait for review",
    order=300,
    done="accepted",
    of_node=False,
    on=lambda settings: bool(settings.llm_model and settings.llm_reviews_per_night),
    switch="Set MEMSVC_LLM_MODEL and MEMSVC_LLM_REVIEWS_PER_NIGHT.",
    stays={
        "refused": "refused facts: a person can accept them with 'memsvc review'",
        "unsure": "facts that go on waiting in 'memsvc review'",
    },
)
