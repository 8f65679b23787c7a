"""Notes that people (or programs for them) write by hand. How to: docs/notes.md.

A note is a node of type Note: its label is the title, its description the text, and its data holds kind and tags. So
notes have history, evidence, merges and undo like everything else in the graph: ``memsvc.graph.history`` writes them.
Links between notes: ``memsvc.graph.links``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Literal, TypeVar, get_args
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.once import Once
from memsvc.errors import InvalidRequestError, NodeUnknownError, TextTooLongError, VersionSupersededError
from memsvc.graph import read
from memsvc.graph.history import write
from memsvc.graph.operations import MAX_TEXT_CHARS, Correct, Edge, Evidence, Node, Operation
from memsvc.text.characters import trimmed
from memsvc.text.storable import check_storable

T = TypeVar("T")
NoteKind = Literal["fact", "preference", "decision", "insight", "question", "concept"]
NoteMatched = Literal["name", "text", "words", "meaning"]
MAX_TITLE_CHARS = 200
MAX_TAGS = 50
MAX_TAG_CHARS = 100
MAX_ABOUT = 50
MAX_PAGE = 1_000
TRIES = 4
EVERY: dict[str, Any] = {
    "note_id": None, "after": None, "among": None, "kind": None, "tag": None, "q": None, "beyond": False,
}  # fmt: skip
"""What the statement ``notes`` is asked by default: every note."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A note as it is now."""

    note_id: UUID
    version_id: UUID
    """Version of this text; earlier ones are in the node's history."""
    title: str
    text: str
    kind: str
    """fact, preference, decision, insight, question or concept."""
    tags: list[str]
    importance: float
    """1 (trivial) to 10 (life-changing)."""
    about: list[UUID]
    """Nodes that it is about."""
    asserted_by: str
    """Who wrote it: user, app, or the name of a program."""
    recorded_from: datetime
    """When this version was recorded."""


class FoundNote(Note, frozen=True, kw_only=True):
    """A note in a list."""

    matched: NoteMatched | None = None
    """name: its title has q in it; text: its text has; words: it has more than half of q's words; meaning: it is near
    to q. Null without q."""


async def create_note(
    db: Database,
    owner: Owner,
    title: str,
    text: str = "",
    *,
    kind: NoteKind = "fact",
    tags: Sequence[str] = (),
    about: Sequence[UUID] = (),
    evidence: Sequence[Evidence] = (),
    importance: float = 5.0,
    asserted_by: str = "user",
    once: Once | None = None,
) -> Note:
    """Write a note.

    Args:
        db: the database.
        owner: the user whose note it is.
        title: 1 to 200 characters.
        text: up to 8,000 characters.
        kind: one of ``NoteKind``.
        tags: up to 50, with or without ``#``.
        about: nodes that the note is about, up to 50.
        evidence: passages that support it.
        importance: 1 (trivial) to 10 (life-changing).
        asserted_by: who writes it.
        once: the request that it comes from; if it was done before, its note is returned as it is now.

    Raises:
        InvalidRequestError: a value is not valid.
        IdempotencyConflictError: the key of ``once`` came with another request.
        NodeUnknownError, PassageUnknownError: a node or passage does not exist.
    """
    if len(about) > MAX_ABOUT:
        raise InvalidRequestError(f"A note can be about {MAX_ABOUT} nodes at most.", field="about")
    title = _title(title)
    subjects = await read.resolve(db, owner, list(about)) if about else {}
    cards = await read.cards(db, owner, list(subjects.values())) if subjects else {}
    data = {"kind": _kind(kind), "tags": _tags(tags)}
    operations: list[Operation] = [
        Node(
            type="Note", label=title, description=checked_text(text, "text"), data=data, importance=importance,
            evidence=evidence,
        )
    ]  # fmt: skip
    operations += [
        Edge(
            from_node=0, type="ABOUT", to_node=node, evidence=evidence,
            fact=f"{title} is about {called(cards[node].label)}.",
        )
        for node in dict.fromkeys(subjects.values())
    ]  # fmt: skip
    change = await write(db, owner, operations, asserted_by=asserted_by, once=once)
    made = change.results[0].node_id
    assert made is not None  # noqa: S101 - it was just written
    return await note(db, owner, made)


