"""The calls that a client can make, each with its request and the form of its answer. No network here.

``Memory`` and ``AsyncMemory`` send the same calls. Answers are decoded into the structs that the service encodes.
Fields that a newer service adds are ignored.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx
import msgspec

from memsvc.access.pausing import Pause
from memsvc.access.policies import Policies
from memsvc.access.users import User
from memsvc.chat.answering import MemoryAnswer
from memsvc.chat.enriching import Enrichment
from memsvc.chat.forgetting import Forget
from memsvc.chat.verifying import Verified
from memsvc.client import options as o
from memsvc.client.results import LinkEnded, NewKey, Preview, SessionEnded, Stored
from memsvc.db.paging import Page
from memsvc.erasing.memories import Receipt
from memsvc.feeds.feeds import AddedFeed, Feed, FeedRemoved
from memsvc.graph.describe import FactsPage, ShownEdge, ShownNode
from memsvc.graph.history import Change
from memsvc.graph.links import Link, LinkedNote, Relation
from memsvc.graph.notes import FoundNote, Note
from memsvc.graph.operations import Mark
from memsvc.graph.search import MatchedNode
from memsvc.graph.traverse import Graph, Paths
from memsvc.profiles.blocks import Block, Profile
from memsvc.profiles.changes import Change as TextChange
from memsvc.recall.agenda import AgendaPage
from memsvc.recall.items import Context
from memsvc.recall.results import Recalled
from memsvc.recall.signals import FeedbackReceipt, MarkedMemory
from memsvc.sources.document_reads import Document, ReadDocument
from memsvc.sources.ingests import Ingest, IngestEnded, IngestShown
from memsvc.sources.messages import MessageIn, StoredMessage
from memsvc.sources.opening import OpenedMemory
from memsvc.sources.read import Conversation, Message
from memsvc.summaries.periods import Level
from memsvc.summaries.stored import Summary
from memsvc.text.policy import Treatment
from memsvc.turns.history import CausedVersion, Staleness
from memsvc.turns.past import PastWork
from memsvc.turns.storing import StoredTurn, TurnIn

T = TypeVar("T", covariant=True)  # noqa: PLC0105 - the usual name
Forgettable = Literal["message", "passage", "source", "conversation", "fact", "node"]


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request and the form of its answer."""

    method: str
    path: str
    answer: type[T]
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    form: tuple[str, bytes] | None = None
    """A body that is not JSON: its content type and its bytes."""
    repeatable: bool = False
    """True: repeating it changes nothing more, so it is sent again if it may not have arrived."""

    def after(self, cursor: str) -> Call[T]:
        """Return the call for the next page."""
        if isinstance(self.body, Mapping):
            return replace(self, body={**self.body, "cursor": cursor})
        return replace(self, query={**self.query, "cursor": cursor})

    @property
    def content(self) -> bytes | None:
        """The encoded body."""
        if self.form is not None:
            return self.form[1]
        return None if self.body is None else msgspec.json.encode(self.body)

    @property
    def content_type(self) -> str | None:
        """The type of the body; None: there is none."""
        if self.form is not None:
            return self.form[0]
        return None if self.body is None else "application/json"

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The query's parameters. A list becomes a repeated parameter."""
        return [
            (name, _word(value))
            for name, given in self.query.items()
            if given is not None
            for value in (given if isinstance(given, (list, tuple)) else [given])
        ]


