"""Processes of one machine take turns by a lock on an open file."""

import os

import pytest

from dos.machine import filesystem
from dos.times import Backoff


@pytest.fixture
def opened(tmp_path):
    """Three descriptions of one file, as three processes have them."""
    files = [os.open(tmp_path / "gate", os.O_RDWR | os.O_CREAT) for _ in range(3)]
    yield files
    for file in files[1:]:
        os.close(file)


def test_one_has_it_until_it_is_closed_and_readers_have_it_together(opened):
    first, second, third = opened
    assert filesystem.lock_file(first, gives_up=lambda: False)
    assert not filesystem.lock_file(second, gives_up=lambda: True)
    os.close(first)
    assert filesystem.lock_file(second, gives_up=lambda: True, shared=True)
    assert filesystem.lock_file(third, gives_up=lambda: True, shared=True)


def test_whoever_waits_asks_after_each_try_and_takes_it_as_soon_as_it_is_free(opened):
    first, second, _ = opened
    assert filesystem.lock_file(first, gives_up=lambda: True)
    tries = []

    def frees_it_at_the_third_try() -> bool:
        tries.append(len(tries))
        if len(tries) == 3:
            os.close(first)
        return False

    assert filesystem.lock_file(second, gives_up=frees_it_at_the_third_try, pauses=Backoff((0.0,)))
    assert tries == [0, 1, 2]


def test_a_time_that_is_over_gives_up():
    assert filesystem.gives_up_after(-1)() and not filesystem.gives_up_after(3600)()
