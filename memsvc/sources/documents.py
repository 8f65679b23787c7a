"""Store documents: each is a source, each content of its file a version, each chunk a passage.

``memsvc.store_document`` does all of it in one transaction. A file that is stored already is not read again: its
digest says so. docs/adr/0049-documents.md has the reasons.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_zone
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.documents.form import Chunk, ParsedDocument
from memsvc.errors import InvalidRequestError, InvalidTimeError, TextTooLongError
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings
from memsvc.sources.messages import MAX_CAPTION_CHARS, MAX_METADATA_BYTES
from memsvc.sources.origins import ORIGIN
from memsvc.sources.times import SaidAt, now_in, parse_time
from memsvc.text.secrets import KINDS, LABELS
from memsvc.text.storable import check_storable

Outcome = Literal["created", "changed", "existing", "moved", "erased", "paused"]
HEADINGS = "headings"
"""The key of a chunk's metadata, beside ``ORIGIN``."""
BETWEEN_HEADINGS = " › "
OWN_DATES = ("date", "created", "modified")
"""What a document's metadata may say of when it was written, the best first."""
MAX_CHUNKS = 200_000
MAX_IDENTIFIER_CHARS, MAX_PATH_CHARS, MAX_TITLE_CHARS = 500, 1_000, 1_000
DAILY_NOTE = re.compile(r"\d{4}-\d\d-\d\d")
STORE = text("SELECT * FROM memsvc.store_document(:user_id, CAST(:document AS jsonb), CAST(:chunks AS jsonb))")
GONE = text("SELECT memsvc.documents_gone(:user_id, CAST(:identifiers AS text[]))")
Also = Callable[[AsyncConnection, UUID, ParsedDocument], Awaitable[None]]
"""What else happens in the transaction of a new version: gets the document's id and what was read of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentIn:
    """A document as a door has it: its file, and how to read that."""

    identifier: str
    """What the door calls it each time: a file's absolute path, the name of an upload, a path in a vault."""
    path: str
    """Where it is, for people."""
    sha256: str
    """Of its bytes, in hexadecimal digits."""
    size: int
    """In bytes."""
    parse: Callable[[], ParsedDocument]
    """Reads it; called in a thread, and only if it is new or changed."""
    modified: datetime | None = None
    """When the file was changed last."""
    day: str | None = None
    """The day that it is about (YYYY-MM-DD), if whoever reads its folder knows."""
    is_there: Callable[[str], bool] | None = None
    """Whether the file of another identifier is still there; None: the door cannot know. A file that is not there, with
    the same content, was moved here."""


class StoredDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one document."""

    outcome: Outcome
    """created; changed: a new version; existing: nothing was done; moved: stored under its new identifier; erased:
    erased on request earlier, not stored again; paused: the user's memory is paused, nothing is stored."""
    document_id: UUID | None
    """null: nothing is stored."""
    version: int | None
    added: int
    """Chunks that are new."""
    kept: int
    """Chunks that stayed with their vectors."""
    closed: int
    """Chunks that the version before had and this one has not."""
    job_id: UUID | None
    odd: dict[str, int] = {}
    """What was left out of it, each with how often, if it was read."""


class DocumentPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What a document has, as it would be stored."""

    title: str
    format: str
    chunks: int
    pages: int | None
    characters: int
    written_at: datetime
    odd: dict[str, int]
    """What is left out or looks strange, each with how often."""


async def preview_document(document: DocumentIn, owner: Owner, settings: Settings) -> DocumentPreview:
    """Read a document completely, and store nothing. Raises: as ``store_document``."""
    parsed = await asyncio.to_thread(lambda: admitted(document.parse(), owner))
    told = _told(document, parsed, owner)
    chunk_rows(parsed.chunks, settings)
    return DocumentPreview(
        title=told["title"],
        format=parsed.format,
        chunks=len(parsed.chunks),
        pages=parsed.pages,
        characters=sum(len(chunk.text) for chunk in parsed.chunks),
        written_at=told["said_at"],
        odd=parsed.odd,
    )


async def store_document(
    db: Database, owner: Owner, document: DocumentIn, settings: Settings, also: Also | None = None
) -> StoredDocument:
    """Store a document in one transaction; nothing if this content of it is stored.

    Args:
        db: the database.
        owner: the owner of the memory.
        document: the document.
        settings: limits.
        also: what else the transaction of a new version does. It may be repeated.

    Raises:
        InvalidRequestError: it cannot be stored.
        MemsvcError: what ``document.parse`` raises.
    """
    head = {
        "identifier": _checked(document.identifier, "identifier", MAX_IDENTIFIER_CHARS),
        "path": _checked(document.path, "path", MAX_PATH_CHARS),
        "sha256": document.sha256,
        "bytes": document.size,
    }
    if document.is_there is not None:
        head["moved_from"] = await _moved_from(db, owner, document)
    row = await _send(db, owner, head, None)
    odd: dict[str, int] = {}
    if row.outcome == "needed":
        parsed = await asyncio.to_thread(lambda: admitted(document.parse(), owner))
        head |= _told(document, parsed, owner)
        odd = parsed.odd
        row = await _send(
            db, owner, head, chunk_rows(parsed.chunks, settings),
            None if also is None else lambda connection, source_id: also(connection, source_id, parsed),
        )  # fmt: skip
    if row.job_id is not None:
        announce_jobs(db)
    return StoredDocument(
        outcome=row.outcome,
        document_id=row.source_id,
        version=row.version,
        added=row.added,
        kept=row.kept,
        closed=row.closed,
        job_id=row.job_id,
        odd=odd,
    )


def admitted(parsed: ParsedDocument, owner: Owner) -> ParsedDocument:
    """Return a document as it may be stored under the owner's policy on secrets; ``odd`` says what was masked.

    Raises:
        TextRefusedError: it has a secret of a kind that is refused.
    """
    policy, counts = owner.policy, Counter[str]()
    if policy.is_off:
        return parsed
    texts = policy.admit_pieces([chunk.text for chunk in parsed.chunks], "text", counts)
    beside = Counter[str]()  # headings repeat in each chunk, and what a chunk comes from repeats its text
    return msgspec.structs.replace(
        parsed,
        title=policy.admit(parsed.title, "title", counts),
        metadata=policy.admit_all(parsed.metadata, "metadata", counts),
        chunks=[
            msgspec.structs.replace(
                chunk,
                text=text,
                headings=tuple(policy.admit_all(chunk.headings, "headings", beside)),
                origin=policy.admit_all(chunk.origin, "origin", beside),
            )
            for chunk, text in zip(parsed.chunks, texts, strict=True)
        ],
        odd={**parsed.odd, **{f"masked: {LABELS[kind]}": counts[kind] for kind in KINDS if counts[kind]}},
    )


async def mark_gone(db: Database, owner: Owner, folder: str, is_there: Callable[[str], bool]) -> int:
    """Mark documents as gone whose files are not in their folder any more; returns how many.

    They stay for questions about what was known then.

    Args:
        db: the database.
        owner: the owner.
        folder: how the identifiers of its files begin.
        is_there: says of an identifier whether its file is there.
    """
    asked = {"user_id": owner.user_id, "folder": folder.rstrip("/") + "/"}
    async with db.transaction(owner.user_id) as connection:
        known = (await connection.execute(query("documents_under"), asked)).scalars().all()
    lost = [identifier for identifier in known if not is_there(identifier)]
    if not lost:
        return 0
    return await db.attempt(owner.user_id, lambda connection: mark_gone_in(connection, owner, lost))


async def mark_gone_in(connection: AsyncConnection, owner: Owner, identifiers: Sequence[str]) -> int:
    """Mark documents as gone in the caller's transaction; returns how many. Nothing while memory is paused."""
    found = await connection.execute(GONE, {"user_id": owner.user_id, "identifiers": list(identifiers)})
    return int(found.scalar_one())


