"""Handles answers: decodes them, raises their errors, or decides to try again. No network here.

Waits between tries double from ``first_s`` up to ``longest_s`` and are drawn at random below that ("full jitter",
Brooker 2015, AWS Architecture Blog), unless the service says how long to wait (Retry-After).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Generic, TypeVar

import httpx
import msgspec

from memsvc.client.calls import Call
from memsvc.client.errors import ClientError, RefusedError, UnavailableError

T = TypeVar("T")
USER_HEADER = "X-Memsvc-User"
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""Statuses that are worth another try."""
UNKNOWN = {"outcome_unknown", "http_503"}
"""Codes with these statuses after which the call may have been done. The second comes from a proxy."""
OF_PROBLEM = {"type", "title", "status", "code", "detail", "hint"}
LONGEST_DETAIL = 500


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is tried, and how long to wait between tries."""

    tries: int = 4
    """The most tries; 1: no retry."""
    first_s: float = 0.2
    """The longest wait before the second try, in seconds; doubled before each further one."""
    longest_s: float = 10.0
    """The longest wait of all, in seconds. If the service asks for more, the call fails with its error."""


class Trial(Generic[T]):
    """The tries of one call. The sender waits as long as it says."""

    def __init__(self, call: Call[T], retries: Retries, user: str | None) -> None:
        """Start without tries."""
        self._call = call
        self._retries = retries
        self._user = user
        self._tried = 0

    @property
    def request(self) -> dict[str, Any]:
        """The arguments of httpx's request."""
        headers: dict[str, str | bytes] = dict(self._call.headers)
        if self._user is not None:
            headers[USER_HEADER] = self._user.encode()  # names of people are not Latin-1
        if self._call.content_type is not None:
            headers["Content-Type"] = self._call.content_type
        call = self._call
        return {
            "method": call.method,
            "url": call.path,
            "content": call.content,
            "params": call.parameters,
            "headers": headers,
        }

    def lost(self, error: httpx.RequestError) -> float:
        """Return the seconds to wait after a try without an answer.

        Raises:
            UnavailableError: the call must not be tried again.
        """
        if not (self._call.repeatable or isinstance(error, NOT_SENT)) or not self._again():
            said = f"{type(error).__name__}: {error}".removesuffix(": ")
            hint = (
                ""
                if isinstance(error, NOT_SENT) or self._call.repeatable
                else "It may have been done. Check before you repeat it."
            )
            raise UnavailableError("unreachable", said, hint=hint) from error
        return self._pause()

    def answered(self, response: httpx.Response) -> float | None:
        """Return the seconds to wait before the next try; None: the call is answered.

        Raises:
            RefusedError, UnavailableError: the answer is an error, and no try follows.
        """
        if response.is_success:
            return None
        error = problem(response)
        safe = self._call.repeatable or error.code not in UNKNOWN
        if response.status_code in BUSY and safe and self._again():
            wished = response.headers.get("Retry-After", "")
            pause = float(wished) if wished.isdecimal() else 0.0
            if pause <= self._retries.longest_s:
                return max(pause, self._pause())
        raise error

    def read(self, response: httpx.Response) -> T:
        """Decode the answer.

        Raises:
            ClientError: it does not come from memsvc.
        """
        try:
            return msgspec.json.decode(response.content, type=self._call.answer)
        except msgspec.MsgspecError as error:
            raise ClientError(
                "answer_invalid",
                f"The answer does not have the expected form: {error}.",
                hint="Check memsvc's address.",
            ) from error

    def _again(self) -> bool:
        self._tried += 1
        return self._tried < self._retries.tries

    def _pause(self) -> float:
        highest = min(self._retries.longest_s, self._retries.first_s * 2.0 ** (self._tried - 1))
        return random.uniform(0, highest)  # noqa: S311 - not used for security


def closed() -> ClientError:
    """Return the error of a call to a closed memory."""
    return ClientError("closed", "This memory is closed.", hint="Open another one.")


def problem(response: httpx.Response) -> ClientError:
    """Return the error of a response, which may also come from a proxy."""
    status = response.status_code
    kind = RefusedError if status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in BUSY else UnavailableError
    try:
        said = msgspec.json.decode(response.content, type=dict[str, Any])
        details = {name: value for name, value in said.items() if name not in OF_PROBLEM}
        return kind(said["code"], said["detail"], hint=said.get("hint", ""), status=status, **details)
    except (msgspec.MsgspecError, KeyError, TypeError):
        return kind(f"http_{status}", response.text[:LONGEST_DETAIL], status=status)
