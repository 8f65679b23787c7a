"""Lines of core memory that a later fact ended or contradicts, renewed when a person accepts the proposal.

``sql/functions/profiles/50_outdated_lines.sql`` finds them. A proposal has no text: what stands there and what takes
its place are looked up when it is listed and again when it is accepted, so both follow what is known by then.
"""

from __future__ import annotations

from uuid import UUID

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import ProposalDecidedError
from memsvc.profiles.blocks import MAX_EVIDENCE, Block, Place
from memsvc.profiles.changes import Set
from memsvc.profiles.read import read_block
from memsvc.profiles.write import Wish, change_block

ENDED_AND_FOLLOWED, ENDED, CONTESTED = 0.9, 0.7, 0.5
"""How likely a line is outdated: another fact of the type holds instead, none does, or the fact is contested."""


async def renew_line(db: Database, owner: Owner, key: UUID, *, asserted_by: str) -> Block:
    """Replace an outdated line by what holds now, or remove it, as one new version of its block.

    Other lines keep their evidence; the new one gets that of its fact.

    Raises:
        ProposalDecidedError: the line does not stand there any more, or holds again.
        ProfileConflictError: somebody changed the block at the same moment.
        TextTooLongError, ProfileFullError: the block has no room.
    """
    values = {"user_id": owner.user_id, "node": None}
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(query("outdated_lines"), values)).all()
    row = next((one for one in rows if one.key == key), None)
    if row is None:
        raise ProposalDecidedError("This line does not stand there any more, or holds again.")
    block = await read_block(db, owner, row.name, node=row.node_id)
    lines = block.text.split("\n")
    if block.version == row.expected:  # else the write is refused
        lines[row.nth - 1 : row.nth] = [row.instead] if row.instead is not None else []
    wish = Wish(
        change=Set(text="\n".join(lines)),
        evidence=row.passages[:MAX_EVIDENCE],
        expected_version=row.expected,
        asserted_by=asserted_by,
    )
    return await change_block(db, owner, Place(row.name, None, row.node_id), wish)
