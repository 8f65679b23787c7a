"""Pairs of nodes that may be the same: noted when they are met, decided by the judge or by a person.

A rejected pair stays rejected for ever, whoever meets it again. Kept in ``memsvc.duplicate_candidates``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner


class Suspicion(msgspec.Struct, frozen=True, kw_only=True):
    """Two nodes may be the same."""

    node: UUID
    other: UUID
    score: float
    """From 0 to 1."""
    evidence: Mapping[str, float] = {}


async def note(connection: AsyncConnection, owner: Owner, found: Sequence[Suspicion], *, found_by: str) -> int:
    """Note pairs, in the caller's transaction; one that is known gets the new score while it is open. Gives how many
    are new.

    Args:
        connection: the caller's transaction.
        owner: whose memory.
        found: nodes as stored or canonical ones, in any order; a pair that is one node already is left out.
        found_by: an extractor's or a task's name.
    """
    raise NotImplementedError
