"""Requests that may be repeated: the same Idempotency-Key with the same request is done once and answered each time.

The answer is stored in the transaction of the change, so neither is ever stored without the other.
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
"""How long a request can be repeated; the statements in ``sql/queries/once.sql`` have the same interval."""


@dataclass(frozen=True, slots=True)
class Once:
    """A request that is done only once within 24 hours."""

    key: bytes
    """SHA-256 of the operation and the client's key."""
    digest: bytes
    """SHA-256 of the request."""

    @classmethod
    def of(cls, operation: str, key: str | None, request: Any) -> Self | None:
        """A request with its key; None without a key: the request is then done each time.

        Args:
            operation: the operation that is requested; the same key with another operation counts as another key.
            key: 1 to 200 visible ASCII characters.
            request: the request, which msgspec can encode.

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
        """The answer that was given before; None: the request is new.

        Raises:
            IdempotencyConflictError: the key was used with another request.
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
        """Store the answer in the transaction of the change.

        Raises:
            ContendedError: the same request was answered concurrently; start again, and ``answer`` will find it.
        """
        values = {"user_id": user_id, "request_key": self.key, "digest": self.digest, "answer": answer}
        try:
            await connection.execute(query("note_answer"), values)
        except sa.IntegrityError as error:
            if isinstance(error.orig, psycopg.errors.UniqueViolation):
                raise ContendedError from error
            raise
