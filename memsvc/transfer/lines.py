"""The lines of an export: the fields of each kind of row, with their types and lengths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta, Raw

MAX_LINE_BYTES = 8_000_000
MAX_TEXT_CHARS = 8_000
INFINITY = "infinity"
Short = Annotated[str, Meta(max_length=200)]
Identifier = Annotated[str, Meta(max_length=500)]
Text = Annotated[str, Meta(max_length=MAX_TEXT_CHARS)]
Count = Annotated[int, Meta(ge=0, le=2_147_483_647)]
Size = Annotated[int, Meta(ge=0, le=9_223_372_036_854_775_807)]
Small = Annotated[int, Meta(ge=-32_768, le=32_767)]
Operations = Annotated[list[Short], Meta(max_length=100)]
Weekdays = Annotated[list[Small], Meta(max_length=7)]
TaskNames = Annotated[list[Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]], Meta(max_length=100)]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
Ordinal = Annotated[int, Meta(ge=1, le=1_000_000)]
LineNumbers = Annotated[list[Small], Meta(min_length=1, max_length=1_000)]
Types = Annotated[list[Short], Meta(max_length=1_000)]
Clock = Annotated[str, Meta(pattern=r"^\d\d:\d\d:\d\d$")]


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row; every field is required. Numbers, objects and times go to the database as they are written."""


class TypeLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields that a user's own types of nodes and edges share."""

    name: Short
    category: Short
    description: Text
    parent: Short | None
    status: Short
    reason: Text
    proposed_by: Short
    proposed_at: str
    decided_by: Short | None
    decided_at: str | None


