"""Brings what the graph knows about a note to what the note says, by its difference alone.

Links are as old as the text that has them: they change in recorded time, like the chunks of a document, so reads with
``known_at`` show those of then. docs/adr/0050-vaults.md has the reasons.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.files import query
from memsvc.documents.form import ParsedDocument
from memsvc.documents.vaults.form import Note
from memsvc.graph.history import write_in
from memsvc.graph.operations import (
    MAX_EVIDENCE,
    MAX_OPERATIONS,
    Alias,
    Correct,
    Edge,
    Evidence,
    Node,
    Operation,
    Retract,
    Thread,
)
from memsvc.settings import Settings
from memsvc.sources.documents import chunk_rows
from memsvc.sources.vaults.wanted import DOCUMENT, LINKS_TO, TASK, Wanted, WantedTask, wanted_of

ACTOR = "vault"
"""Who asserts what notes say. What others assert about the same nodes is left alone."""
WEIGHT = 0.1
"""Of links: what is known about a note otherwise comes first."""


class StoredTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task's node."""

    version_id: UUID
    label: str
    data: dict[str, Any]


class StoredEdge(msgspec.Struct, frozen=True, kw_only=True):
    """An edge from a note."""

    to_node: UUID
    edge_id: UUID
    version_id: UUID
    fact: str
    data: dict[str, Any]
    task: StoredTask | None
    """The node that it leads to, if that is a task."""
    evidence: list[UUID]


class StoredNote(msgspec.Struct, frozen=True, kw_only=True):
    """What the graph knows about a note by its folder."""

    source_id: UUID
    version_id: UUID | None
    """None: it has no node."""
    label: str | None
    data: dict[str, Any] | None
    aliases: list[str]
    edges: list[StoredEdge]

    def is_as(self, wanted: Wanted) -> bool:
        """Whether that is what is wanted; evidence is not compared."""
        ends = {edge.to_node: edge for edge in self.edges}
        return (
            (self.label, self.data) == (wanted.label, wanted.data)
            and set(self.aliases) == wanted.aliases
            and ends.keys() == wanted.links.keys() | wanted.tasks.keys()
            and all(_is_same(edge, wanted) for edge in self.edges)
        )


def _is_same(edge: StoredEdge, wanted: Wanted) -> bool:
    """Whether an edge that is wanted is as it is wanted."""
    task = wanted.tasks.get(edge.to_node)
    if task is not None and (edge.task is None or (edge.task.label, edge.task.data) != (task.label, task.data)):
        return False
    return (edge.fact, edge.data) == (wanted.fact(edge.to_node), wanted.edge_data(edge.to_node))


async def as_linked(connection: AsyncConnection, owner: Owner, notes: Sequence[UUID]) -> dict[UUID, StoredNote]:
    """Return what the graph knows about notes, by their ids."""
    asked = {"user_id": owner.user_id, "notes": list(notes), "actor": ACTOR}
    rows = (await connection.execute(query("notes_as_linked"), asked)).mappings()
    return {row["source_id"]: msgspec.convert(dict(row), StoredNote) for row in rows}


@dataclass(frozen=True, slots=True)
class Places:
    """Which passage has a line of a note."""

    lines: list[int]
    """Where each chunk begins that was read, in reading order; of the same line, one after the other."""
    passages: list[UUID | None]
    """Of each; None: it was erased on request."""
    headings: frozenset[int]
    """Lines of headings, which belong to the chunk that follows."""

    def at(self, line: int) -> UUID | None:
        """Return the passage of a line; None: it was erased."""
        if not self.lines:
            return None
        place = bisect_right(self.lines, line) - (line not in self.headings)
        return self.passages[min(max(place, 0), len(self.passages) - 1)]

    def lost(self, note: Note) -> set[int]:
        """Return the lines of a note's links and tasks whose text was erased."""
        marks = {link.line for link in note.links} | {task.line for task in note.tasks}
        return {line for line in marks if self.at(line) is None}


async def places_of(
    connection: AsyncConnection, owner: Owner, source_id: UUID, note: Note, read: tuple[ParsedDocument, Settings]
) -> Places:
    """Return where the text of a note is stored.

    Args:
        connection: of the transaction.
        owner: the owner.
        source_id: its document.
        note: the note.
        read: the note as a document, and limits.
    """
    parsed, settings = read
    rows = chunk_rows(parsed.chunks, settings)
    asked = {"user_id": owner.user_id, "source_id": source_id}
    stored = (await connection.execute(query("note_chunks"), asked)).all()
    told = await connection.execute(query("chunks_erased"), {**asked, "chunks": msgspec.json.encode(rows).decode()})
    erased = set(told.scalars())
    headings = frozenset(heading.line for heading in note.headings)
    if len(stored) + len(erased) != len(rows):  # an older version of memsvc cut it otherwise
        return Places([row.line or 1 for row in stored], [row.passage_id for row in stored], headings)
    left = iter(stored)
    lines: list[int] = []
    for chunk in parsed.chunks:
        lines.append(max(int(chunk.origin.get("line", 1)), lines[-1] if lines else 1))
    return Places(
        lines, [None if nth in erased else next(left).passage_id for nth in range(1, len(rows) + 1)], headings
    )


