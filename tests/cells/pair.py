"""A directory and another cell, as two databases of one server, and what is in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from memsvc.cells.copying import LEFT
from memsvc.cells.journey import Limits
from memsvc.cells.moving import Moved, abort_move, move_user
from memsvc.settings import Settings
from tests.sql.world import USER_TABLES

COPIED = sorted({*USER_TABLES, "node_types", "edge_types"} - LEFT)
"""Tables of users whose rows move. The others are decided in ``memsvc.cells.copying.LEFT``."""
AWAY = "SELECT cell_id, epoch, moving FROM memsvc.users WHERE user_id = %s"
QUICK = Limits(grace_s=0.05, wait_s=2.0, tries=2, pause_s=0.05)
Content = dict[str, list[str]]


def without_login(url: str) -> str:
    """A URL as the table ``cells`` has it."""
    return make_url(url)._replace(username=None, password=None).render_as_string(hide_password=False)


@dataclass(frozen=True, slots=True)
class Deployment:
    """The administrators' URLs of the home and of the cell ``north``."""

    home: str
    north: str
    settings: Settings

    def url(self, cell: str) -> str:
        return self.home if cell == "home" else self.north

    def move(self, user: UUID, to: str | None, app: str, **more: Any) -> Moved:
        return move_user(self.home, self.settings, app, str(user), to, **{"limits": QUICK, **more})

    def abort(self, user: UUID, app: str) -> None:
        abort_move(self.home, self.settings, app, str(user))

    def rows(self, cell: str, query: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url(cell), autocommit=True) as connection:
            return connection.execute(query.encode(), values or None).fetchall()

    def run(self, cell: str, statement: str, *values: object) -> None:
        with psycopg.connect(self.url(cell), autocommit=True) as connection:
            connection.execute(statement.encode(), values or None)

    def place(self, user: UUID) -> tuple[int, int, str | None]:
        """Where the directory says that a user is."""
        [row] = self.rows("home", AWAY, user)
        return row

    def content(self, cell: str, user: UUID) -> Content:
        """All rows of a user that move, in every table, without numbers that each database gives itself."""
        with psycopg.connect(self.url(cell), autocommit=True) as connection:
            return {table: _content(connection, table, user) for table in COPIED}

    def left(self, cell: str, user: UUID) -> dict[str, int]:
        """Rows of a user by table, in all tables that erasing knows."""
        tables = [name for (name,) in self.rows(cell, "SELECT name FROM memsvc.user_tables()")]
        with psycopg.connect(self.url(cell), autocommit=True) as connection:
            found = {}
            for table in tables:
                query = sql.SQL("SELECT count(*) FROM memsvc.{} WHERE user_id = %s").format(sql.Identifier(table))
                [(count,)] = connection.execute(query, [user]).fetchall()
                if count:
                    found[table] = count
            return found


def _content(connection: psycopg.Connection, table: str, user: UUID) -> list[str]:
    query = sql.SQL(
        "SELECT (to_jsonb(t) - 'gid' - 'model_id')::text "
        "|| coalesce((SELECT m.name FROM memsvc.embedding_models AS m "
        "WHERE m.model_id = (to_jsonb(t) ->> 'model_id')::int), '') FROM memsvc.{} AS t WHERE t.user_id = %s"
    ).format(sql.Identifier(table))
    return sorted(row for (row,) in connection.execute(query, [user]))
