"""What reading some text would write: a dry run, nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.extract.extraction import Extractor
from memsvc.extract.proposals import Proposal

Verdict = Literal["new", "known", "changes", "doubtful", "refused"]


class Said(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A message that is only thought of."""

    text: str
    speaker: str = ""
    role: str = "user"
    said_at: datetime | None = None
    """Aware; None: now."""
    caption: str = ""


class Previewed(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that would be written, or why it would not."""

    proposal: Proposal
    """``node_id`` of its ends: the node that it would hang on; None: a new one."""
    turn: int
    """Which message says so, from 0; parts of a long one have its number."""
    verdict: Verdict
    """new; known: only evidence would be added; changes: something that is known would end or be replaced; doubtful:
    a person would be asked; refused."""
    reason: str
    """Why it is doubtful or refused; else empty."""


class NewNode(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody or something that would be remembered."""

    name: str
    type: str
    node_id: UUID | None
    """Where it is known already."""
    named: bool
    aliases: tuple[str, ...]


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What would be written."""

    extractor: str
    facts: list[Previewed]
    nodes: list[NewNode]


async def preview(db: Database, owner: Owner, messages: Sequence[Said], extractor: Extractor) -> Preview:
    """Read messages, in their order, without storing anything.

    Args:
        db: the database.
        owner: whose memory they are compared with.
        messages: 1 to 200, of up to 200,000 characters together; each window of them is read without the facts of the
            one before.
        extractor: who reads.

    Raises:
        InvalidRequestError: nothing, or too much, to be read.
        ExtractorError: it could not be read.
    """
    raise NotImplementedError
