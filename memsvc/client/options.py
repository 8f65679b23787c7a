"""The options of calls, with the same names as in REST. A test compares them with the OpenAPI document.

Times are datetimes or ISO 8601. Without an offset they are read in the user's time zone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict
from uuid import UUID

from memsvc.access.keys import Scope
from memsvc.graph.links import Relation
from memsvc.graph.notes import NoteKind
from memsvc.graph.operations import Evidence
from memsvc.graph.read import Side
from memsvc.lessons.plans import PlanState, Step, StepResult
from memsvc.profiles.blocks import Tier
from memsvc.recall.block import GroupBy
from memsvc.recall.items import Format, Why
from memsvc.recall.options import FilterOptions, Form, Mode
from memsvc.sources.document_reads import DocumentStatus
from memsvc.sources.messages import Role
from memsvc.turns.projects import Project

Time = datetime | str
Passages = Sequence[Evidence]


class MessageOptions(TypedDict, total=False):
    """Options of one message."""

    speaker: str
    role: Role
    session: str
    ordinal: int
    id: str
    said_at: Time
    caption: str
    metadata: Mapping[str, Any]


class IngestOptions(TypedDict, total=False):
    """Options of files that are stored."""

    kind: str
    """Read everything as this kind; left out: it is recognised."""
    me: str | Sequence[str]
    """Names or ids of the speaker who is the user."""
    not_me: bool
    """The user is none of the speakers."""
    since: Time
    """Leave out what was said before."""
    title: str
    """The name for people of what is read."""
    map: str
    """Read CSV as a chat with these columns: "text=body,said_at=date,speaker=from"."""
    dry_run: bool
    """Only say what would be stored."""


class DocumentOptions(TypedDict, total=False):
    """Which documents are listed."""

    name: str
    """Only those with this in their title, path or identifier."""
    format: str
    """Only those of this format: "pdf"."""
    status: DocumentStatus
    """Only those whose background work is in this state."""
    gone: bool
    """Only those whose files are gone, or are there."""


class FeedOptions(TypedDict, total=False):
    """Options of a feed: something that is read again by itself."""

    rule: str
    """When: "every 2 hours", an RRULE, or five fields of cron; left out: every hour."""
    name: str
    """For people; of a push, required."""
    path: str
    """Of a folder or a calendar's file, where the operator allows it."""
    url: str
    """Of an address or a calendar, where the operator allows it."""
    takes: Literal["documents", "memory"]
    """Of a push: what its bodies are."""
    kind_of_files: str
    """Read everything as this kind; left out: it is recognised."""
    me: Sequence[str]
    """Names, addresses or ids of the speaker or attendee who is the user."""
    not_me: bool
    """The user is none of the speakers."""
    since: Time
    """Leave out what was said before."""
    title: str
    """The name for people of what is read."""


class Near(TypedDict):
    """A circle around a point: degrees (WGS 84) and metres."""

    lat: float
    lon: float
    radius_m: float


class Filters(FilterOptions, total=False):
    """Filters on what may be recalled."""

    said_from: Time
    said_to: Time
    as_of: Time
    asked_at: Time
    known_at: Time
    near: Near


class RecallOptions(Filters, total=False):
    """Options of a recall."""

    limit: int
    form: Form
    mode: Mode
    diversity: float
    preset: str
    weights: Mapping[str, float]
    rerank: bool
    explain: bool


class ContextOptions(Filters, total=False):
    """Options of a context."""

    budget_tokens: int
    format: Format
    tokenizer: str
    memories: bool
    limit: int
    mode: Mode
    preset: str
    fill: bool
    why: Why
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
    """Options of an answer."""

    budget_tokens: int
    model: bool


class MarkOptions(TypedDict, total=False):
    """What is said of a memory."""

    pinned: bool
    importance: int


class VerifyOptions(TypedDict, total=False):
    """Options of a verification."""

    as_of: Time
    known_at: Time


class TurnOptions(TypedDict, total=False):
    """Options of a turn of an agent."""

    project: str | os.PathLike[str] | Project
    """The project, a folder in it, or what it is called."""
    id: str
    agent: str
    at: str


