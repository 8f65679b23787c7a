"""Alembic's entry point, however it is called; ``memsvc.server.alembic_commands`` runs the commands."""

from memsvc.server.alembic_commands import run

run()
