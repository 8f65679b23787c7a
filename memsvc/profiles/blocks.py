"""The blocks of the profile: texts in three tiers, and their limits.

Tiers are those of MemGPT (Packer et al. 2023, arXiv:2310.08560): core memory is in every context, working memory in the
contexts of one conversation, and archival memory is found by recall. How to: docs/profile.md.
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
"""core: in every context; working: in contexts of one conversation, for some time; archival: found by recall."""
Section = Literal["fixed_traits", "preferences", "current_state"]
"""Blocks with fixed names: lasting traits, preferences, and the current state."""
TIERS: tuple[Tier, ...] = get_args(Tier)
SECTIONS: tuple[Section, ...] = get_args(Section)
NAME = re.compile(r"[a-z][a-z0-9_-]{0,59}")
LIMIT_TOKENS, MAX_LIMIT_TOKENS = 500, 2_000
"""Default and highest limit of a block's length, in tokens."""
CORE_TOKENS = 2_000
"""Most tokens of all core blocks together."""
MOST_BLOCKS: dict[Tier, int] = {"core": 20, "working": 10, "archival": 200}
"""Most blocks of a user by tier; of working memory, those of a conversation. A node may have as many as core has."""
MOST_WORKING = 100
"""Most blocks of working memory that a read returns if no conversation is named: the newest."""
MAX_LINES = 200
MAX_EVIDENCE = 20


class Support(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that supports lines of a block."""

    passage_id: UUID
    lines: list[int]
    """Line numbers, from 1."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a block; the current one if ``recorded_to`` is None."""

    id: str
    """b: and the block's short id; GET /v1/memories/{id} opens it."""
    block_id: UUID
    name: str
    kind: Tier
    text: str
    version: int
    """From 1; send it as expected_version to make sure that nobody changed the block in the meantime."""
    tokens: int
    """Its length when it was written, as memsvc estimates it."""
    limit_tokens: int
    """Its highest allowed length, 1 to 2,000."""
    node_id: UUID | None
    """The person, project or other node that it describes."""
    node: str | None
    """The label of that node."""
    conversation_id: UUID | None
    """Working memory: the conversation that it belongs to."""
    expires_at: datetime | None
    """Working memory: the time from which it is not read any more."""
    evidence: list[Support]
    """Passages that support its lines; lines without evidence are in none."""
    asserted_by: str
    """Who wrote it: user, app, or the name of a program."""
    recorded_from: datetime
    """When this version was recorded."""
    recorded_to: datetime | None
    """When it was superseded; None: it is the current version."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """All blocks by tier; fixed sections first, then by name; working memory newest first."""

    core: list[Block]
    working: list[Block]
    """Of the named conversation; without one, the 100 newest of all conversations."""
    working_truncated: bool
    """Older blocks of working memory were left out; name a conversation to read all of its blocks."""
    archival: list[Block]
    core_tokens: int
    """Length of the core blocks together."""
    core_limit_tokens: int
    """Highest allowed length of the core blocks together."""

    @property
    def blocks(self) -> list[Block]:
        """All blocks of the three tiers."""
        return [*self.core, *self.working, *self.archival]


@dataclass(frozen=True, slots=True)
class Place:
    """The address of a block: each conversation and each node has its own names."""

    name: str
    conversation: str | None = None
    """Id or identifier of the conversation, for working memory."""
    node: UUID | None = None

    def __post_init__(self) -> None:
        """Check the address.

        Raises:
            InvalidRequestError: it is not valid; ``field`` names the field.
        """
        if not NAME.fullmatch(self.name):
            raise InvalidRequestError(
                f"{self.name[:60]!r} is not a valid name of a block.",
                hint="Lower-case letters, digits, _ and -, 60 at most; the first is a letter.",
                field="name",
            )
        if self.conversation is not None and self.node is not None:
            raise InvalidRequestError("A block belongs to a conversation or to a node, not to both.", field="node")


def checked_tier(kind: str, conversation: str | None) -> Tier:
    """Check that a tier fits the conversation.

    Raises:
        InvalidRequestError: there is no such tier, working memory lacks its conversation, or another tier has one.
    """
    for tier in TIERS:
        if kind == tier and (tier == "working") == (conversation is not None):
            return tier
    if kind not in TIERS:
        raise InvalidRequestError(
            f"{kind[:60]!r} is not a kind of block.", hint=f"One of: {', '.join(TIERS)}.", field="kind"
        )
    raise InvalidRequestError(
        "Working memory belongs to a conversation, and other tiers do not.",
        hint="Name the conversation if kind is working, and only then.",
        field="conversation",
    )


def as_block(row: Row[Any]) -> Block:
    """Return a row as a block, with its evidence and the label of its node."""
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