async def _moved_from(db: Database, owner: Owner, document: DocumentIn) -> str | None:
    """Return the identifier of a document with the same content whose file is not there any more."""
    asked = {"user_id": owner.user_id, "sha256": document.sha256}
    async with db.transaction(owner.user_id) as connection:
        same: Sequence[str] = (await connection.execute(query("documents_alike"), asked)).scalars().all()
    is_there = document.is_there or bool
    return next((one for one in same if one != document.identifier and not is_there(one)), None)


async def _send(
    db: Database,
    owner: Owner,
    head: dict[str, Any],
    chunks: list[dict[str, Any]] | None,
    also: Callable[[AsyncConnection, UUID], Awaitable[None]] | None = None,
) -> Row[Any]:
    values = {
        "user_id": owner.user_id,
        "document": msgspec.json.encode(head).decode(),
        "chunks": None if chunks is None else msgspec.json.encode(chunks).decode(),
    }

    async def send(connection: AsyncConnection) -> Row[Any]:
        row: Row[Any] = (await connection.execute(STORE, values)).one()
        if also is not None and row.outcome in {"created", "changed"}:
            await also(connection, row.source_id)
        return row

    return await db.attempt(owner.user_id, send)


def _told(document: DocumentIn, parsed: ParsedDocument, owner: Owner) -> dict[str, Any]:
    """Return what a document says about itself."""
    said = written_at(document, parsed, valid_zone(owner.time_zone))
    check_storable(parsed.metadata, "metadata")
    if len(msgspec.json.encode(parsed.metadata)) > MAX_METADATA_BYTES:
        raise TextTooLongError(f"metadata has more than {MAX_METADATA_BYTES:,} bytes.", field="metadata")
    title = parsed.title.strip() or PurePosixPath(document.path).name
    check_storable(title, "title")
    return {
        "title": title[:MAX_TITLE_CHARS],
        "format": parsed.format,
        "pages": parsed.pages,
        "metadata": parsed.metadata,
        "said_at": said.moment,
        "said_offset": said.offset_minutes,
        "language": owner.language,
    }


def written_at(document: DocumentIn, parsed: ParsedDocument, zone: ZoneInfo) -> SaidAt:
    """Return when a document was written: by itself, by a daily note's name, or by its file; else now."""
    told = [parsed.metadata.get(name) for name in OWN_DATES]
    stem = PurePosixPath(document.path).stem
    told += [document.day, stem if DAILY_NOTE.fullmatch(stem) else None]
    if document.modified is not None:
        told.append(document.modified.astimezone(zone).isoformat())
    for value in told:
        if isinstance(value, str):
            try:
                return parse_time(value, zone)
            except InvalidTimeError:
                continue
    return now_in(zone)


def chunk_rows(chunks: Iterable[Chunk], settings: Settings) -> list[dict[str, Any]]:
    """Return the rows of chunks for ``memsvc.store_document``.

    Raises:
        InvalidRequestError: there are too many, or PostgreSQL cannot store one.
    """
    rows: list[dict[str, Any]] = []
    for chunk in chunks:
        if len(rows) == MAX_CHUNKS:
            raise TextTooLongError(f"It has more than {MAX_CHUNKS:,} chunks.", hint="Split the document.")
        check_storable(chunk.text, "text")
        check_storable(chunk.headings, "headings")
        check_storable(chunk.origin, "origin")
        if len(chunk.text) > settings.max_text_chars:
            raise TextTooLongError(f"A chunk has more than {settings.max_text_chars:,} characters.", field="text")
        headings = [heading for heading in chunk.headings if heading]
        metadata = {ORIGIN: chunk.origin, HEADINGS: headings}
        rows.append(
            {
                "text": chunk.text,
                "caption": BETWEEN_HEADINGS.join(headings)[:MAX_CAPTION_CHARS] or None,
                "metadata": {name: value for name, value in metadata.items() if value},
            }
        )
    return rows


def _checked(value: str, field: str, longest: int) -> str:
    check_storable(value, field)
    if not 0 < len(value) <= longest:
        raise InvalidRequestError(f"{field} must have 1 to {longest:,} characters.", field=field)
    return value
