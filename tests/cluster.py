"""The server under test and its databases, as its administrator sees them."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import make_url

FAST = {
    "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "120",
    "shared_buffers": "256MB",
}  # fmt: skip
"""How servers that only tests use are started."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The server under test, by its administrator's URL, the file by which its users take turns, and its log."""

    base_url: str
    lock: Path
    log: Path | None = None

    def admin_url(self, database: str) -> str:
        """The administrator's URL of one database."""
        return make_url(self.base_url).set(database=database).render_as_string(hide_password=False)

    def execute(self, statement: sql.SQL | sql.Composed, database: str = "postgres") -> None:
        """Run one statement as the administrator, outside a transaction."""
        with psycopg.connect(self.admin_url(database), autocommit=True) as connection:
            connection.execute(statement)

    def has(self, extension: str) -> bool:
        """Whether an extension can be made on the server."""
        with psycopg.connect(self.base_url) as connection:
            found = connection.execute("SELECT FROM pg_available_extensions WHERE name = %s", [extension])
            return found.fetchone() is not None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Upgrade, or clone the template, while nobody else does: roles belong to the whole server."""
        with self.lock.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def recreate(self, database: str, template: str | None = None) -> None:
        """Make a database anew, empty or as a copy of another one."""
        name = sql.Identifier(database)
        self.drop(database)
        self.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(name, sql.Identifier(template or "template0")))

    def clone(self, database: str, template: str) -> str:
        """Make a database anew as a copy of the template; its administrator's URL."""
        with self.alone():
            self.recreate(database, template)
        return self.admin_url(database)

    def drop(self, database: str) -> None:
        """Remove a database, whoever uses it."""
        self.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))
