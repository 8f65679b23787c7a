"""Ingests: files, texts and addresses that a client sent to be stored, and what became of each.

``send`` keeps them in the database and requests the job ``ingest`` (``memsvc.sources.ingest_job``), which stores them
as ``memsvc ingest`` does. A file's content is removed when it is stored or refused. Where several people speak and it
is not known which of them is the owner, or after a dry run, it is kept for a day, and ``go_on`` stores it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.once import Once
from memsvc.db.paging import Page, check_page
from memsvc.errors import IngestsFullError, IngestStateError, InvalidRequestError, NotFoundError
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings
from memsvc.sources.documents import DocumentPreview, StoredDocument
from memsvc.sources.fetching import check_url
from memsvc.sources.kinds.registry import DOCUMENT, kind_called
from memsvc.sources.kinds.table import columns_of
from memsvc.sources.moments import read_moment
from memsvc.sources.previewing import Choices, Preview
from memsvc.text.characters import flat
from memsvc.text.storable import check_storable

State = Literal["pending", "running", "completed", "failed", "cancelled"]
Outcome = Literal["stored", "previewed", "refused", "passed_over", "owner_required"]
MOST_FILES = 100
MOST_NAMES = 50
MOST_NAME_CHARS = 200
KEPT_TIMES = 4
"""Files of a user that wait may have so many times the size of one request."""
BATCH = 100
"""Ingests that one call deletes."""
NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class Chosen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the client chose, as it is stored."""

    kind: str | None = None
    """Read everything as this kind; null: it is recognised."""
    columns: dict[str, str] = {}
    """Read everything as a chat in CSV: the column of each field; empty: it is none."""
    me: list[str] = []
    """Names or ids of the speaker who is the owner."""
    not_me: bool = False
    """The owner is none of the speakers."""
    since: datetime | None = None
    """What was said before is left out."""
    title: str = ""
    """The name for people of what is read."""

    def choices(self, url: str | None = None) -> Choices:
        """Return the choices of a run."""
        return Choices(
            kind=self.kind, columns=self.columns, me=self.me, is_nobody=self.not_me, since=self.since,
            title=self.title, url=url,
        )  # fmt: skip


class Ingest(msgspec.Struct, frozen=True, kw_only=True):
    """Files that were sent together, and what became of them."""

    ingest_id: UUID
    feed_id: UUID | None
    """The feed whose run it is; null: a client sent it."""
    state: State
    """pending: it waits; running; completed: each file has an outcome; failed: see error_code; cancelled."""
    dry_run: bool
    """True: nothing is stored."""
    choices: Chosen
    job_id: UUID | None
    """The job that works on it."""
    error_code: str | None
    """Why it failed: quota_exceeded, or the job's code."""
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    """null: it has not ended."""
    files: int
    """Files; of a zip file, the sources in it that were found so far."""
    done: int
    """Files that have an outcome."""
    refused: int
    """Files of which nothing more is stored."""
    owner_required: int
    """Files that wait for an answer: POST /v1/ingests/{id}/continue with me or not_me."""
    messages: int
    """Messages in the files that were looked at so far."""
    stored: int
    """Of these, how many were done."""
    created: int
    existing: int
    erased: int
    paused: int
    differs: int
    """Stored earlier with other words or another speaker; they stay as they are."""


class IngestFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file, or a source in a zip file, and what became of it."""

    number: int
    """Which of the files that were sent, from 0."""
    part: int
    """Which of the sources in that file, from 0."""
    name: str
    bytes: int
    """Size of the file that was sent."""
    url: str | None
    """Where it was fetched; null: it was sent."""
    outcome: Outcome | None
    """stored; previewed: it was a dry run; refused: see code; passed_over: a file in a zip file that is of no known
    kind; owner_required: say which of the speakers is the user; null: it waits."""
    kind: str | None
    """What it was recognised as."""
    code: str | None
    """Why it was refused; stable."""
    message: str | None
    """Why it was refused, or what it was recognised by."""
    hint: str | None
    stored: int
    """How many of its messages were done."""
    counts: dict[str, int]
    """How many messages were created, existing, erased, paused or differ."""
    preview: Preview | None
    """What a chat has; at most 100 speakers."""
    document: StoredDocument | None
    """What became of a document that is stored."""
    document_preview: DocumentPreview | None
    """What a document has, of a dry run."""
    is_kept: bool
    """Whether its content is kept, so that it need not be sent again."""


class IngestShown(Ingest, frozen=True, kw_only=True):
    """An ingest with its files."""

    items: list[IngestFile]


class IngestEnded(msgspec.Struct, frozen=True, kw_only=True):
    """The result of cancelling or deleting an ingest."""

    ingest: Ingest
    """As it is now, or was. Messages that it stored stay; forget their conversations to erase them."""
    deleted: bool
    """True: it had ended, and its record is deleted. False: it was cancelled."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sends files."""

    key_id: str | None = None
    """The key whose limit of messages they count against."""
    once: str | None = None
    """An Idempotency-Key; the same request with it is done once in 24 hours."""
    feed_id: UUID | None = None
    """The feed to which they were pushed."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A file, or the address of one."""

    name: str
    content: bytes | None = None
    url: str | None = None


def clean_name(name: str) -> str:
    """Return the last part of a file's name on one line, without control characters; "file" if nothing is left."""
    last = re.split(r"[/\\]", NOT_IN_NAMES.sub("", name).rstrip("/\\. "))[-1]
    return flat(last)[-MOST_NAME_CHARS:] or "file"


def chosen(
    owner: Owner,
    *,
    kind: str | None = None,
    me: Sequence[str] = (),
    not_me: bool = False,
    since: str | None = None,
    title: str = "",
    columns: str | None = None,
) -> Chosen:
    """Check what a client chose.

    Raises:
        InvalidRequestError: there is no such kind, or too many or too long names.
        InvalidTimeError: ``since`` is not a time.
    """
    mapped = columns_of(columns) if columns else {}
    if isinstance(Choices(kind=kind, columns=mapped).forced, str) and kind != DOCUMENT:
        kind_called(kind or "")
    if len(me) > MOST_NAMES:
        raise InvalidRequestError(f"At most {MOST_NAMES} names.", field="me")
    for field, value in (*(("me", name) for name in me), ("title", title)):
        check_storable(value, field)
        if len(value) > MOST_NAME_CHARS:
            raise InvalidRequestError(f"At most {MOST_NAME_CHARS} characters.", field=field)
    if me and not_me:
        raise InvalidRequestError("me and not_me exclude each other.", field="not_me")
    return Chosen(
        kind=kind, columns=mapped, me=list(me), not_me=not_me, since=read_moment(since, owner, "since"),
        title=flat(title),
    )  # fmt: skip


async def send(
    db: Database,
    owner: Owner,
    sent: Sequence[Sent],
    wanted: Chosen,
    settings: Settings,
    *,
    dry_run: bool = False,
    sender: Sender = Sender(),
) -> Ingest:
    """Keep files and request the job that stores them.

    Args:
        db: the database.
        owner: whose memory.
        sent: 1 to 100 files; all of them together at most ``settings.max_upload_bytes``, which the door checks.
        wanted: what the client chose.
        settings: limits.
        dry_run: only look at them.
        sender: who sends them.

    Raises:
        InvalidRequestError: there are no files or too many.
        UrlRefusedError: an address is not one that may be fetched.
        IngestsFullError: too much waits already.
        IdempotencyConflictError: the key came with another request.
    """
    if not 1 <= len(sent) <= MOST_FILES:
        raise InvalidRequestError(f"Send 1 to {MOST_FILES} files.", field="file")
    for one in sent:
        if one.url is not None:
            check_url(one.url, settings)
    rows = [_row(number, one) for number, one in enumerate(sent)]
    digests = [(row["name"], (row["sha256"] or b"").hex(), row["url"]) for row in rows]
    once = Once.of("addDocuments", sender.once, [digests, wanted, dry_run])
    size = sum(row["bytes"] for row in rows)

    async def work(connection: AsyncConnection) -> UUID:
        if once is not None and (answer := await once.answer(connection, owner.user_id)) is not None:
            return UUID(answer.strip('"'))
        kept = (await connection.execute(query("bytes_kept"), {"user_id": owner.user_id})).scalar_one()
        if kept and kept + size > KEPT_TIMES * settings.max_upload_bytes:
            raise IngestsFullError(f"{kept:,} bytes of this user's files still wait.")
        values = {
            "user_id": owner.user_id, "dry_run": dry_run, "choices": msgspec.json.encode(wanted).decode(),
            "key_id": sender.key_id, "feed_id": sender.feed_id,
        }  # fmt: skip
        ingest_id: UUID = (await connection.execute(query("add_ingest"), values)).scalar_one()
        for row in rows:
            await connection.execute(
                query("add_ingest_file"), {"user_id": owner.user_id, "ingest_id": ingest_id, **row}
            )
        await _ask(connection, owner, ingest_id)
        if once is not None:
            await once.keep(connection, owner.user_id, f'"{ingest_id}"')
        return ingest_id

    ingest_id = await db.attempt(owner.user_id, work)
    announce_jobs(db)
    return await get(db, owner, ingest_id)


