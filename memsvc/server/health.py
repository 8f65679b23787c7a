"""Checks whether the database can serve this version of memsvc, with the application's own login."""

from __future__ import annotations

import hashlib
from functools import cache

import msgspec
from sqlalchemy import text

from memsvc.db.engine import Database
from memsvc.db.files import head_revision
from memsvc.server.objects import object_files


class DatabaseHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a reachable database."""

    revision: str | None
    """Its revision."""
    current: bool
    """True: migration, functions, views and policies are those of this version."""
    extensions: dict[str, str]
    """Installed extensions and their versions."""


@cache
def _wanted() -> tuple[str, dict[str, str]]:
    objects = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in object_files().items()}
    return head_revision(), objects


async def database_health(db: Database) -> DatabaseHealth:
    """Read the database's state.

    Raises:
        DatabaseUnavailableError, DatabaseTooOldError, OverloadedError: the database cannot be read.
    """
    head, objects = _wanted()
    async with db.transaction() as connection:
        revision: str | None = (
            await connection.execute(text("SELECT version_num FROM memsvc.schema_version"))
        ).scalar_one_or_none()
        applied = await connection.execute(text("SELECT path, sha256 FROM memsvc.applied_sql"))
        current = revision == head and {row.path: row.sha256 for row in applied} == objects
        installed = await connection.execute(text("SELECT extname, extversion FROM pg_extension ORDER BY extname"))
        return DatabaseHealth(
            revision=revision, current=current, extensions={row.extname: row.extversion for row in installed}
        )
