"""Read what is stored of documents: the list, one with its versions, and its chunks in reading order."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Number, Page, check_page, read_cursor, write_cursor
from memsvc.errors import DocumentUnknownError
from memsvc.sources.documents import HEADINGS
from memsvc.sources.origins import ORIGIN, place_in_words
from memsvc.text.storable import check_storable

DocumentStatus = Literal["pending", "processing", "completed", "failed"]
EVERY = dict.fromkeys(("source_id", "name", "format", "status", "gone", "after"))
"""The filters of the list, which narrow nothing."""


class ChunkPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a chunk stands: in the last version of its document that has it."""

    document_id: UUID
    title: str
    path: str
    version: int
    headings: list[str]
    """Above it, the outermost first."""
    origin: dict[str, Any]
    """Page, line, sheet, slide, cell or block."""
    gone: bool
    """The document's file is not there any more."""

    @property
    def in_words(self) -> str:
        """For people: "Coffee study, Results, page 4"."""
        return place_in_words(self.title, self.headings, self.origin)


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A document, as its last version has it."""

    document_id: UUID
    identifier: str
    """What its door calls it."""
    title: str
    path: str
    """Where its file is, or was, for people."""
    format: str
    version: int
    chunks: int
    """That it has now; a document that is gone has none."""
    pages: int | None
    """Pages, slides or sheets; null: it has none."""
    characters: int
    bytes: int
    sha256: str
    gone: bool
    """Its file is not there any more; it is found by questions about what was known then."""
    status: DocumentStatus
    """The state of background work; recall never waits for it."""
    metadata: dict[str, Any]
    """What it says about itself: author, created, tags."""
    created_at: datetime
    """When it was stored first."""
    recorded_from: datetime
    """When this version was stored."""


class DocumentVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One content of a document's file."""

    version: int
    title: str
    path: str
    format: str
    chunks: int
    """That it had, without those that were erased."""
    pages: int | None
    characters: int
    bytes: int
    sha256: str
    recorded_from: datetime
    recorded_to: datetime | None
    """When a newer one was stored, or its file was found to be gone; null: it is current."""


class DocumentChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a document."""

    passage_id: UUID
    text: str
    headings: list[str]
    origin: dict[str, Any]
    """Where it is: page, line, sheet, slide, cell or block."""


class ReadDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document with its versions, and a page of the chunks of one of them."""

    document: Document
    versions: list[DocumentVersion]
    """The newest first, 1,000 at most."""
    version: int
    """Whose chunks these are."""
    chunks: list[DocumentChunk]
    next_cursor: str | None
    """For the next page of chunks; null: this was the last."""


def _document(row: Row[Any]) -> Document:
    return Document(**row._mapping)  # noqa: SLF001 - the public name of a row's mapping


async def chunks_around(
    connection: AsyncConnection, owner: Owner, passage_id: UUID, *, before: int, after: int
) -> tuple[ChunkPlace | None, list[DocumentChunk]]:
    """Return where a chunk stands, and the chunks before and after it in that version, itself among them."""
    asked = {"user_id": owner.user_id, "passage_id": passage_id}
    told = (await connection.execute(query("chunk_place"), asked)).scalar_one_or_none()
    if told is None:
        return None, []
    place = msgspec.convert(told, ChunkPlace)
    rows = await connection.execute(
        query("chunks_around"), {**asked, "version": place.version, "before": before, "after": after}
    )
    return place, [_chunk(row) for row in rows]


def _chunk(row: Row[Any]) -> DocumentChunk:
    return DocumentChunk(
        passage_id=row.passage_id,
        text=row.text,
        headings=row.metadata.get(HEADINGS, []),
        origin=row.metadata.get(ORIGIN, {}),
    )


async def list_documents(
    db: Database,
    owner: Owner,
    *,
    name: str | None = None,
    format_: str | None = None,
    status: DocumentStatus | None = None,
    gone: bool | None = None,
    after: UUID | None = None,
    limit: int = 50,
) -> Page[Document]:
    """Return documents, those stored last first.

    Args:
        db: the database.
        owner: the owner.
        name: only those with these characters in their title, path or identifier, in any case.
        format_: only those of this format: "pdf".
        status: only those whose background work is in this state.
        gone: only those whose files are gone (True), or are there (False); None: all.
        after: cursor: only documents stored before this one.
        limit: page size, 1 to 1,000.

    Raises:
        InvalidRequestError: the limit or a text is not valid.
    """
    check_page(limit)
    check_storable(name, "name")
    check_storable(format_, "format")
    asked = EVERY | {"name": name or None, "format": format_, "status": status, "gone": gone, "after": after}
    asked |= {"user_id": owner.user_id, "limit": limit + 1}
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(query("list_documents"), asked)).all()
    items = [_document(row) for row in rows[:limit]]
    return Page(items=items, next_cursor=str(items[-1].document_id) if len(rows) > limit else None)


async def find_document(connection: AsyncConnection, owner: Owner, name: str) -> UUID:
    """Return the id of a document given by id, identifier or path; of several with one path, the one stored last.

    Raises:
        DocumentUnknownError: this user has no such document.
    """
    check_storable(name, "document")
    found: UUID | None = (
        await connection.execute(query("document_called"), {"user_id": owner.user_id, "wanted": name})
    ).scalar_one_or_none()
    if found is None:
        raise DocumentUnknownError(f"There is no document {name[:200]!r}.")
    return found


async def read_document(
    db: Database, owner: Owner, name: str, *, version: int | None = None, cursor: str | None = None, limit: int = 100
) -> ReadDocument:
    """Return a document with its versions, and a page of the chunks of one version in reading order.

    Args:
        db: the database.
        owner: the owner.
        name: id, identifier or path.
        version: from 1; None: the last one.
        cursor: ``next_cursor`` of the previous page.
        limit: most chunks, 1 to 1,000.

    Raises:
        DocumentUnknownError: this user has no such document, or it has no such version.
        InvalidRequestError: the cursor or the limit is not valid.
    """
    check_page(limit)
    (ordinal,) = read_cursor(cursor, tuple[Number]) if cursor is not None else (None,)
    async with db.transaction(owner.user_id) as connection:
        asked = {"user_id": owner.user_id, "source_id": await find_document(connection, owner, name)}
        row = (await connection.execute(query("list_documents"), {**EVERY, **asked, "limit": 1})).one_or_none()
        told = (await connection.execute(query("document_versions"), asked)).all()
        wanted = version or (told[0].version if told else 0)
        if row is None or wanted not in {one.version for one in told}:
            raise DocumentUnknownError(f"The document {name[:200]!r} has no version {version}.")
        page = {**asked, "version": wanted, "after": ordinal, "limit": limit + 1}
        rows = (await connection.execute(query("document_chunks"), page)).all()
    return ReadDocument(
        document=_document(row),
        versions=[DocumentVersion(**one._mapping) for one in told],  # noqa: SLF001 - as above
        version=wanted,
        chunks=[_chunk(one) for one in rows[:limit]],
        next_cursor=write_cursor((rows[limit - 1].ordinal,)) if len(rows) > limit else None,
    )
