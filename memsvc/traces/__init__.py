"""Traces: what one request or one job did, part by part, for an OpenTelemetry collector.

Off unless MEMSVC_TRACES_URL names one; then nothing of OpenTelemetry is imported and a span costs a function call.
Spans hold names of ours, counts and codes: a route's template, a statement's name, a job's kind, a model's name, its
tokens. They never hold a text, a parameter, a user's id or anything else that a caller wrote.

Requests and jobs begin traces, or go on with the one whose ``traceparent`` (W3C Trace Context) came with them. All
other spans belong to the one around them; without one they are not recorded, so that polling makes no traces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, Protocol, Self

from memsvc.errors import ConfigurationError
from memsvc.settings import Settings

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


_recorder: Recorder | None = None


def is_on() -> bool:
    """Whether this process records traces."""
    return _recorder is not None


def span(
    name: str, kind: Kind = "internal", *, parent: str | None = None, values: Mapping[str, Value] = NO_VALUES
) -> Span:
    """Something that begins now: for a ``with`` statement, or to be ended by ``end``.

    Args:
        name: one of few; never made of what a caller wrote.
        kind: server and consumer begin traces; the others belong to the span around them.
        parent: a ``traceparent`` that came from outside; None, or one that cannot be read: there is none.
        values: by names of OpenTelemetry's semantic conventions where those have one, else ``memsvc.…``.
    """
    return NOTHING if _recorder is None else _recorder.span(name, kind, parent, values)


def traceparent() -> str | None:
    """The span around us as W3C Trace Context writes it; None where none is recorded."""
    return None if _recorder is None else _recorder.traceparent()


def note(name: str, value: Value) -> None:
    """Note something about the span around us."""
    if _recorder is not None:
        _recorder.note(name, value)


def start(settings: Settings) -> None:
    """Record traces from now on, where the settings say so.

    Raises:
        ConfigurationError: they do, and OpenTelemetry is not installed.
    """
    global _recorder  # noqa: PLW0603 - of the process, as metrics and logs are
    if settings.traces_url is None:
        return
    try:
        from memsvc.traces.otel import OtelRecorder  # noqa: PLC0415 - in the extra otel
    except ImportError as error:
        raise ConfigurationError(
            f"MEMSVC_TRACES_URL needs the package {error.name}.", hint="pip install 'memsvc[otel]'"
        ) from error
    _recorder = OtelRecorder(settings.traces_url, settings.traces_share)


def stop() -> None:
    """Record no more, and send what is left."""
    global _recorder
    ending, _recorder = _recorder, None
    if ending is not None:
        ending.close()


@contextmanager
def tracing(settings: Settings) -> Iterator[None]:
    """Record traces until the block ends, where the settings say so.

    Raises:
        ConfigurationError: as ``start``.
    """
    start(settings)
    try:
        yield
    finally:
        stop()
