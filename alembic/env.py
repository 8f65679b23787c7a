"""Runs migrations as memsvc_owner, each in its own transaction, under lock and statement timeouts.

The connection comes from ``memsvc.server.upgrade`` (``config.attributes["connection"]``), which has the administrator's
login, creates the roles first and re-applies ``sql/`` afterwards. ``alembic upgrade`` by hand is refused: it would skip
both.
"""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection, text

# A migration that waits for a lock blocks everybody behind it: give up soon, the upgrade tries again. Below
# deadlock_timeout (1 s), so that it is never a writer that PostgreSQL ends.
LOCK_TIMEOUT = "800ms"
STATEMENT_TIMEOUT = "10min"


def run() -> None:
    connection = context.config.attributes.get("connection")
    if not isinstance(connection, Connection):
        message = "Run 'memsvc db upgrade': it prepares roles and extensions and re-applies sql/ afterwards."
        raise SystemExit(message)
    connection.execute(text("SET ROLE memsvc_owner"))
    connection.execute(text(f"SET lock_timeout = '{LOCK_TIMEOUT}'"))
    connection.execute(text(f"SET statement_timeout = '{STATEMENT_TIMEOUT}'"))
    connection.commit()
    context.configure(
        connection=connection,
        version_table="schema_version",
        version_table_schema="memsvc",
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run()