class Paged(Protocol[T]):
    """A page of a list."""

    @property
    def items(self) -> Sequence[T]:
        """The items of the page."""

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page; None: this is the last."""


def _word(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode().strip('"')


def _at(path: str, *parts: object) -> str:
    return path.format(*(quote(str(part), safe="") for part in parts))


def _read(path: str, answer: type[T], query: Mapping[str, Any] | None = None) -> Call[T]:
    return Call("GET", path, answer, query=query or {}, repeatable=True)


def _once(path: str, answer: type[T], body: Any) -> Call[T]:
    """Build a call that creates something. Its key lets the service do it once, however often it is sent."""
    return Call("POST", path, answer, body, headers={"Idempotency-Key": secrets.token_hex(16)}, repeatable=True)


# Messages and recall


def add_messages(messages: Iterable[MessageIn | Mapping[str, Any]]) -> Call[Stored]:
    """Store messages."""
    return _once("/v1/messages", Stored, {"messages": list(messages)})


def ingest(paths: str | Path | Sequence[str | Path], options: o.IngestOptions) -> Call[Ingest]:
    """Store files.

    Raises:
        OSError: a file cannot be read.
    """
    chosen = [Path(one) for one in ([paths] if isinstance(paths, (str, Path)) else paths)]
    files = [("file", (one.name, one.read_bytes())) for one in chosen]
    given = {name: value for name, value in options.items() if value is not None}
    fields = {name: value if isinstance(value, (str, list, tuple)) else _word(value) for name, value in given.items()}
    if (kind := fields.pop("kind", None)) is not None:
        fields["as"] = kind
    request = httpx.Request("POST", "http://memsvc", data=fields, files=files)
    form = (request.headers["Content-Type"], request.read())
    return replace(_once("/v1/documents", Ingest, None), form=form)


def get_ingest(ingest_id: str | UUID) -> Call[IngestShown]:
    """Return what became of files."""
    return _read(_at("/v1/ingests/{}", ingest_id), IngestShown)


def ingests(page: int) -> Call[Page[Ingest]]:
    """List what was sent."""
    return _read("/v1/ingests", Page[Ingest], {"limit": page})


def continue_ingest(ingest_id: str | UUID, me: Sequence[str], *, not_me: bool) -> Call[Ingest]:
    """Say who the user is."""
    body = {"me": [me] if isinstance(me, str) else list(me), "not_me": not_me}
    return Call("POST", _at("/v1/ingests/{}/continue", ingest_id), Ingest, body)


def add_feed(kind: str, options: o.FeedOptions) -> Call[AddedFeed]:
    """Add a feed."""
    body: dict[str, Any] = {"kind": kind, **options}
    if (files := body.pop("kind_of_files", None)) is not None:
        body["as"] = files
    return Call("POST", "/v1/feeds", AddedFeed, body)


def feeds(page: int) -> Call[Page[Feed]]:
    """List feeds."""
    return _read("/v1/feeds", Page[Feed], {"limit": page})


def feed_runs(feed_id: str | UUID, page: int) -> Call[Page[Ingest]]:
    """List the runs of a feed."""
    return _read(_at("/v1/feeds/{}/runs", feed_id), Page[Ingest], {"limit": page})


def get_feed(feed_id: str | UUID) -> Call[Feed]:
    """Return a feed."""
    return _read(_at("/v1/feeds/{}", feed_id), Feed)


def run_feed(feed_id: str | UUID) -> Call[Ingest]:
    """Read a feed now."""
    return Call("POST", _at("/v1/feeds/{}/run", feed_id), Ingest)


def switch_feed(feed_id: str | UUID, does: Literal["pause", "resume"]) -> Call[Feed]:
    """Pause or resume a feed."""
    return Call("POST", _at(f"/v1/feeds/{{}}/{does}", feed_id), Feed)


def remove_feed(feed_id: str | UUID) -> Call[FeedRemoved]:
    """Remove a feed."""
    return Call("DELETE", _at("/v1/feeds/{}", feed_id), FeedRemoved)


def end_ingest(ingest_id: str | UUID) -> Call[IngestEnded]:
    """Cancel or delete an ingest."""
    return Call("DELETE", _at("/v1/ingests/{}", ingest_id), IngestEnded)


def documents(options: o.DocumentOptions, page: int) -> Call[Page[Document]]:
    """List documents."""
    return _read("/v1/documents", Page[Document], {**options, "limit": page})


def get_document(document_id: str | UUID, version: int | None, cursor: str | None, limit: int) -> Call[ReadDocument]:
    """Read a document."""
    query = {"version": version, "cursor": cursor, "limit": limit}
    return _read(_at("/v1/documents/{}", document_id), ReadDocument, query)


def recall(query: str, options: o.RecallOptions) -> Call[Recalled]:
    """Recall memories for a query."""
    return Call("POST", "/v1/recall", Recalled, {"query": query, **options}, repeatable=True)


def context(query: str, options: o.ContextOptions) -> Call[Context]:
    """Build a block for a prompt."""
    return Call("POST", "/v1/context", Context, {"query": query, **options}, repeatable=True)


def mark_memory(memory_id: str | UUID, options: o.MarkOptions) -> Call[MarkedMemory]:
    """Pin a memory, or say how important it is."""
    return Call("PATCH", _at("/v1/memories/{}", memory_id), MarkedMemory, {**options}, repeatable=True)


def promote_memory(memory_id: str | UUID, block: str) -> Call[Block]:
    """Promote a memory into core memory."""
    return Call("POST", _at("/v1/memories/{}/promote", memory_id), Block, {"block": block}, repeatable=True)


def pause(until: o.Time | None) -> Call[Pause]:
    """Store no messages."""
    return Call("PUT", "/v1/me/pause", Pause, {"until": until}, repeatable=True)


def policy() -> Call[Policies]:
    """Get what happens to secrets in text."""
    return Call("GET", "/v1/me/policy", Policies)


def set_policy(kinds: Mapping[str, Treatment]) -> Call[Policies]:
    """Have secrets masked or refused."""
    return Call("PUT", "/v1/me/policy", Policies, {"kinds": dict(kinds)}, repeatable=True)


def resume() -> Call[Pause]:
    """Store messages again."""
    return Call("DELETE", "/v1/me/pause", Pause, repeatable=True)


def agenda(
    begin: o.Time, end: o.Time, asked_at: o.Time | None, limit: int, cursor: str | None = None
) -> Call[AgendaPage]:
    """List what falls into a span of time."""
    query = {"from": begin, "to": end, "asked_at": asked_at, "limit": limit, "cursor": cursor}
    return _read("/v1/agenda", AgendaPage, query)


def summaries(
    level: Level | None,
    span: tuple[o.Time | None, o.Time | None],
    node: str | UUID | None,
    limit: int,
    cursor: str | None = None,
) -> Call[Page[Summary]]:
    """List what sleep mode tells of periods."""
    query = {"level": level, "from": span[0], "to": span[1], "node": node, "limit": limit, "cursor": cursor}
    return _read("/v1/summaries", Page[Summary], query)


def open_memory(memory_id: str | UUID, before: int, after: int) -> Call[OpenedMemory]:
    """Open the memory with an id."""
    return _read(_at("/v1/memories/{}", memory_id), OpenedMemory, {"before": before, "after": after})


def conversations(limit: int) -> Call[Page[Conversation]]:
    """List conversations, newest first."""
    return _read("/v1/conversations", Page[Conversation], {"limit": limit})


def messages(conversation: str | UUID, limit: int) -> Call[Page[Message]]:
    """List the messages of a conversation."""
    return _read(_at("/v1/conversations/{}/messages", conversation), Page[Message], {"limit": limit})


def feedback(recall_id: UUID, used: Iterable[UUID], irrelevant: Iterable[UUID]) -> Call[FeedbackReceipt]:
    """Record which memories were useful. Repeated feedback counts once."""
    body = {"used": list(used), "irrelevant": list(irrelevant)}
    return Call("POST", _at("/v1/recalls/{}/feedback", recall_id), FeedbackReceipt, body, repeatable=True)


# Chats


def answer(query: str, options: o.AnswerOptions) -> Call[MemoryAnswer]:
    """Answer a question from memory."""
    return Call("POST", "/v1/answer", MemoryAnswer, {"query": query, **options}, repeatable=True)


def verify(claim: str, options: o.VerifyOptions) -> Call[Verified]:
    """Verify a claim."""
    return Call("POST", "/v1/verify", Verified, {"claim": claim, **options}, repeatable=True)


def document_versions(document_id: str | UUID, page: int) -> Call[Page[CausedVersion]]:
    """List the versions of a document."""
    return _read(_at("/v1/documents/{}/versions", document_id), Page[CausedVersion], {"limit": page})


def document_staleness(document_id: str | UUID, cursor: str | None, limit: int) -> Call[Staleness]:
    """Ask how stale a document is."""
    return _read(_at("/v1/documents/{}/staleness", document_id), Staleness, {"cursor": cursor, "limit": limit})


def record_turn(turn: TurnIn | Mapping[str, Any]) -> Call[StoredTurn]:
    """Store a turn of an agent; one with an id can be sent again."""
    given = turn if isinstance(turn, TurnIn) else TurnIn(**turn)
    return Call("POST", "/v1/turns", StoredTurn, given, repeatable=given.id is not None)


def past_work(query: str, options: o.PastWorkOptions) -> Call[PastWork]:
    """Ask for past work."""
    return Call("POST", "/v1/past-work", PastWork, {"query": query, **options}, repeatable=True)


def enrich(text: str, conversation: str, options: o.EnrichOptions) -> Call[Enrichment]:
    """Recall what a model should know before it answers, and store the message."""
    return _said("/v1/hooks/message", Enrichment, text, conversation, options)


def responded(text: str, conversation: str, options: o.SaidOptions) -> Call[StoredMessage]:
    """Store the model's answer."""
    return _said("/v1/hooks/response", StoredMessage, text, conversation, options)


