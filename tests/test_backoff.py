from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos import times
from dos.errors import StoreUnreachable
from dos.fleet.io import drive
from dos.git import process
from dos.times import Backoff

seconds = st.floats(min_value=1e-6, max_value=1e6)


@given(seconds, seconds, st.floats(min_value=1.1, max_value=10), st.integers(min_value=1))
def test_waits_grow_by_the_factor_up_to_the_cap_and_stay_there(first, cap, factor, failures):
    made = times.exponential_backoff(first, cap=cap, factor=factor)
    assert made.delays[0] == min(first, cap) and made.delays[-1] == cap
    assert all(after == min(before * factor, cap) for before, after in pairwise(made.delays))
    assert made.delay(failures) <= made.delay(failures + 1) <= cap
    assert made.delay(10**9) == cap


@given(st.lists(seconds, min_size=1, max_size=5), st.integers(min_value=1, max_value=9))
def test_the_first_try_is_made_at_once_and_the_last_wait_is_for_all_that_follow(delays, tries):
    backoff = Backoff(tuple(delays))
    assert (
        list(backoff.delays_before_attempts(tries)) == ([0, *delays, *[delays[-1]] * tries])[:tries]
    )


def test_nothing_doubled_stays_nothing():
    assert times.exponential_backoff(0, cap=60).delay(5) == 0


def test_git_s_waits_are_as_many_as_its_tries():
    assert len(process.PAUSES.delays) == process.TRIES - 1


@pytest.mark.parametrize("failures", [0, 1, 9])
def test_an_absent_store_is_waited_for_by_the_same_value(failures):
    waited: list[float] = []
    answers = iter([StoreUnreachable("away")] * failures)

    def ask() -> str:
        if error := next(answers, None):
            raise error
        return "back"

    patience = drive.StoreRetry(None, prove=lambda doubtful: None, pause=waited.append)
    assert patience.retry_until(ask) == "back"
    assert waited == [drive.PAUSES.delay(each) for each in range(1, failures + 1)]
