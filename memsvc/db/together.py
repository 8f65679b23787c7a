"""Statements that go to the database together: a transaction in one round trip.

A transaction of ``memsvc.db.engine`` waits for the database at its beginning, at each statement and at its end, and
each time costs this process a switch and the machinery around it. Where what is asked does not depend on what was
answered, all of it is sent at once, in libpq's pipeline mode: the binding and the statements. Outside of BEGIN, what is
sent up to a synchronisation is one transaction, which ends there
(https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-FLOW-PIPELINING). The binding fails where the user is
not believed or is not here; then nothing behind it is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import TextClause

from memsvc.db import spans
from memsvc.db.engine import Database


class Together:
    """One transaction, of one user or of nobody: ask for all, send once, then look at the rows."""

    def __init__(self, db: Database, user_id: UUID | None, *, keep_plans: bool = False, stores: bool = True) -> None:
        """Nothing is asked yet; arguments as ``Database.transaction`` and ``Database.line``."""
        self._db = db
        self._user_id = user_id
        self._keep_plans = keep_plans
        self._stores = stores
        self._asked: list[tuple[TextClause, Mapping[str, Any], list[Any]]] = []

    def ask(self, statement: TextClause, values: Mapping[str, Any]) -> list[Any]:
        """Add a statement that gives rows.

        Returns:
            Its rows once it is sent, with columns as attributes; empty until then.
        """
        rows: list[Any] = []
        self._asked.append((statement, values, rows))
        return rows

    async def send(self) -> None:
        """Do all that was asked, in its order, and commit; nothing where nothing was asked.

        Raises:
            DatabaseUnavailableError, OverloadedError, StorageFullError, DatabaseTooOldError: what the driver met.
            OutcomeUnknownError: the connection was lost on the way of what stores.
            UserUnknownError: there is no such user, or not any more.
            ConfigurationError: the database does not believe our signature.
        """
        if not self._asked:
            return
        with spans.together(statement for statement, _, _ in self._asked):
            await self._sent()

    async def _sent(self) -> None:
        asked = [(statement, values) for statement, values, _ in self._asked]
        async with self._db.line(stores=self._stores) as line:
            if self._user_id is None:
                found = await line.exchange(asked)
            else:  # signed now: what is asked may have waited for a model
                bind = self._db.binding(self._user_id, keep_plans=self._keep_plans)
                _, *found = await line.exchange([bind, *asked])
        for (_, _, rows), given in zip(self._asked, found, strict=True):
            rows.extend(given)
