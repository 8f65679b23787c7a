"""Runs Alembic; imported only if a migration has to run."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from memsvc.db.files import folder


def alembic_config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, the same in a checkout and in an installed wheel."""
    config = Config()
    config.set_main_option("script_location", str(folder("alembic")))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def migrate(connection: Connection, revision: str) -> None:
    """Upgrade to a revision (or "head"), each migration in a transaction of its own; see ``alembic/env.py``."""
    command.upgrade(alembic_config(connection), revision)
