"""What a span is, and what records one; ``memsvc.traces`` begins them, ``memsvc.traces.otel`` sends them."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Literal, Protocol, Self

Value = str | int | float | bool
Kind = Literal["internal", "client", "server", "consumer"]
BEGINNERS: frozenset[Kind] = frozenset({"server", "consumer"})
"""Kinds of spans that begin traces."""
NO_VALUES: Mapping[str, Value] = {}


class Span:
    """Something that is done; this one is not recorded."""

    __slots__ = ()

    def __enter__(self) -> Self:
        """Make it the one around others until the block ends."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it; with an error, it failed."""

    @property
    def trace_id(self) -> str | None:
        """Of its trace, as hexadecimal digits; None: it is not recorded."""
        return None

    def note(self, name: str, value: Value) -> None:
        """Note something about it."""

    def rename(self, name: str) -> None:
        """Call it otherwise, where its name was not known when it began."""

    def fail(self, error: str) -> None:
        """Note that it failed, by a code or a class."""

    def end(self, error: str | None = None) -> None:
        """End it where no block does; with an error, as ``fail``."""


NOTHING = Span()


class Recorder(Protocol):
    """Makes spans that are recorded; see ``memsvc.traces.otel``."""

    def span(self, name: str, kind: Kind, parent: str | None, values: Mapping[str, Value]) -> Span:
        """As ``memsvc.traces.span``."""
        ...

    def traceparent(self) -> str | None:
        """As ``memsvc.traces.traceparent``."""
        ...

    def note(self, name: str, value: Value) -> None:
        """As ``memsvc.traces.note``."""
        ...

    def close(self) -> None:
        """Send what is left, some seconds at most."""
        ...
