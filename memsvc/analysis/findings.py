"""The types of analyses and of their findings. A finding holds ids, a score and numbers, but no text."""

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
"""Most findings that a run stores, the best ones; all are counted."""
MOST_MEMBERS = 200
"""Most members of a community that are stored, the strongest ones."""
REPLICA_WAIT_S = 3.0
"""How long an analysis waits for a replica that shows all that this process has stored; then the primary serves it."""
TIMEOUT = "SET LOCAL statement_timeout = '10min'"
"""Statements that read a whole memory may take longer than those of a request."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One finding of an analysis."""

    what: str
    """hub, community, orphan, near, or a kind of anomaly or habit."""
    score: float
    """Strength, 0 or more; comparable only with findings of the same ``what``."""
    nodes: Sequence[UUID] = ()
    facts: Sequence[UUID] = ()
    """Versions of edges."""
    passages: Sequence[UUID] = ()
    figures: Mapping[str, Any] = {}
    """Numbers, days (ISO 8601) and names of types."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """All findings of an analysis."""

    findings: Sequence[Finding]
    """The best first, at most ``MOST_FINDINGS``."""
    total: int
    figures: Mapping[str, float] = {}
    """Numbers about the whole memory."""


Analysis = Callable[[Database, Owner, Sequence[UUID]], Awaitable[Found]]
"""An analysis: runs for a user and, for pagerank, from given nodes."""
