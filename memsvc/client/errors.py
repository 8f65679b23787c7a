"""The errors of the client. Match on ``code``: codes are stable, and docs/ingest.md lists them."""

from __future__ import annotations

from typing import Any


class ClientError(Exception):
    """A call failed."""

    def __init__(self, code: str, message: str, *, hint: str = "", status: int | None = None, **details: Any) -> None:
        """Build the error.

        Args:
            code: the stable code of the error.
            message: what was wrong with this call.
            hint: what to do about it.
            status: the HTTP status of the answer; None: there was no answer.
            **details: further fields of the answer: request_id, row, field, version …
        """
        super().__init__(f"{code}: {message}{f' {hint}' if hint else ''}")
        self.code = code
        self.message = message
        self.hint = hint
        self.status = status
        self.details = details


class RefusedError(ClientError):
    """The service refused the call, and will refuse it again."""


class UnavailableError(ClientError):
    """The service did not answer, even after retries; try later. A call that cannot be repeated may be done."""
