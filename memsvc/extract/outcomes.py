"""What a re-reading makes of facts, window by window: counted where it is kept, and marked so that it can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.files import query
from memsvc.extract.unread import Turns

Outcome = Literal["added", "changed", "ended", "retracted", "refused", "unchanged"]
"""added: it was not known; changed: its words, data or times did; ended: it ends earlier than was known; retracted:
only older versions had found it; refused: found and not written, a person is asked or it failed a check; unchanged:
found again as it was known."""
Counts = dict[Outcome, dict[str, int]]
"""How many facts, by outcome and type."""


async def note_window(
    connection: AsyncConnection, owner: Owner, turns: Turns, extractor: str, changes: Sequence[UUID]
) -> None:
    """Add a window that was written to the counts of its re-reading, in the same transaction."""
    about = {"user_id": owner.user_id, "rereading_id": turns.rereading}
    if changes:
        await connection.execute(query("mark_reread"), {**about, "changes": changes})
    kept = (await connection.execute(query("lock_rereading"), about)).scalar_one()
    counts = msgspec.convert(kept, Counts)
    values = {**about, "changes": changes, "passages": turns.passages, "extractor": extractor}
    for row in await connection.execute(query("count_changed"), values):
        of_type = counts.setdefault(row.outcome, {})
        of_type[row.type] = of_type.get(row.type, 0) + row.facts
    added = {"turns": len(turns.turns), "counts": msgspec.json.encode(counts).decode()}
    await connection.execute(query("note_reread"), {**about, **added})
