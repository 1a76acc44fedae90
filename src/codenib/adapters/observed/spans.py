"""Requests that ended in, spans of OpenTelemetry out. Needs the extra `observe`, and an endpoint.

The variables are OpenTelemetry's own: `OTEL_EXPORTER_OTLP_ENDPOINT` says where spans go; without it there are
none, and the library is not even imported.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from codenib import __version__
from codenib.adapters.mcp.record import CallRecord
from codenib.core.errors import ProviderError, extra_hint

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def wants_spans() -> bool:
    """Whether the environment names where spans go."""
    return any(os.environ.get(name) for name in _VARIABLES)


class Spans:
    """A span for each request, with one inside it for its wait; never what was asked."""

    def __init__(self, exporter: SpanExporter | None = None) -> None:
        """Without `exporter` spans go by OTLP over HTTP to where the environment says."""
        try:
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor

            if exporter is None:
                from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

                exporter = OTLPSpanExporter()
        except ImportError:
            raise ProviderError("OpenTelemetry is not installed", hint=extra_hint("observe")) from None
        resource = Resource.create({"service.name": "codenib", "service.version": __version__})
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("codenib")

    def record(self, record: CallRecord) -> None:
        """Export a request that ended."""
        from opentelemetry.trace import set_span_in_context

        end = time.time_ns()
        start = end - int(record.seconds * 1e9)
        span = self._tracer.start_span(
            record.tool or "request",
            start_time=start,
            attributes={
                "codenib.request": record.request,
                "codenib.tenant": record.grant.tenant,
                "codenib.outcome": record.outcome,
                "codenib.plan": record.plan,
                "codenib.tokens": record.tokens,
                "http.response.status_code": record.status,
            },
        )
        if record.waited_s:
            wait = self._tracer.start_span("wait", set_span_in_context(span), start_time=start)
            wait.end(start + int(record.waited_s * 1e9))
        span.end(end)

    def close(self) -> None:
        """Send what is not sent yet."""
        self._provider.shutdown()
