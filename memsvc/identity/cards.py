"""The card of a node: what is known about it, as far as the judge of identity needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from uuid import UUID

import msgspec

Decision = Literal["same", "unsure", "different"]


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A node, or a record, that is compared with another."""

    node_id: UUID
    type: str
    names: tuple[str, ...] = ()
    """Label and aliases, as written; only proper names."""
    named: bool = True
    """False: the label only describes it ("blue van"), so an equal label is weak evidence."""
    facts: frozenset[tuple[str, str, UUID]] = frozenset()
    """Current facts: edge type, direction (out or in), the other node (canonical)."""
    attributes: Mapping[str, str] = {}
    """Other properties with one value: street, phone, birthday."""
    sources: frozenset[UUID] = frozenset()
    """Conversations and files that mention it."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The judge's decision on two cards."""

    decision: Decision
    score: float
    """Probability from 0 to 1 that they are the same, as calibrated by ``bench/identity.py``."""
    evidence: Mapping[str, float]
    """Evidence for (above 0) and against (below 0), by the name of the comparison; holds no text of memories."""
