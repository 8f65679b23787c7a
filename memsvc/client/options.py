"""What can be chosen in a call, by name; the same names as in REST. A test compares them with its document.

Times are datetimes or ISO 8601, read on the user's clock where they have no offset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict
from uuid import UUID

from memsvc.access.keys import Scope
from memsvc.graph.links import Relation
from memsvc.graph.notes import NoteKind
from memsvc.graph.operations import Evidence
from memsvc.graph.read import Side
from memsvc.profiles.blocks import Tier
from memsvc.recall.items import Format
from memsvc.recall.options import Form, Mode
from memsvc.recall.packing import GroupBy
from memsvc.sources.messages import Role

Time = datetime | str
Passages = Sequence[Evidence]


class MessageOptions(TypedDict, total=False):
    """About one message."""

    speaker: str
    role: Role
    session: str
    ordinal: int
    id: str
    said_at: Time
    caption: str
    metadata: Mapping[str, Any]


class Near(TypedDict):
    """Around a point: degrees (WGS 84) and metres."""

    lat: float
    lon: float
    radius_m: float


class Filters(TypedDict, total=False):
    """What may be recalled."""

    conversations: Sequence[str]
    not_conversations: Sequence[str]
    said_from: Time
    said_to: Time
    traces: bool
    facts: bool
    as_of: Time
    known_at: Time
    near: Near


class RecallOptions(Filters, total=False):
    """How memories are recalled."""

    limit: int
    form: Form
    mode: Mode
    diversity: float
    rerank: bool
    explain: bool


class ContextOptions(Filters, total=False):
    """What a context holds."""

    budget_tokens: int
    format: Format
    tokenizer: str
    memories: bool
    limit: int
    mode: Mode
    group_by: GroupBy
    neighbours: bool
    conversation: str
    recent_turns: int
    profile: bool
    core: bool
    instructions: Sequence[str]
    salient: int
    chance: bool
    seed: int
    elapsed: bool


class AnswerOptions(Filters, total=False):
    """How a question is answered."""

    budget_tokens: int
    model: bool


class SaidOptions(TypedDict, total=False):
    """About what is said in a chat."""

    session: str
    speaker: str
    message_id: str
    said_at: Time
    metadata: Mapping[str, Any]
    forget: Literal["conversation", "keep"]
    idle_hours: int


class EnrichOptions(SaidOptions, total=False):
    """And what its context holds."""

    store: bool
    budget_tokens: int
    mode: Mode
    format: Format
    recent_turns: int


class NoteOptions(TypedDict, total=False):
    """About a note."""

    kind: NoteKind
    tags: Sequence[str]
    about: Sequence[UUID]
    evidence: Passages
    importance: float


class NoteChanges(TypedDict, total=False):
    """What is to change in a note."""

    title: str
    text: str
    kind: NoteKind
    tags: Sequence[str]
    importance: float
    evidence: Passages


class NoteFilters(TypedDict, total=False):
    """Which notes are listed."""

    kind: NoteKind
    tag: str
    q: str


class LinkOptions(TypedDict, total=False):
    """About a link."""

    strength: float
    reason: str
    evidence: Passages


class LinkedOptions(TypedDict, total=False):
    """Which linked notes are found."""

    radius: int
    relations: Sequence[Relation]
    min_strength: float
    limit: int


class Moments(TypedDict, total=False):
    """At which times one looks."""

    as_of: Time | Literal["always"]
    known_at: Time


class NodeFilters(Moments, total=False):
    """Which nodes are found."""

    type: str


class NodeOptions(TypedDict, total=False):
    """About a node."""

    description: str
    data: Mapping[str, Any]
    importance: float
    aliases: Sequence[str]
    node_id: UUID
    evidence: Passages
    valid_from: Time
    valid_to: Time


class FactFilters(Moments, total=False):
    """Which facts are listed."""

    type: Sequence[str]
    side: Side


class WalkOptions(Moments, total=False):
    """How far one walks."""

    hops: int
    type: Sequence[str]
    side: Side
    fan_out: int
    limit: int


class FactOptions(TypedDict, total=False):
    """About a fact."""

    key: str
    data: Mapping[str, Any]
    weight: float
    confidence: float
    evidence: Passages
    valid_from: Time
    valid_to: Time


class Place(TypedDict, total=False):
    """Which block of a name is meant."""

    conversation: str
    node: UUID


class BlockMove(Place, total=False):
    """Which block is moved, and which version of it was read."""

    expected_version: int


class Demotion(BlockMove, total=False):
    """Where a block goes."""

    kind: Literal["archival", "working"]
    hours: float


class BlockChange(BlockMove, total=False):
    """How a block is changed."""

    evidence: Sequence[UUID]
    hours: float


class BlockOptions(BlockChange, total=False):
    """How a block is written."""

    kind: Tier
    limit_tokens: int


class UserOptions(TypedDict, total=False):
    """About a user."""

    external_id: str
    aliases: Sequence[str]
    time_zone: str
    language: str


class KeyOptions(TypedDict, total=False):
    """What a key may do."""

    scopes: Sequence[Scope]
    user: str
    label: str
    expires_in: int
    requests_per_minute: int
    messages_per_day: int
