"""Critiques: answers that were wrong, each with what is right; and lessons, which a person may make instructions.

A critique is a node of type Critique, written through ``memsvc.graph.history``, and so a passage of the kind
``critique``: recall finds it when its question comes again, and contexts show it as a lesson. Its data hold what was
said, and the proposed instruction with what became of it. Statements: ``sql/queries/lessons.sql``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Page
from memsvc.db.short_ids import short_id
from memsvc.errors import (
    IdempotencyConflictError,
    InvalidRequestError,
    ReviewDecidedError,
    TextTooLongError,
)
from memsvc.graph.history import write_in
from memsvc.graph.operations import Correct, Edge, Evidence, Node, Operation, new_id
from memsvc.lessons.nodes import MOST_LABEL, client_id, data_of, label_of, node_called, node_of, page_of
from memsvc.sources.opening import find_memory
from memsvc.text.characters import is_visible, plain_lines
from memsvc.text.storable import check_storable

TYPE: Literal["Critique"] = "Critique"
State = Literal["none", "proposed", "accepted", "rejected"]
STATES: tuple[State, ...] = ("none", "proposed", "accepted", "rejected")
MOST_QUESTION, MOST_ANSWER, MOST_LESSON = 1_000, 2_000, 1_000
"""Characters."""
MOST_EVIDENCE = 20
IMPORTANCE = 7.0
"""Of a critique, 1 to 10: somebody took the trouble to correct the answer."""
CATEGORY = "lesson"
"""Of instructions that come from lessons."""


class Data(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a node's data say of a critique."""

    question: str
    answer: str
    correction: str
    source: str = ""
    lesson: str = ""
    state: State = "none"
    instruction: UUID | None = None
    id: str = ""


