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
