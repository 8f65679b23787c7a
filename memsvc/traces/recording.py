"""Interfaces of spans and of their recorder; ``memsvc.traces`` begins spans, ``memsvc.traces.otel`` sends them."""

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
    """An operation in a trace; this class records nothing."""

    __slots__ = ()

    def __enter__(self) -> Self:
        """Make it the current span, the parent of new ones, until the block ends."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the span; with an error, it has failed."""

    @property
    def trace_id(self) -> str | None:
        """The id of its trace in hexadecimal digits; None: it is not recorded."""
        return None

    def note(self, name: str, value: Value) -> None:
        """Set an attribute of the span."""

    def rename(self, name: str) -> None:
        """Change the span's name, if it was not known when the span began."""

    def fail(self, error: str) -> None:
        """Record that the span failed, with a code or a class."""

    def end(self, error: str | None = None) -> None:
        """End a span that no block ends; with an error, it has failed, as in ``fail``."""


NOTHING = Span()


class Recorder(Protocol):
    """Makes recorded spans; see ``memsvc.traces.otel``."""

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
        """Send the remaining spans; takes some seconds at most."""
        ...