def _said(path: str, answer: type[T], text: str, conversation: str, options: Mapping[str, Any]) -> Call[T]:
    """Build a call with a message. A missing id is drawn, so the call can be repeated."""
    named = options.get("message_id")
    known = secrets.token_hex(16) if named is None else named
    body = {**options, "message_id": known, "text": text, "conversation": conversation}
    return Call("POST", path, answer, body, repeatable=True)


def end_session(conversation: str, *, forget: Forget | bool | None) -> Call[SessionEnded]:
    """End a session."""
    said = "conversation" if forget is True else forget or None
    body = {"conversation": conversation, **({"forget": said} if said is not None else {})}
    return Call("POST", "/v1/hooks/session-end", SessionEnded, body)


# Notes and links


def note(title: str, text: str, options: o.NoteOptions) -> Call[Note]:
    """Write a note."""
    return _once("/v1/notes", Note, {"title": title, "text": text, **options})


def update_note(note_id: UUID, changes: o.NoteChanges) -> Call[Note]:
    """Change a note."""
    return Call("PATCH", _at("/v1/notes/{}", note_id), Note, changes)


def get_note(note_id: UUID) -> Call[Note]:
    """Read a note."""
    return _read(_at("/v1/notes/{}", note_id), Note)


def notes(filters: o.NoteFilters, limit: int) -> Call[Page[FoundNote]]:
    """List notes, newest first; with ``q`` those that say it, then those that are about it."""
    return _read("/v1/notes", Page[FoundNote], {**filters, "limit": limit})


