"""Resolution by exact names alone, for tests that are about something else."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.identity.mentions import Mention, Resolved

CALLED = text(
    "SELECT n.name, c.node_id AS canonical_id FROM unnest(CAST(:names AS text[])) AS n (name) "
    "INNER JOIN memsvc.forms_called(:user_id, ARRAY("
    "SELECT memsvc.normal_form(m) FROM unnest(CAST(:names AS text[])) AS m), NULL, NULL) AS c "
    "ON c.form = memsvc.normal_form(n.name)"
)


async def resolve(
    connection: AsyncConnection,
    owner: Owner,
    mentions: Sequence[Mention],
    *,
    source_id: UUID | None = None,
    near: frozenset[UUID] = frozenset(),
) -> list[Resolved]:
    rows = await connection.execute(CALLED, {"user_id": owner.user_id, "names": [one.name for one in mentions]})
    called = {row.name: row.canonical_id for row in rows}
    return [
        Resolved(key=one.key, node_id=one.known, how="given")
        if one.known is not None
        else Resolved(key=one.key, node_id=called.get(one.name), how="name" if one.name in called else "new")
        for one in mentions
    ]
