"""Notes and links between nodes, written by hand."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, QueryParameter

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import CursorParameter, OnceParameter
from memsvc.api.problems import documented
from memsvc.db.once import Once
from memsvc.db.paging import Page
from memsvc.graph.links import RADIUS, Link, LinkedNote, Relation, create_link, get_linked_notes, unlink
from memsvc.graph.notes import FoundNote, Note, NoteKind, create_note, note, update_note
from memsvc.graph.operations import Evidence
from memsvc.recall.find import FoundPage, find_notes

PageSize = Annotated[int, QueryParameter(ge=1, le=1_000, description="The most items on this page.")]
Relations = Annotated[list[Relation] | None, QueryParameter(description="Only links of these relations.")]


class NoteIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A note to write."""

    title: str
    """1 to 200 characters."""
    text: str = ""
    """Up to 8,000 characters."""
    kind: NoteKind = "fact"
    """The kind of note."""
    tags: list[str] = []
    """Up to 50, with or without #."""
    about: list[UUID] = []
    """Up to 50 nodes that it is about."""
    evidence: list[Evidence] = []
    """Passages that support it."""
    importance: float = 5.0
    """1 (trivial) to 10 (life-changing)."""


class NoteChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Changes to a note. Fields that are left out stay as they are."""

    title: str | None = None
    """1 to 200 characters."""
    text: str | None = None
    """Up to 8,000 characters."""
    kind: NoteKind | None = None
    """The kind of note."""
    tags: list[str] | None = None
    """All tags. They replace the old ones."""
    importance: float | None = None
    """1 (trivial) to 10 (life-changing)."""
    evidence: list[Evidence] = []
    """Passages that support the change."""


class LinkIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A link to create. An existing link gets this strength and reason."""

    from_node: UUID
    """A note, or any other node."""
    to_node: UUID
    relation: Relation
    """How the first is related to the second."""
    strength: float = 1.0
    """Above 0, at most 1."""
    reason: str = ""
    """Why, as a sentence. Empty: a sentence made from both titles."""
    evidence: list[Evidence] = []
    """Passages that support it."""


