"""``Memory``: a user's memory. Written by ``make client`` from ``asynchronous.py``: edit that file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Unpack
from uuid import UUID

from memsvc.access.pausing import Pause
from memsvc.access.policies import Policies
from memsvc.access.users import User
from memsvc.chat.answering import MemoryAnswer
from memsvc.chat.enriching import Enrichment
from memsvc.chat.forgetting import Forget
from memsvc.chat.verifying import Verified
from memsvc.client import archive as archived
from memsvc.client import memory_calls as calls
from memsvc.client import options as o
from memsvc.client.calls import Call
from memsvc.client.files import MemoryFiles
from memsvc.client.graph import MemoryGraph
from memsvc.client.lessons import Lessons
from memsvc.client.memory_calls import Forgettable
from memsvc.client.profile import MemoryProfile
from memsvc.client.results import NewKey, Preview, SessionEnded
from memsvc.client.turns import Turn
from memsvc.erasing.memories import Receipt
from memsvc.profiles.blocks import Block
from memsvc.recall import results
from memsvc.recall.agenda import AgendaItem, AgendaPage
from memsvc.recall.items import Context
from memsvc.recall.results import Recalled
from memsvc.recall.signals import FeedbackReceipt, MarkedMemory
from memsvc.recall.timeline import Kind, Step, TimelineCounts, TimelineEntry, TimelineNews
from memsvc.sleep.archive import Archive, Archived, Restored
from memsvc.sources.messages import MessageIn, StoredMessage
from memsvc.sources.opening import OpenedMemory
from memsvc.sources.read import Conversation, Message
from memsvc.summaries.periods import Level
from memsvc.summaries.stored import Summary
from memsvc.text.policy import Treatment
from memsvc.turns.draft import TurnDraft
from memsvc.turns.past import PastWork
from memsvc.turns.storing import StoredTurn, TurnIn


class Memory(MemoryFiles, MemoryGraph, MemoryProfile, Lessons):
    """A user's memory. Calls raise ClientError: RefusedError if refused, UnavailableError if retries fail."""

    # Messages and recall

    def add(self, text: str, conversation: str = "default", **options: Unpack[o.MessageOptions]) -> StoredMessage:
        """Remember a message. When this returns, it is committed and can be recalled."""
        return self.add_messages([{"text": text, "conversation": conversation, **options}])[0]

    def add_messages(self, messages: Iterable[MessageIn | Mapping[str, Any]]) -> list[StoredMessage]:
        """Remember up to 1,000 messages, all of them or none. Returns their receipts in order."""
        return self.send(calls.add_messages(messages)).messages

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

    def timeline(
        self,
        *,
        begins: o.Time | None = None,
        ends: o.Time | None = None,
        kinds: Iterable[Kind] | None = None,
        node: str | UUID | None = None,
        page: int = 100,
    ) -> Iterator[TimelineEntry]:
        """Yield what happened, the latest first: messages by conversation and day, documents, events, facts."""
        return self.pages(calls.timeline((begins, ends), kinds, node, page))

    def timeline_counts(
        self,
        step: Step = "month",
        *,
        begins: o.Time | None = None,
        ends: o.Time | None = None,
        kinds: Iterable[Kind] | None = None,
        node: str | UUID | None = None,
    ) -> TimelineCounts:
        """Count what ``timeline`` yields by days, weeks, months or years."""
        return self.send(calls.timeline_counts(step, (begins, ends), kinds, node))

    def news(self, since: o.Time) -> TimelineNews:
        """Count what was stored since a moment; ask from its ``until`` the next time."""
        return self.send(calls.news(since))

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
