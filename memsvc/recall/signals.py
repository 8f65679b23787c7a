"""What became of an answer: that it was given, and what was used of it.

A door calls ``record_recall`` after its answer went out, or keeps the note with a message that it stores for it. A note
has ids, never the query or a text (``sql/functions/recall/65_recalls.sql``). The nightly ``tidy`` adds the events to
``memory_signals``, from which recall takes strength and familiarity. ``feedback`` says which memories were used or
irrelevant; it counts at once. ``mark_memory`` pins a memory, or says how much it matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

import msgspec

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.db.engine import EVENTS, Database
from memsvc.db.files import query
from memsvc.db.together import Together
from memsvc.errors import (
    InvalidRequestError,
    MemoryUnknownError,
    MemsvcError,
    NotRecalledError,
    RecallUnknownError,
)
from memsvc.graph.operations import new_id
from memsvc.graph.search import as_id
from memsvc.recall.items import Context
from memsvc.recall.options import MAX_LIMIT, Mode
from memsvc.recall.results import Memory
from memsvc.sources.opening import find_memory

MOST_IMPORTANT = 10
CARRIED = frozenset({"core", "instructions"})
"""Sections of a context that hold instructions."""
SHOWN_IDS = 5
"""Most ids that an error's message names; its details have all."""


class Answer(Protocol):
    """What a door gives: ``Recalled``, or whatever else has memories."""

    @property
    def recall_id(self) -> UUID | None:
        """Under which feedback is taken."""

    @property
    def memories(self) -> list[Memory]:
        """Best first."""


class FeedbackReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """What became of feedback."""

    recall_id: UUID
    used: list[UUID]
    """Memories that count as used in that recall now."""
    irrelevant: list[UUID]
    """Memories that count as irrelevant in it now."""
    changed: int
    """How many of these verdicts are new, or replace another one; the others were known already."""
    erased: list[UUID]
    """Memories that were erased meanwhile: nothing is kept about them."""


class MarkedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What was said of a memory."""

    memory_id: UUID
    kind: str
    """message, fact or node; of a node ``memory_id`` is the passage that is marked."""
    pinned: bool
    importance: int | None
    """1 to 10; null: nobody has judged."""


class Note(msgspec.Struct, frozen=True):
    """What is noted of an answer."""

    recall_id: UUID
    door: str
    """Which door gave it: a word of small letters, digits, - and _, 40 characters at most."""
    mode: Mode
    """How hard it looked."""
    memories: list[UUID]
    """In the answer's order."""
    conversation_id: UUID | None = None
    """The conversation that a context was for, where it is known."""
    instructions: list[UUID] = []
    """Nodes of the instructions that a context carried."""


def note_of(recalled: Answer, *, door: str, mode: Mode) -> Note:
    """The note of an answer. Where it has no ``recall_id``, it gets one that nobody knows but the caller."""
    memories = list(dict.fromkeys(memory.memory_id for memory in recalled.memories))
    note = Note(recalled.recall_id or new_recall_id(), door, mode, memories)
    if not isinstance(recalled, Context):
        return note
    carried = [item.memory_id for one in recalled.sections if one.name in CARRIED for item in one.items]
    return msgspec.structs.replace(note, conversation_id=recalled.conversation_id, instructions=carried)


def new_recall_id() -> UUID:
    """An id for an answer that is going to be recorded."""
    return new_id()


async def record_recall(db: Database, owner: Owner, recalled: Answer, *, door: str, mode: Mode) -> UUID:
    """Note which memories an answer had. For after the answer: it never fails, it only counts and logs what went wrong.

    Args:
        db: the database.
        owner: whose memories they are.
        recalled: the answer. Where it has no ``recall_id``, it gets one that nobody knows but the caller.
        door: which door gave it: a word of small letters, digits, - and _, 40 characters at most.
        mode: how hard it looked.

    Returns:
        The id of the recall, recorded or not.
    """
    note = note_of(recalled, door=door, mode=mode)
    await record(db, owner, note)
    return note.recall_id


async def record(db: Database, owner: Owner, note: Note) -> None:
    """Keep a note, as ``record_recall``."""
    try:
        trip = Together(db, owner.user_id)
        trip.ask(query("append_recall"), {"user_id": owner.user_id, **msgspec.structs.asdict(note)})
        await trip.send()
    except Exception as error:  # noqa: BLE001 - the answer is out; nothing that happens here may reach who asked
        tell_failed(note, error)
    else:
        tell_recorded(db)


def tell_recorded(db: Database) -> None:
    """Count a recall that was noted, and tell who listens."""
    db.notify(EVENTS)
    observe.RECALLS_RECORDED.labels(outcome="stored").inc()


def tell_failed(note: Note, error: Exception) -> None:
    """Count and log one that was not."""
    code = error.code if isinstance(error, MemsvcError) else "internal"
    observe.RECALLS_RECORDED.labels(outcome="failed").inc()
    observe.logger().warning("recall not recorded", code=code, door=note.door, error=type(error).__name__)


