"""The turns of agents behind the questions about agents in docs/sql.md: three conversations about one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsvc.access.users import Owner, add_user
from memsvc.turns.calls import CallIn
from memsvc.turns.storing import TurnIn, record_turn

if TYPE_CHECKING:
    from uuid import UUID

    from memsvc.db.engine import Database
    from memsvc.settings import Settings

FAILED = CallIn(
    tool="BASH", arguments={"command": "pytest -q"}, ok=False, result="AttributeError: no __about__", ms=900
)
TURNS = (
    ("monday", "2025-05-05T09:31", "Fix the login test.", True, [
        CallIn(tool="READ", arguments={"path": "auth.py"}, result="from passlib import bcrypt", ms=3), FAILED,
        CallIn(tool="WRITE", arguments={"path": "auth.py", "content": "import bcrypt"}, ms=5),
    ]),
    ("tuesday", "2025-05-06T15:02", "Why can nobody sign in?", None, [
        CallIn(tool="READ", arguments={"path": "auth.py"}, result="import bcrypt", ms=2),
        CallIn(tool="READ", arguments={"path": "README.md"}, result="# Lantern shop", ms=2),
    ]),
    ("wednesday", "2025-05-06T20:15", "Rename the cookie.", True, [
        CallIn(tool="READ", arguments={"path": "auth.py"}, result="import bcrypt  # by hand", ms=2),
    ]),
)  # fmt: skip


async def write_turns(db: Database, app: UUID, settings: Settings, *, external_id: str = "kim") -> Owner:
    """Make the user with the turns."""
    owner = (await add_user(db, app, name="Kim", external_id=external_id, time_zone="Europe/Lisbon")).owner
    for conversation, at, request, ok, calls in TURNS:
        turn = TurnIn(
            conversation=conversation, at=at, request=request, answer="Done.", ok=ok, calls=calls, project="shop",
            root="/home/kim/shop", agent="claude-code",
        )  # fmt: skip
        await record_turn(db, owner, turn, settings)
    return owner
