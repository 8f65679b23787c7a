"""Permanently erase messages, sources, facts and nodes, with all knowledge that only they support.

The SQL function ``memsvc.erase_batch`` deletes; only its role may. Large erasures run in batches, and the job
``erase`` finishes those that a killed process left. A receipt and tombstones remain, without text. Rules and reasons:
docs/adr/0012-erasing.md.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Literal, get_args
from uuid import UUID

import msgspec
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_name
from memsvc.db.acting import sign
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import (
    BlockUnknownError,
    FactUnknownError,
    InvalidRequestError,
    MemsvcError,
    NodeUnknownError,
    NotFoundError,
    PassageUnknownError,
)
from memsvc.queue.execution import SLICE_S, Steps
from memsvc.queue.jobs import MAX_PAGE, announce_jobs

Kind = Literal["message", "passage", "source", "fact", "node", "block"]
"""message: the message of a passage with all its passages; passage: only this passage; source: a conversation; fact: an
edge with all its versions; node: a node with its names and edges, without the nodes merged with it; block: a block of
the profile with all its versions. Naming a block's source, or a passage of its current text in the archive, also erases
the block."""
KINDS: tuple[Kind, ...] = get_args(Kind)
BATCH = 2_000
"""Most passages, or edges of a node, that one transaction erases."""
UNKNOWN: dict[Kind, tuple[type[MemsvcError], str]] = {
    "message": (PassageUnknownError, "There is no passage with this id."),
    "passage": (PassageUnknownError, "There is no passage with this id."),
    "source": (NotFoundError, "There is no source with this id."),
    "fact": (FactUnknownError, "There is no edge with this id."),
    "node": (NodeUnknownError, "There is no node with this id."),
    "block": (BlockUnknownError, "There is no block with this id."),
}
ERASE = text("SELECT * FROM memsvc.erase(:user_id, :kind, :subject_id, :requested_by, :limit)")
CONTINUE = text("SELECT * FROM memsvc.continue_erasure(:user_id, :erasure_id, :limit, :in_job)")
VERIFY = text("SELECT * FROM memsvc.verify_erasure(:user_id, :erasure_id)")
PREVIEW = text("SELECT memsvc.preview_erasure(:user_id, :kind, :subject_id)")
BLOCK = query("block_to_erase")
SIZE = query("erasure_size")


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What was erased. It has no text."""

    erasure_id: UUID
    kind: str
    subject_id: UUID
    """The passage, source, edge, node or block that was to be erased."""
    state: Literal["pending", "done"]
    counts: dict[str, int]
    """Rows removed, by table. ``evidence_reduced``: versions that remain because they have other evidence.
    ``profile_versions`` includes versions that only lost lines."""
    requested_by: str
    created_at: datetime
    finished_at: datetime | None
    verified: bool | None
    """Whether a check found no rows left; None: the erasure is pending or was not checked."""
    leftovers: dict[str, int]
    """Rows that are left, by table and column."""


class Receipts(msgspec.Struct, frozen=True, kw_only=True):
    """One page of receipts."""

    items: list[Receipt]
    next_cursor: str | None
    """The cursor for the next page; None: this is the last page."""


def _receipt(row: Row[Any]) -> Receipt:
    return Receipt(
        erasure_id=row.erasure_id,
        kind=row.kind,
        subject_id=row.subject_id,
        state=row.state,
        counts=row.counts,
        requested_by=row.requested_by,
        created_at=row.created_at.astimezone(UTC),
        finished_at=row.finished_at.astimezone(UTC) if row.finished_at else None,
        verified=None if row.verified_at is None else row.leftovers == {},
        leftovers=row.leftovers,
    )


def _known(kind: str) -> Kind:
    for known in KINDS:
        if kind == known:
            return known
    raise InvalidRequestError(f"kind must be one of {', '.join(KINDS)}.", field="kind")


def _unknown(kind: Kind) -> MemsvcError:
    error, message = UNKNOWN[kind]
    return error(message)


async def _target(db: Database, owner: Owner, kind: Kind, subject: UUID) -> tuple[Kind, UUID]:
    """Return what to erase: for the source or a passage of a block, the block, because its text would remain there.

    Raises:
        InvalidRequestError: the passage is a past wording of a block, whose current text would be erased with it.
    """
    if kind not in {"message", "passage", "source"}:
        return kind, subject
    async with db.transaction(owner.user_id) as connection:
        block = (await connection.execute(BLOCK, {"user_id": owner.user_id, "subject_id": subject})).one_or_none()
    if block is None:
        return kind, subject
    if block.former:
        raise InvalidRequestError(
            f"This is a past wording of the block {block.title!r}; it can only be erased with the whole block.",
            hint=f"To erase the whole block, forget it by its name, or forget the source {block.source_id}.",
            field="passage_id",
        )
    return "block", block.source_id


