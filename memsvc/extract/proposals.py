"""What an extractor proposes, in a form that can be shown, kept for a person's decision, and written later.

Kept in ``fact_reviews.proposal`` as JSON, so it names nodes by their names and, where one is known, by its id.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from memsvc.extract.extraction import Change


class End(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One end of a fact."""

    name: str
    type: str
    """A node type."""
    node_id: UUID | None = None
    """The node that it is, where that is known."""
    named: bool = True
    """False: the name only describes it ("blue van")."""
    aliases: tuple[str, ...] = ()
    relation: str = ""
    """What it is to the owner: sister, boss."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A fact that was found."""

    subject: End
    type: str
    """An edge type."""
    object: End
    sentence: str
    quote: str
    """Words of the message that say so."""
    change: Change = "holds"
    since: datetime | None = None
    until: datetime | None = None
    confidence: float = 1.0
    data: dict[str, Any] = {}
