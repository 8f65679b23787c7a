"""What a call is: a request and the form of its answer. No network here.

``Memory`` and ``AsyncMemory`` send the same calls, which are in ``memory_calls``, ``file_calls``, ``graph_calls``,
``profile_calls``, ``lesson_calls`` and ``archive``. Answers are decoded into the structs that the service encodes.
Fields that a newer service adds are ignored.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import quote

import msgspec

T = TypeVar("T", covariant=True)  # noqa: PLC0105 - the usual name


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request and the form of its answer."""

    method: str
    path: str
    answer: type[T]
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    form: tuple[str, bytes] | None = None
    """A body that is not JSON: its content type and its bytes."""
    repeatable: bool = False
    """True: repeating it changes nothing more, so it is sent again if it may not have arrived."""

    def after(self, cursor: str) -> Call[T]:
        """Return the call for the next page."""
        if isinstance(self.body, Mapping):
            return replace(self, body={**self.body, "cursor": cursor})
        return replace(self, query={**self.query, "cursor": cursor})

    @property
    def content(self) -> bytes | None:
        """The encoded body."""
        if self.form is not None:
            return self.form[1]
        return None if self.body is None else msgspec.json.encode(self.body)

    @property
    def content_type(self) -> str | None:
        """The type of the body; None: there is none."""
        if self.form is not None:
            return self.form[0]
        return None if self.body is None else "application/json"

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The query's parameters. A list becomes a repeated parameter."""
        return [
            (name, word(value))
            for name, given in self.query.items()
            if given is not None
            for value in (given if isinstance(given, (list, tuple)) else [given])
        ]


class Paged(Protocol[T]):
    """A page of a list."""

    @property
    def items(self) -> Sequence[T]:
        """The items of the page."""

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page; None: this is the last."""


def word(value: Any) -> str:
    """Return a value as it stands in a query or a form."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode().strip('"')


def at(path: str, *parts: object) -> str:
    """Return a path with its parts filled in, quoted."""
    return path.format(*(quote(str(part), safe="") for part in parts))


def read(path: str, answer: type[T], query: Mapping[str, Any] | None = None) -> Call[T]:
    """Build a call that changes nothing."""
    return Call("GET", path, answer, query=query or {}, repeatable=True)


def once(path: str, answer: type[T], body: Any) -> Call[T]:
    """Build a call that creates something. Its key lets the service do it once, however often it is sent."""
    return Call("POST", path, answer, body, headers={"Idempotency-Key": secrets.token_hex(16)}, repeatable=True)
