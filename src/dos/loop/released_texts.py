"""Reads texts of dos-kernel: the subjects of its archive commits, and the output of a replan.

Both are prose that its agents wrote, so the patterns are loose: a line that no pattern knows says
nothing, and is left out.
"""

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
    """Return the runs of a lane that the subjects of archive commits name, newest first.

    A line counts when it names the lane, or records what a person did. The order is that of
    `git log`.
    """
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
    """Return the run that a subject names; None for a subject without a verdict or a stop."""
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
    """Return the cause behind the verdict, without numbers that differ from run to run."""
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
    """Whether a replan is worth starting."""

    SKIP = "SKIP"
    PROCEED = "PROCEED"


def productivity(
    *, counts: Mapping[str, int] | None = None, text: str | None = None
) -> Productivity:
    """Return whether a replan found work, by its counts, or by its text where it has none."""
    if counts is not None:
        if any(count > 0 for count in counts.values()):
            return Productivity.PRODUCTIVE
        return Productivity.UNPRODUCTIVE
    return classify_replan_productivity(text)


def classify_replan_productivity(text: str | None) -> Productivity:
    """Return whether a replan found work, by the counters in its text.

    A text without a known counter counts as productive.
    """
    text = text or ""
    if SKIPPED in text:
        return Productivity.UNPRODUCTIVE
    matches = [counter.search(text) for counter in _COUNTERS]
    counts = [int(match[1][:9]) for match in matches if match]
    if counts and not any(counts):
        return Productivity.UNPRODUCTIVE
    return Productivity.PRODUCTIVE


def replan_skip_decision(new_findings: int, substantive_ships: int) -> Skip:
    """Skip a replan when nothing was found and nothing has shipped since the last one."""
    if new_findings > 0 or substantive_ships > 0:
        return Skip.PROCEED
    return Skip.SKIP
