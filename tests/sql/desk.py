"""A desk at which agents work: what one user's turns are recorded and read with."""

from __future__ import annotations

from typing import Any

import psycopg

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.settings import Settings
from memsvc.turns.calls import CallIn
from memsvc.turns.past import PastWork, PastWorkIn, past_work
from memsvc.turns.storing import StoredTurn, TurnIn, record_turn

SHOP = "/home/kim/shop"


class Desk:
    """An agent's turns of one user."""

    def __init__(self, db: Database, limits: Settings, owner: Owner, admin: psycopg.Connection) -> None:
        self.db, self.limits, self.owner, self.admin = db, limits, owner, admin

    async def record(self, **fields: Any) -> StoredTurn:
        given_ = {"conversation": "monday", "root": SHOP, "project": "shop", **fields}
        return await record_turn(self.db, self.owner, TurnIn(**given_), self.limits)

    async def past(self, query: str = "", **fields: Any) -> PastWork:
        asked = PastWorkIn(query=query, **{"root": SHOP, "project": "shop", **fields})
        return await past_work(self.db, self.owner, asked, self.limits)

    def rows(self, what: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.admin.execute(what.replace("USER", f"'{self.owner.user_id}'").encode(), values or None).fetchall()

    def texts(self) -> list[tuple[str, int, str]]:
        return self.rows(
            "SELECT session, ordinal, text FROM memsvc.passages WHERE user_id = USER ORDER BY session, ordinal, part"
        )

    def versions(self) -> list[tuple[str, int, bool, bool]]:
        return self.rows(
            "SELECT coalesce(s.local, s.identifier), v.version, v.by_agent, v.chunked "
            "FROM memsvc.document_versions AS v INNER JOIN memsvc.sources AS s USING (user_id, source_id) "
            "WHERE v.user_id = USER ORDER BY 1, 2"
        )


def read(path: str, content: str, **more: Any) -> CallIn:
    return CallIn(tool="Read", arguments={"file_path": path}, result=content, **more)


def write(path: str, content: str) -> CallIn:
    return CallIn(tool="WRITE", arguments={"path": path, "content": content}, result="written")
