"""Whether the database was upgraded since this process first connected to it.

An older process keeps working beside an upgrade as long as what it calls is there. Where something is missing, this
tells whether the process is too old, which a restart mends, or the database, which an upgrade mends.
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
                self._first = Upgraded(None, None)  # it holds no memsvc, or we may not look
            finally:
                cursor.close()
                connection.rollback()

    async def database_is_newer(self) -> bool:
        """Whether the database was upgraded since, or by a newer version than this one.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: it cannot be looked at.
        """
        async with self._engine.connect() as connection:
            now = Upgraded(*(await connection.execute(text(LOOK))).one())
        return now != self._first or (now.revision or "") > self._own_revision