def _row(number: int, one: Sent) -> dict[str, Any]:
    content = one.content
    return {
        "number": number, "part": 0, "name": clean_name(one.name), "url": one.url, "content": content,
        "bytes": len(content or b""), "sha256": hashlib.sha256(content).digest() if content is not None else None,
    }  # fmt: skip


async def _ask(connection: AsyncConnection, owner: Owner, ingest_id: UUID) -> None:
    values = {"user_id": owner.user_id, "ingest_id": ingest_id}
    await connection.execute(query("ask_ingest"), values)
    await connection.execute(query("tell_of_ingest"), values)


async def go_on(db: Database, owner: Owner, ingest_id: UUID, *, me: Sequence[str] = (), not_me: bool = False) -> Ingest:
    """Store files that wait for an answer, that a dry run looked at, or that a failed ingest did not reach.

    Args:
        db: the database.
        owner: whose.
        ingest_id: the ingest.
        me: further names or ids of the speaker who is the owner.
        not_me: the owner is none of the speakers.

    Raises:
        NotFoundError: this user has none with this id.
        IngestStateError: it has not ended, or nothing of it is kept.
        InvalidRequestError: a name is too long.
    """
    answer = chosen(owner, me=me, not_me=not_me)
    values = {"user_id": owner.user_id, "ingest_id": ingest_id}

    async def work(connection: AsyncConnection) -> None:
        row = (await connection.execute(query("lock_ingest"), values)).one_or_none()
        if row is None:
            raise NotFoundError("There is no ingest with this id.")
        if row.state in {"pending", "running"}:
            raise IngestStateError(f"The ingest is {row.state}; only one that has ended can go on.", state=row.state)
        if not (await connection.execute(query("wait_again"), values)).scalar_one():
            raise IngestStateError("Nothing of the ingest waits.", state=row.state)
        before = msgspec.convert(row.choices, Chosen)
        names = list(dict.fromkeys([*before.me, *answer.me])) if not answer.not_me else []
        now = msgspec.structs.replace(before, me=names, not_me=answer.not_me or (before.not_me and not answer.me))
        await connection.execute(query("set_ingest_choices"), {**values, "choices": msgspec.json.encode(now).decode()})
        await _ask(connection, owner, ingest_id)

    await db.attempt(owner.user_id, work)
    announce_jobs(db)
    return await get(db, owner, ingest_id)