async def memories_meant(db: Database, owner: Owner, recall_id: UUID, asked: Sequence[str]) -> list[UUID]:
    """Return ids of memories as ``feedback`` takes them, for ids as a context shows them (m:…, f:…, n:…, b:…).

    A context shows a card, a note or an instruction by its node, and an archived block by the block. An id that was not
    in the recall is returned as it is, so that ``feedback`` refuses it.

    Raises:
        MemoryUnknownError, MemoryAmbiguousError, InvalidRequestError: as ``memsvc.sources.opening.find_memory``.
    """
    found: list[UUID] = []
    for one in asked:
        if (whole := as_id(one)) is not None:
            found.append(whole)
            continue
        memory = await find_memory(db, owner, one)
        ids = [memory.memory_id]
        if memory.kind in {"node", "block"}:
            values = {"user_id": owner.user_id, "recall_id": recall_id, "ids": ids}
            async with db.transaction(owner.user_id) as connection:
                rows = (await connection.execute(query("recalled_of"), values)).all()
            ids = [row.memory_id for row in rows] or ids
        found += ids
    return found


async def feedback(
    db: Database, owner: Owner, recall_id: UUID, *, used: Sequence[UUID], irrelevant: Sequence[UUID]
) -> FeedbackReceipt:
    """Say which memories of an answer were used and which were irrelevant.

    A verdict that is said again counts once; another one for the same memory of the same recall replaces it.

    Args:
        db: the database.
        owner: whose memories they are.
        recall_id: as the answer had it.
        used: ids of memories (``memory_id``), up to 1,000.
        irrelevant: the same.

    Raises:
        RecallUnknownError: no such recall of this user is recorded, or it was deleted after its time.
        NotRecalledError: an id was not in that answer; nothing is counted.
        InvalidRequestError: an id is in both lists, or there are too many.
    """
    both = sorted(set(used) & set(irrelevant))
    if both:
        raise InvalidRequestError(f"{_named(both)} cannot be used and irrelevant at once.", field="irrelevant")
    for field, given in (("used", used), ("irrelevant", irrelevant)):
        if len(given) > MAX_LIMIT:
            raise InvalidRequestError(f"{field} has {len(given):,} ids; at most {MAX_LIMIT:,} fit.", field=field)
    values = {"user_id": owner.user_id, "recall_id": recall_id, "used": list(used), "irrelevant": list(irrelevant)}
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(query("give_feedback"), values)).all()
    found: dict[str, list[UUID]] = {}
    for row in rows:
        found.setdefault(row.outcome, []).append(row.memory_id)
    if "unknown_recall" in found:
        raise RecallUnknownError(f"There is no recall {recall_id}.")
    if strangers := found.get("not_recalled"):
        raise NotRecalledError(
            f"{_named(strangers)}: not in that recall.", memory_ids=[str(stranger) for stranger in strangers]
        )
    for verdict in ("used", "irrelevant"):
        changed = sum(row.changed for row in rows if row.outcome == verdict)
        observe.FEEDBACK.labels(verdict=verdict).inc(changed)
    return FeedbackReceipt(
        recall_id=recall_id,
        used=found.get("used", []),
        irrelevant=found.get("irrelevant", []),
        changed=sum(row.changed for row in rows),
        erased=found.get("erased", []),
    )


async def mark_memory(
    db: Database, owner: Owner, memory: str, *, pinned: bool | None = None, importance: int | None = None
) -> MarkedMemory:
    """Pin or unpin a message, a fact, or what is known of a node, or say how much it matters.

    What is None stays as it was. Of a node the note or the card is marked, as it is now; its later versions begin
    with the same marks, as a fact's do.

    Args:
        db: the database.
        owner: whose memory it is.
        memory: its short or full id.
        pinned: whether it is always salient.
        importance: 1 (trivial) to 10 (life-changing).

    Raises:
        MemoryUnknownError, MemoryAmbiguousError: no memory, or several, have this id.
        InvalidRequestError: it is a block, an instruction, or a node without a description; nothing is to be changed;
            or the importance is out of range.
    """
    if pinned is None and importance is None:
        raise InvalidRequestError("Nothing is to be changed.", hint="Send pinned, importance or both.")
    if importance is not None and not 1 <= importance <= MOST_IMPORTANT:
        raise InvalidRequestError(f"importance must lie between 1 and {MOST_IMPORTANT}.", field="importance")
    called = await find_memory(db, owner, memory)
    if called.kind not in {"message", "fact", "node"}:
        raise InvalidRequestError(
            "A block of the profile cannot be pinned.", hint="It can be promoted.", field="memory_id"
        )
    async with db.transaction(owner.user_id) as connection:
        await connection.execute(query("keep_memories"), {"user_id": owner.user_id})
        marked: UUID | None = called.memory_id
        if called.kind == "node":
            asked = {"user_id": owner.user_id, "node_id": called.memory_id}
            marked = (await connection.execute(query("passage_of_node"), asked)).scalar_one_or_none()
            if marked is None:
                raise InvalidRequestError(
                    "Nothing is said about this node that could be shown.",
                    hint="Give it a description (PATCH /v1/nodes/{id}), or pin a fact about it. An instruction is "
                    "pinned by its data.",
                    field="memory_id",
                )
        values = {"user_id": owner.user_id, "memory_id": marked, "pinned": pinned, "importance": importance}
        row = (await connection.execute(query("mark_memory"), values)).one_or_none()
    if row is None:  # erased a moment ago
        raise MemoryUnknownError
    return MarkedMemory(memory_id=row.memory_id, kind=called.kind, pinned=row.pinned, importance=row.importance)


def _named(ids: Sequence[UUID]) -> str:
    more = f" and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    return ", ".join(str(one) for one in ids[:SHOWN_IDS]) + more
