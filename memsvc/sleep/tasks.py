"""What a task of sleep mode is: it finds work in pages, proposes, and applies each page in one transaction.

The runner (``memsvc.sleep.runner``) does the rest: it records, goes on after a kill, keeps to a budget, or only shows.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database

Action = Literal["merge", "review"]
Place = Mapping[str, Any]
"""How far a task came: JSON, written by the task and read by nobody else."""


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is about."""

    from_node: UUID | None = None
    """Only what concerns this node."""
    since: datetime | None = None
    """Only what was learnt since then."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What a task would do."""

    action: Action
    nodes: tuple[UUID, UUID]
    """merge: the first becomes the second."""
    labels: tuple[str, str]
    """What people call them, for a dry run."""
    score: float
    """From 0 to 1."""
    evidence: Mapping[str, float]
    """What spoke for it and against it; numbers only."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a task's work, proposed and not yet applied."""

    place: Place
    """Where the work goes on behind it."""
    examined: int
    total: int
    """All that is to be examined in this run, as far as known by now."""
    proposals: Sequence[Proposal] = ()


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a page's proposals; what was done or decided meanwhile by others counts as neither."""

    applied: int = 0
    proposed: int = 0


class Task(Protocol):
    """A task of sleep mode. Without a language model it does its computable part."""

    @property
    def name(self) -> str:
        """Its name on the command line and in ``sleep_runs``."""

    def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Its work behind a place, in an order that is the same when it is done again. Only reads."""

    async def apply(self, connection: AsyncConnection, owner: Owner, proposals: Sequence[Proposal]) -> Applied:
        """Do what was proposed, in the caller's transaction; what does not fit any more is left out."""