async def end(db: Database, owner: Owner, ingest_id: UUID) -> IngestEnded:
    """Cancel an ingest that waits or runs; of one that has ended, delete the record. What it stored stays.

    Raises:
        NotFoundError: this user has none with this id.
    """
    values = {"user_id": owner.user_id, "ingest_id": ingest_id}

    async def work(connection: AsyncConnection) -> IngestEnded:
        row = (await connection.execute(query("lock_ingest"), values)).one_or_none()
        if row is None:
            raise NotFoundError("There is no ingest with this id.")
        await connection.execute(query("tell_of_ingest"), values)
        if row.state in {"pending", "running"}:
            await connection.execute(query("end_ingest"), {**values, "state": "cancelled", "error_code": None})
            await connection.execute(query("cancel_ingest_job"), values)
            await connection.execute(query("drop_content"), {**values, "everything": True})
            return IngestEnded(ingest=await _found(connection, owner, ingest_id), deleted=False)
        found = await _found(connection, owner, ingest_id)
        await _delete(connection, values)
        return IngestEnded(ingest=found, deleted=True)

    return await db.attempt(owner.user_id, work)


async def _delete(connection: AsyncConnection, values: dict[str, Any]) -> None:
    await connection.execute(query("delete_ingest_files"), values)
    await connection.execute(query("delete_ingest"), values)


async def delete_old(connection: AsyncConnection, user_id: UUID, kept: timedelta) -> int:
    """Remove files that have waited for a day, and at most 100 ingests that ended longer ago than ``kept``.

    Returns:
        How many ingests were removed.
    """
    await connection.execute(query("drop_old_content"), {"user_id": user_id})
    old = (await connection.execute(query("old_ingests"), {"user_id": user_id, "kept": kept, "limit": BATCH})).scalars()
    ids = list(old)
    for ingest_id in ids:
        await _delete(connection, {"user_id": user_id, "ingest_id": ingest_id})
    return len(ids)


async def list_ingests(
    db: Database, owner: Owner, *, after: UUID | None = None, limit: int = 50, feed_id: UUID | None = None
) -> Page[Ingest]:
    """One page of a user's ingests, newest first; ``after`` is the last one of the previous page.

    With ``feed_id``, only the runs of a feed.

    Raises:
        InvalidRequestError: a limit outside 1 to 1,000.
    """
    check_page(limit)
    async with db.transaction(owner.user_id) as connection:
        rows = await _listed(connection, owner, {"after": after, "feed_id": feed_id, "limit": limit + 1})
    more = str(rows[limit - 1].ingest_id) if len(rows) > limit else None
    return Page(items=rows[:limit], next_cursor=more)


async def get(db: Database, owner: Owner, ingest_id: UUID) -> Ingest:
    """One ingest.

    Raises:
        NotFoundError: this user has none with this id.
    """
    async with db.transaction(owner.user_id) as connection:
        return await _found(connection, owner, ingest_id)


async def look(db: Database, owner: Owner, ingest_id: UUID) -> IngestShown:
    """One ingest with its files. Raises: as ``get``."""
    async with db.transaction(owner.user_id) as connection:
        found = await _found(connection, owner, ingest_id)
        rows = await connection.execute(query("list_ingest_files"), {"user_id": owner.user_id, "ingest_id": ingest_id})
        items = [msgspec.convert(dict(row), IngestFile) for row in rows.mappings()]
    fields = {name: getattr(found, name) for name in Ingest.__struct_fields__}
    return IngestShown(**fields, items=items)


async def _found(connection: AsyncConnection, owner: Owner, ingest_id: UUID) -> Ingest:
    found = await _listed(connection, owner, {"ingest_id": ingest_id, "limit": 1})
    if not found:
        raise NotFoundError("There is no ingest with this id.")
    return found[0]


async def _listed(connection: AsyncConnection, owner: Owner, wanted: dict[str, Any]) -> list[Ingest]:
    values = {"user_id": owner.user_id, "ingest_id": None, "after": None, "feed_id": None, **wanted}
    rows = await connection.execute(query("list_ingests"), values)
    return [_ingest(row) for row in rows.mappings()]


def _ingest(row: RowMapping) -> Ingest:
    values = {name: int(value) if name in SUMS else value for name, value in row.items()}
    return msgspec.convert(values, Ingest)


SUMS = frozenset({"messages", "stored", "created", "existing", "erased", "paused", "differs"})
"""Columns that PostgreSQL returns as decimals."""
