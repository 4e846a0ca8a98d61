"""Whether a replan found work."""

import pytest

from dos.loop import released_texts
from dos.loop.released_texts import Skip, classify_replan_productivity, replan_skip_decision
from dos.loop.types import Productivity

YES, NO = Productivity.PRODUCTIVE, Productivity.UNPRODUCTIVE


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (None, YES),
        ("", YES),
        ("nothing that anybody counts", YES),
        ("done\n/replan skipped: no new evidence\n", NO),
        ("/replan skipped: no new evidence. 3 added", NO),
        ("0 auto-closed, 0 added", NO),
        ("0 auto-closed, 1 added", YES),
        ("3 auto-closed", YES),
        ("2/5 promoted", YES),
        ("0/5 promoted", NO),
        ("1 anchor reconciled", YES),
        ("0 anchors reconciled", NO),
        ("4 percent-refreshes", YES),
        ("1 stale claim swept", YES),
        ("2 stale claims swept", YES),
        ("1 gitignore pattern added", YES),
        ("1 tomb-stamp applied", YES),
        ("1 stale fanout flagged", YES),
        ("7 queue rows reranked", YES),
        ("1 next-hits reranked", YES),
        ("1 escalated", YES),
        ("0 escalated, then 5 escalated", NO),  # the first of each counts
        ("0 ADDED", NO),
        ("99999999999999999999 added", YES),
    ],
)
def test_prose_is_read_for_its_counters(text, answer):
    assert classify_replan_productivity(text) is answer
    assert released_texts.productivity(text=text) is answer


@pytest.mark.parametrize(
    ("counts", "answer"),
    [({}, NO), ({"added": 0}, NO), ({"added": 0, "promoted": 2}, YES), ({"added": -1}, NO)],
)
def test_counts_go_before_prose(counts, answer):
    assert released_texts.productivity(counts=counts, text="5 added") is answer
    assert released_texts.productivity(counts=counts, text=released_texts.SKIPPED) is answer


@pytest.mark.parametrize(
    ("findings", "ships", "answer"),
    [
        (0, 0, Skip.SKIP),
        (-3, -1, Skip.SKIP),
        (1, 0, Skip.PROCEED),
        (0, 1, Skip.PROCEED),
        (-1, 2, Skip.PROCEED),
    ],
)
def test_a_replan_is_skipped_when_nothing_is_new(findings, ships, answer):
    assert replan_skip_decision(findings, ships) is answer