async def erase(
    db: Database,
    owner: Owner,
    kind: Kind,
    subject: UUID,
    *,
    requested_by: str,
    whole: bool = True,
    on_progress: Callable[[int, int], None] | None = None,
    unless: Callable[[AsyncConnection], Awaitable[None]] | None = None,
) -> Receipt:
    """Erase something and all knowledge that nothing else supports. This cannot be undone.

    Args:
        db: the database.
        owner: the owner of the memory.
        kind: what ``subject`` is.
        subject: id of a passage (for message and passage), source, edge (for fact), node or block.
        requested_by: who requested it: user, app, or a name.
        whole: wait until all batches are done; False: do the first and leave the others to the job ``erase``.
        on_progress: called after each batch with the number of erased passages (for a node or fact: edges) and the
            total.
        unless: called first in the transaction that starts the erasure; may raise to prevent it.

    Returns:
        The receipt; if the erasure is done, it was checked for leftovers.

    Raises:
        PassageUnknownError, NotFoundError, FactUnknownError, NodeUnknownError, BlockUnknownError: the subject does not
            exist, or no longer.
        InvalidRequestError: the kind is unknown, the passage is a past wording of a block, or requested_by is empty or
            too long.
    """
    known, subject = await _target(db, owner, _known(kind), subject)
    by = valid_name(requested_by, "requested_by")
    values = {
        "user_id": owner.user_id, "kind": known, "subject_id": subject, "requested_by": by, "limit": BATCH,
    }  # fmt: skip
    total = await _size(db, owner, known, subject) if on_progress is not None else 0

    async def begin(connection: AsyncConnection) -> Receipt | None:
        if unless is not None:
            await unless(connection)
        await sign(connection)
        row = (await connection.execute(ERASE, values)).one_or_none()
        return None if row is None else _receipt(row)

    receipt = await db.attempt(owner.user_id, begin)
    if receipt is None:
        raise _unknown(known)
    if receipt.state == "pending" and not whole:
        announce_jobs(db)
        return receipt
    while True:
        if on_progress is not None:
            on_progress(min(receipt.counts.get(_measured(known), 0), total), total)
        if receipt.state == "done":
            return await erasure(db, owner, receipt.erasure_id)
        receipt = await _continue(db, owner.user_id, receipt.erasure_id, in_job=False)


def _measured(kind: Kind) -> Literal["edges", "passages"]:
    return "edges" if kind in {"fact", "node"} else "passages"


async def _size(db: Database, owner: Owner, kind: Kind, subject: UUID) -> int:
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(SIZE, {"user_id": owner.user_id, "kind": kind, "id": subject})).one_or_none()
    return 0 if row is None else int(getattr(row, _measured(kind)))


async def _continue(db: Database, user_id: UUID, erasure_id: UUID, *, in_job: bool) -> Receipt:
    values = {"user_id": user_id, "erasure_id": erasure_id, "limit": BATCH, "in_job": in_job}

    async def next_batch(connection: AsyncConnection) -> Receipt | None:
        row = (await connection.execute(CONTINUE, values)).one_or_none()
        return None if row is None else _receipt(row)

    receipt = await db.attempt(user_id, next_batch)
    if receipt is None:
        raise NotFoundError("There is no erasure with this id.")
    return receipt


async def _verify(db: Database, user_id: UUID, erasure_id: UUID) -> Receipt:
    async def verify(connection: AsyncConnection) -> Receipt | None:
        row = (await connection.execute(VERIFY, {"user_id": user_id, "erasure_id": erasure_id})).one_or_none()
        return None if row is None else _receipt(row)

    receipt = await db.attempt(user_id, verify)
    if receipt is None:
        raise NotFoundError("There is no erasure with this id.")
    return receipt


async def erasure(db: Database, owner: Owner, erasure_id: UUID) -> Receipt:
    """Return a receipt; if the erasure is done, check again for leftovers.

    Raises:
        NotFoundError: this user has no such erasure.
    """
    return await _verify(db, owner.user_id, erasure_id)


async def erasures(db: Database, owner: Owner, *, after: UUID | None = None, limit: int = 50) -> Receipts:
    """Return receipts, newest first; ``after`` is the last one of the previous page.

    Raises:
        InvalidRequestError: the limit is not between 1 and 1,000.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidRequestError(f"limit must be between 1 and {MAX_PAGE:,}.", field="limit")
    async with db.transaction(owner.user_id) as connection:
        rows = (
            await connection.execute(
                query("list_erasures"), {"user_id": owner.user_id, "after": after, "limit": limit + 1}
            )
        ).all()
    items = [_receipt(row) for row in rows[:limit]]
    return Receipts(items=items, next_cursor=str(items[-1].erasure_id) if len(rows) > limit else None)


async def preview(db: Database, owner: Owner, kind: Kind, subject: UUID) -> dict[str, int]:
    """Return what erasing would remove now, by table, as in ``Receipt.counts``; change nothing.

    Raises: as ``erase``.
    """
    known, subject = await _target(db, owner, _known(kind), subject)
    async with db.transaction(owner.user_id) as connection:
        counts: dict[str, int] | None = (
            await connection.execute(PREVIEW, {"user_id": owner.user_id, "kind": known, "subject_id": subject})
        ).scalar_one()
    if counts is None:
        raise _unknown(known)
    return counts


def erase_steps() -> Steps:
    """Return the steps of the job that finishes large erasures."""
    return {"erase": [_erase_rest]}


async def _erase_rest(db: Database, user_id: UUID, erasure_id: UUID) -> bool:
    until = time.monotonic() + SLICE_S
    try:
        while (await _continue(db, user_id, erasure_id, in_job=True)).state == "pending":
            if time.monotonic() >= until:
                return True
        await _verify(db, user_id, erasure_id)
    except NotFoundError:  # the user was erased
        return False
    return False
