"""What is weighed for and against a claim, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

Verdict = Literal["supported", "contradicted", "unknown"]


class ClaimEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """A memory for or against a claim."""

    id: str
    """GET /v1/memories/{id} opens it."""
    memory_id: UUID
    kind: Literal["fact", "message"]
    text: str
    """The fact's sentence, or the sentence of the message that decides; else the message."""
    speaker: str = ""
    said_at: datetime | None = None
    """Of a message: when it was said."""
    valid_from: datetime | None = None
    """Of a fact: since when it holds; null: not known."""
    valid_to: datetime | None = None
    """Of a fact: when it ended; null: it has not, as far as known."""
    begin_untold: bool = False
    """Nobody told since when: ``valid_from`` is the time at which it was said, and is shown as "known since"."""
    end_untold: bool = False
    """Nobody told until when: ``valid_to`` is the time at which it was said to be over."""


@dataclass(slots=True)
class Weighed:
    """Memories for and against, and what they decide."""

    verdict: Verdict = "unknown"
    reason: str = ""
    doubt: bool = False
    """Something that is known stands against it, without deciding it: nothing else may support the claim."""
    supporting: list[ClaimEvidence] = field(default_factory=list)
    contradicting: list[ClaimEvidence] = field(default_factory=list)
