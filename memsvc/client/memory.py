"""``Memory``: a user's memory. Written by ``make client`` from ``asynchronous.py``: edit that file."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack
from uuid import UUID

import httpx

from memsvc.access.pausing import Pause
from memsvc.access.policies import Policies
from memsvc.access.users import User
from memsvc.chat.answering import MemoryAnswer
from memsvc.chat.enriching import Enrichment
from memsvc.chat.forgetting import Forget
from memsvc.chat.verifying import Verified
from memsvc.client import archive as archived
from memsvc.client import calls
from memsvc.client import options as o
from memsvc.client.calls import Call, Forgettable, Paged
from memsvc.client.lessons import Lessons
from memsvc.client.local import BASE_URL, Local, LocalTransport
from memsvc.client.results import LinkEnded, NewKey, Preview, SessionEnded
from memsvc.client.turns import Turn
from memsvc.client.wire import Retries, Trial, closed
from memsvc.erasing.memories import Receipt
from memsvc.feeds.feeds import AddedFeed, Feed, FeedRemoved
from memsvc.feeds.wanted import Kind as FeedKind
from memsvc.graph.describe import ShownEdge, ShownFact, ShownNode
from memsvc.graph.history import Change
from memsvc.graph.links import Link, LinkedNote, Relation
from memsvc.graph.notes import FoundNote, Note
from memsvc.graph.operations import Mark
from memsvc.graph.search import MatchedNode
from memsvc.graph.traverse import Graph, Paths
from memsvc.profiles.blocks import Block, Profile
from memsvc.profiles.changes import Append, Replace
from memsvc.recall import results
from memsvc.recall.agenda import AgendaItem, AgendaPage
from memsvc.recall.items import Context
from memsvc.recall.results import Recalled
from memsvc.recall.signals import FeedbackReceipt, MarkedMemory
from memsvc.sleep.archive import Archive, Archived, Restored
from memsvc.sources.document_reads import Document, ReadDocument
from memsvc.sources.ingests import Ingest, IngestEnded, IngestShown
from memsvc.sources.messages import MessageIn, StoredMessage
from memsvc.sources.opening import OpenedMemory
from memsvc.sources.read import Conversation, Message
from memsvc.summaries.periods import Level
from memsvc.summaries.stored import Summary
from memsvc.text.policy import Treatment
from memsvc.turns.draft import TurnDraft
from memsvc.turns.history import CausedVersion, Staleness
from memsvc.turns.past import PastWork
from memsvc.turns.storing import StoredTurn, TurnIn

T = TypeVar("T")


class Memory(Lessons):
    """A user's memory. Calls raise ClientError: RefusedError if refused, UnavailableError if retries fail."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        user: str | None = None,
        timeout: float = 30.0,
        retries: Retries = Retries(),  # noqa: B008 - frozen
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Connect to a memsvc service; the first call sends the first request.

        Args:
            url: its address, such as https://memory.example.org.
            key: a key or a token.
            user: id or external id of the user to act for. May be left out if the key belongs to one user.
            timeout: the longest wait for an answer, in seconds, for each try.
            retries: how often a call is tried.
            transport: httpx's transport; None: its default.
        """
        headers = {"Authorization": f"Bearer {key}"} if key is not None else {}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout, transport=transport)
        self._user = user
        self._retries = retries

    @classmethod
    def open(cls, folder: Path | str, *, user: str = "me", **settings: Any) -> Self:
        """Run all of memsvc in this process on a data folder, which is created if needed.

        Args:
            folder: the folder of the embedded database.
            user: id or external id. A user that does not exist is created on first use.
            **settings: settings of docs/configuration.md, in lower case without MEMSVC_.

        Raises:
            MemsvcError: it does not start. The message says why.
        """
        local = Local(Path(folder), settings)
        return cls(BASE_URL, user=user, transport=LocalTransport(local))

    def for_user(self, user: str) -> Self:
        """Return the same connection for another user. Closing either closes both."""
        other = copy.copy(self)
        other._user = user  # noqa: SLF001 - an object of this class
        return other

    def close(self) -> None:
        """Close the connection, or stop the memsvc that ``open`` started."""
        self._http.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def send(self, call: Call[T]) -> T:
        """Send a call, with retries, and return its answer.

        Raises:
            ClientError: it was refused, or the service does not answer.
        """
        trial = Trial(call, self._retries, self._user)
        while True:
            try:
                response = self._http.request(**trial.request)
            except httpx.RequestError as error:
                pause: float | None = trial.lost(error)
            except RuntimeError as error:
                if not self._http.is_closed:
                    raise
                raise closed() from error
            else:
                pause = trial.answered(response)
                if pause is None:
                    return trial.read(response)
            time.sleep(pause or 0)

    def pages(self, call: Call[Paged[T]]) -> Iterator[T]:
        """Yield all items of a list, page by page."""
        following: Call[Paged[T]] | None = call
        while following is not None:
            page = self.send(following)
            yield from page.items
            following = call.after(page.next_cursor) if page.next_cursor else None

    # Messages and recall

    def add(self, text: str, conversation: str = "default", **options: Unpack[o.MessageOptions]) -> StoredMessage:
        """Remember a message. When this returns, it is committed and can be recalled."""
        return self.add_messages([{"text": text, "conversation": conversation, **options}])[0]

    def add_messages(self, messages: Iterable[MessageIn | Mapping[str, Any]]) -> list[StoredMessage]:
        """Remember up to 1,000 messages, all of them or none. Returns their receipts in order."""
        return self.send(calls.add_messages(messages)).messages

    def ingest(
        self, paths: str | Path | Sequence[str | Path], *, wait: bool = True, **options: Unpack[o.IngestOptions]
    ) -> IngestShown:
        """Store chats and exports from files, as ``memsvc ingest`` does. With ``wait``, return when it has ended."""
        sent = self.send(calls.ingest(paths, options))
        while True:
            found = self.send(calls.get_ingest(sent.ingest_id))
            if not wait or found.finished_at is not None:
                return found
            time.sleep(0.5)

    def ingests(self, *, page: int = 50) -> Iterator[Ingest]:
        """Yield what was sent to be stored, newest first."""
        return self.pages(calls.ingests(page))

    def get_ingest(self, ingest_id: str | UUID) -> IngestShown:
        """Return what became of each file."""
        return self.send(calls.get_ingest(ingest_id))

    def continue_ingest(self, ingest_id: str | UUID, *, me: str | Sequence[str] = (), not_me: bool = False) -> Ingest:
        """Store files that wait for the answer who the user is, or that a dry run looked at."""
        return self.send(calls.continue_ingest(ingest_id, me, not_me=not_me))

    def end_ingest(self, ingest_id: str | UUID) -> IngestEnded:
        """Cancel an ingest, or delete the record of one that has ended. Stored messages stay."""
        return self.send(calls.end_ingest(ingest_id))

    def documents(self, *, page: int = 50, **options: Unpack[o.DocumentOptions]) -> Iterator[Document]:
        """Yield the documents that are stored, those stored last first."""
        return self.pages(calls.documents(options, page))

    def get_document(
        self, document_id: str | UUID, *, version: int | None = None, cursor: str | None = None, limit: int = 100
    ) -> ReadDocument:
        """Return a document with its versions and a page of the chunks of one of them, by default of the last."""
        return self.send(calls.get_document(document_id, version, cursor, limit))

    def add_feed(self, kind: FeedKind, **options: Unpack[o.FeedOptions]) -> AddedFeed:
        """Add something that is read again by itself. Of a push, the answer has the secret, which is shown once."""
        return self.send(calls.add_feed(kind, options))

    def feeds(self, *, page: int = 50) -> Iterator[Feed]:
        """Yield the feeds, oldest first."""
        return self.pages(calls.feeds(page))

    def get_feed(self, feed_id: str | UUID) -> Feed:
        """Return a feed with its state, last error, last and next run."""
        return self.send(calls.get_feed(feed_id))

    def feed_runs(self, feed_id: str | UUID, *, page: int = 50) -> Iterator[Ingest]:
        """Yield the runs of a feed, newest first."""
        return self.pages(calls.feed_runs(feed_id, page))

    def run_feed(self, feed_id: str | UUID) -> Ingest:
        """Read a feed now."""
        return self.send(calls.run_feed(feed_id))

    def pause_feed(self, feed_id: str | UUID) -> Feed:
        """Stop reading a feed until it is resumed."""
        return self.send(calls.switch_feed(feed_id, "pause"))

    def resume_feed(self, feed_id: str | UUID) -> Feed:
        """Read a paused or failed feed again."""
        return self.send(calls.switch_feed(feed_id, "resume"))

    def remove_feed(self, feed_id: str | UUID) -> FeedRemoved:
        """Remove a feed. What it stored stays."""
        return self.send(calls.remove_feed(feed_id))

    def archive(self) -> Archive:
        """Return how much forgetting has archived, and whether it goes on."""
        return self.send(archived.archive())

    def archived_memories(self, *, page: int = 50) -> Iterator[Archived]:
        """Yield what forgetting has archived, the newest memory first."""
        return self.pages(archived.list_archived(page))

    def switch_forgetting(self, *, on: bool | None) -> Archive:
        """Let sleep mode archive what is not recalled (True), or not; None: as the service is set."""
        return self.send(archived.switch_forgetting(on=on))

    def restore_memories(self, memory_ids: Iterable[str | UUID]) -> Restored:
        """Take messages, facts and nodes out of the archive, by short or full ids."""
        return self.send(archived.restore_memories(memory_ids))

    def recall(self, query: str, **options: Unpack[o.RecallOptions]) -> Recalled:
        """Recall the memories that matter for a query, best first."""
        return self.send(calls.recall(query, options))

    def recall_all(self, query: str, **options: Unpack[o.RecallOptions]) -> Iterator[results.Memory]:
        """Yield up to 1,000 memories for a query, best first, page by page (mode deliberate)."""
        call = calls.recall(query, {"mode": "deliberate", **options})
        following: Call[Recalled] | None = call
        while following is not None:
            page = self.send(following)
            yield from page.memories
            following = call.after(page.next_cursor) if page.next_cursor else None

    def context(self, query: str, **options: Unpack[o.ContextOptions]) -> Context:
        """Build the context for an answer: ``text`` is the block for the assistant's prompt."""
        return self.send(calls.context(query, options))

    def agenda(
        self, begin: o.Time, end: o.Time, *, asked_at: o.Time | None = None, page: int = 100
    ) -> Iterator[AgendaItem]:
        """Yield what falls into a span: plans that people told, tasks, events, facts that change, birthdays."""
        return self.pages(calls.agenda(begin, end, asked_at, page))

    def summaries(
        self,
        *,
        level: Level | None = None,
        begins: o.Time | None = None,
        ends: o.Time | None = None,
        node: str | UUID | None = None,
        page: int = 50,
    ) -> Iterator[Summary]:
        """Yield what sleep mode tells of conversations, days, weeks, months and years, the latest period first.

        With ``node``, an id, name or label, only what is about that person or thing.
        """
        return self.pages(calls.summaries(level, (begins, ends), node, page))

    def agenda_page(
        self, begin: o.Time, end: o.Time, *, asked_at: o.Time | None = None, limit: int = 100, cursor: str | None = None
    ) -> AgendaPage:
        """Return one page of it; ``truncated`` says that something may be missing."""
        return self.send(calls.agenda(begin, end, asked_at, limit, cursor))

    def open_memory(self, memory_id: str | UUID, *, before: int = 2, after: int = 2) -> OpenedMemory:
        """Open a memory by an id from a context or a recall, with its evidence."""
        return self.send(calls.open_memory(memory_id, before, after))

    def mark_memory(self, memory_id: str | UUID, **options: Unpack[o.MarkOptions]) -> MarkedMemory:
        """Pin (``pinned=True``) or unpin a message, a fact, a note or a node, or say how important it is."""
        return self.send(calls.mark_memory(memory_id, options))

    def promote_memory(self, memory_id: str | UUID, *, block: str = "remembered") -> Block:
        """Append what a message, a fact or a node says to a core block of the profile, once."""
        return self.send(calls.promote_memory(memory_id, block))

    def pause(self, until: o.Time | None = None) -> Pause:
        """Do not remember: store no message of the user, until a time or until ``resume``."""
        return self.send(calls.pause(until))

    def policy(self) -> Policies:
        """Return what happens to secrets in the user's text, by kind."""
        return self.send(calls.policy())

    def set_policy(self, kinds: Mapping[str, Treatment]) -> Policies:
        """Have secrets of some kinds masked or refused: ``{"card": "mask", "key": "refuse"}``; replaces the policy."""
        return self.send(calls.set_policy(kinds))

    def resume(self) -> Pause:
        """Store messages again."""
        return self.send(calls.resume())

    def conversations(self, *, page: int = 100) -> Iterator[Conversation]:
        """Yield all conversations, newest first."""
        return self.pages(calls.conversations(page))

    def messages(self, conversation: str | UUID, *, page: int = 100) -> Iterator[Message]:
        """Yield all messages of a conversation, in order."""
        return self.pages(calls.messages(conversation, page))

    def feedback(
        self, recall_id: UUID, *, used: Iterable[UUID] = (), irrelevant: Iterable[UUID] = ()
    ) -> FeedbackReceipt:
        """Record which memories of an answer were used and which were irrelevant. Recall takes it into account."""
        return self.send(calls.feedback(recall_id, used, irrelevant))

    # Chats

    def answer(self, query: str, **options: Unpack[o.AnswerOptions]) -> MemoryAnswer:
        """Answer a question from memory: claims, each with its sources."""
        return self.send(calls.answer(query, options))

    def verify(self, claim: str, **options: Unpack[o.VerifyOptions]) -> Verified:
        """Say whether memory supports a claim, contradicts it or does not know, with the memories for and against."""
        return self.send(calls.verify(claim, options))

    def document_versions(self, document_id: str | UUID, *, page: int = 50) -> Iterator[CausedVersion]:
        """Yield the versions of a document, the newest first, each with what made it."""
        return self.pages(calls.document_versions(document_id, page))

    def document_staleness(self, document_id: str | UUID, *, cursor: str | None = None, limit: int = 50) -> Staleness:
        """Return how a document fared, and a page of the turns that touched it, the last first."""
        return self.send(calls.document_staleness(document_id, cursor, limit))

    def turn(self, conversation: str, **options: Unpack[o.TurnOptions]) -> Turn:
        """Record a turn of an agent: ``with`` it, say ``user``, ``tool`` and ``agent``; it is stored as it goes on."""
        return Turn(self.record_turn, TurnDraft(conversation, options), self.document_staleness)

    def record_turn(self, turn: TurnIn | Mapping[str, Any]) -> StoredTurn:
        """Store a whole turn of an agent, or a part of one (``done`` false)."""
        return self.send(calls.record_turn(turn))

    def past_work(self, query: str = "", **options: Unpack[o.PastWorkOptions]) -> PastWork:
        """Find past turns of agents: similar requests, and what was done to the same files."""
        return self.send(calls.past_work(query, options))

    def enrich(self, text: str, conversation: str, **options: Unpack[o.EnrichOptions]) -> Enrichment:
        """Before a model answers: recall what it should know, and store the user's message."""
        return self.send(calls.enrich(text, conversation, options))

    def responded(self, text: str, conversation: str, **options: Unpack[o.SaidOptions]) -> StoredMessage:
        """After a model answers: store its answer."""
        return self.send(calls.responded(text, conversation, options))

    def end_session(self, conversation: str, *, forget: Forget | bool | None = None) -> SessionEnded:
        """End a session. Its conversation is erased if an earlier message asked for that, or if ``forget`` does.

        ``forget``: conversation or True: erase it now; keep: do not erase it, now or later; else as messages said.
        """
        return self.send(calls.end_session(conversation, forget=forget))

    # Notes and links

    def note(self, title: str, text: str = "", **options: Unpack[o.NoteOptions]) -> Note:
        """Write a note."""
        return self.send(calls.note(title, text, options))

    def update_note(self, note_id: UUID, **changes: Unpack[o.NoteChanges]) -> Note:
        """Change a note. Fields that are left out stay as they are."""
        return self.send(calls.update_note(note_id, changes))

    def get_note(self, note_id: UUID) -> Note:
        """Read a note."""
        return self.send(calls.get_note(note_id))

    def notes(self, *, page: int = 100, **filters: Unpack[o.NoteFilters]) -> Iterator[FoundNote]:
        """Yield all notes, newest first."""
        return self.pages(calls.notes(filters, page))

    def link(self, from_node: UUID, to_node: UUID, relation: Relation, **options: Unpack[o.LinkOptions]) -> Link:
        """Link two notes, or any nodes."""
        return self.send(calls.link(from_node, to_node, relation, options))

    def unlink(self, link_id: UUID) -> LinkEnded:
        """End a link."""
        return self.send(calls.unlink(link_id))

    def linked_notes(self, note_id: UUID, **options: Unpack[o.LinkedOptions]) -> list[LinkedNote]:
        """Find the notes linked with a note, nearest first."""
        return self.send(calls.linked_notes(note_id, options)).items

    # The graph

    def search_nodes(self, q: str = "", *, page: int = 100, **filters: Unpack[o.NodeFilters]) -> Iterator[MatchedNode]:
        """Yield people, places and things by name, then by what is said about them; ``matched`` says by which."""
        return self.pages(calls.search_nodes(q, filters, page))

    def add_node(self, type_: str, label: str, **options: Unpack[o.NodeOptions]) -> Change:
        """Create a node. ``results[0].node_id`` is its id."""
        return self.send(calls.add_node(type_, label, options))

    def change_graph(self, operations: Iterable[Mapping[str, Any]]) -> Change:
        """Run up to 1,000 operations of ``POST /v1/changes`` as one change, all of them or none."""
        return self.send(calls.change_graph(operations))

    def node(self, node_id: UUID) -> ShownNode:
        """Return everything about a node."""
        return self.send(calls.node(node_id))

    def facts(
        self, about: str | UUID | Sequence[str | UUID], *, page: int = 100, **filters: Unpack[o.FactFilters]
    ) -> Iterator[ShownFact]:
        """Yield facts about nodes (ids or names), newest first, each with its sources."""
        return self.pages(calls.facts(about, filters, page))

    def fact(self, edge_id: UUID) -> ShownEdge:
        """Return all versions of a fact with their evidence."""
        return self.send(calls.fact(edge_id))

    def add_fact(
        self, from_node: UUID, type_: str, to_node: UUID, sentence: str, **options: Unpack[o.FactOptions]
    ) -> Change:
        """Assert a fact. Facts that it contradicts in its valid time are superseded."""
        return self.send(calls.add_fact(from_node, type_, to_node, sentence, options))

    def annotate_fact(self, edge_id: UUID, stance: Mark, reason: str, *, version_id: UUID | None = None) -> Change:
        """Mark a fact as validated or disputed, with the reason. A disputed one is shown as contested."""
        return self.send(calls.annotate_fact(edge_id, stance, reason, version_id))

    def explore(self, start: str | UUID | Sequence[str | UUID], **options: Unpack[o.WalkOptions]) -> Graph:
        """Find what is near nodes (ids or names): nodes and the facts between them."""
        return self.send(calls.explore(start, options))

    def paths(self, from_node: str | UUID, to_node: str | UUID, *, max_hops: int = 4) -> Paths:
        """Find the shortest paths between two nodes."""
        return self.send(calls.paths(from_node, to_node, max_hops))

    # The profile

    def profile(self, **place: Unpack[o.Place]) -> Profile:
        """Return the blocks of the profile, by tier."""
        return self.send(calls.profile(place))

    def read_block(self, name: str, **place: Unpack[o.Place]) -> Block:
        """Return one block of the profile."""
        return self.send(calls.read_block(name, place))

    def write_block(self, name: str, text: str, **options: Unpack[o.BlockOptions]) -> Block:
        """Set the whole text of a block."""
        return self.send(calls.write_block(name, text, options))

    def append_to_block(self, name: str, text: str, **options: Unpack[o.BlockChange]) -> Block:
        """Add lines to a block."""
        return self.send(calls.change_block(name, Append(text=text), options))

    def replace_in_block(self, name: str, old: str, new: str, **options: Unpack[o.BlockChange]) -> Block:
        """Replace a text that occurs exactly once in a block."""
        return self.send(calls.change_block(name, Replace(old=old, new=new), options))

    def block_history(self, name: str, *, page: int = 50, **place: Unpack[o.Place]) -> Iterator[Block]:
        """Yield all versions of a block, newest first."""
        return self.pages(calls.block_history(name, place, page))

    def promote_block(self, name: str, **options: Unpack[o.BlockMove]) -> Block:
        """Move a block into core memory, from archival memory or from the working memory of a conversation."""
        return self.send(calls.promote_block(name, options))

    def demote_block(self, name: str, **options: Unpack[o.Demotion]) -> Block:
        """Move a block into archival memory, or into the working memory of a conversation."""
        return self.send(calls.demote_block(name, options))

    def forget_block(self, name: str, **place: Unpack[o.Place]) -> Receipt:
        """Erase a block with all its versions."""
        return self.send(calls.forget_block(name, place))

    # Forgetting

    def forget(self, kind: Forgettable, subject: str | UUID) -> Receipt:
        """Erase something for good, with everything that only it supported. A conversation may be named."""
        return self.send(calls.forget(kind, subject))

    def preview_forgetting(self, kind: Forgettable, subject: str | UUID) -> Preview:
        """Count what an erasure would remove, and change nothing."""
        return self.send(calls.preview_forgetting(kind, subject))

    # Users and keys: these need a service and a key with the scope admin

    def add_user(self, name: str, **options: Unpack[o.UserOptions]) -> User:
        """Add a user to the key's app."""
        return self.send(calls.add_user(name, options))

    def make_key(self, **options: Unpack[o.KeyOptions]) -> NewKey:
        """Make a key of the app. Its secret is shown only this once."""
        return self.send(calls.make_key(options))