def link(from_node: UUID, to_node: UUID, relation: Relation, options: o.LinkOptions) -> Call[Link]:
    """Link two nodes. A repeated link is the same link."""
    body = {"from_node": from_node, "to_node": to_node, "relation": relation, **options}
    return Call("POST", "/v1/links", Link, body, repeatable=True)


def unlink(link_id: UUID) -> Call[LinkEnded]:
    """End a link."""
    return Call("POST", "/v1/links/close", LinkEnded, {"link_id": link_id})


def linked_notes(note_id: UUID, options: o.LinkedOptions) -> Call[Page[LinkedNote]]:
    """Find linked notes."""
    return _read(_at("/v1/notes/{}/linked", note_id), Page[LinkedNote], {**options})


# The graph


def search_nodes(q: str, filters: o.NodeFilters, limit: int) -> Call[Page[MatchedNode]]:
    """Find nodes by name, then by words and meaning of what is said about them."""
    return _read("/v1/nodes", Page[MatchedNode], {"q": q, **filters, "limit": limit})


def node(node_id: UUID) -> Call[ShownNode]:
    """Read everything about a node."""
    return _read(_at("/v1/nodes/{}", node_id), ShownNode)


def add_node(type_: str, label: str, options: o.NodeOptions) -> Call[Change]:
    """Create a node."""
    return _once("/v1/nodes", Change, {"type": type_, "label": label, **options})


def change_graph(operations: Iterable[Mapping[str, Any]]) -> Call[Change]:
    """Run several operations as one change."""
    return _once("/v1/changes", Change, {"operations": list(operations)})