async def update_note(
    db: Database,
    owner: Owner,
    note_id: UUID,
    *,
    title: str | None = None,
    text: str | None = None,
    kind: NoteKind | None = None,
    tags: Sequence[str] | None = None,
    importance: float | None = None,
    evidence: Sequence[Evidence] = (),
    asserted_by: str = "user",
) -> Note:
    """Change a note; fields that are None stay as they are. Earlier versions stay in its history.

    Raises:
        NodeUnknownError: there is no such note.
        InvalidRequestError: a value is not valid, or no field is given.
        VersionSupersededError: other writers changed it at the same time, in every attempt.
    """
    content: dict[str, Any] = {"label": None if title is None else _title(title), "description": text}
    if text is not None:
        checked_text(text, "text")
    content = {name: value for name, value in {**content, "importance": importance}.items() if value is not None}
    inner = {"kind": None if kind is None else _kind(kind), "tags": None if tags is None else _tags(tags)}
    inner = {name: value for name, value in inner.items() if value is not None}
    if not content and not inner:
        raise InvalidRequestError("Nothing is to change.", hint="Send title, text, kind, tags or importance.")

    async def attempt() -> Note:
        row = await _row(db, owner, note_id)
        data = {"data": {**row["data"], **inner}} if inner else {}
        operation = Correct(version=row["version_id"], content={**content, **data}, evidence=evidence)
        await write(db, owner, [operation], asserted_by=asserted_by)
        return await note(db, owner, note_id)

    return await again(attempt)


async def note(db: Database, owner: Owner, note_id: UUID) -> Note:
    """Return one note, by its id or that of a note merged into it.

    Raises:
        NodeUnknownError: there is no such note.
    """
    return (await _notes(db, owner, [await _row(db, owner, note_id)]))[0]


