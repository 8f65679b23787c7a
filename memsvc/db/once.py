"""Changes that may be sent again: the same Idempotency-Key with the same request is done once and answered twice.

The answer is noted in the transaction of the change, so there is no moment in which one is there without the other.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self
from uuid import UUID

import msgspec
import psycopg
from sqlalchemy import exc as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.files import query
from memsvc.errors import ContendedError, IdempotencyConflictError, InvalidRequestError

KEY = re.compile(r"[!-~]{1,200}")
KEPT = timedelta(hours=24)
"""How long a request can be sent again; the statements of ``sql/queries/once.sql`` have the same."""


@dataclass(frozen=True, slots=True)
class Once:
    """A request that is to be done once, for 24 hours."""

    key: bytes
    """SHA-256 of the operation and the client's key."""
    digest: bytes
    """SHA-256 of the request."""

    @classmethod
    def of(cls, operation: str, key: str | None, request: Any) -> Self | None:
        """A request with its key; None without a key: it is done each time.

        Args:
            operation: what is asked for; the same key for another operation is another key.
            key: 1 to 200 visible ASCII characters.
            request: what msgspec can encode.

        Raises:
            InvalidRequestError: the key cannot be used.
        """
        if key is None:
            return None
        if not KEY.fullmatch(key):
            raise InvalidRequestError("A key has 1 to 200 visible ASCII characters.", field="Idempotency-Key")
        body = msgspec.json.encode(request, order="deterministic")
        return cls(hashlib.sha256(f"{operation} {key}".encode()).digest(), hashlib.sha256(body).digest())

    async def answer(self, connection: AsyncConnection, user_id: UUID) -> str | None:
        """The answer that was given before; None: it was not asked yet.

        Raises:
            IdempotencyConflictError: the key came with another request.
        """
        values = {"user_id": user_id, "request_key": self.key}
        row = (await connection.execute(query("answered_request"), values)).one_or_none()
        if row is None:
            return None
        if row.digest != self.digest:
            raise IdempotencyConflictError
        found: str = row.answer
        return found

    async def keep(self, connection: AsyncConnection, user_id: UUID, answer: str) -> None:
        """Note the answer, in the transaction of what was done.

        Raises:
            ContendedError: the same request was answered at this very moment; begin again, and find the answer.
        """
        values = {"user_id": user_id, "request_key": self.key, "digest": self.digest, "answer": answer}
        try:
            await connection.execute(query("note_answer"), values)
        except sa.IntegrityError as error:
            if isinstance(error.orig, psycopg.errors.UniqueViolation):
                raise ContendedError from error
            raise
