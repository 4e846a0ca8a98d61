"""Effects are performed one by one; over a store that may be away for a while."""

import time

import pytest

from dos.errors import (
    DosError,
    Fenced,
    GitUnanswered,
    OutcomeUnknown,
    StoreBusy,
    StoreFull,
    StoreUnreachable,
)
from dos.fleet import effects
from dos.fleet.io.drive import StoreRetry, drive


class Away:
    """A store that fails so often before it answers, and what it was asked."""

    def __init__(self, *failures: DosError) -> None:
        self.failures = list(failures)
        self.happened: list[str] = []
        self.retry = StoreRetry(
            60, prove=self.prove, pause=lambda seconds: self.happened.append("pause")
        )

    def prove(self, doubtful: bool) -> None:
        if doubtful:
            self.happened.append("prove")

    def act(self) -> str:
        self.happened.append("act")
        if self.failures:
            raise self.failures.pop(0)
        return "done"


@pytest.mark.parametrize(
    "failure",
    [
        StoreUnreachable("away"),
        StoreBusy("busy"),
        OutcomeUnknown("who knows"),
        GitUnanswered("it died"),
    ],
)
def test_it_is_tried_again_and_the_lease_is_proven_first(failure):
    store = Away(failure, failure)
    assert store.retry.retry_until(store.act) == "done"
    assert store.happened == ["act", "pause", "prove", "act", "pause", "prove", "act"]


def test_as_long_as_nothing_fails_nothing_is_proven():
    store = Away()
    store.retry.retry_until(store.act)
    assert store.happened == ["act"]


@pytest.mark.parametrize("failure", [StoreFull("full"), Fenced("taken"), DosError("else")])
def test_what_waiting_does_not_mend_is_told_at_once(failure):
    store = Away(failure)
    with pytest.raises(type(failure)):
        store.retry.retry_until(store.act)
    assert store.happened == ["act"]


def test_a_lease_that_is_lost_meanwhile_ends_it_before_anything_is_done():
    store = Away(StoreUnreachable("away"))

    def lost(doubtful: bool) -> None:
        if doubtful:
            raise Fenced("taken")

    patience = StoreRetry(60, prove=lost, pause=lambda seconds: None)
    with pytest.raises(Fenced):
        patience.retry_until(store.act)
    assert store.happened == ["act"]


def test_a_store_that_stays_away_is_told_in_the_end():
    store = Away(*[StoreUnreachable("away")] * 10_000)
    patience = StoreRetry(0.05, prove=store.prove, pause=lambda seconds: time.sleep(0.01))
    with pytest.raises(StoreUnreachable):
        patience.retry_until(store.act)
    assert len(store.happened) > 1


def test_an_effect_that_fails_is_raised_where_it_was_yielded():
    def process():
        try:
            yield effects.Pause(seconds=1)
        except Fenced as error:
            return str(error)

    def fail(effect):
        raise Fenced("gone")

    assert drive(process(), {effects.Pause: fail}) == "gone"


def test_what_the_system_refuses_is_an_error_with_a_message():
    def process():
        yield effects.Pause(seconds=1)

    def fail(effect):
        raise OSError(28, "No space left on device", "log")

    with pytest.raises(DosError, match="No space left"):
        drive(process(), {effects.Pause: fail})


def test_a_repository_that_git_cannot_read_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr("dos.fleet.io.drive.GIT_SECONDS", 0.05)
    store = Away(*[GitUnanswered("it died")] * 10_000)
    patience = StoreRetry(None, prove=store.prove, pause=lambda seconds: time.sleep(0.01))
    with pytest.raises(GitUnanswered):
        patience.retry_until(store.act)
    assert len(store.happened) > 1