class NodeTypeLine(TypeLine, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of node_types.jsonl."""


class EdgeTypeLine(TypeLine, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of edge_types.jsonl."""

    from_types: Types
    to_types: Types
    functional: bool


class SourceLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of sources.jsonl."""

    source_id: UUID
    kind: Short
    identifier: Identifier
    title: Text
    metadata: Raw
    created_at: str
    forget_after: str | None = None
    """Older exports lack this field."""
    local: Identifier | None = None
    """Of a document in a project. Older exports lack this field."""


class PassageLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of passages.jsonl."""

    passage_id: UUID
    source_id: UUID
    kind: Short
    session: Identifier
    ordinal: Count
    part: Small
    client_id: Identifier | None
    speaker: Short
    role: Short
    text: str
    caption: Text | None
    said_at: str
    said_offset: Small
    language: Short
    metadata: Raw
    recorded_at: str
    recorded_to: str = INFINITY
    """Of a chunk of a document: when the document lost it. Older exports lack this field."""
    archived_at: str | None = None
    """Of a message: since when it is archived. Older exports lack this field and the next."""
    restored_at: str | None = None


class VaultLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of vaults.jsonl."""

    vault_id: UUID
    folder: Identifier
    flavours: Types
    write_back: Short
    created_at: str


class DocumentVersionLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of document_versions.jsonl."""

    source_id: UUID
    version: Ordinal
    sha256: Digest
    bytes: Size
    format: Short
    title: Text
    path: Text
    pages: Count | None
    characters: Size
    metadata: Raw
    recorded_from: str
    recorded_to: str
    by_agent: bool = False
    chunked: bool = True
    """Older exports lack these two fields."""


class TurnLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of turns.jsonl."""

    turn_id: UUID
    source_id: UUID
    session: Identifier
    project: Short | None
    agent: Short
    commit_id: Short | None
    ok: bool | None
    begun_at: str
    ended_at: str | None
    recorded_at: str
    chat_id: UUID | None = None
    chat_messages: list[Identifier] = []
    """Older exports lack these two fields."""


class ToolCallLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of tool_calls.jsonl."""

    turn_id: UUID
    number: Count
    tool: Annotated[str, Meta(min_length=1, max_length=100)]
    arguments: Raw
    told: Annotated[str, Meta(max_length=1_000)]
    document_id: UUID | None
    version: Ordinal | None
    wrote: bool
    ok: bool
    exit_code: Annotated[int, Meta(ge=-2_147_483_648, le=2_147_483_647)] | None
    ms: Size | None
    result_head: Annotated[str, Meta(max_length=4_000)]
    result_tail: Annotated[str, Meta(max_length=4_000)]
    result_bytes: Size | None
    result_sha256: Digest | None
    call_id: Identifier | None = None
    """Older exports lack this field."""


class NodeLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of nodes.jsonl."""

    node_id: UUID
    created_at: str


class VersionLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields that all versions share."""

    asserted_by: Short
    derived_from: UUID | None
    valid_from: str
    valid_to: str
    recorded_from: str
    recorded_to: str


class NodeVersionLine(VersionLine, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of node_versions.jsonl."""

    version_id: UUID
    node_id: UUID
    type: Short
    label: Text
    description: Text
    data: Raw
    importance: float


class AliasLine(VersionLine, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of aliases.jsonl."""

    alias_id: UUID
    node_id: UUID
    alias: Short
    confidence: float


class LocationLine(VersionLine, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of locations.jsonl."""

    location_id: UUID
    node_id: UUID
    latitude: float
    longitude: float
    radius_m: float


class EdgeLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of edges.jsonl."""

    edge_id: UUID
    from_node: UUID
    type: Short
    to_node: UUID
    key: Short
    created_at: str


class EdgeVersionLine(VersionLine, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of edge_versions.jsonl."""

    version_id: UUID
    edge_id: UUID
    from_node: UUID
    type: Short
    to_node: UUID
    functional: bool
    fact: Text
    data: Raw
    weight: float
    confidence: float


class MergeLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of merges.jsonl."""

    merge_id: UUID
    node_id: UUID
    canonical_id: UUID
    reason: Text
    confidence: float
    asserted_by: Short
    recorded_from: str
    recorded_to: str


class SourceLinkLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of source_links.jsonl."""

    link_id: UUID
    passage_id: UUID
    span_from: Count | None
    span_to: Count | None
    node_id: UUID | None
    node_version_id: UUID | None
    edge_version_id: UUID | None
    alias_id: UUID | None
    merge_id: UUID | None
    location_id: UUID | None = None
    """Older exports lack this field."""
    stance: Short
    confidence: float
    asserted_by: Short
    recorded_from: str
    recorded_to: str


class ProfileVersionLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of profile_versions.jsonl."""

    version_id: UUID
    block_id: UUID
    version: Ordinal
    name: Short
    kind: Short
    text: Text
    tokens: Count
    token_limit: Count
    node_id: UUID | None
    source_id: UUID | None
    expires_at: str | None
    asserted_by: Short
    recorded_from: str
    recorded_to: str


class ProfileEvidenceLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of profile_evidence.jsonl."""

    version_id: UUID
    passage_id: UUID
    lines: LineNumbers


class MemorySignalsLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of memory_signals.jsonl."""

    memory_id: UUID
    kind: Short
    recalls: Count
    last_recalled_at: str | None
    used: Count
    irrelevant: Count
    importance: Small | None
    sentiment: float | None
    pinned: bool


class DuplicateCandidatesLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of duplicate_candidates.jsonl."""

    node_a: UUID
    node_b: UUID
    score: float
    evidence: dict[str, float]
    found_by: Short
    found_at: str
    state: Short
    decided_at: str | None
    decided_by: Short | None


class ChangeLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of changes.jsonl."""

    change_id: UUID
    recorded_at: str
    asserted_by: Short
    operations: Operations
    undoes: UUID | None


class TombstoneLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of tombstones.jsonl."""

    digest: Digest
    recorded_at: str


class ScheduleLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of schedules.jsonl."""

    kind: Short
    at_local: Clock
    weekdays: Weekdays | None
    enabled: bool
    tasks_off: TaskNames = []


class FeedLine(Line, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of feeds.jsonl."""

    kind: Short
    identifier: Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
    name: Short
    settings: Raw
    rule: Short | None
    created_at: str


LINES: Mapping[str, type[Line]] = {
    "node_types": NodeTypeLine,
    "edge_types": EdgeTypeLine,
    "vaults": VaultLine,
    "sources": SourceLine,
    "document_versions": DocumentVersionLine,
    "passages": PassageLine,
    "turns": TurnLine,
    "tool_calls": ToolCallLine,
    "nodes": NodeLine,
    "node_versions": NodeVersionLine,
    "aliases": AliasLine,
    "locations": LocationLine,
    "edges": EdgeLine,
    "edge_versions": EdgeVersionLine,
    "merges": MergeLine,
    "source_links": SourceLinkLine,
    "profile_versions": ProfileVersionLine,
    "profile_evidence": ProfileEvidenceLine,
    "memory_signals": MemorySignalsLine,
    "duplicate_candidates": DuplicateCandidatesLine,
    "changes": ChangeLine,
    "tombstones": TombstoneLine,
    "schedules": ScheduleLine,
    "feeds": FeedLine,
}
