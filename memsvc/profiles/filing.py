"""Keeps blocks of the archive among what recall finds: their text as passages, in parts that fit an embedder's window.

A change files its block in its own transaction. What is there without passages (blocks of an older version of memsvc
or of an import, and what an erasure left of one) is filed by the job ``embed``, at the latest by ``tidy``. Rules:
docs/adr/0033 and ``sql/functions/187_filed_blocks.sql``.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.llm.split import split_text
from memsvc.queue.run import Steps

PART_TOKENS = 240
"""The window that a block is split to: that of messages, where nobody set another one."""


async def file_block(connection: AsyncConnection, user_id: UUID, block_id: UUID) -> None:
    """Bring the passages of a block in line with what it says, in a transaction that holds the profile."""
    said = await connection.execute(query("profile_archived"), {"user_id": user_id, "block_id": block_id})
    await _file(connection, user_id, block_id, said)


def filing_steps() -> Steps:
    """The step of a user's job ``embed``, before vectors are made, and of ``tidy``: files what has no passages yet."""
    return {"embed": [_file_all], "tidy": [_file_all]}


async def _file_all(db: Database, user_id: UUID, _user: UUID) -> bool:
    async def turn(connection: AsyncConnection) -> None:
        await connection.execute(query("profile_hold"), {"user_id": user_id})
        unfiled = await connection.execute(query("profile_unfiled"), {"user_id": user_id, "block_id": None})
        for block_id, versions in groupby(unfiled.all(), key=attrgetter("block_id")):
            await _file(connection, user_id, block_id, versions)

    await db.attempt(user_id, turn)
    return False


async def _file(
    connection: AsyncConnection, user_id: UUID, block_id: UUID, versions: Iterable[Row[tuple[object]]]
) -> None:
    parts = {str(row.version): split_text(row.text, PART_TOKENS) for row in versions}
    values = {"user_id": user_id, "block_id": block_id, "parts": msgspec.json.encode(parts).decode()}
    await connection.execute(query("profile_file"), values)