async def notes(
    db: Database,
    owner: Owner,
    *,
    kind: NoteKind | None = None,
    tag: str | None = None,
    q: str | None = None,
    cursor: UUID | None = None,
    limit: int = 50,
) -> tuple[list[Note], UUID | None]:
    """Return a page of notes, newest first, and the cursor of the next page (None: this is the last).

    Args:
        db: the database.
        owner: the user whose notes they are.
        kind: only notes of this kind.
        tag: only notes with this tag.
        q: only notes with this in title or text, in upper or lower case.
        cursor: ``next_cursor`` of the previous page.
        limit: 1 to 1,000.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidRequestError(f"limit must be between 1 and {MAX_PAGE:,}.", field="limit")
    check_storable(q, "q")
    asked = {"after": cursor, "q": q or None, "limit": limit + 1, **chosen(kind, tag)}
    rows = await _rows(db, owner, asked)
    found = await _notes(db, owner, rows[:limit])
    return found, found[-1].note_id if len(rows) > limit else None


async def notes_passed_over(db: Database, owner: Owner, q: str, kind: NoteKind | None) -> list[UUID]:
    """Return notes with ``q`` in title or text and, if a kind is given, of another; with nodes merged into them."""
    asked = {"user_id": owner.user_id, "q": q, "kind": chosen(kind, None)["kind"]}
    async with db.transaction(owner.user_id) as connection:
        return list((await connection.execute(query("notes_passed_over"), asked)).scalars())


async def notes_beyond(
    db: Database, owner: Owner, among: Sequence[UUID], q: str, *, kind: NoteKind | None, tag: str | None
) -> list[Note]:
    """Return those of some notes that have neither title nor text with ``q`` in it, in the order of ``among``."""
    asked = {"among": list(among), "q": q, "beyond": True, "limit": len(among), **chosen(kind, tag)}
    found = {one.note_id: one for one in await _notes(db, owner, await _rows(db, owner, asked))}
    return [found[node] for node in among if node in found]


def chosen(kind: NoteKind | None, tag: str | None) -> dict[str, str | None]:
    """Return the checked kind and tag that notes are to have.

    Raises:
        InvalidRequestError: one of them cannot be of a note.
    """
    return {"kind": None if kind is None else _kind(kind), "tag": None if tag is None else _tags([tag])[0]}


async def _rows(db: Database, owner: Owner, asked: dict[str, Any]) -> list[dict[str, Any]]:
    async with db.transaction(owner.user_id) as connection:
        rows = await connection.execute(query("notes"), {"user_id": owner.user_id, **EVERY, **asked})
        return [dict(row) for row in rows.mappings()]


async def _row(db: Database, owner: Owner, note_id: UUID) -> dict[str, Any]:
    canonical = (await read.resolve(db, owner, [note_id]))[note_id]
    rows = await _rows(db, owner, {"note_id": canonical, "limit": 1})
    if not rows:
        raise NodeUnknownError(f"Node {note_id} is not a note.")
    return rows[0]


async def _notes(db: Database, owner: Owner, rows: Sequence[dict[str, Any]]) -> list[Note]:
    subjects: dict[UUID, list[UUID]] = {row["note_id"]: [] for row in rows}
    async with db.transaction(owner.user_id) as connection:
        asked = {"user_id": owner.user_id, "nodes": list(subjects)}
        for found in await connection.execute(query("note_subjects"), asked):
            if found.to_node not in subjects[found.from_node]:
                subjects[found.from_node].append(found.to_node)
    return [
        Note(
            about=sorted(subjects[row["note_id"]]),
            **kind_and_tags(row["data"]),
            **{name: value for name, value in row.items() if name != "data"},
        )
        for row in rows
    ]


def kind_and_tags(data: dict[str, Any]) -> dict[str, Any]:
    """Return kind and tags of a node of type Note; its data may have been written by any program."""
    tags = data.get("tags")
    kind = data.get("kind")
    return {
        "kind": kind if isinstance(kind, str) else "fact",
        "tags": [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else [],
    }


def _title(value: str) -> str:
    check_storable(value, "title")
    title = " ".join(trimmed(value).split())
    if not title or len(title) > MAX_TITLE_CHARS:
        raise InvalidRequestError(f"A title has 1 to {MAX_TITLE_CHARS} characters.", field="title")
    return title


def checked_text(value: str, field: str) -> str:
    """Check a text of a note.

    Raises:
        TextTooLongError, InvalidTextError: it is too long, or cannot be stored.
    """
    if len(value) > MAX_TEXT_CHARS:
        raise TextTooLongError(
            f"{field} has {len(value):,} characters; at most {MAX_TEXT_CHARS:,} fit.",
            hint="Store long texts as messages, and name their passages as evidence.",
            field=field,
        )
    check_storable(value, field)
    return value


def _kind(value: str) -> str:
    if value not in get_args(NoteKind):
        raise InvalidRequestError(
            f"{value[:60]!r} is not a kind of note.", hint=f"One of: {', '.join(get_args(NoteKind))}.", field="kind"
        )
    return value


def _tags(values: Sequence[str]) -> list[str]:
    check_storable(list(values), "tags")
    tags = list(dict.fromkeys(trimmed(value.strip().removeprefix("#")) for value in values))
    if len(tags) > MAX_TAGS or any(not 1 <= len(tag) <= MAX_TAG_CHARS for tag in tags):
        raise InvalidRequestError(
            f"Tags have 1 to {MAX_TAG_CHARS} characters; a note has {MAX_TAGS} at most.", field="tags"
        )
    return tags


def called(label: str | None) -> str:
    return label[:MAX_TITLE_CHARS] if label else "something unnamed"


async def again(attempt: Callable[[], Awaitable[T]]) -> T:
    """Run a function that reads first and then writes; repeat it if somebody else wrote in between."""
    for _ in range(TRIES - 1):
        try:
            return await attempt()
        except VersionSupersededError:
            continue
    return await attempt()
