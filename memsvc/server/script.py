"""Writes an upgrade as a script instead of running it: ``alembic upgrade head --sql``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from sqlalchemy import Executable


class Nothing:
    """The result of a statement that was not executed."""

    def scalars(self) -> Self:
        """No values."""
        return self

    def scalar(self) -> None:
        """No value."""

    def __iter__(self) -> Iterator[Any]:
        """No rows."""
        return iter(())


class Script:
    """Replaces a migration's connection; statements become lines of a script."""

    def __init__(self, write: Callable[[str], None]) -> None:
        """Write nothing yet.

        Args:
            write: called with each piece of SQL.
        """
        self.write = write

    def execute(self, statement: Executable, _values: Mapping[str, Any] | None = None) -> Nothing:
        """Write a query as a comment and return no rows, because there is no database."""
        asked = "\n".join(f"-- {line}" for line in str(statement).strip().splitlines())
        self.write(f"-- 'memsvc db upgrade' goes by the rows that this gives; here it gave none:\n{asked}")
        return Nothing()

    def exec_driver_sql(self, statement: str) -> None:
        """Write a statement that returns no rows."""
        self.write(f"{statement.strip()};")
