"""Was a unit tried a short while ago, without moving; and which of two goes first?"""

import json

import msgspec
import pytest
from amounts import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.backlog import cooldown
from dos.backlog.attempts import FreshnessEvidence, judge_freshness
from dos.backlog.cooldown import Answer, Attempt, AttemptOutcome, Evidence, Policy

T = 1000
WINDOW, ERROR_WINDOW = 21_600_000, 1_800_000


def tried(outcome, at_ms=T, unit="U"):
    return Attempt(unit=unit, outcome=AttemptOutcome.read(outcome), at_ms=at_ms, ts=f"{at_ms}")


def judged(*attempts, now_ms=2000, **policy):
    return cooldown.judge(Evidence(unit_id="U", attempts=attempts, now_ms=now_ms), Policy(**policy))


@pytest.mark.parametrize(
    ("attempts", "now_ms", "until_ms"),
    [
        ([], 2000, 0),
        ([tried("drained")], 2000, 21_601_000),
        ([tried("error")], 2000, 1_801_000),
        ([tried("error")], 1_800_999, 1_801_000),
        ([tried("error")], 1_801_000, 0),
        ([tried("shipped")], 2000, 0),
        ([tried("error"), tried("drained")], 2000, 21_601_000),
        ([tried("drained"), tried("error")], 2000, 21_601_000),
        ([tried("weird")], 2000, 21_601_000),
        # At the same moment the one that did not ship counts, in whatever order they come.
        ([tried("shipped"), tried("drained")], 2000, 21_601_000),
        ([tried("drained"), tried("shipped")], 2000, 21_601_000),
        ([tried("drained"), tried("shipped", T + 1)], 2000, 0),
        ([tried("shipped"), tried("error", T + 1)], 2000, 1_801_001),
        ([tried("drained", unit="V")], 2000, 0),
        ([tried("drained")], 21_600_999, 21_601_000),
        ([tried("drained")], 21_601_000, 0),
    ],
)
def test_a_unit_rests_after_a_try_that_did_not_ship(attempts, now_ms, until_ms):
    verdict = judged(*attempts, now_ms=now_ms)
    assert verdict.answer is (Answer.RECENTLY_ATTEMPTED if until_ms else Answer.CLEAR)
    assert (verdict.until_ms, verdict.held) == (until_ms, bool(until_ms))
    assert verdict.count == sum(attempt.unit == "U" for attempt in attempts)


def test_a_moment_is_said_as_people_read_it():
    attempt = Attempt(unit="U", outcome=AttemptOutcome.DRAINED, at_ms=1_794_733_247_053)
    reason = judged(attempt, now_ms=1_794_733_307_053).reason
    assert reason == "last tried 60 s ago: no commit was made; on cooldown for another 6.0 h"


def test_the_windows_are_policy():
    assert judged(tried("drained"), window_ms=0).answer is Answer.CLEAR
    assert judged(tried("error"), error_window_ms=WINDOW * 2).until_ms == T + WINDOW * 2
    with pytest.raises(ValueError, match="-1"):
        Policy(window_ms=-1)
    with pytest.raises(ValueError, match="-2"):
        Policy(error_window_ms=-2)


def test_the_json_has_the_published_keys():
    shown = json.loads(msgspec.json.encode(judged(tried("drained"))))
    assert shown.keys() == {"state", "unit_id", "last_ts", "count", "until_ms", "reason"}
    assert (shown["state"], shown["last_ts"]) == ("RECENTLY_ATTEMPTED", "1000")
    decoded = msgspec.json.decode(
        '{"state": "RECENTLY_ATTEMPTED", "unit_id": "U"}', type=cooldown.Verdict
    )
    assert decoded.held


ATTEMPTS = st.lists(
    st.builds(
        Attempt,
        unit=st.sampled_from(["U", "V"]),
        outcome=st.sampled_from(AttemptOutcome),
        at_ms=st.integers(0, 6) | st.integers(0, 30_000_000),
        ts=st.sampled_from(["", "a", "b"]),
    ),
    max_size=6,
)
SHUFFLED = ATTEMPTS.flatmap(
    lambda attempts: st.tuples(st.just(attempts), st.permutations(attempts))
)
POLICIES = st.builds(
    Policy, window_ms=st.integers(0, WINDOW), error_window_ms=st.integers(0, WINDOW)
)


def check_order(attempts, shuffled, now_ms, policy):
    one = cooldown.judge(Evidence(unit_id="U", attempts=tuple(attempts), now_ms=now_ms), policy)
    other = cooldown.judge(Evidence(unit_id="U", attempts=tuple(shuffled), now_ms=now_ms), policy)
    assert one == other
    own = [attempt for attempt in attempts if attempt.unit == "U"]
    newest = max((attempt.at_ms for attempt in own), default=0)
    last = [attempt for attempt in own if attempt.at_ms == newest]
    if all(attempt.outcome is AttemptOutcome.SHIPPED for attempt in last):
        assert one.answer is Answer.CLEAR
    else:
        windows = [
            policy.window_after(each.outcome)
            for each in last
            if each.outcome is not AttemptOutcome.SHIPPED
        ]
        assert one.held == (now_ms < newest + max(windows))


@given(SHUFFLED, st.integers(0, 60_000_000), POLICIES)
def test_the_order_of_attempts_does_not_matter_and_the_newest_decides(drawn, now_ms, policy):
    check_order(*drawn, now_ms, policy)


@pytest.mark.soak
@settings(max_examples=EXAMPLES)
@given(SHUFFLED, st.integers(0, 60_000_000), POLICIES)
def test_the_order_of_attempts_does_not_matter_in_many_histories(drawn, now_ms, policy):
    check_order(*drawn, now_ms, policy)


@pytest.mark.parametrize(
    ("attempted", "last_ms", "freshness", "key"),
    [
        (False, None, "NEVER_ATTEMPTED", [0, 0]),
        (False, 5, "NEVER_ATTEMPTED", [0, 0]),
        (True, 5, "ATTEMPTED", [1, 5]),
        (True, None, "ATTEMPTED", [1, 0]),
    ],
)
def test_what_was_never_tried_goes_first_and_then_what_was_tried_longest_ago(
    attempted, last_ms, freshness, key
):
    freshness_evidence = FreshnessEvidence(
        unit_id="U", attempted=attempted, last_attempt_ms=last_ms
    )
    shown = json.loads(msgspec.json.encode(judge_freshness(freshness_evidence)))
    assert shown.keys() == {"unit_id", "freshness", "last_attempt_ms", "sort_key", "reason"}
    assert (shown["freshness"], shown["sort_key"], shown["unit_id"]) == (freshness, key, "U")