def facts(about: str | UUID | Sequence[str | UUID], filters: o.FactFilters, limit: int) -> Call[FactsPage]:
    """List facts about nodes."""
    return _read("/v1/facts", FactsPage, {"about": _several(about), **filters, "limit": limit})


def fact(edge_id: UUID) -> Call[ShownEdge]:
    """Read all versions of a fact."""
    return _read(_at("/v1/facts/{}", edge_id), ShownEdge)


def add_fact(from_node: UUID, type_: str, to_node: UUID, sentence: str, options: o.FactOptions) -> Call[Change]:
    """Assert a fact. Repeating it changes nothing."""
    body = {"from_node": from_node, "type": type_, "to_node": to_node, "fact": sentence, **options}
    return Call("POST", "/v1/facts", Change, body, repeatable=True)


def annotate_fact(edge_id: UUID, stance: Mark, reason: str, version_id: UUID | None) -> Call[Change]:
    """Mark a fact as validated or disputed."""
    body = {"stance": stance, "reason": reason, "version_id": version_id}
    return _once(_at("/v1/facts/{}/annotations", edge_id), Change, body)


def explore(start: str | UUID | Sequence[str | UUID], options: o.WalkOptions) -> Call[Graph]:
    """Find what is near nodes."""
    return _read("/v1/graph/neighbourhood", Graph, {"node": _several(start), **options})


def paths(from_node: str | UUID, to_node: str | UUID, max_hops: int) -> Call[Paths]:
    """Find the paths between two nodes."""
    return _read("/v1/graph/paths", Paths, {"from": str(from_node), "to": str(to_node), "max_hops": max_hops})


def _several(nodes: str | UUID | Sequence[str | UUID]) -> list[str]:
    return [str(nodes)] if isinstance(nodes, (str, UUID)) else [str(node) for node in nodes]


# The profile


def profile(place: o.Place) -> Call[Profile]:
    """Read all blocks."""
    return _read("/v1/profile", Profile, {**place})


def read_block(name: str, place: o.Place) -> Call[Block]:
    """Read one block."""
    return _read(_at("/v1/profile/{}", name), Block, {**place})


def write_block(name: str, text: str, options: o.BlockOptions) -> Call[Block]:
    """Set a block's text."""
    return Call("PUT", _at("/v1/profile/{}", name), Block, {"text": text, **options})


def change_block(name: str, change: TextChange, options: o.BlockChange) -> Call[Block]:
    """Change a block's text."""
    return Call("PATCH", _at("/v1/profile/{}", name), Block, {"change": change, **options})


def block_history(name: str, place: o.Place, limit: int) -> Call[Page[Block]]:
    """List a block's versions."""
    return _read(_at("/v1/profile/{}/history", name), Page[Block], {**place, "limit": limit})


def promote_block(name: str, options: o.BlockMove) -> Call[Block]:
    """Move a block into core memory."""
    return Call("POST", _at("/v1/profile/{}/promote", name), Block, {**options})


def demote_block(name: str, options: o.Demotion) -> Call[Block]:
    """Move a block out of core memory."""
    return Call("POST", _at("/v1/profile/{}/demote", name), Block, {**options})


def forget_block(name: str, place: o.Place) -> Call[Receipt]:
    """Erase a block."""
    return Call("DELETE", _at("/v1/profile/{}", name), Receipt, query={**place})


# Forgetting


def forget(kind: Forgettable, subject: str | UUID) -> Call[Receipt]:
    """Erase something."""
    return Call("DELETE", _at("/v1/{}s/{}", kind, subject), Receipt)


def preview_forgetting(kind: Forgettable, subject: str | UUID) -> Call[Preview]:
    """Count what an erasure would remove."""
    path = _at("/v1/{}s/{}", kind, subject)
    return Call("DELETE", path, Preview, query={"preview": True}, repeatable=True)


# Users and keys


def add_user(name: str, options: o.UserOptions) -> Call[User]:
    """Add a user of the app."""
    return _once("/v1/users", User, {"name": name, **options})


def make_key(options: o.KeyOptions) -> Call[NewKey]:
    """Make a key of the app."""
    return _once("/v1/keys", NewKey, {**options})
