"""What is known about somebody or something, as a judge of identity needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from uuid import UUID

import msgspec

Decision = Literal["same", "unsure", "different"]


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A node, or a record, to be compared with another."""

    node_id: UUID
    type: str
    names: tuple[str, ...] = ()
    """Label and aliases, as written; proper names only."""
    named: bool = True
    """False: its label only describes it ("blue van"), so that being called the same says little."""
    facts: frozenset[tuple[str, str, UUID]] = frozenset()
    """Current facts: edge type, out or in, the other node (canonical)."""
    attributes: Mapping[str, str] = {}
    """Further properties with one value: street, phone, birthday."""
    sources: frozenset[UUID] = frozenset()
    """Conversations and files that speak of it."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether two cards are of the same."""

    decision: Decision
    score: float
    """From 0 to 1: how likely they are the same, as calibrated by ``bench/identity.py``."""
    evidence: Mapping[str, float]
    """What spoke for it (above 0) and against it (below), by name of the comparison; holds no text of memories."""
