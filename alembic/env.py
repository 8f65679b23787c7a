"""Where Alembic begins, whoever called it; ``memsvc.server.alembic_commands`` has what each command does."""

from memsvc.server.alembic_commands import run

run()