async def bring(
    connection: AsyncConnection,
    owner: Owner,
    note: tuple[Note, UUID],
    ids: Mapping[str, UUID],
    read: tuple[ParsedDocument, Settings],
) -> bool:
    """Bring what the graph knows about a note to what it says, in the caller's transaction.

    Args:
        connection: of the transaction.
        owner: the owner.
        note: with its links resolved, and the id of its document.
        ids: nodes of the notes that are stored, by path.
        read: the note as a document, and limits.

    Returns:
        Whether something was written.
    """
    said, source_id = note
    await connection.execute(query("lock_note"), {"user_id": owner.user_id, "source_id": source_id})
    places = await places_of(connection, owner, source_id, said, read)
    first = next((passage for passage in places.passages if passage is not None), None)
    stored = (await as_linked(connection, owner, [source_id]))[source_id]
    if first is None:  # all of its text was erased
        return await _write(connection, owner, _ends(stored))
    there = await _there(connection, owner, said, ids)
    wanted = wanted_of(said, source_id, there, places.lost(said))
    return await _write(connection, owner, [*_node(stored, wanted, first), *_edges(stored, wanted, places)])


async def _there(connection: AsyncConnection, owner: Owner, note: Note, ids: Mapping[str, UUID]) -> dict[str, UUID]:
    """Return those of the nodes that a note links to that the graph has: people may have erased one."""
    ends = {path: ids[path] for link in note.links for path in link.resolves_to if path in ids}
    asked = {"user_id": owner.user_id, "nodes": sorted(set(ends.values()))}
    known = set((await connection.execute(query("known_nodes"), asked)).scalars())
    return {path: node for path, node in ends.items() if node in known}


async def end(connection: AsyncConnection, owner: Owner, source_ids: Sequence[UUID]) -> None:
    """End what the graph knows of notes that are gone, in the caller's transaction."""
    for stored in (await as_linked(connection, owner, sorted(source_ids))).values():
        await _write(connection, owner, _ends(stored))


async def _write(connection: AsyncConnection, owner: Owner, operations: Sequence[Operation]) -> bool:
    """Write operations; nothing is recorded where they only say what was erased or is known."""
    written = False
    for start in range(0, len(operations), MAX_OPERATIONS):
        batch = operations[start : start + MAX_OPERATIONS]
        async with connection.begin_nested() as point:
            change = await write_in(connection, owner, batch, asserted_by=ACTOR)
            idle = {result.outcome for result in change.results} <= {"erased", "unchanged"}
            if idle:
                await point.rollback()
            written |= not idle
    return written


def _ends(stored: StoredNote) -> list[Operation]:
    ended: list[Operation] = []
    for edge in stored.edges:
        ended += _end_edge(edge)
    ended += [Retract(thread=Thread(node=stored.source_id, alias=name)) for name in stored.aliases]
    if stored.version_id is not None:
        ended.append(Retract(thread=Thread(node=stored.source_id)))
    return ended


def _end_edge(edge: StoredEdge) -> list[Operation]:
    ended: list[Operation] = [Retract(thread=Thread(edge=edge.edge_id))]
    return [*ended, Retract(thread=Thread(node=edge.to_node))] if edge.task is not None else ended


def _node(stored: StoredNote, wanted: Wanted, passage: UUID) -> list[Operation]:
    operations: list[Operation] = []
    evidence = [Evidence(passage_id=passage)]
    if stored.version_id is None:
        operations.append(
            Node(
                node=stored.source_id, make=True, type=DOCUMENT, label=wanted.label, data=wanted.data,
                evidence=evidence,
            )
        )  # fmt: skip
    elif (stored.label, stored.data) != (wanted.label, wanted.data):
        content = {"label": wanted.label, "data": wanted.data}
        operations.append(Correct(version=stored.version_id, content=content, evidence=evidence))
    operations += [
        Alias(node=stored.source_id, alias=name, evidence=evidence)
        for name in sorted(wanted.aliases - set(stored.aliases))
    ]
    operations += [
        Retract(thread=Thread(node=stored.source_id, alias=name))
        for name in sorted(set(stored.aliases) - wanted.aliases)
    ]
    return operations


def _edges(stored: StoredNote, wanted: Wanted, places: Places) -> list[Operation]:
    operations: list[Operation] = []
    known = {edge.to_node: edge for edge in stored.edges}
    for to_node in sorted(wanted.links.keys() | wanted.tasks.keys()):
        passages = dict.fromkeys(filter(None, map(places.at, wanted.lines(to_node))))
        edge, task = known.get(to_node), wanted.tasks.get(to_node)
        said = [Evidence(passage_id=passage) for passage in list(passages)[:MAX_EVIDENCE]]
        if task is not None:
            operations += _task(to_node, task, edge, said)
        fact, data = wanted.fact(to_node), wanted.edge_data(to_node)
        if edge is None or ((edge.fact, edge.data) == (fact, data) and not passages.keys() <= set(edge.evidence)):
            operations.append(
                Edge(
                    from_node=stored.source_id, type=LINKS_TO, to_node=to_node, fact=fact, data=data, weight=WEIGHT,
                    evidence=said,
                )
            )  # fmt: skip
        elif (edge.fact, edge.data) != (fact, data):
            operations.append(Correct(version=edge.version_id, content={"fact": fact, "data": data}, evidence=said))
    for to_node in sorted(known.keys() - wanted.links.keys() - wanted.tasks.keys()):
        operations += _end_edge(known[to_node])
    return operations


def _task(
    to_node: UUID, task: WantedTask, edge: StoredEdge | None, evidence: Sequence[Evidence]
) -> Sequence[Operation]:
    stored = edge.task if edge is not None else None
    if stored is None:
        return [Node(node=to_node, make=True, type=TASK, label=task.label, data=task.data, evidence=evidence)]
    if (stored.label, stored.data) != (task.label, task.data):
        content = {"label": task.label, "data": task.data}
        return [Correct(version=stored.version_id, content=content, evidence=evidence)]
    return []
