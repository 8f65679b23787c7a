"""An OpenTelemetry collector for tests: takes traces as OTLP over HTTP and keeps what came."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from memsvc import traces
from memsvc.traces.otel import OtelRecorder


@dataclass(frozen=True, slots=True)
class Seen:
    """A span as it arrived."""

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    failed: bool
    values: dict[str, Any]


@dataclass(slots=True)
class Collector:
    """What came, and where it is sent to."""

    url: str
    bodies: list[bytes] = field(default_factory=list)

    @property
    def spans(self) -> list[Seen]:
        """All spans, in the order of their beginning."""
        found = [
            span
            for body in self.bodies
            for group in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in group.scope_spans
            for span in scope.spans
        ]
        return [
            Seen(
                span.name,
                span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
                span.trace_id.hex(),
                span.span_id.hex(),
                span.parent_span_id.hex(),
                span.status.code == span.status.STATUS_CODE_ERROR,
                {one.key: getattr(one.value, one.value.WhichOneof("value") or "") for one in span.attributes},
            )
            for span in sorted(found, key=lambda span: span.start_time_unix_nano)
        ]

    def only(self, name: str) -> Seen:
        """The one span of this name."""
        [span] = [span for span in self.spans if span.name == name]
        return span

    def below(self, parent: Seen) -> list[str]:
        """Names of the spans whose parent is another."""
        return [span.name for span in self.spans if span.parent_id == parent.span_id]

    def above(self, span: Seen) -> list[str]:
        """Names of the spans around one, the nearest first."""
        known, names = {one.span_id: one for one in self.spans}, []
        while (parent := known.get(span.parent_id)) is not None:
            names.append(parent.name)
            span = parent
        return names


async def flush() -> None:
    """Send the spans that have ended."""
    assert isinstance(traces._recorder, OtelRecorder)
    assert await asyncio.to_thread(traces._recorder._provider.force_flush)


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a free port of this machine, until the block ends."""
    found = Collector("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            assert self.headers["Content-Type"] == "application/x-protobuf"
            found.bodies.append(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_what: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
