"""Keeps blocks of the archive among what recall finds: their text as passages, in parts that fit an embedder's window.

A change files its block in its own transaction. What is there without passages (blocks of an older version of memsvc
or of an import, and what an erasure left of one) is filed by the job ``tidy``. Rules:
docs/adr/0033 and ``sql/functions/profiles/30_filed_blocks.sql``.
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
    """Bring the passages of a block in line with what it says, in a transaction that holds the profile.

    Args:
        connection: in that transaction.
        user_id: whose block it is.
        block_id: which.
        window: what it says is split to parts of at most so many estimated tokens.
        upto: the newest of the versions to be filed, of which there are ``BATCH`` at most; None: the present one.
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
    """The first step of a user's job ``tidy``: files what has no passages yet.

    Args:
        window: as ``file_block``.
    """

    async def file(db: Database, user_id: UUID, _user: UUID) -> bool:
        turns = await _turns(db, user_id)
        until = time.monotonic() + SLICE_S
        for done, (block_id, upto) in enumerate(turns, start=1):
            await db.attempt(user_id, partial(_take, user_id=user_id, block_id=block_id, window=window, upto=upto))
            if done < len(turns) and time.monotonic() >= until:
                return True
        return False

    return {"tidy": [file]}


async def _turns(db: Database, user_id: UUID) -> list[tuple[UUID, int]]:
    """What there is to file, a transaction each: a block, and the newest version of those that are its turn."""
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
