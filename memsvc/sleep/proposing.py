"""What tasks of sleep that only propose have in common: pages of proposals, and undoing a run withdraws these."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.sleep import proposals
from memsvc.sleep.tasks import Applied, Page


class Proposing:
    """See ``memsvc.sleep.tasks.Task``; the ``work`` of its pages is a list of ``proposals.Found``, the surest first."""

    gives_way = False

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Store a page's proposals; what was ever proposed is left out."""
        return await proposals.note(connection, owner, page.work or ())

    async def undo(self, connection: AsyncConnection, owner: Owner, run_id: UUID) -> int:
        """Withdraw the proposals of a run that wait; what a person accepted is undone as a change."""
        return await proposals.withdraw(connection, owner, run_id)
