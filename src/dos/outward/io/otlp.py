"""Ships verdicts as log records to an OpenTelemetry collector, by the official packages.

They are the extra `otel`. Headers, certificates and compression come from the variables that
OpenTelemetry defines, such as $OTEL_EXPORTER_OTLP_HEADERS.
"""

import logging
import os
from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from dos.errors import BadInput
from dos.outward.export import Shipped, otlp_attributes, severity
from dos.outward.verdicts import VerdictRecord
from dos.text import plural, quote
from dos.unknown import Unknown, call_or_unknown

DEFAULT_ENDPOINT = "http://localhost:4318"
LOGS_PATH = "/v1/logs"
SERVICE = "dos.verdict"
TIMEOUT_SECONDS = 10.0


class OtlpExporter:
    """Sends each batch as one request, and counts it as shipped when the collector took it."""

    def __init__(self, endpoint: str) -> None:
        self._where = _without_secrets(endpoint)
        logs: Any = import_module("opentelemetry._logs")
        sdk: Any = import_module("opentelemetry.sdk._logs")
        resources: Any = import_module("opentelemetry.sdk.resources")
        transport: Any = import_module("opentelemetry.exporter.otlp.proto.http._log_exporter")
        # The packages write what went wrong to the log as well; the answer of `export` is enough.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)
        self._logs = logs
        self._sdk = sdk
        self._resource = resources.Resource.create({"service.name": SERVICE})
        self._exporter = transport.OTLPLogExporter(endpoint=endpoint, timeout=TIMEOUT_SECONDS)

    def export(self, records: Sequence[VerdictRecord]) -> Shipped:
        batch = [self._log_record(record) for record in records]
        answer = call_or_unknown(lambda: self._exporter.export(batch))
        if isinstance(answer, Unknown):
            return Shipped(exported=0, detail=f"{self._where}: {answer.why}")
        if getattr(answer, "name", "") != "SUCCESS":
            return Shipped(exported=0, detail=f"{self._where} did not take the records")
        sent = plural(len(records), "log record")
        return Shipped(exported=len(records), detail=f"sent {sent} to {self._where}")

    def _log_record(self, record: VerdictRecord) -> Any:
        level = severity(record.verdict)
        at_ns = int(datetime.fromisoformat(record.ts).timestamp() * 1_000_000_000)
        log = self._logs.LogRecord(
            timestamp=at_ns,
            observed_timestamp=at_ns,
            severity_text=level.name,
            severity_number=self._logs.SeverityNumber(int(level)),
            body=f"{record.syscall} {record.verdict}",
            attributes=otlp_attributes(record),
        )
        return self._sdk.ReadableLogRecord(log, self._resource)


def open_otlp(endpoint: str) -> OtlpExporter:
    """Return the exporter. Raises BadInput without its packages, or for a bad endpoint."""
    url = (
        endpoint
        or os.environ.get("DOS_OTLP_ENDPOINT")
        or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
        or DEFAULT_ENDPOINT
    )
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_url = False
    if not is_url:
        raise BadInput(
            f"the OTLP endpoint {quote(url)} is not an http URL",
            hint=f"For example: --endpoint {DEFAULT_ENDPOINT}",
        )
    if not url.endswith(LOGS_PATH):
        url = url.rstrip("/") + LOGS_PATH
    try:
        return OtlpExporter(url)
    except ImportError as error:
        raise BadInput(
            f"the exporter `otlp` needs the packages of OpenTelemetry: {error}",
            hint="Install them: pip install 'dispatch-os[otel]'",
        ) from error


def _without_secrets(url: str) -> str:
    """Return a URL as it may be shown: a user, a password or a query may be secret."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.port:
        host += f":{parts.port}"
    return f"{parts.scheme}://{host}{parts.path}"
