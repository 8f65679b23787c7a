"""Spans of OpenTelemetry, sent to a collector as OTLP over HTTP.

The provider is ours and not the process's global one, so that libraries cannot record spans of their own with values
that we do not control. Of a caller's headers only ``traceparent`` is used; ``tracestate`` and baggage, which may hold
anything, are ignored.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from memsvc import __version__
from memsvc.errors import MemsvcError
from memsvc.traces.recording import BEGINNERS, NOTHING, Kind, Span, Value

PATH = "/v1/traces"
SEND_S = 5.0
"""Timeout of one attempt to send spans."""
CLOSE_S = 3.0
"""How long the process waits at its end for the remaining spans to be sent."""
EVERY_MS = 2_000
"""How often spans are sent; at most 2,048 wait, and those that a collector does not take in time are dropped."""
KINDS = {
    "internal": trace.SpanKind.INTERNAL,
    "client": trace.SpanKind.CLIENT,
    "server": trace.SpanKind.SERVER,
    "consumer": trace.SpanKind.CONSUMER,
}
HEADER = "traceparent"
_W3C = TraceContextTextMapPropagator()


class _Recorded(Span):
    """A span that is recorded, or whose trace was not sampled."""

    __slots__ = ("_span", "_token")

    def __init__(self, begun: trace.Span) -> None:
        self._span = begun

    def __enter__(self) -> Self:
        self._token = context.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        context.detach(self._token)
        self.end(None if error is None else code_of(error))

    @property
    def trace_id(self) -> str | None:
        context = self._span.get_span_context()
        return trace.format_trace_id(context.trace_id) if context.trace_flags.sampled else None

    def note(self, name: str, value: Value) -> None:
        self._span.set_attribute(name, value)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, error: str) -> None:
        self._span.set_attribute("error.type", error)
        self._span.set_status(trace.StatusCode.ERROR)

    def end(self, error: str | None = None) -> None:
        if error is not None:
            self.fail(error)
        self._span.end()


def code_of(error: BaseException) -> str:
    """Return what a trace may hold of an error: its stable code or its class, because its text may quote somebody."""
    return error.code if isinstance(error, MemsvcError) else type(error).__name__


class OtelRecorder:
    """Makes spans and sends them in the background; see ``memsvc.traces.Recorder``."""

    def __init__(self, url: str, share: float) -> None:
        """Prepare the exporter; the collector is not contacted before there is something to send.

        Args:
            url: of the collector, with or without ``/v1/traces``.
            share: share of the traces started here that are recorded, 0 to 1; others follow their caller's decision.
        """
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(share)),
            resource=Resource.create({SERVICE_NAME: "memsvc", SERVICE_VERSION: __version__}),
        )
        exporter = OTLPSpanExporter(endpoint=url.rstrip("/").removesuffix(PATH) + PATH, timeout=SEND_S)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=EVERY_MS))
        self._tracer = self._provider.get_tracer("memsvc", __version__)

    def span(self, name: str, kind: Kind, parent: str | None, values: Mapping[str, Value]) -> Span:
        """See ``memsvc.traces.span``."""
        if kind in BEGINNERS:
            around = _W3C.extract({HEADER: parent} if parent else {}, context.Context())
        elif trace.get_current_span().is_recording():
            around = context.get_current()
        else:
            return NOTHING
        begun = self._tracer.start_span(
            name, around, KINDS[kind], dict(values), record_exception=False, set_status_on_exception=False
        )
        return _Recorded(begun)

    def traceparent(self) -> str | None:
        """See ``memsvc.traces.traceparent``."""
        if not trace.get_current_span().is_recording():
            return None
        carrier: dict[str, str] = {}
        _W3C.inject(carrier)
        return carrier[HEADER]

    def note(self, name: str, value: Value) -> None:
        """See ``memsvc.traces.note``."""
        trace.get_current_span().set_attribute(name, value)

    def close(self) -> None:
        """See ``memsvc.traces.Recorder``; a collector that does not answer delays the end only by ``CLOSE_S``."""
        closing = threading.Thread(target=self._provider.shutdown, name="last traces", daemon=True)
        closing.start()
        closing.join(CLOSE_S)
