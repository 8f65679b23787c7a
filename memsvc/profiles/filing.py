"""Keeps archival blocks findable by recall: stores their text as passages, in parts that fit an embedder's window.

A change files its block in its own transaction. Blocks without passages (from an older version of memsvc, from an
import, or after an erasure) are filed by the job ``tidy``. Rules: docs/adr/0033 and
``sql/functions/profiles/30_filed_blocks.sql``.
"""

from __future__ import annotations

import time
from functools import partial
from itertools import groupby
from operator import attrgetter
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.queue.execution import SLICE_S, Steps
from memsvc.text.split import split_text

BATCH = 50
"""Most versions of a block that one transaction files: writers of the profile wait for it."""


async def file_block(
    connection: AsyncConnection, user_id: UUID, block_id: UUID, window: int, *, upto: int | None = None
) -> None:
    """Bring the passages of a block in line with its text, in a transaction that holds the profile's lock.

    Args:
        connection: in that transaction.
        user_id: the block's owner.
        block_id: the block.
        window: the text is split into parts of at most this many estimated tokens.
        upto: the newest of at most ``BATCH`` versions to file; None: the current version.
    """
    if upto is None:
        said = await connection.execute(query("profile_archived"), {"user_id": user_id, "block_id": block_id})
    else:
        values = {"user_id": user_id, "block_id": block_id, "upto": upto, "limit": BATCH}
        said = await connection.execute(query("profile_unfiled"), values)
    parts = {str(row.version): split_text(row.text, window) for row in said}
    filed = {"user_id": user_id, "block_id": block_id, "parts": msgspec.json.encode(parts).decode()}
    await connection.execute(query("profile_file"), filed)


def filing_steps(window: int) -> Steps:
    """Return the first step of a user's job ``tidy``: it files what has no passages yet.

    Args:
        window: as in ``file_block``.
    """

    async def file(db: Database, user_id: UUID, _user: UUID) -> bool:
        batches = await _batches(db, user_id)
        until = time.monotonic() + SLICE_S
        for done, (block_id, upto) in enumerate(batches, start=1):
            await db.attempt(user_id, partial(_take, user_id=user_id, block_id=block_id, window=window, upto=upto))
            if done < len(batches) and time.monotonic() >= until:
                return True
        return False

    return {"tidy": [file]}


async def _batches(db: Database, user_id: UUID) -> list[tuple[UUID, int]]:
    """Return the work, one item for each transaction: a block, and the newest version to file in it."""
    async with db.transaction(user_id) as connection:
        unfiled = (await connection.execute(query("profile_unfiled_versions"), {"user_id": user_id})).all()
    return [
        (block_id, upto)
        for block_id, versions in groupby(unfiled, key=attrgetter("block_id"))
        for upto in [row.version for row in versions][::BATCH]
    ]


async def _take(connection: AsyncConnection, user_id: UUID, block_id: UUID, window: int, upto: int) -> None:
    await connection.execute(query("profile_hold"), {"user_id": user_id})
    await file_block(connection, user_id, block_id, window, upto=upto)