class LinkEnd(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A link to end."""

    link_id: UUID
    evidence: list[Evidence] = []
    """Passages that support the end of the link."""


class LinkEnded(msgspec.Struct, frozen=True, kw_only=True):
    """The result of ending a link."""

    link_id: UUID
    ended: bool
    """False: it had already ended."""


class NotesController(Controller):
    """Notes."""

    path = "/notes"
    tags = ("notes",)

    @post(
        operation_id="createNote",
        summary="Write a note",
        description="Stores a note as a node of type Note, with links to the nodes it is about and to its evidence.",
        response_description="The note.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def create(
        self,
        data: Annotated[
            NoteIn,
            BodyKwarg(
                examples=[
                    Example(
                        value={
                            "title": "Oak for the worktop",
                            "text": "Beech swells next to the sink; oak costs 80 more and lasts.",
                            "kind": "decision",
                            "tags": ["kitchen", "wood"],
                            "importance": 6,
                        }
                    )
                ]
            ),
        ],
        writer: NamedDependency[Caller],
        idempotency_key: OnceParameter = None,
    ) -> Note:
        """Write it."""
        fields = {name: getattr(data, name) for name in NoteIn.__struct_fields__}
        once = Once.of("createNote", idempotency_key, data)
        return await create_note(writer.db, writer.owner, **fields, asserted_by=writer.asserted_by, once=once)

    @get(
        operation_id="listNotes",
        summary="List notes",
        description="Lists the user's current notes, newest first. With q: notes with q in the title or the text, "
        "newest first, then up to 100 that fit q by words or by meaning, best first; matched says by what each was "
        "found: name (the title), text, words or meaning. If the embedding model does not answer in time, degraded "
        "contains vector and nothing is found by meaning. Merged notes count as one.",
        response_description="One page of notes.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        *,
        reader: NamedDependency[Caller],
        kind: Annotated[NoteKind | None, QueryParameter(description="Only notes of this kind.")] = None,
        tag: Annotated[str | None, QueryParameter(description="Only notes with this tag.")] = None,
        q: Annotated[
            str | None, QueryParameter(max_length=1_000, description="Only notes that say this, or are about it.")
        ] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> FoundPage[FoundNote]:
        """Return one page."""
        return await find_notes(
            reader.db,
            reader.owner,
            reader.settings,
            embedder=reader.embedder,
            q=q,
            kind=kind,
            tag=tag,
            cursor=cursor,
            limit=limit,
        )

    @get(
        "/{note_id:uuid}",
        operation_id="getNote",
        summary="Read a note",
        description="Returns the current note. The id of a note that was merged into it works, too.",
        response_description="The note.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def read(self, reader: NamedDependency[Caller], note_id: FromPath[UUID]) -> Note:
        """Read it."""
        return await note(reader.db, reader.owner, note_id)

    @patch(
        "/{note_id:uuid}",
        operation_id="updateNote",
        summary="Change a note",
        description="Corrects a note. Its previous content stays in the history and can be restored.",
        response_description="The note.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def update(
        self,
        data: Annotated[NoteChange, BodyKwarg(examples=[Example(value={"tags": ["kitchen"], "importance": 4})])],
        writer: NamedDependency[Caller],
        note_id: FromPath[UUID],
    ) -> Note:
        """Change it."""
        fields = {name: getattr(data, name) for name in NoteChange.__struct_fields__}
        return await update_note(writer.db, writer.owner, note_id, **fields, asserted_by=writer.asserted_by)

    @get(
        "/{note_id:uuid}/linked",
        operation_id="getLinkedNotes",
        summary="Find linked notes",
        description="Finds notes within some links of a note (or of any other node), nearest first, then strongest, "
        "each with the links on the way. Links are followed in both directions.",
        response_description="The notes.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def linked(
        self,
        *,
        reader: NamedDependency[Caller],
        note_id: FromPath[UUID],
        radius: Annotated[int, QueryParameter(ge=1, le=4, description="The most links on the way.")] = RADIUS,
        relations: Relations = None,
        min_strength: Annotated[
            float, QueryParameter(ge=0, le=1, description="The least product of the strengths of the links on the way.")
        ] = 0.0,
        limit: PageSize = 50,
    ) -> Page[LinkedNote]:
        """Find them."""
        found = await get_linked_notes(
            reader.db,
            reader.owner,
            note_id,
            radius=radius,
            relations=relations,
            min_strength=min_strength,
            limit=limit,
        )
        return Page(items=found, next_cursor=None)


class LinksController(Controller):
    """Links."""

    path = "/links"
    tags = ("notes",)
    dependencies = WRITER

    @post(
        operation_id="createLink",
        summary="Link two notes",
        description="Links two notes, or any nodes. Repeating the request only changes strength and reason, as a new "
        "version of the same link.",
        response_description="The link.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
    )
    async def create(
        self,
        data: Annotated[
            LinkIn,
            BodyKwarg(
                examples=[
                    Example(
                        value={
                            "from_node": "01a2007c-7ed4-7af6-abd2-0a5dd06857e7",
                            "to_node": "01a2007c-7eda-79b5-9796-f9665ec27871",
                            "relation": "supports",
                            "strength": 0.8,
                            "reason": "Oak lasts, so the higher price is right.",
                        }
                    )
                ]
            ),
        ],
        writer: NamedDependency[Caller],
    ) -> Link:
        """Link them."""
        fields = {name: getattr(data, name) for name in LinkIn.__struct_fields__}
        return await create_link(writer.db, writer.owner, **fields, asserted_by=writer.asserted_by)

    @post(
        "/close",
        status_code=200,
        operation_id="closeLink",
        summary="End a link",
        description="Ends a link: it no longer holds from now on, but stays in the history.",
        response_description="The link, and whether it ended now.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
    )
    async def close(
        self,
        data: Annotated[
            LinkEnd, BodyKwarg(examples=[Example(value={"link_id": "01a2007c-7eda-7cfc-8e66-461d27fa4b50"})])
        ],
        writer: NamedDependency[Caller],
    ) -> LinkEnded:
        """End it."""
        ended = await unlink(
            writer.db, writer.owner, data.link_id, evidence=data.evidence, asserted_by=writer.asserted_by
        )
        return LinkEnded(link_id=data.link_id, ended=ended)