class PastWorkOptions(TypedDict, total=False):
    """Options of a question for past work."""

    files: Sequence[str]
    conversation: str
    project: str
    root: str
    ignores_case: bool
    within_project: bool
    within_files: bool
    agent: str
    tool: str
    ok: bool
    limit: int
    budget: int


class SaidOptions(TypedDict, total=False):
    """Options of a message in a chat."""

    session: str
    speaker: str
    message_id: str
    said_at: Time
    metadata: Mapping[str, Any]
    forget: Literal["conversation", "keep"]
    idle_hours: int


class EnrichOptions(SaidOptions, total=False):
    """Options of a message in a chat and of its context."""

    store: bool
    budget_tokens: int
    mode: Mode
    format: Format
    asked_at: Time
    recent_turns: int
    limit: int
    why: Why
    salient: int
    chance: bool


class NoteOptions(TypedDict, total=False):
    """Options of a note."""

    kind: NoteKind
    tags: Sequence[str]
    about: Sequence[UUID]
    evidence: Passages
    importance: float


class NoteChanges(TypedDict, total=False):
    """Changes to a note."""

    title: str
    text: str
    kind: NoteKind
    tags: Sequence[str]
    importance: float
    evidence: Passages


class NoteFilters(TypedDict, total=False):
    """Filters on notes."""

    kind: NoteKind
    tag: str
    q: str


class CritiqueOptions(TypedDict, total=False):
    """Options of a critique."""

    answer: str
    source: str
    lesson: str
    id: str


class PlanChanges(TypedDict, total=False):
    """Changes of a plan."""

    task: str
    steps: Sequence[Step]
    results: Sequence[StepResult]
    state: PlanState
    outcome: str
    reason: str


class LinkOptions(TypedDict, total=False):
    """Options of a link."""

    strength: float
    reason: str
    evidence: Passages


class LinkedOptions(TypedDict, total=False):
    """Options for finding linked notes."""

    radius: int
    relations: Sequence[Relation]
    min_strength: float
    limit: int


class Moments(TypedDict, total=False):
    """The valid time and the recorded time to read at."""

    as_of: Time | Literal["always"]
    known_at: Time


class NodeFilters(Moments, total=False):
    """Filters on nodes."""

    type: str


class NodeOptions(TypedDict, total=False):
    """Options of a node."""

    description: str
    data: Mapping[str, Any]
    importance: float
    aliases: Sequence[str]
    node_id: UUID
    evidence: Passages
    valid_from: Time
    valid_to: Time


class FactFilters(Moments, total=False):
    """Filters on facts."""

    type: Sequence[str]
    side: Side


class WalkOptions(Moments, total=False):
    """Options for finding what is near nodes."""

    hops: int
    type: Sequence[str]
    side: Side
    fan_out: int
    limit: int


class FactOptions(TypedDict, total=False):
    """Options of a fact."""

    key: str
    data: Mapping[str, Any]
    weight: float
    confidence: float
    evidence: Passages
    valid_from: Time
    valid_to: Time


class Place(TypedDict, total=False):
    """The conversation or node of a block."""

    conversation: str
    node: UUID


class BlockMove(Place, total=False):
    """The block to move, and the version that was read."""

    expected_version: int


class Demotion(BlockMove, total=False):
    """Where to move a block."""

    kind: Literal["archival", "working"]
    hours: float


class BlockChange(BlockMove, total=False):
    """Options of a change to a block."""

    evidence: Sequence[UUID]
    hours: float


class BlockOptions(BlockChange, total=False):
    """Options for writing a block."""

    kind: Tier
    limit_tokens: int


class UserOptions(TypedDict, total=False):
    """Options of a user."""

    external_id: str
    aliases: Sequence[str]
    time_zone: str
    language: str


class KeyOptions(TypedDict, total=False):
    """Options of a key."""

    scopes: Sequence[Scope]
    user: str
    label: str
    expires_in: int
    requests_per_minute: int
    messages_per_day: int
