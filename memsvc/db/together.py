"""Sends several statements together: a transaction in one round trip.

A transaction of ``memsvc.db.engine`` waits for the database at its beginning, at each statement and at its end. Each
wait costs this process a task switch and the driver's overhead. If no statement depends on the result of another, the
binding and all statements can be sent together in libpq's pipeline mode. Without BEGIN, all statements up to a
synchronisation point are one transaction, which ends there
(https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-FLOW-PIPELINING). If the database does not accept the
user's token or does not know the user, the binding fails and no statement after it is run.

What only reads may be served by a replica (``memsvc.db.replicas``). If that fails, the primary serves it: the replica
may be gone, busy with changes that conflict with the read, not yet upgraded, or without a user who was just added.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from sqlalchemy import TextClause

from memsvc.db import spans
from memsvc.db.engine import Database
from memsvc.db.replicas import NOT_THERE, Replica


class Together:
    """One transaction, with or without a user: ask for all statements, send them once, then read the rows."""

    def __init__(self, db: Database, user_id: UUID | None, *, keep_plans: bool = False, stores: bool = True) -> None:
        """Begin without statements; arguments as in ``Database.transaction`` and ``Database.line``."""
        self._db = db
        self._user_id = user_id
        self._keep_plans = keep_plans
        self._stores = stores
        self._asked: list[tuple[TextClause, Mapping[str, Any], list[Any]]] = []

    def ask(self, statement: TextClause, values: Mapping[str, Any]) -> list[Any]:
        """Add a statement that returns rows.

        Returns:
            A list that ``send`` fills with the rows, with columns as attributes; empty until then.
        """
        rows: list[Any] = []
        self._asked.append((statement, values, rows))
        return rows

    async def send(self) -> None:
        """Run all statements in their order, and commit; do nothing if there are no statements.

        Raises:
            DatabaseUnavailableError, OverloadedError, StorageFullError, DatabaseTooOldError: the driver failed.
            OutcomeUnknownError: the connection was lost, and a statement stores.
            UserUnknownError: the user does not exist or was erased.
            ConfigurationError: the database does not accept our signature.
        """
        if not self._asked:
            return
        with spans.together(statement for statement, _, _ in self._asked):
            await self._sent()

    async def _sent(self) -> None:
        replica = None if self._stores else self._db.replicas.choose(self._user_id)
        found = None
        with await self._db.recalls.share(self._user_id):  # one turn for both tries; no replica refuses it
            if replica is not None:
                with suppress(*NOT_THERE):
                    found = await self._exchanged(replica)
                    replica.served += 1
            if found is None:
                found = await self._exchanged(None)
        for (_, _, rows), given in zip(self._asked, found, strict=True):
            rows.extend(given)

    async def _exchanged(self, replica: Replica | None) -> list[list[Any]]:
        """The rows of each statement, from a replica or from the primary."""
        asked = [(statement, values) for statement, values, _ in self._asked]
        async with self._db.line(user_id=self._user_id, stores=self._stores, replica=replica, in_turn=True) as line:
            if self._user_id is None:
                return await line.exchange(asked)
            # Signed only now, because the statements may have waited for a model.
            bind = self._db.binding(self._user_id, keep_plans=self._keep_plans)
            _, *found = await line.exchange([bind, *asked])
            return found
