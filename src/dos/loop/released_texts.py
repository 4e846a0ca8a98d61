"""The runs of a lane, as the subjects of a released host's archive commits tell of them."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from dos.lanes.launch_health import LaneRun
from dos.loop.gate import Gate
from dos.loop.tokens import KNOWN_VERDICT_TOKENS, PacketOutcome, normalize_token
from dos.loop.types import Productivity

SHIPPING = frozenset({"LIVE", "SHIPPED", PacketOutcome.SHIPPED_CLEAN})
BLOCKING = frozenset({"ERROR", Gate.BLOCKED, PacketOutcome.BLOCKED_OUTCOME, PacketOutcome.STALLED})
_SHA = re.compile(r"^[0-9a-f]{7,64}\s+")
_TOKEN = re.compile(r"(?<![\w-])[A-Z][A-Z_-]*[A-Z](?![\w-])")
_CAUSE = re.compile(r"\[cause:([^\]]{1,200})\]")
_ORDINAL = re.compile(r"(\d{1,6})(?:st|nd|rd|th)\s+(?:consecutive|recurrence)", re.IGNORECASE)
_WAITING = re.compile(r"soak|data[-_ ]gated|drain|awaiting\b.*\blive run", re.IGNORECASE)
_NOISE = re.compile(r"\d+(?:st|nd|rd|th)?|[^a-z ]+")
LONGEST_CAUSE = 80


def lane_runs(subjects: Iterable[str], lane: str) -> tuple[LaneRun, ...]:
    """Newest first, as `git log` has them. A line counts when it names the lane, or says what a person did."""
    named = re.compile(rf"(?<![\w-]){re.escape(lane)}(?![\w-])", re.IGNORECASE)
    found = []
    for line in subjects:
        subject = _SHA.sub("", line.strip())
        if "operator-action:" in subject:
            found.append(LaneRun(label=subject, operator_acted=True))
        elif named.search(subject) and (run := _run(subject)):
            found.append(run)
    return tuple(found)


def _run(subject: str) -> LaneRun | None:
    words = _TOKEN.findall(subject)
    said = next((word for word in words if word in KNOWN_VERDICT_TOKENS | SHIPPING), "")
    verdict = normalize_token(said)
    stopped = "STOP" in words and "/unstick" in subject
    if not verdict and not stopped:
        return None
    ordinal = _ORDINAL.search(subject)
    cause = _cause(subject, said) if verdict in BLOCKING else ""
    return LaneRun(
        label=subject,
        shipped=verdict in SHIPPING,
        needs_fix=stopped,
        cause=cause,
        replan_clears=_WAITING.search(cause) is not None,
        recurrence=int(ordinal[1]) if ordinal else 1,
    )


def _cause(subject: str, verdict: str) -> str:
    """What was said behind the verdict, without what differs from run to run."""
    if written := _CAUSE.search(subject):
        return written[1].strip()
    said = " ".join(_NOISE.sub(" ", subject.partition(verdict)[2].lower()).split())
    return said[:LONGEST_CAUSE] or verdict


SKIPPED = "/replan skipped: no new evidence"  # what a replan prints that found nothing to look at

# What released replans count in prose.
_COUNTED = (
    r"promoted",
    r"auto-closed",
    r"added",
    r"anchors? reconciled",
    r"percent-refreshes",
    r"stale claims? swept",
    r"gitignore patterns? added",
    r"tomb-stamps? applied",
    r"stale fanouts? flagged",
    r"queue rows? reranked",
    r"next-hits reranked",
    r"escalated",
)
_COUNTERS = tuple(
    re.compile(rf"(?<![\w./-])(\d+)(?:\s*/\s*\d+)?\s+{label}\b", re.IGNORECASE)
    for label in _COUNTED
)


class Skip(StrEnum):
    SKIP = "SKIP"
    PROCEED = "PROCEED"


def productivity(
    *, counts: Mapping[str, int] | None = None, text: str | None = None
) -> Productivity:
    """By what the replan counted; only without counts by what it wrote."""
    if counts is not None:
        return (
            Productivity.PRODUCTIVE
            if any(count > 0 for count in counts.values())
            else Productivity.UNPRODUCTIVE
        )
    return classify_replan_productivity(text)


def classify_replan_productivity(text: str | None) -> Productivity:
    """By the counters in a replan's prose. Prose that counts nothing we know is given the benefit of the doubt."""
    text = text or ""
    if SKIPPED in text:
        return Productivity.UNPRODUCTIVE
    found = [int(match[1][:9]) for counter in _COUNTERS if (match := counter.search(text))]
    return Productivity.UNPRODUCTIVE if found and not any(found) else Productivity.PRODUCTIVE


def replan_skip_decision(new_findings: int, substantive_ships: int) -> Skip:
    """With nothing found and nothing shipped since the last one, a replan cannot tell anything new."""
    return Skip.PROCEED if new_findings > 0 or substantive_ships > 0 else Skip.SKIP
