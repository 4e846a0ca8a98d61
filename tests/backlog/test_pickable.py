"""May a worker take a unit now, and if not, for which one reason?"""

import json

import msgspec
import pytest
from amounts import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.backlog import pickable
from dos.backlog.pickable import EXIT_CODES, INVARIANT, Answer, Verdict

# In the order of precedence: what holds, the state that says so, the exit code, whether another
# dispatch cannot help.
HOLDS = [
    (Answer.SHIPPED, {"shipped": True}, 25, False),
    (Answer.UNPARSEABLE, {"unparseable": True}, 24, False),
    (Answer.IN_FLIGHT, {"in_flight": True}, 20, False),
    (Answer.SOFT_CLAIMED_ELSEWHERE, {"soft_claimed_elsewhere": True}, 21, False),
    (Answer.STALE_CLAIM, {"stale_claim": True}, 22, False),
    (Answer.DRAFT_CLASS, {"plan_class": " Draft "}, 10, True),
    (Answer.OPERATOR_GATED, {"operator_gated": True}, 11, True),
    (Answer.SOAK_OPEN, {"soak_open": True}, 12, True),
    (Answer.DEPENDENCY_UNMET, {"dependency_unmet": True}, 13, True),
    (Answer.COOLDOWN, {"cooldown_until_ms": 2000}, 23, False),
]


def judged(state, now_ms=1000, unit="U"):
    return pickable.judge(pickable.evidence(state, unit=unit, now_ms=now_ms))


@pytest.mark.parametrize(("answer", "state", "code", "invariant"), HOLDS)
def test_one_hold(answer, state, code, invariant):
    verdict = judged(state)
    assert (verdict.held, verdict.reason, verdict.exit_code) == (True, answer, code)
    assert verdict.is_redispatch_invariant is verdict.redispatch_invariant is invariant
    assert verdict.evidence and verdict.unit == "U"


def test_the_order_of_the_table_is_the_order_of_the_answers_and_each_has_a_code():
    assert [answer for answer, *_ in HOLDS] == list(Answer)
    assert len(set(EXIT_CODES.values())) == len(EXIT_CODES) == len(Answer)


@pytest.mark.parametrize(
    "state",
    [
        None, {}, {"nobody_knows_this": True}, {"shipped": None, "in_flight": 0, "soak_open": ""},
        {"plan_class": "active"}, {"plan_class": 5}, {"plan_class": None},
        {"cooldown_until_ms": 1000},
        {"cooldown_until_ms": "soon"}, {"cooldown_until_ms": None},
        {"cooldown_until_ms": float("nan")},
        {"cooldown_until_ms": -5}, {"cooldown_until_ms": [9999]},
        {"cooldown_until_ms": float("-inf")},
    ],
)  # fmt: skip
def test_nothing_holds_it(state):
    verdict = judged(state)
    assert (verdict.held, verdict.reason, verdict.exit_code) == (False, None, 0)


@pytest.mark.parametrize("wall", ["2000", 2000.7, 10**40])
def test_a_wall_is_read_in_any_form_of_a_number(wall):
    assert judged({"cooldown_until_ms": wall}).reason is Answer.COOLDOWN


def test_a_text_says_what_exactly():
    assert "'RID-7'" in judged({"in_flight": "RID-7"}).evidence
    assert "\n" not in judged({"operator_gated": "a\nb"}).evidence


def test_the_json_has_the_published_keys():
    assert json.loads(msgspec.json.encode(judged({"soak_open": True}))) == {
        "held": True,
        "reason": "SOAK_OPEN",
        "evidence": judged({"soak_open": True}).evidence,
        "redispatch_invariant": True,
        "unit": "U",
    }
    assert json.loads(msgspec.json.encode(judged({})))["reason"] is None


@pytest.mark.parametrize(
    ("text", "invariant"),
    [
        ('{"held": true, "reason": "SOAK_OPEN"}', True),
        ('{"held": true, "reason": "SOAK_OPEN", "redispatch_invariant": false}', True),
        ('{"held": true, "reason": "IN_FLIGHT", "redispatch_invariant": true}', False),
        ('{"held": false}', False),
    ],
)
def test_whether_another_dispatch_can_help_follows_from_the_reason_alone(text, invariant):
    assert msgspec.json.decode(text, type=Verdict).is_redispatch_invariant is invariant


@pytest.mark.parametrize("fields", [{"held": True}, {"held": False, "reason": Answer.SHIPPED}])
def test_a_verdict_that_contradicts_itself_is_an_error(fields):
    with pytest.raises(ValueError, match="held"):
        Verdict(**fields)


STATES = st.fixed_dictionaries(
    {},
    optional={
        **{
            name: st.booleans()
            for _, state, *_ in HOLDS
            for name in state
            if name not in ("plan_class",)
        },
        "plan_class": st.sampled_from(["draft", "DRAFT", "active", ""]),
        "cooldown_until_ms": st.integers(-10, 4000),
    },
)


def check_precedence(state, now_ms):
    verdict = judged(state, now_ms)
    holding = [answer for answer, alone in _each_alone(state, now_ms) if alone.held]
    assert verdict.reason == (holding[0] if holding else None)
    assert verdict == judged(state, now_ms)
    assert verdict.redispatch_invariant == (verdict.reason in INVARIANT)


def _each_alone(state, now_ms):
    """The answer for each of the facts as if it were the only one."""
    for answer, shape, *_ in HOLDS:
        (name,) = shape
        yield answer, judged({name: state[name]} if name in state else {}, now_ms)


@given(STATES, st.integers(0, 5000))
def test_of_several_holds_the_first_in_order_is_the_reason(state, now_ms):
    check_precedence(state, now_ms)


@pytest.mark.soak
@settings(max_examples=EXAMPLES)
@given(STATES, st.integers(0, 5000))
def test_of_many_combinations_the_first_hold_is_the_reason(state, now_ms):
    check_precedence(state, now_ms)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([name for _, state, *_ in HOLDS for name in state]), JSON))
def test_whatever_is_written_is_judged(state):
    assert judged(state).exit_code in {0, *EXIT_CODES.values()}
