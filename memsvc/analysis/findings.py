"""What analyses are, and what one of them finds: ids, a score and numbers. No text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database

Kind = Literal["hubs", "communities", "orphans", "anomalies", "habits", "pagerank"]
KINDS: tuple[Kind, ...] = ("hubs", "communities", "orphans", "anomalies", "habits", "pagerank")
MOST_FINDINGS = 1_000
"""More than this of one run are counted and not kept; the best are."""
MOST_MEMBERS = 200
"""Members of a community that are kept, the strongest."""
TIMEOUT = "SET LOCAL statement_timeout = '10min'"
"""Statements that read a whole memory may take longer than those of a request."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that an analysis found."""

    what: str
    """What it is: hub, community, orphan, near, or a sort of anomaly or habit."""
    score: float
    """How strong it is, 0 or more; comparable within what it is."""
    nodes: Sequence[UUID] = ()
    facts: Sequence[UUID] = ()
    """Versions of edges."""
    passages: Sequence[UUID] = ()
    figures: Mapping[str, Any] = {}
    """Numbers, days (ISO 8601) and names of types."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """All that an analysis found."""

    findings: Sequence[Finding]
    """The best first, at most ``MOST_FINDINGS``."""
    total: int
    figures: Mapping[str, float] = {}
    """Numbers of the whole."""


Analysis = Callable[[Database, Owner, Sequence[UUID]], Awaitable[Found]]
"""What one does: for whom, and (of pagerank) from which nodes."""
