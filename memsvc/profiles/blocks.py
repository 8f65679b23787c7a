"""What the profile is made of: blocks of text in three tiers, and the limits that hold for them.

Tiers are those of MemGPT (Packer et al. 2023, arXiv:2310.08560): core memory stands in every context, working memory in
those of one conversation, and archival memory is looked up. How to: docs/profile.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args
from uuid import UUID

import msgspec
from sqlalchemy import Row

from memsvc.db.short_ids import short_id
from memsvc.errors import InvalidRequestError

Tier = Literal["core", "working", "archival"]
"""core: in every context; working: in those of one conversation, for a while; archival: where recall finds it."""
Section = Literal["fixed_traits", "preferences", "current_state"]
"""Blocks that every profile has a place for: what stays so, what is liked and wanted, what is so just now."""
TIERS: tuple[Tier, ...] = get_args(Tier)
SECTIONS: tuple[Section, ...] = get_args(Section)
NAME = re.compile(r"[a-z][a-z0-9_-]{0,59}")
LIMIT_TOKENS, MAX_LIMIT_TOKENS = 500, 2_000
"""How long a block may be where nobody says, and at most."""
CORE_TOKENS = 2_000
"""How long all core blocks may be together."""
MOST_BLOCKS: dict[Tier, int] = {"core": 20, "working": 10, "archival": 200}
"""Of a user, by tier; of working memory: of a conversation. A node has as many as core memory, whatever their tier."""
MOST_WORKING = 100
"""Of working memory, how many blocks are read at once where no conversation is named: the newest."""
MAX_LINES = 200
MAX_EVIDENCE = 20


class Support(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that lines of a block rest on."""

    passage_id: UUID
    lines: list[int]
    """From 1."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a block; the present one, where ``recorded_to`` is None."""

    id: str
    """b: and the block's short id; GET /v1/memories/{id} opens it."""
    block_id: UUID
    name: str
    kind: Tier
    text: str
    version: int
    """From 1; name it as expected_version to change what was read and nothing newer."""
    tokens: int
    """How long it was when it was written, as memsvc estimates."""
    limit_tokens: int
    """How long it may be, 1 to 2,000."""
    node_id: UUID | None
    """The person, project or other node that it describes."""
    node: str | None
    """What that node is called."""
    conversation_id: UUID | None
    """Of working memory: the conversation that it belongs to."""
    expires_at: datetime | None
    """Of working memory: from then on it is not read any more."""
    evidence: list[Support]
    """What its lines rest on; lines that nobody gave evidence for are in none."""
    asserted_by: str
    """Who wrote it: user, app, or the name of a program."""
    recorded_from: datetime
    """Since when it says this."""
    recorded_to: datetime | None
    """Until when it did; None: it does."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """All blocks by tier; sections first, then by name, working memory newest first."""

    core: list[Block]
    working: list[Block]
    """Of the named conversation; else of all, the 100 that were written last."""
    working_truncated: bool
    """Older blocks of working memory were left out; name a conversation to read all of its own."""
    archival: list[Block]
    core_tokens: int
    """How long the core blocks are together."""
    core_limit_tokens: int
    """How long they may be."""

    @property
    def blocks(self) -> list[Block]:
        """All of them."""
        return [*self.core, *self.working, *self.archival]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block stands: a name means another block in each conversation, and of each node."""

    name: str
    conversation: str | None = None
    """Id or identifier, of working memory."""
    node: UUID | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            InvalidRequestError: it names the field.
        """
        if not NAME.fullmatch(self.name):
            raise InvalidRequestError(
                f"{self.name[:60]!r} is no name of a block.",
                hint="Lower-case letters, digits, _ and -, 60 at most; the first is a letter.",
                field="name",
            )
        if self.conversation is not None and self.node is not None:
            raise InvalidRequestError("A block belongs to a conversation or to a node, not to both.", field="node")


def checked_tier(kind: str, conversation: str | None) -> Tier:
    """A tier that fits the place.

    Raises:
        InvalidRequestError: there is no such tier, or working memory lacks its conversation, or another has one.
    """
    for tier in TIERS:
        if kind == tier and (tier == "working") == (conversation is not None):
            return tier
    if kind not in TIERS:
        raise InvalidRequestError(
            f"{kind[:60]!r} is no kind of block.", hint=f"One of: {', '.join(TIERS)}.", field="kind"
        )
    raise InvalidRequestError(
        "Working memory belongs to a conversation, and nothing else does.",
        hint="Name the conversation where kind is working, and only there.",
        field="conversation",
    )


def as_block(row: Row[Any]) -> Block:
    """A row of the table, with its evidence and the label of its node."""
    return Block(
        id=f"b:{short_id(row.block_id)}",
        block_id=row.block_id,
        name=row.name,
        kind=row.kind,
        text=row.text,
        version=row.version,
        tokens=row.tokens,
        limit_tokens=row.token_limit,
        node_id=row.node_id,
        node=row.node,
        conversation_id=row.source_id,
        expires_at=row.expires_at.astimezone(UTC) if row.expires_at else None,
        evidence=msgspec.convert(row.evidence, list[Support]),
        asserted_by=row.asserted_by,
        recorded_from=row.recorded_from.astimezone(UTC),
        recorded_to=row.recorded_to.astimezone(UTC) if row.recorded_to else None,
    )
