"""What `dos export` ships: batches of verdicts, and how each transport writes them."""

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from msgspec import Struct, json

from dos.outward.verdicts import VerdictRecord

# A tag of statsd ends at these characters.
_TAG = str.maketrans(dict.fromkeys("|:,# \t\r\n\f\v", "_"))
LONGEST_TAG = 100


class Shipped(Struct, frozen=True, kw_only=True):
    """How many records of a batch a transport took, and what it says about it."""

    exported: int
    detail: str
    cursor: int | None = None  # the position up to which everything was shipped


class Severity(IntEnum):
    """The severity numbers of OpenTelemetry's logs."""

    INFO = 9
    WARN = 13
    ERROR = 17


_ERRORS = frozenset(
    (
        "STALLED",
        "WASTEFUL",
        "BLOCK",
        "REJECT_POISON",
        "UNRESUMABLE",
        "NOT_SHIPPED",
        # dos-kernel had none of these: work that is gone, a false claim, work outside of its lane.
        "UNDONE",
        "CLAIM_UNWITNESSED",
        "TESTS_WEAKENED",
        "SCOPE_CREEP",
        "WRONG_TARGET",
    )
)
_WARNINGS = frozenset(
    (
        "SPINNING",
        "DIMINISHING",
        "COSTLY",
        "OPEN",
        "WARN",
        "DEFER",
        "RECENTLY_ATTEMPTED",
        "QUIET_INCOMPLETE",
        "HELD",
        "DIVERGED",
        # What is not proven, and what nobody could read.
        "UNPROVEN",
        "CANNOT_TELL",
        "UNKNOWN",
    )
)


def severity(verdict: str) -> Severity:
    """Return how serious a verdict is for a log."""
    if verdict in _ERRORS:
        return Severity.ERROR
    if verdict in _WARNINGS:
        return Severity.WARN
    return Severity.INFO


def json_lines(records: Sequence[VerdictRecord]) -> bytes:
    """Return the records as JSON, one a line, with sorted keys."""
    return b"".join(json.encode(record, order="sorted") + b"\n" for record in records)


def statsd_datagrams(records: Sequence[VerdictRecord]) -> list[bytes]:
    """Return one counter for each pair of a verb and a verdict."""
    counts = Counter((record.syscall, record.verdict) for record in records)
    datagrams = []
    for (syscall, verdict), number in sorted(counts.items()):
        tags = f"syscall:{_tag(syscall)},verdict:{_tag(verdict)}"
        datagrams.append(f"dos.verdict:{number}|c|#{tags}".encode())
    return datagrams


def otlp_attributes(record: VerdictRecord) -> dict[str, Any]:
    """Return the attributes of a record as OpenTelemetry has them: text, numbers and flags."""
    attributes: dict[str, Any] = {
        "dos.syscall": record.syscall,
        "dos.verdict": record.verdict,
        "dos.run_id": record.run_id,
        "dos.lane": record.lane,
        "dos.subject": record.subject,
        "dos.source": record.source,
        "dos.seq": record.seq,
    }
    for name, value in record.detail.items():
        if not isinstance(value, str | int | float | bool):
            value = json.encode(value).decode()
        attributes[f"dos.detail.{name}"] = value
    return attributes


def _tag(text: str) -> str:
    return text.translate(_TAG)[:LONGEST_TAG]
