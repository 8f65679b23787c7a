"""Traces: the parts of a request or a job, and how long they took, for an OpenTelemetry collector.

Traces are off unless MEMSVC_TRACES_URL names a collector; then OpenTelemetry is not imported, and a span costs a
function call. Spans hold our own names, counts and codes: a route's template, a statement's name, a job's kind, a
model's name and its tokens. They never hold a text, a parameter, a user's id or anything else that a caller wrote.

Requests and jobs start traces, or continue the one whose ``traceparent`` (W3C Trace Context) came with them. All other
spans belong to the span around them; without one they are not recorded, so that polling makes no traces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from memsvc.errors import ConfigurationError
from memsvc.settings import Settings
from memsvc.traces.recording import NO_VALUES, NOTHING, Kind, Recorder, Span, Value

__all__ = ["NOTHING", "Span", "is_on", "note", "span", "start", "stop", "traceparent", "tracing"]

_recorder: Recorder | None = None


def is_on() -> bool:
    """Whether this process records traces."""
    return _recorder is not None


def span(
    name: str, kind: Kind = "internal", *, parent: str | None = None, values: Mapping[str, Value] = NO_VALUES
) -> Span:
    """Start a span: for a ``with`` statement, or to be ended by ``end``.

    Args:
        name: one of a few fixed names; never made of text that a caller wrote.
        kind: server and consumer start traces; the others belong to the span around them.
        parent: a ``traceparent`` from outside; None, or an invalid one: no parent.
        values: attributes, named by OpenTelemetry's semantic conventions where they exist, else ``memsvc.…``.
    """
    return NOTHING if _recorder is None else _recorder.span(name, kind, parent, values)


def traceparent() -> str | None:
    """Return the current span as W3C Trace Context writes it; None if none is recorded."""
    return None if _recorder is None else _recorder.traceparent()


def note(name: str, value: Value) -> None:
    """Add an attribute to the current span."""
    if _recorder is not None:
        _recorder.note(name, value)


def start(settings: Settings) -> None:
    """Start recording traces, if the settings ask for it.

    Raises:
        ConfigurationError: they do, and OpenTelemetry is not installed.
    """
    global _recorder  # noqa: PLW0603 - one for the process, like metrics and logs
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
    """Stop recording, and send the spans that are left."""
    global _recorder
    ending, _recorder = _recorder, None
    if ending is not None:
        ending.close()


@contextmanager
def tracing(settings: Settings) -> Iterator[None]:
    """Record traces until the block ends, if the settings ask for it.

    Raises:
        ConfigurationError: as ``start``.
    """
    start(settings)
    try:
        yield
    finally:
        stop()
