"""Whether the database was upgraded since this process first connected to it.

An older process keeps working during and after an upgrade as long as everything that it calls still exists. When
something is missing, this module finds out whether the process is too old (restart it) or the database is (upgrade it).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import psycopg
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from memsvc.db.files import head_revision

LOOK = (
    "SELECT (SELECT max(s.version_num) FROM memsvc.schema_version AS s), "
    "(SELECT max(a.applied_at) FROM memsvc.applied_sql AS a)"
)


class Upgraded(NamedTuple):
    """The last upgrade of a database."""

    revision: str | None
    applied_at: datetime | None
    """When functions, views and policies were last applied."""


class Age:
    """Remembers the last upgrade that the database had when a process first connected to it."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Nothing connects yet."""
        self._engine = engine
        self._own_revision = head_revision()
        self._first: Upgraded | None = None

        @event.listens_for(engine.sync_engine, "connect")
        def remember(connection: Any, _record: Any) -> None:
            if self._first is not None:
                return
            cursor = connection.cursor()
            try:
                cursor.execute(LOOK)
                self._first = Upgraded(*cursor.fetchone())
            except psycopg.errors.Error as error:
                if error.sqlstate is None:
                    raise
                self._first = Upgraded(None, None)  # it has no memsvc, or we lack the privilege
            finally:
                cursor.close()
                connection.rollback()

    async def database_is_newer(self) -> bool:
        """Whether the database was upgraded since this process connected, or by a newer version than this one.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the database cannot be read.
        """
        async with self._engine.connect() as connection:
            now = Upgraded(*(await connection.execute(text(LOOK))).one())
        return now != self._first or (now.revision or "") > self._own_revision
