"""An OpenTelemetry collector that keeps what it gets, on a real socket in a thread."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """`status` is what it answers with; with `deaf` it takes requests and answers none until it ends."""

    def __init__(self, status: int = 200, *, deaf: bool = False) -> None:
        self.bodies: list[tuple[str, bytes]] = []
        self.headers: list[dict[str, str]] = []
        self.asked = threading.Event()
        self._over = threading.Event()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.bodies.append((self.path, body))
                collector.headers.append({name.lower(): value for name, value in self.headers.items()})
                collector.asked.set()
                if deaf:
                    collector._over.wait()
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Collector:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def spans(self) -> list[Any]:
        """All spans, in the order of their begin."""
        found: list[Any] = []
        for path, body in self.bodies:
            if path == "/v1/traces":
                request = ExportTraceServiceRequest.FromString(body)
                found += [span for r in request.resource_spans for s in r.scope_spans for span in s.spans]
        return sorted(found, key=lambda span: span.start_time_unix_nano)

    @property
    def resource(self) -> dict[str, str]:
        body = next(body for path, body in self.bodies if path == "/v1/traces")
        resource = ExportTraceServiceRequest.FromString(body).resource_spans[0].resource
        return {one.key: one.value.string_value for one in resource.attributes}

    @property
    def metrics(self) -> set[str]:
        found: set[str] = set()
        for path, body in self.bodies:
            if path == "/v1/metrics":
                request = ExportMetricsServiceRequest.FromString(body)
                found |= {m.name for r in request.resource_metrics for s in r.scope_metrics for m in s.metrics}
        return found


def attributes(span: Any) -> dict[str, Any]:
    """Those of a span, texts and numbers."""
    found: dict[str, Any] = {}
    for one in span.attributes:
        kind = one.value.WhichOneof("value")
        found[one.key] = getattr(one.value, kind)
    return found
