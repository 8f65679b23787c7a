"""Which node a mention means; asked by extraction inside the transaction that writes."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.identity.mentions import Mention, Resolved

NOBODY: frozenset[UUID] = frozenset()


async def resolve(
    connection: AsyncConnection,
    owner: Owner,
    mentions: Sequence[Mention],
    *,
    source_id: UUID | None = None,
    near: frozenset[UUID] = NOBODY,
) -> list[Resolved]:
    """What each mention means, in the order of the mentions; nothing is written.

    Args:
        connection: the caller's transaction.
        owner: whose memory.
        mentions: of one window; keys are unique among them.
        source_id: the conversation or file that is read; its people are preferred.
        near: further nodes that the text is about: those of the window before.
    """
    raise NotImplementedError
