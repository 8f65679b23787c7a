"""Turns of agents in the database."""

from __future__ import annotations

from typing import Any

import psycopg

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.settings import Settings
from memsvc.turns.calls import CallIn
from memsvc.turns.storing import TurnIn, record_turn


async def test_x(db: Database, settings: Settings, owner: Owner, admin: psycopg.Connection) -> None:
    turn = TurnIn(conversation="c", id="1", request="Fix the login.", root="/srv/shop", calls=[
        CallIn(tool="Read", arguments={"file_path": "a.py"}, result="x"), CallIn(tool="Bash", arguments={"command":"pytest"}, ok=False, result="boom Error: x"),
        ], answer="Done.")
    print(await record_turn(db, owner, turn, settings))
    print(await record_turn(db, owner, turn, settings))
    print(admin.execute("select ordinal, part, text from memsvc.passages where user_id=%s", [owner.user_id]).fetchall())
    print(admin.execute("select * from memsvc.procedures where user_id=%s", [owner.user_id]).fetchall())
    print(admin.execute("select * from memsvc.document_signals where user_id=%s", [owner.user_id]).fetchall())
