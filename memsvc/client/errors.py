"""What a client raises. Match on ``code``: codes are stable, and docs/ingest.md lists them."""

from __future__ import annotations

from typing import Any


class ClientError(Exception):
    """A call did not do what was asked."""

    def __init__(self, code: str, message: str, *, hint: str = "", status: int | None = None, **details: Any) -> None:
        """Build the error.

        Args:
            code: stable name of what went wrong.
            message: what was wrong with this very call.
            hint: what to do about it.
            status: of the answer; None: there was none.
            **details: what else the answer says: request_id, row, field, version …
        """
        super().__init__(f"{code}: {message}{f' {hint}' if hint else ''}")
        self.code = code
        self.message = message
        self.hint = hint
        self.status = status
        self.details = details


class RefusedError(ClientError):
    """The service refused: the same call will be refused again."""


class UnavailableError(ClientError):
    """The service could not answer, even after retries: later it may. What cannot be repeated may be done."""
