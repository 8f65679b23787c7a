"""Whether an answer is one, and what to do when it is not: decoded, raised, or asked for again. No network here.

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
"""What is worth another try."""
UNKNOWN = {"outcome_unknown", "http_503"}
"""Codes of such answers that do not say that nothing was done; the latter is some proxy's."""
OF_PROBLEM = {"type", "title", "status", "code", "detail", "hint"}
LONGEST_DETAIL = 500


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is tried and how long one waits between."""

    tries: int = 4
    """1: never again."""
    first_s: float = 0.2
    """Longest wait before the second try; doubled before each further one."""
    longest_s: float = 10.0
    """Longest wait of all, also where the service asks for more: then the call ends with its error."""


class Trial(Generic[T]):
    """One call until it is answered; whoever sends it waits as long as it says."""

    def __init__(self, call: Call[T], retries: Retries, user: str | None) -> None:
        """Nothing was tried yet."""
        self._call = call
        self._retries = retries
        self._user = user
        self._tried = 0

    @property
    def request(self) -> dict[str, Any]:
        """What httpx sends."""
        headers: dict[str, str | bytes] = dict(self._call.headers)
        if self._user is not None:
            headers[USER_HEADER] = self._user.encode()  # names of people are not Latin-1
        if self._call.body is not None:
            headers["Content-Type"] = "application/json"
        call = self._call
        return {
            "method": call.method,
            "url": call.path,
            "content": call.content,
            "params": call.parameters,
            "headers": headers,
        }

    def lost(self, error: httpx.RequestError) -> float:
        """Seconds to wait after no answer came.

        Raises:
            UnavailableError: it is not to be tried again.
        """
        if not (self._call.repeatable or isinstance(error, NOT_SENT)) or not self._again():
            said = f"{type(error).__name__}: {error}".removesuffix(": ")
            hint = "" if isinstance(error, NOT_SENT) or self._call.repeatable else "It may have been done: look."
            raise UnavailableError("unreachable", said, hint=hint) from error
        return self._pause()

    def answered(self, response: httpx.Response) -> float | None:
        """Seconds to wait before it is tried again; None: it is answered.

        Raises:
            RefusedError, UnavailableError: it will not be.
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
        """The answer.

        Raises:
            ClientError: it is none of this service.
        """
        try:
            return msgspec.json.decode(response.content, type=self._call.answer)
        except msgspec.MsgspecError as error:
            raise ClientError(
                "answer_invalid", f"The answer has not the expected form: {error}.", hint="Is this memsvc's address?"
            ) from error

    def _again(self) -> bool:
        self._tried += 1
        return self._tried < self._retries.tries

    def _pause(self) -> float:
        highest = min(self._retries.longest_s, self._retries.first_s * 2.0 ** (self._tried - 1))
        return random.uniform(0, highest)  # noqa: S311 - it protects nothing


def closed() -> ClientError:
    """The error of a call to a memory that was closed."""
    return ClientError("closed", "This memory is closed.", hint="Open another one.")


def problem(response: httpx.Response) -> ClientError:
    """The error that a response tells of; also one that is not memsvc's, such as a proxy's."""
    status = response.status_code
    kind = RefusedError if status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in BUSY else UnavailableError
    try:
        said = msgspec.json.decode(response.content, type=dict[str, Any])
        details = {name: value for name, value in said.items() if name not in OF_PROBLEM}
        return kind(said["code"], said["detail"], hint=said.get("hint", ""), status=status, **details)
    except (msgspec.MsgspecError, KeyError, TypeError):
        return kind(f"http_{status}", response.text[:LONGEST_DETAIL], status=status)
