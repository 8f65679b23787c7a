"""An upgrade that is written down instead of done: ``alembic upgrade head --sql``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from sqlalchemy import Executable


class Nothing:
    """What a statement gives that was not executed."""

    def scalars(self) -> Self:
        """No values."""
        return self

    def scalar(self) -> None:
        """No value."""

    def __iter__(self) -> Iterator[Any]:
        """No rows."""
        return iter(())


class Script:
    """Stands where a migration expects its connection; what it is told to do becomes a line of a script."""

    def __init__(self, write: Callable[[str], None]) -> None:
        """Nothing is written yet.

        Args:
            write: takes a piece of SQL.
        """
        self.write = write

    def execute(self, statement: Executable, _values: Mapping[str, Any] | None = None) -> Nothing:
        """A migration asks for rows: without a database there are none, and the reader shall know what was asked."""
        asked = "\n".join(f"-- {line}" for line in str(statement).strip().splitlines())
        self.write(f"-- 'memsvc db upgrade' goes by the rows that this gives; here it gave none:\n{asked}")
        return Nothing()

    def exec_driver_sql(self, statement: str) -> None:
        """A statement without result."""
        self.write(f"{statement.strip()};")
