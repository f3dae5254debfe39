"""The OpenTelemetry SDK, behind the values of `project`. The only module that imports it.

Where things are sent and how (proxies, certificates, headers, retries) is the exporter's own, by its variables.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, cast

from opentelemetry.context import Context
from opentelemetry.metrics import Histogram
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from agenyx.app.release import version
from agenyx.app.telemetry import names
from agenyx.app.telemetry.operations import Begin, End, Forget, Mark, Measure, Operation

SCOPE = "agenyx"


class Tally:
    """What the exporters could not send."""

    def __init__(self) -> None:
        self.lost: dict[str, int] = {}

    def count(self, what: str, ok: bool) -> None:
        if not ok:
            self.lost[what] = self.lost.get(what, 0) + 1

    def told(self) -> str:
        return "the collector did not take " + " and ".join(self.lost) if self.lost else ""


def counted_spans(exporter: SpanExporter, tally: Tally) -> SpanExporter:
    """The same exporter, and what it could not send is counted."""
    export = exporter.export

    def counting(spans: Sequence[Any]) -> SpanExportResult:
        try:
            result = export(spans)
        except Exception:
            tally.count("traces", False)
            raise
        tally.count("traces", result is SpanExportResult.SUCCESS)
        return result

    exporter.export = counting
    return exporter


def counted_metrics(exporter: MetricExporter, tally: Tally) -> MetricExporter:
    export: Any = cast("Any", exporter).export

    def counting(metrics_data: Any, timeout_millis: float = 10_000, **more: Any) -> MetricExportResult:
        try:
            result = export(metrics_data, timeout_millis, **more)
        except Exception:
            tally.count("metrics", False)
            raise
        tally.count("metrics", result is MetricExportResult.SUCCESS)
        return result

    exporter.export = counting
    return exporter


class Otel:
    """A sink of `observed`. `parent` are the headers `traceparent` and `tracestate` below which turns stand; without
    them they stand below the span of the host that is current, or by themselves."""

    def __init__(
        self, traces: TracerProvider | None, metrics: MeterProvider | None, parent: Mapping[str, str], tally: Tally
    ) -> None:
        self._traces, self._metrics, self._tally = traces, metrics, tally
        self._tracer = traces.get_tracer(SCOPE, version()) if traces is not None else None
        self._above = TraceContextTextMapPropagator().extract(dict(parent)) if parent.get("traceparent") else None
        self._spans: dict[tuple[str, str], Span] = {}
        self._histograms: dict[str, Histogram] = {}
        if metrics is not None:
            meter = metrics.get_meter(SCOPE, version())
            for name, (unit, text, bounds) in names.HISTOGRAMS.items():
                made = meter.create_histogram(name, unit, text, explicit_bucket_boundaries_advisory=bounds)
                self._histograms[name] = made

    def apply(self, session: str, operation: Operation, at: int) -> None:
        match operation:
            case Measure(name, value, attributes):
                if (histogram := self._histograms.get(name)) is not None:
                    histogram.record(value, attributes)
            case Begin():
                self._begin(session, operation, at)
            case Mark(key, name, attributes):
                if (span := self._spans.get((session, key))) is not None:
                    span.add_event(name, attributes, at)
            case End(key, attributes, error):
                if (span := self._spans.get((session, key))) is not None:
                    span.set_attributes(attributes)
                    if error:
                        span.set_attribute(names.ERROR, error)
                        span.set_status(Status(StatusCode.ERROR))
                    span.end(at)
            case Forget(key):
                self._spans.pop((session, key), None)

    def _begin(self, session: str, wanted: Begin, at: int) -> None:
        if self._tracer is None:
            return
        above, context = self._spans.get((session, wanted.parent)), self._above
        if above is not None:
            context = set_span_in_context(above, Context())
        kind = SpanKind.CLIENT if wanted.client else SpanKind.INTERNAL
        made = self._tracer.start_span(wanted.name, context, kind, wanted.attributes, start_time=at)
        self._spans[session, wanted.key] = made

    def flush(self, *, last: bool) -> str:
        for provider in (self._traces, self._metrics):
            if provider is not None:
                if last:
                    provider.shutdown()
                else:
                    provider.force_flush()
        return self._tally.told()


def otlp(signals: Sequence[str], parent: Mapping[str, str], *, named: bool, attributes: Mapping[str, str]) -> Otel:
    """Sends to the collector that the variables of OpenTelemetry name. `named`: so is the service."""
    for quiet in ("opentelemetry", "urllib3"):  # without a handler Python would print on the terminal of a person
        logging.getLogger(quiet).addHandler(logging.NullHandler())
    own = {"service.version": version(), **({} if named else {"service.name": SCOPE})}
    if "service.name=" in attributes.get("OTEL_RESOURCE_ATTRIBUTES", ""):
        own.pop("service.name", None)
    resource, tally = Resource.create(own), Tally()
    traces = metrics = None
    if "traces" in signals:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        traces.add_span_processor(BatchSpanProcessor(counted_spans(OTLPSpanExporter(), tally)))
    if "metrics" in signals:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

        reader = PeriodicExportingMetricReader(counted_metrics(OTLPMetricExporter(), tally))
        metrics = MeterProvider([reader], resource, shutdown_on_exit=False)
    return Otel(traces, metrics, parent, tally)
