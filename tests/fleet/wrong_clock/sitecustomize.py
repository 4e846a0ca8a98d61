"""Loaded by every Python of a fleet: its wall clock is wrong by as many seconds as a file says at
that moment.
"""

import os
import time

_now_ns = time.time_ns


def _wrong_ns() -> int:
    try:
        with open(os.environ["TEST_CLOCK"]) as file:
            return _now_ns() + int(file.read() or 0) * 1_000_000_000
    except (KeyError, FileNotFoundError):
        return _now_ns()


time.time_ns = _wrong_ns
time.time = lambda: _wrong_ns() / 1e9
