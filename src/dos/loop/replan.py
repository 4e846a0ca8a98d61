"""Did a replan find work, and is one worth starting at all?"""

import re
from collections.abc import Mapping
from enum import StrEnum

from dos.loop.types import Productivity

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
