"""The epoch of the user for whom a request acts: how often the user has moved between cells.

Identity tokens say it, so a database that the user has left refuses them. Whoever finds out where a user is says it
once for each request or command (``at_epoch``). Workers say nothing: they act for the users of their own cell.
"""

from __future__ import annotations

from contextvars import ContextVar
from uuid import UUID

_known: ContextVar[tuple[UUID, int] | None] = ContextVar("memsvc.epoch", default=None)


def at_epoch(user_id: UUID, epoch: int) -> None:
    """Say the epoch of a user from now on, in this task and those that it starts."""
    _known.set((user_id, epoch))


def epoch_of(user_id: UUID) -> int:
    """The epoch of a user; 0: unknown, or the user has never moved."""
    known = _known.get()
    return known[1] if known is not None and known[0] == user_id else 0
