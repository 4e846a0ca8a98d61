"""Is the work of each step fading, and did the tokens buy any?"""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.loop.verdicts import efficiency, productivity


@pytest.mark.parametrize(
    ("deltas", "answer"),
    [
        ((), "PRODUCTIVE"),
        ((0,), "PRODUCTIVE"),
        ((0, 0), "PRODUCTIVE"),  # too few to judge
        ((900, 900, 900), "PRODUCTIVE"),
        ((900, 900, 100), "PRODUCTIVE"),  # one weak step is no trend
        ((900, 100, 100), "DIMINISHING"),
        ((900, 499, 499), "DIMINISHING"),
        ((900, 500, 100), "PRODUCTIVE"),
        ((900, 100, 500), "PRODUCTIVE"),
        # One empty step after a large one was stalled; as for the other accusation, it now takes
        # two.
        ((900, 900, 0), "PRODUCTIVE"),
        ((900, 100, 0), "DIMINISHING"),
        ((900, 0, 0), "STALLED"),
        ((0, 0, 1), "DIMINISHING"),
        ((0, 0, 900), "PRODUCTIVE"),
    ],
)
def test_how_productive(deltas, answer):
    assert productivity.judge(productivity.Evidence(deltas=deltas)).answer == answer


@pytest.mark.parametrize(
    ("deltas", "policy", "answer"),
    [
        ((0,), {"min_steps": 0}, "PRODUCTIVE"),  # there is no step before it
        ((0, 0), {"min_steps": 2}, "STALLED"),
        ((1, 1), {"min_steps": 2, "floor": 0}, "PRODUCTIVE"),
        ((0, 0), {"min_steps": 2, "floor": 0}, "STALLED"),
        ((), {"min_steps": 0}, "PRODUCTIVE"),
    ],
)
def test_how_productive_under_another_policy(deltas, policy, answer):
    verdict = productivity.judge(
        productivity.Evidence(deltas=deltas), productivity.Policy(**policy)
    )
    assert verdict.answer == answer


def test_productivity_shows_what_it_looked_at():
    shown = msgspec.to_builtins(productivity.judge(productivity.Evidence(deltas=(9, 8, 7))))
    assert shown.keys() == {"verdict", "reason", "history"}
    assert shown["history"] == {
        "deltas": (9, 8, 7),
        "step_count": 3,
        "last_delta": 7,
        "prior_delta": 8,
    }
    empty = msgspec.to_builtins(productivity.judge(productivity.Evidence()))["history"]
    assert empty == {"deltas": (), "step_count": 0, "last_delta": None, "prior_delta": None}


@pytest.mark.parametrize(
    ("work", "tokens", "policy", "answer"),
    [
        (0, 0, {}, "EFFICIENT"),
        (0, 999, {}, "EFFICIENT"),  # too little to tell
        (0, 1000, {}, "WASTEFUL"),
        (1, 1000, {}, "EFFICIENT"),
        (1, 1000, {"floor": 0.001}, "EFFICIENT"),  # exactly at the floor
        (1, 1001, {"floor": 0.001}, "COSTLY"),
        (1, 5000, {"floor": 0.01}, "COSTLY"),
        (0, 5000, {"floor": 0.01}, "WASTEFUL"),
        (0, 0, {"min_tokens": 0}, "EFFICIENT"),
        (0, 1, {"min_tokens": 0}, "WASTEFUL"),
    ],
)
def test_how_efficient(work, tokens, policy, answer):
    evidence = efficiency.Evidence(work=work, tokens=tokens)
    assert efficiency.judge(evidence, efficiency.Policy(**policy)).answer == answer


def test_efficiency_shows_the_ratio():
    shown = msgspec.to_builtins(efficiency.judge(efficiency.Evidence(work=5, tokens=1000)))
    assert shown.keys() == {"verdict", "reason", "evidence"}
    assert shown["evidence"] == {"work": 5, "tokens": 1000, "ratio": 0.005}
    assert efficiency.judge(efficiency.Evidence()).evidence.ratio is None


@pytest.mark.parametrize(
    "refused",
    [
        lambda: productivity.Evidence(deltas=(5, -1)),
        lambda: productivity.Policy(min_steps=-1),
        lambda: productivity.Policy(floor=-1),
        lambda: efficiency.Evidence(work=-1),
        lambda: efficiency.Evidence(tokens=1 << 62),
        lambda: efficiency.Policy(floor=-0.1),
        lambda: efficiency.Policy(floor=float("nan")),
        lambda: efficiency.Policy(floor=float("inf")),
        lambda: efficiency.Policy(min_tokens=-1),
    ],
)
def test_impossible_numbers_are_refused(refused):
    with pytest.raises(ValueError, match=" is "):
        refused()


RANK = ["STALLED", "DIMINISHING", "PRODUCTIVE"]


@given(deltas=st.lists(st.integers(0, 1000), min_size=1, max_size=8), more=st.integers(0, 1000))
def test_a_step_that_does_more_is_never_judged_worse(deltas, more):
    def judged(last):
        return productivity.judge(productivity.Evidence(deltas=(*deltas[:-1], last))).answer

    assert RANK.index(judged(deltas[-1] + more)) >= RANK.index(judged(deltas[-1]))


PRICES = ["WASTEFUL", "COSTLY", "EFFICIENT"]


@given(
    work=st.integers(0, 50),
    tokens=st.integers(0, 10_000),
    more=st.integers(0, 50),
    floor=st.floats(0, 0.01),
)
def test_more_work_for_the_same_tokens_is_never_priced_worse(work, tokens, more, floor):
    def judged(amount):
        evidence = efficiency.Evidence(work=amount, tokens=tokens)
        return efficiency.judge(evidence, efficiency.Policy(floor=floor)).answer

    assert PRICES.index(judged(work + more)) >= PRICES.index(judged(work))