class Critique(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that was wrong, and what is right."""

    critique_id: UUID
    """Its node."""
    version_id: UUID
    question: str
    answer: str
    """The wrong one; empty: it is not known."""
    correction: str
    """What is right."""
    source: str
    """Id of the memory that says so (m:…, f:…, n:…); empty: the correction stands for itself."""
    lesson: str
    """A proposed instruction; empty: none."""
    state: State
    """Of the lesson: proposed, accepted or rejected; none: there is no lesson."""
    instruction: UUID | None
    """The instruction that an accepted lesson became."""
    asserted_by: str
    """Who wrote this version: user, app, or the name of a program."""
    recorded_from: datetime
    """When this version was recorded."""


class NewCritique(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of a wrong answer."""

    question: str
    """What was asked: 1 to 1,000 characters."""
    correction: str
    """What is right: 1 to 2,000 characters."""
    answer: str = ""
    """What was answered: up to 2,000 characters."""
    source: str | None = None
    """Short or full id of the memory that says what is right."""
    lesson: str = ""
    """An instruction that would prevent the mistake, up to 1,000 characters; it waits for a person."""
    id: str | None = None
    """The client's own id, 1 to 200 characters: sent again with the same content, nothing is written."""


async def add_critique(db: Database, owner: Owner, given: NewCritique, *, asserted_by: str = "user") -> Critique:
    """Store a critique, once for each id of the client.

    Args:
        db: the database.
        owner: whose memory.
        given: what is said.
        asserted_by: who says it: user, app, or the name of a program.

    Raises:
        InvalidRequestError, TextTooLongError, InvalidTextError: a text is empty, too long, or cannot be stored.
        IdempotencyConflictError: this id came with other content.
        MemoryUnknownError, MemoryAmbiguousError: no memory, or several, have the source's id.
    """
    data = Data(
        question=_said(given.question, "question", MOST_QUESTION),
        answer=_said(given.answer, "answer", MOST_ANSWER, empty=True),
        correction=_said(given.correction, "correction", MOST_ANSWER),
        lesson=(lesson := _said(given.lesson, "lesson", MOST_LESSON, empty=True)),
        state="proposed" if lesson else "none", id=client_id(given.id),
    )  # fmt: skip
    evidence: list[Evidence] = []
    if given.source is not None:
        evidence, shown = await _source(db, owner, given.source)
        data = msgspec.structs.replace(data, source=shown)

    async def work(connection: AsyncConnection) -> UUID:
        await connection.execute(query("write_facts_alone"), {"user_id": owner.user_id})
        if data.id and (known := await node_called(connection, owner, TYPE, data.id)) is not None:
            if _as_given(_data(known.data)) != _as_given(data):
                raise IdempotencyConflictError("A critique with this id and other content is stored.", field="id")
            node_id: UUID = known.node_id
            return node_id
        node = Node(
            type=TYPE, label=label_of(data.question), description=_text(data), importance=IMPORTANCE,
            data=msgspec.to_builtins(data), evidence=evidence,
        )  # fmt: skip
        made = (await write_in(connection, owner, [node], asserted_by=asserted_by)).results[0].node_id
        assert made is not None  # noqa: S101 - it was just written
        return made

    return await get_critique(db, owner, await db.attempt(owner.user_id, work))


async def list_critiques(
    db: Database, owner: Owner, *, state: State | None = None, cursor: str | None = None, limit: int = 50
) -> Page[Critique]:
    """Return critiques, newest first.

    Args:
        db: the database.
        owner: whose.
        state: only those whose lesson is in this state; None: all.
        cursor: of the page before.
        limit: 1 to 1,000.

    Raises:
        InvalidRequestError, BadCursorError: there is no such state, or the limit or cursor is none.
    """
    return await page_of(db, owner, TYPE, _critique, states=STATES, state=state, cursor=cursor, limit=limit)


async def get_critique(db: Database, owner: Owner, critique_id: UUID) -> Critique:
    """Return one.

    Raises:
        NodeUnknownError: there is none such.
    """
    async with db.transaction(owner.user_id) as connection:
        return _critique(await node_of(connection, owner, TYPE, critique_id))


async def decide_lesson(
    db: Database, owner: Owner, critique_id: UUID, *, accept: bool, text: str | None = None, by: str = "user"
) -> Critique:
    """Make a lesson an instruction, or reject it; undoing the change takes both back.

    Args:
        db: the database.
        owner: whose memory.
        critique_id: the lesson's critique.
        accept: whether it becomes an instruction, which is a rule if ``by`` is ``user``.
        text: the instruction in other words than proposed; of a critique without a lesson, its words.
        by: who decides: user, app, or the name of a program.

    Raises:
        NodeUnknownError: there is no such critique.
        ReviewDecidedError: somebody decided already.
        InvalidRequestError: there is no lesson to decide upon.
    """
    words = _said(text, "text", MOST_LESSON) if text is not None else None

    async def work(connection: AsyncConnection) -> None:
        await connection.execute(query("write_facts_alone"), {"user_id": owner.user_id})
        row = await node_of(connection, owner, TYPE, critique_id)
        data = _data(row.data)
        if data.state not in {"none", "proposed"}:
            raise ReviewDecidedError(f"The lesson was {data.state} already.", state=data.state)
        lesson = words or data.lesson
        if not lesson:
            raise InvalidRequestError("This critique proposes no instruction.", hint="Send one as text.", field="text")
        made = new_id() if accept else None
        decided = msgspec.structs.replace(
            data, lesson=lesson, state="accepted" if accept else "rejected", instruction=made
        )
        operations: list[Operation] = [Correct(version=row.version_id, content={"data": msgspec.to_builtins(decided)})]
        if made is not None:
            rest = lesson if len(lesson) > MOST_LABEL else ""
            operations += [
                Node(
                    node=made, make=True, type="Instruction", label=label_of(lesson), description=rest,
                    data={"category": CATEGORY}, importance=IMPORTANCE,
                ),
                Edge(
                    from_node=made, type="DERIVED_FROM", to_node=critique_id,
                    fact=f"Learnt from a mistake: {label_of(lesson)}",
                ),
            ]  # fmt: skip
        await write_in(connection, owner, operations, asserted_by=by)

    await db.attempt(owner.user_id, work)
    return await get_critique(db, owner, critique_id)


def _said(value: str, field: str, most: int, *, empty: bool = False) -> str:
    check_storable(value, field)
    text = plain_lines(value).strip()
    if not empty and not is_visible(text):
        raise InvalidRequestError(f"{field} is empty.", field=field)
    if len(text) > most:
        raise TextTooLongError(f"{field} has {len(text):,} characters; at most {most:,} fit.", field=field)
    return text


def _text(data: Data) -> str:
    """What recall finds: the question, what is right, and what was wrong."""
    wrong = f" It is not: {data.answer}" if data.answer else ""
    return f"{data.question}\nRight is: {data.correction}{wrong}"


async def _source(db: Database, owner: Owner, asked: str) -> tuple[list[Evidence], str]:
    """The messages that a source rests on, and its id as it is shown."""
    memory = await find_memory(db, owner, asked)
    if memory.kind == "message":
        return [Evidence(passage_id=memory.memory_id)], f"m:{short_id(memory.memory_id)}"
    async with db.transaction(owner.user_id) as connection:
        values = {"user_id": owner.user_id, "memory_id": memory.memory_id, "limit": MOST_EVIDENCE}
        found = (await connection.execute(query("passages_behind"), values)).scalars().all()
    return [Evidence(passage_id=one) for one in found], f"{memory.kind[0]}:{short_id(memory.memory_id)}"


def _as_given(data: Data) -> Sequence[str]:
    """What a client said of a critique; its lesson may have been put in other words since."""
    return data.question, data.answer, data.correction, data.source


def _data(found: Any) -> Data:
    return data_of(found, Data) or Data(question="", answer="", correction="")


def _critique(row: Row[Any]) -> Critique:
    data = _data(row.data)
    shown = {name: getattr(data, name) for name in ("answer", "source", "lesson", "state", "instruction")}
    return Critique(
        critique_id=row.node_id, version_id=row.version_id, question=data.question or row.label,
        correction=data.correction or row.description, asserted_by=row.asserted_by, recorded_from=row.recorded_from,
        **shown,
    )  # fmt: skip
