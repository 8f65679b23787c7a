"""Facts about which a person decides, and those that were refused: listed, accepted, corrected, rejected.

``doubtful`` ones wait for somebody; ``refused`` ones failed validation, are kept with their reason, and can be accepted
all the same. What is accepted is written through the history API as said by ``user``. What is rejected is never
proposed again from the same passage, whoever reads it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.extract.proposals import Proposal
from memsvc.graph.history import Change

State = Literal["doubtful", "refused", "accepted", "edited", "rejected"]
STATES: tuple[State, ...] = ("doubtful", "refused", "accepted", "edited", "rejected")


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that was found and not written by itself."""

    review_id: UUID
    state: State
    reason: str
    """A code of ``memsvc.extract.validation``: doubtful, quote, ungrounded, endpoint …"""
    proposal: Proposal
    passage_id: UUID
    source_id: UUID
    speaker: str
    text: str
    """Of the passage."""
    span: tuple[int, int] | None
    """Where the quote stands in it; None: nowhere."""
    said_at: datetime
    extractor: str
    found_at: datetime
    decided_at: datetime | None
    decided_by: str | None


class Edit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person changes before accepting; what is left out stays as proposed."""

    subject: str | None = None
    """Name of its start."""
    type: str | None = None
    """An edge type."""
    object: str | None = None
    """Name of its end."""
    sentence: str | None = None
    since: datetime | msgspec.UnsetType | None = msgspec.UNSET
    """Aware; null: not known."""
    until: datetime | msgspec.UnsetType | None = msgspec.UNSET
    data: dict[str, Any] | None = None


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A review after its decision."""

    review: Review
    change: Change | None
    """What was written; None: nothing."""


async def list_reviews(
    db: Database,
    owner: Owner,
    *,
    state: State | None = "doubtful",
    source: UUID | None = None,
    after: UUID | None = None,
    limit: int = 50,
) -> list[Review]:
    """Facts of a state (None: all), newest first; ``after`` is the last review of the page before.

    Raises:
        InvalidRequestError: the limit is not 1 to 1,000, or the state is none.
    """
    raise NotImplementedError


async def get_review(db: Database, owner: Owner, review_id: UUID) -> Review:
    """One of them.

    Raises:
        ReviewUnknownError: there is none such.
    """
    raise NotImplementedError


async def accept(db: Database, owner: Owner, review_id: UUID, *, by: str, edit: Edit | None = None) -> Decided:
    """Write a fact, as it was proposed or as a person corrected it.

    Args:
        db: the database.
        owner: whose memory.
        review_id: which.
        by: who decides: user, app …
        edit: what is changed before; None: nothing.

    Raises:
        ReviewUnknownError: there is none such.
        ReviewDecidedError: somebody decided already.
        TypeUnknownError, EndpointForbiddenError, InvalidIntervalError, InvalidTimeError: it cannot be written so.
    """
    raise NotImplementedError


async def reject(db: Database, owner: Owner, review_id: UUID, *, by: str) -> Decided:
    """Reject a fact for ever.

    Raises:
        ReviewUnknownError, ReviewDecidedError: as ``accept``.
    """
    raise NotImplementedError
